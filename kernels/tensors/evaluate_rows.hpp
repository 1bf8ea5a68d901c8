// Residual, Jacobian and scale of all quadratic rows.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/tensors/row_laws.hpp"
#include "kernels/views.hpp"

namespace isocloth {

/// Rows of the form C = sum_ij T_ij p_i . p_j - c0. S: lane value of the state (kernels/launch/lanes.hpp), T:
/// of the rest shape, a scalar where cloths share it, W: of the inverse masses, which grippers change.
template <class S, class T = S, class W = T>
struct EvaluateRows {
  RowsView rows;
  ArrayView<const T> tensors;          ///< T [1/m^2], shape [tensor_count()]
  ArrayView<const T> rest_values;      ///< c0, shape [row_count]
  ArrayView<const Vec3<S>> positions;  ///< [m], shape [node_count]
  ArrayView<const W>
      inverse_masses;  ///< metric's inverse lumped masses, 0: pinned or held, shape [node_count]
  RowLaws<S> laws;
  S eps{};                 ///< relative softness of a rigid row
  ArrayView<S> residuals;  ///< C, shape [row_count]
  ArrayView<S> scales;     ///< s, of rigid rows 1 / sqrt(eps D), D = diag(J M^-1 J^T); 0: nothing moves C
  ArrayView<Vec3<S>> jacobian;  ///< s J [1/m], shape [jacobian_count()]: of each slot, of each of its rows
};

namespace ISOCLOTH_BACKEND {
/// J_i = 2 sum_j T_ij p_j, C = 1/2 sum_i J_i . p_i - c0 (Coltraro 2022, (12), (13) and section 5.4), taken
/// relative to a node of the stencil: the rows of T sum to zero, so nothing changes but the rounding. One
/// item per stencil, O(entries).
template <class Real>
void evaluate_rows(const Queue& queue, const EvaluateRows<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
