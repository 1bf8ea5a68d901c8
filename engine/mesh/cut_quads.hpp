// A mesh as triangles alone.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct CutTriangle {
  std::array<Index, 3> nodes;
  Index face;  ///< which it is, or half of
};

/// Triangles, and quads cut along their shorter diagonal; along that of the first corner where rounding alone
/// tells the two apart. In the order of faces.
std::vector<CutTriangle> cut_quads(const Mesh& mesh);

}  // namespace isocloth
