// Warp and weft coordinates of a flat mesh.
#pragma once

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Gives a mesh in the plane z = 0 the coordinates (x, y) [m] as corner_uvs.
inline void set_flat_uvs(Mesh& mesh) {
  mesh.corner_uvs.clear();
  mesh.corner_uvs.reserve(mesh.face_nodes.size());
  for (const Index node : mesh.face_nodes) {
    mesh.corner_uvs.push_back({mesh.positions[node].x, mesh.positions[node].y});
  }
}

}  // namespace isocloth
