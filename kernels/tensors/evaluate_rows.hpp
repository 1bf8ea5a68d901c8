// Residual, Jacobian and scale of all quadratic rows.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/tensors/row_laws.hpp"

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
  ArrayView<S> at_limit;        ///< see LimitGroup
};

/// Multipliers mu of Green's strain, the rows Q of which are quadratic, that pull as lambda pulls the rows C
/// of a law that is not, such as CorotationalStrain: sum mu dQ = sum lambda dC. Their geometric stiffness, 2
/// dF M in its words, is in a step's matrix, and 2 F dM, what the second derivatives of C are beyond it, is
/// not: along a thread that is stretched to s the matrix is too stiff by (s - 1) / s of the cloth's
/// stiffness, and a move too short by (s - 1) / (2 s - 1).
template <class S, class T = S>
struct QuadraticMultipliers {
  RowsView rows;
  ArrayView<const T> tensors;          ///< [1/m^2], shape [tensor_count()]
  ArrayView<const Vec3<S>> positions;  ///< [m], shape [node_count]
  ArrayView<const S> multipliers;      ///< lambda [kg m^2], shape [row_count]
  StrainMeasure measure;               ///< see RowLaws
  S coupling{};                        ///< the same
  ArrayView<S> found;                  ///< mu of elements, lambda of all others, shape [row_count]
};

namespace ISOCLOTH_BACKEND {
/// J_i = 2 sum_j T_ij p_j, C = 1/2 sum_i J_i . p_i - c0 (Coltraro 2022, (12), (13) and section 5.4), taken
/// relative to a node of the stencil: the rows of T sum to zero, so nothing changes but the rounding. One
/// item per stencil, O(entries).
template <class Real>
void evaluate_rows(const Queue& queue, const EvaluateRows<Real>& args);
/// mu of elements. One item per stencil.
template <class Real>
void quadratic_multipliers(const Queue& queue, const QuadraticMultipliers<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
