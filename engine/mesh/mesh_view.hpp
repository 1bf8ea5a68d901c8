// A mesh as kernels and the formulas of rows see it.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// A mesh and its incidence.
struct MeshView {
  ArrayView<const Vec3d> positions;          ///< [m], shape [node_count]
  ArrayView<const Index> face_begin;         ///< shape [face_count + 1]
  ArrayView<const Index> face_nodes;         ///< shape [corner_count]
  ArrayView<const Index> corner_faces;       ///< shape [corner_count]
  ArrayView<const Index> node_corner_begin;  ///< shape [node_count + 1]
  ArrayView<const Index> node_corners;       ///< shape [corner_count]
};

/// Corners of one face, gathered.
struct FaceCorners {
  int size = 0;
  Index first = 0;  ///< corner of the mesh
  Vec3d p[4];
};

ISOCLOTH_HD FaceCorners face_corners(const MeshView& mesh, Index face) {
  FaceCorners f;
  f.first = mesh.face_begin[face];
  f.size = mesh.face_begin[face + 1] - f.first;
  for (int i = 0; i < f.size; ++i) f.p[i] = mesh.positions[mesh.face_nodes[f.first + i]];
  return f;
}

}  // namespace isocloth
