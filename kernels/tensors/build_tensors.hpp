// Lumped masses and the tensors of all rows, built once per rest shape in double.
#pragma once

#include "engine/rows/row_families.hpp"
#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

struct LumpMasses {
  MeshView mesh;
  /// f_e of each face, shape [face_count]; empty: 1.
  ArrayView<const double> factors{};
  ArrayView<double> masses;  ///< m_k = sum_e f_e int N_k dA [m^2], shape [node_count]
};

struct BuildTensors {
  RowFamily family;
  TensorSetup setup;
};

namespace ISOCLOTH_BACKEND {
/// Lumped (row-sum) masses per unit density; Coltraro 2022, (9), (10). One item per node, O(faces at the
/// node).
void lump_masses(const Queue& queue, const LumpMasses& args);
/// T of a family (engine/rows). One item per stencil.
void build_tensors(const Queue& queue, const BuildTensors& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
