// What multipliers of rows answer: a rigid row holds C = 0, a compliant one has the energy K C^2 / 2.
//
// Rigid rows are an augmented Lagrangian: a compliance of eps D, D = diag(J M^-1 J^T), and the multipliers of
// the iteration before as its proximal term. Compliant rows have the compliance 1 / (h^2 K) and no proximal
// term; their multipliers, the stress that balances forces, end where they are h^2 K C. Both go through the
// same system, scaled by s^2 = 1 / compliance:
//   (B + G+ + J^T s^2 J) d = -B (phi_j - phi~) - J^T (s^2 C + prox),  lambda := s^2 (C + J d) + prox.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// S: lane value.
template <class S>
struct RowLaws {
  ArrayView<const S> stiffness;  ///< K [J], 0: rigid; shape [row_count]; empty: all rows are rigid
  S step{};                      ///< h [s]
};

namespace ISOCLOTH_BACKEND {

/// s of a row, `rigid` if it is rigid.
template <class S>
ISOCLOTH_HD S row_scale(const RowLaws<S>& laws, std::size_t row, S rigid) {
  if (laws.stiffness.empty()) return rigid;
  const S k = laws.stiffness[row];
  return select(k > S{}, laws.step * square_root(k), rigid);
}

/// The proximal term: lambda of rigid rows, 0 of compliant ones.
template <class S>
ISOCLOTH_HD S proximal(const RowLaws<S>& laws, std::size_t row, S lambda) {
  if (laws.stiffness.empty()) return lambda;
  return select(laws.stiffness[row] > S{}, S{}, lambda);
}

/// What a step must bring below its tolerance: C of rigid rows, C - lambda / s^2 of compliant ones, the
/// difference of the strains that positions and multipliers stand for.
template <class S>
ISOCLOTH_HD S mismatch(const RowLaws<S>& laws, std::size_t row, S c, S scale, S lambda) {
  if (laws.stiffness.empty()) return c;
  const auto is_compliant = (laws.stiffness[row] > S{}) & (scale > S{});
  const S one = S(typename Lanes<S>::Scalar(1));
  return select(is_compliant, c - lambda / select(is_compliant, scale * scale, one), c);
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
