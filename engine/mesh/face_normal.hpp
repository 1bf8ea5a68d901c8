// Area vectors of faces.
#pragma once

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Normal of face f times its area [m^2], to the front: half the cross product of two edges (triangle) or of
/// the diagonals (quad: normal of its mean plane times the area of its projection onto it).
inline Vec3d area_vector(const Mesh& mesh, Index f) {
  const auto nodes = mesh.face(f);
  const auto& x = mesh.positions;
  if (nodes.size() == 3) return 0.5 * cross(x[nodes[1]] - x[nodes[0]], x[nodes[2]] - x[nodes[0]]);
  return 0.5 * cross(x[nodes[2]] - x[nodes[0]], x[nodes[3]] - x[nodes[1]]);
}

}  // namespace isocloth
