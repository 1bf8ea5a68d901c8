// Meshes and sparsity patterns as kernels see them: views of arrays that the host owns.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// A mesh and its incidence as the setup kernels see it.
struct MeshView {
  ArrayView<const Vec3d> positions;          ///< [m], shape [node_count]
  ArrayView<const Index> face_begin;         ///< shape [face_count + 1]
  ArrayView<const Index> face_nodes;         ///< shape [corner_count]
  ArrayView<const Index> corner_faces;       ///< shape [corner_count]
  ArrayView<const Index> node_corner_begin;  ///< shape [node_count + 1]
  ArrayView<const Index> node_corners;       ///< shape [corner_count]
};

/// Stencils, slots and entries; see StencilPattern.
struct StencilView {
  ArrayView<const Index> stencil_begin;  ///< shape [stencil_count + 1]
  ArrayView<const Index> slot_nodes;     ///< shape [slot_count]
  ArrayView<const Index> entry_begin;    ///< shape [slot_count + 1]
  ArrayView<const Index> entry_nodes;    ///< shape [entry_count]

  ISOCLOTH_HD Index stencil_count() const { return static_cast<Index>(stencil_begin.size()) - 1; }
};

/// Sparse rows of scalars on nodes; columns ascending within a row.
struct NodeMatrixView {
  ArrayView<const Index> row_begin;  ///< shape [node_count + 1]
  ArrayView<const Index> columns;    ///< shape [entry_count]
};

/// Which nodes are unknowns.
struct FreeNodesView {
  ArrayView<const Index> nodes;   ///< node of each free number, shape [free_count]
  ArrayView<const Index> number;  ///< free number of each node, -1: pinned or driven, shape [node_count]
};

/// Rest shapes: one that all cloths share, or one per cloth with the cloths of a tile side by side.
template <class Real>
struct RestShapesView {
  bool shared = true;
  ArrayView<const Real> metric_tensors;  ///< T [1/m^2], shape [tile or 1, entries, 3, width or 1]
  ArrayView<const Real> scalar_tensors;  ///< shape [tile or 1, entries, width or 1]
  ArrayView<const Real> rest_values;     ///< c0, shape [tile or 1, row_count, width or 1]
  ArrayView<const Real> masses;          ///< m_i [m^2], shape [tile or 1, node_count, width or 1]
  ArrayView<const Real> inverse_masses;  ///< 1 / m_i, 0: pinned; same shape
  ArrayView<const Real> bending;         ///< K [1/m^2], shape [tile or 1, entries of K, width or 1]
  ArrayView<const Real> areas;           ///< a0 [m^2], shape [tile or 1, face_count, width or 1]
};

}  // namespace isocloth
