// What multipliers of rows answer: a rigid row holds C = 0, a compliant one has the energy K C^2 / 2, a
// bounded one holds C <= c.
//
// Rigid rows are an augmented Lagrangian: a compliance of eps D, D = diag(J M^-1 J^T), and the multipliers of
// the iteration before as its proximal term. Compliant rows have the compliance 1 / (h^2 K) and no proximal
// term; their multipliers, the stress that balances forces, end where they are h^2 K C. All go through the
// same system, scaled by s^2 = 1 / compliance:
//   (B + G+ + J^T s^2 J) d = -B (phi_j - phi~) - J^T (s^2 C + prox),  lambda := s^2 (C + J d) + prox.
// Rows of elements may have a stress that is not linear, K f(C); see apply_curve(). Bounded rows have C - c
// in the place of C. They are an augmented Lagrangian, too, of multipliers that only pull, lambda >= 0: s^2 =
// q k and prox = q lambda while the row is at its bound, else 0, with a penalty k = 10 (h^2 K + 1 / D) that
// is three times as large in each further iteration that finds the row beyond a tenth of c, and q = 1 / (1 +
// k a). The compliance a = 1 / (1000 h^2 K) lets multipliers end where a bound cannot be met: they stand for
// springs a thousand times as stiff as the cloth.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// S: lane value.
template <class S>
struct RowBounds {
  ArrayView<const S> values;       ///< c, 0: the row has none; shape [row_count]; empty: no row has one
  ArrayView<const S> multipliers;  ///< lambda, shape [row_count]
  ArrayView<S> growth;             ///< of the penalty since the step began, shape [row_count]
  S inertia{};                     ///< of the metric: 1 / D is inertia / diag(J M^-1 J^T)
  S tolerance{};                   ///< of the step; a bound is kept within a tenth of c or this
  int iteration = 0;

  ISOCLOTH_HD bool exist() const { return !values.empty(); }
};
/// From this iteration on bounds do not hold up a step: they cannot be met.
constexpr int last_iteration_for_bounds = 15;

template <class S>
struct RowLaws {
  ArrayView<const S> stiffness;  ///< K [J], 0: rigid; shape [row_count]; empty: all rows are rigid
  S step{};                      ///< h [s]
  S coupling{};                  ///< of the rows of elements: a of Fabric::poisson_coupling()
  RowBounds<S> bounds;
  /// Of the rows of elements: numbers of CurvePiece, shape [3, pieces, 5]; empty: all are linear.
  ArrayView<const S> curves{};
};

namespace ISOCLOTH_BACKEND {

/// s of a row, `rigid` if it is rigid.
template <class S>
ISOCLOTH_HD S row_scale(const RowLaws<S>& laws, std::size_t row, S rigid) {
  if (laws.stiffness.empty()) return rigid;
  const S k = laws.stiffness[row];
  return select(k > S{}, laws.step * square_root(k), rigid);
}

/// C and s of row w of an element as its curve has them: with the tangent K f'(C) in the place of K and
/// f(C) / f'(C) in that of C, s^2 C is the stress h^2 K f(C) and C - lambda / s^2 still a strain, that of
/// which the stress of positions differs from that of multipliers.
template <class S>
ISOCLOTH_HD void apply_curve(const RowLaws<S>& laws, int w, S& c, S& scale) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const std::size_t count = laws.curves.size() / 15;
  const S* piece = laws.curves.data() + 5 * count * static_cast<std::size_t>(w);
  const S size = select(c < S{}, -c, c);
  S stress{}, slope = number(1);
  for (std::size_t i = 0; i < count; ++i, piece += 5) {
    const S t = size - piece[0];
    const auto is_here = t >= S{};
    const S square = multiply_add(t, piece[4], piece[3]);
    stress = select(is_here, multiply_add(t, multiply_add(t, square, piece[2]), piece[1]), stress);
    slope = select(is_here, multiply_add(t, multiply_add(t, piece[4], square + square), piece[2]), slope);
  }
  c = select(c < S{}, -stress, stress) / slope;
  scale = scale * square_root(slope);
}

/// 1 / a of a bounded row.
template <class S>
ISOCLOTH_HD S bound_stiffness(const RowLaws<S>& laws, std::size_t row) {
  return S(typename Lanes<S>::Scalar(1000)) * (laws.step * laws.step) * laws.stiffness[row];
}

/// C - c and s of a row that has a bound, what they are of one that has none. d: diag(J M^-1 J^T), has_part:
/// where free nodes have a part in it.
template <class S, class Mask>
ISOCLOTH_HD void apply_bound(const RowLaws<S>& laws, std::size_t row, S d, Mask has_part, S& c, S& scale) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const RowBounds<S>& bounds = laws.bounds;
  const S bound = bounds.values[row], tenth = number(0.1) * bound, beyond = c - bound, one = number(1);
  const auto is_bounded = bound > S{};
  S growth = one;
  if (bounds.iteration > 0) {
    const S more = number(3) * bounds.growth[row];
    growth = select((beyond > tenth) & (more < number(1e6)), more, bounds.growth[row]);
  }
  bounds.growth[row] = growth;
  const S stiffest = bound_stiffness(laws, row);
  const S penalty =
      number(10) * growth * (number(1e-3) * stiffest + bounds.inertia / select(has_part, d, one));
  const auto is_active = has_part & ((beyond > S{}) | ((bounds.multipliers[row] > S{}) & (beyond > -tenth)));
  const S square = penalty * stiffest / (stiffest + penalty);
  c = select(is_bounded, beyond, c);
  scale = select(is_bounded, select(is_active, square_root(square), S{}), scale);
}

/// The proximal term: lambda of rigid rows, 0 of compliant ones, q lambda of bounded ones.
template <class S>
ISOCLOTH_HD S proximal(const RowLaws<S>& laws, std::size_t row, S scale, S lambda) {
  if (laws.stiffness.empty()) return lambda;
  const S of_row = select(laws.stiffness[row] > S{}, S{}, lambda);
  if (!laws.bounds.exist()) return of_row;
  const auto is_bounded = laws.bounds.values[row] > S{};
  const S stiffest = select(is_bounded, bound_stiffness(laws, row), S(typename Lanes<S>::Scalar(1)));
  return select(is_bounded, (lambda / stiffest) * (stiffest - scale * scale), of_row);
}

/// lambda as it may be: of bounded rows none where they are not at the bound, and no push.
template <class S>
ISOCLOTH_HD S admissible(const RowLaws<S>& laws, std::size_t row, S scale, S lambda) {
  if (!laws.bounds.exist()) return lambda;
  return select((laws.bounds.values[row] > S{}) & !((scale > S{}) & (lambda > S{})), S{}, lambda);
}

/// What a step must bring below its tolerance: C of rigid rows, C - lambda / s^2 of compliant ones, the
/// difference of the strains that positions and multipliers stand for; C - c - a lambda of bounded ones where
/// it is positive, in units in which the tolerance is no more than c / 10.
template <class S>
ISOCLOTH_HD S mismatch(const RowLaws<S>& laws, std::size_t row, S c, S scale, S lambda) {
  if (laws.stiffness.empty()) return c;
  const auto is_compliant = (laws.stiffness[row] > S{}) & (scale > S{});
  const S one = S(typename Lanes<S>::Scalar(1));
  const S of_row = select(is_compliant, c - lambda / select(is_compliant, scale * scale, one), c);
  if (!laws.bounds.exist()) return of_row;
  const S bound = laws.bounds.values[row];
  const auto is_bounded = bound > S{};
  const S stiffest = select(is_bounded, bound_stiffness(laws, row), one);
  const S beyond = c - lambda / stiffest;
  const auto counts = (scale > S{}) & (beyond > S{});
  const S ten = S(typename Lanes<S>::Scalar(10)),
          weight = larger(one, ten * laws.bounds.tolerance / select(is_bounded, bound, one));
  const S of_bound = laws.bounds.iteration < last_iteration_for_bounds ? weight * beyond : S{};
  return select(is_bounded, select(counts, of_bound, S{}), of_row);
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
