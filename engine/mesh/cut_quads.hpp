// A mesh as triangles alone.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct CutTriangle {
  std::array<Index, 3> nodes;
  Index face;  ///< which it is, or half of
};

/// The corner, 0 or 1, from which the shorter diagonal of a quad runs; 0 where rounding alone tells the two
/// apart.
std::size_t shorter_diagonal(const Mesh& mesh, Index face);

/// Triangles, and quads cut along their shorter diagonal. In the order of faces.
std::vector<CutTriangle> cut_quads(const Mesh& mesh);

}  // namespace isocloth
