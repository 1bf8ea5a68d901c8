// The constraint tensors T_E, T_F, T_G and the edge rows, built once per rest shape in double.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/views.hpp"

namespace isocloth {

struct LumpMasses {
  MeshView mesh;
  ArrayView<double> masses;  ///< m_k = sum_e int N_k dA [m^2], shape [node_count]
};

struct BuildIsometryTensors {
  MeshView mesh;
  StencilView stencils;
  ArrayView<const Index> nodes;         ///< k of each of the first stencils, shape [isometry stencil count]
  ArrayView<const Vec3d> corner_warps;  ///< unit warp directions, shape [corner_count]
  ArrayView<const double> masses;       ///< m_k [m^2], shape [node_count]
  int width = 3;                        ///< 3: E, F, G; 1: F alone
  ArrayView<double> tensors;            ///< T [1/m^2], shape [entry_count, width]
};

struct BuildEdgeTensors {
  MeshView mesh;
  StencilView stencils;
  Index first_stencil = 0;    ///< stencils before it are not edges
  ArrayView<double> tensors;  ///< [1/m^2], shape [entry_count]
};

namespace ISOCLOTH_BACKEND {
/// Lumped (row-sum) masses per unit density; Coltraro 2022, (9), (10). One item per node, O(faces at the
/// node).
void lump_masses(const Queue& queue, const LumpMasses& args);
/// Coltraro 2022, Algorithm 1, in material directions (engine/rows/isometry.hpp). One item per stencil.
void build_isometry_tensors(const Queue& queue, const BuildIsometryTensors& args);
/// C = |p_a - p_b|^2 / l^2 - 1, (7) divided by l^2. One item per edge.
void build_edge_tensors(const Queue& queue, const BuildEdgeTensors& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
