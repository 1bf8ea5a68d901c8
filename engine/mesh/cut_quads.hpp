// A mesh as triangles alone.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct CutTriangle {
  std::array<Index, 3> nodes;
  Index face;  ///< which it is, or half of
};

/// The corner, 0 or 1, from which each quad is cut, of triangles 0; shape [face_count]: from where the
/// shorter diagonal at rest runs; of equal ones (to 1e-9) the one between nodes of one colour, where nodes
/// have two colours and every edge of a quad joins both, so that the cuts of a grid alternate: parallel ones
/// would make it stiffer along them. Where no two colours do, the first corner.
std::vector<std::size_t> cut_corners(const Mesh& mesh);

/// Triangles, and quads cut by cut_corners(). In the order of faces.
std::vector<CutTriangle> cut_quads(const Mesh& mesh);

}  // namespace isocloth
