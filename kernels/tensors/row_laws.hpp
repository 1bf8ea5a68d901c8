// What multipliers of rows answer: a rigid row holds C = 0, a compliant one has the energy K C^2 / 2, a
// bounded one holds C <= c.
//
// Rigid rows are an augmented Lagrangian: a compliance of eps D, D = diag(J M^-1 J^T), and the multipliers of
// the iteration before as its proximal term. Compliant rows have the compliance 1 / (h^2 K) and no proximal
// term; their multipliers, the stress that balances forces, end where they are h^2 K C. All go through the
// same system, scaled by s^2 = 1 / compliance:
//   (B + G+ + J^T s^2 J) d = -B (phi_j - phi~) - J^T (s^2 C + prox),  lambda := s^2 (C + J d) + prox.
// Their stress need not be linear, and may have a viscous part: K f(C) + K p_v(dC/dt); see apply_law().
// Bounded rows have C - c in the place of C. They are an augmented Lagrangian, too, of multipliers that only
// pull, lambda >= 0: s^2 = q k and prox = q lambda while the row is at its bound, else 0, with a penalty k =
// 10 (h^2 K + 1 / D) that is three times as large in each further iteration that finds the row beyond a tenth
// of c, and q = 1 / (1 + k a). The compliance a = 1 / (1000 h^2 K) lets multipliers end where a bound cannot
// be met: they stand for springs a thousand times as stiff as the cloth.
#pragma once

#include "engine/core/array_view.hpp"
#include "engine/material/membrane_laws.hpp"
#include "engine/rows/stencil_pattern.hpp"
#include "kernels/core/divergence.hpp"
#include "kernels/launch/lanes.hpp"
#include "kernels/tensors/row_memory.hpp"

namespace isocloth {

/// S: lane value.
template <class S>
struct RowBounds {
  ArrayView<const S> values;  ///< c, 0: the row has none; shape [row_count]; empty: no row has one
  ArrayView<S> growth;        ///< growth of the penalty since the step began, shape [row_count]
  S inertia{};                ///< inertia of the metric: 1 / D is inertia / diag(J M^-1 J^T)
  S tolerance{};              ///< tolerance of the step; a bound is kept within a tenth of c or this
  int iteration = 0;

  ISOCLOTH_HD bool exist() const { return !values.empty(); }
};
/// From this iteration on bounds do not hold up a step: they cannot be met.
constexpr int last_iteration_for_bounds = 15;

template <class S>
struct RowLaws {
  ArrayView<const S> stiffness;      ///< K [J], 0: rigid; shape [row_count]; empty: all rows are rigid
  S step{};                          ///< h [s]
  S coupling{};                      ///< a of Fabric::poisson_coupling(), for the rows of elements
  ArrayView<const S> multipliers{};  ///< lambda, shape [row_count]; empty: stress is K C, see of_strain()
  RowBounds<S> bounds{};
  // Numbers of CurvePiece, shape [RowLaw::count, pieces, 5].
  ArrayView<const S> curves{};                   ///< p by strain; empty: all laws are linear in C
  ArrayView<const S> viscosity{};                ///< p_v by dC/dt [1/s]; empty: nothing is viscous
  StrainMeasure measure = StrainMeasure::green;  ///< law of membranes
  ArrayView<const S> before{};  ///< C when the step began, shape [row_count], where anything is viscous
  RowMemory<S> memory{};
  // Rows of MembraneGroup: the first, and how many.
  std::size_t first_membrane = 0, membrane_rows = 0;

  /// The laws of plain C, whatever stress it meets.
  ISOCLOTH_HD RowLaws of_strain() const {
    RowLaws result;
    result.stiffness = stiffness;
    result.step = step;
    result.coupling = coupling;
    result.measure = measure;
    result.first_membrane = first_membrane;
    result.membrane_rows = membrane_rows;
    return result;
  }
  /// Whether a row is a difference of the strains of two triangles; see MembraneRows.
  ISOCLOTH_HD bool is_difference(std::size_t row) const {
    return row >= first_membrane && row < first_membrane + membrane_rows &&
           (row - first_membrane) % membrane_width >= 3;
  }
  /// Whether any row has more than K C, but differences.
  ISOCLOTH_HD bool have_laws() const { return !curves.empty() || !viscosity.empty() || memory.exists(); }
};

namespace ISOCLOTH_BACKEND {

/// s of a row, `rigid` if it is rigid.
template <class S>
ISOCLOTH_HD S row_scale(const RowLaws<S>& laws, std::size_t row, S rigid) {
  if (laws.stiffness.empty()) return rigid;
  const S k = laws.stiffness[row];
  return select(k > S{}, laws.step * square_root(k), rigid);
}

/// p(x) of a law and its derivative, of positive x.
template <class S>
ISOCLOTH_HD Response<S> response(const S* piece, std::size_t count, S x) {
  Response<S> found{S{}, S(typename Lanes<S>::Scalar(1))};
  for (std::size_t i = 0; i < count; ++i, piece += 5) {
    const S t = x - piece[0];
    const auto is_here = t >= S{};
    const S square = multiply_add(t, piece[4], piece[3]);
    found.stress =
        select(is_here, multiply_add(t, multiply_add(t, square, piece[2]), piece[1]), found.stress);
    found.slope =
        select(is_here, multiply_add(t, multiply_add(t, piece[4], square + square), piece[2]), found.slope);
  }
  return found;
}

/// x of p(x) = stress > 0: by Newton's method within the piece, which rises, between bounds that close in.
template <class S>
ISOCLOTH_HD S strain_of(const S* piece, std::size_t count, S stress) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  S begin{}, value{}, slope = number(1), square{}, cube{}, most = number(1e6);
  for (std::size_t i = 0; i < count; ++i, piece += 5) {
    const auto is_here = stress >= piece[1];
    begin = select(is_here, piece[0], begin);
    value = select(is_here, piece[1], value);
    slope = select(is_here, piece[2], slope);
    square = select(is_here, piece[3], square);
    cube = select(is_here, piece[4], cube);
    if (i + 1 < count)
      most = select(is_here, piece[5] - piece[0], most);
    else
      most = select(is_here, number(1e6), most);
  }
  const S wanted = stress - value;
  // Steps become their squares: after one of the root of rounding there is nothing left to gain.
  constexpr double small = sizeof(typename Lanes<S>::Scalar) == sizeof(float) ? 1e-4 : 1e-8;
  S low{}, high = most, t = wanted / slope;
  auto active = t > S{};
  for (int i = 0; i < 8 && any(active); ++i) {
    t = select(active & !((t > low) & (t < high)), number(0.5) * (low + high), t);
    const S bend = multiply_add(t, cube, square);
    const S beyond = multiply_add(t, multiply_add(t, bend, slope), -wanted);
    const S rise = multiply_add(t, multiply_add(t, cube, bend + bend), slope);
    low = select(active & (beyond < S{}), t, low);
    high = select(active & !(beyond < S{}), t, high);
    const S step = select(active, beyond / rise, S{});
    active = active & (select(step < S{}, -step, step) > number(small) * t);
    t = t - step;
  }
  t = select(t > low, t, low);
  return begin + select(t < high, t, high);
}

/// p of the curve of a law among `curves`, antisymmetric, and its derivative.
template <class S>
ISOCLOTH_HD Response<S> response_at(ArrayView<const S> curves, int law, S x) {
  const std::size_t count = curves.size() / (5 * RowLaw::count);
  const S zero{};
  Response<S> found =
      response(curves.data() + 5 * count * static_cast<std::size_t>(law), count, select(x < zero, -x, x));
  found.stress = select(x < zero, -found.stress, found.stress);
  return found;
}

/// p of the curve of a law by the tangent at x, or at that for which the stress `carried` stands where the
/// tangent is flatter there, by a tenth at least: where the fabric stiffens, strains of iterates that
/// overshoot would be answered by far too much; and steps which are nearly done go on as Newton's method
/// does.
template <class S>
ISOCLOTH_HD Response<S> response_near(ArrayView<const S> curves, int law, S x, S carried) {
  Response<S> found = response_at(curves, law, x);
  const std::size_t count = curves.size() / (5 * RowLaw::count);
  if (count == 1) return found;
  const S* const pieces = curves.data() + 5 * count * static_cast<std::size_t>(law);
  const S zero{}, size = select(x < zero, -x, x);
  carried = select(x < zero, -carried, carried);
  const S strain = strain_of(pieces, count, select(carried > zero, carried, zero));
  const Response<S> there = response(pieces, count, strain);
  const auto is_flatter = there.slope < S(static_cast<typename Lanes<S>::Scalar>(0.9)) * found.slope;
  const S straight = multiply_add(there.slope, size - strain, there.stress);
  found.stress = select(is_flatter, select(x < zero, -straight, straight), found.stress);
  found.slope = select(is_flatter, there.slope, found.slope);
  return found;
}

/// The x of a row that its law and memory are read at, and what stress over stiffness is multiplied by to be
/// p: of the law of membranes with this measure, or of a hinge, whose angle of 1 has the curvature
/// `curvature` [1/m].
template <class S>
ISOCLOTH_HD ThreadStrain<S> law_strain(Index law, StrainMeasure measure, S c, S curvature) {
  if (law == RowLaw::bend) return {curvature * c, curvature};
  return visit_membrane_law(measure, [&](auto of_law) { return of_law.thread(c); });
}

/// C and s of a compliant row as its law has them: with the tangent K f' in the place of K and stress over
/// tangent in that of C, s^2 C is the stress and C - lambda / s^2 still a strain, that of which the stress of
/// positions differs from that of multipliers. f is that of the law of membranes with this measure, and of
/// hinges p of the curvature, over `curvature`, that of an angle of 1 [1/m]. p_v of the rate since the step
/// began is added to it, and what rows remember to a part of p.
template <class S>
ISOCLOTH_HD void apply_law(const RowLaws<S>& laws, std::size_t row, int law, StrainMeasure measure, S& c,
                           S& scale, S curvature = S{}) {
  const S one = number<S>(1), zero{}, unit = scale * scale;
  const bool is_viscous = !laws.viscosity.empty();
  const S carried = laws.multipliers[row] / select(unit > zero, unit, one);
  S rate{};
  Response<S> viscous{};
  if (is_viscous) {
    rate = (c - laws.before[row]) / laws.step;
    viscous = response_at(laws.viscosity, law, rate);
  }
  Response<S> elastic{c, one};
  if (!laws.curves.empty() || laws.memory.exists()) {
    const ThreadStrain<S> at = law_strain(law, measure, c, curvature);
    const S stress = (carried - viscous.stress) * at.by_x;
    S of_curve = stress;
    if (laws.memory.exists())
      of_curve =
          (stress - memory_stress(laws.memory, row, law, at.x, laws.step)) / laws.memory.of_law(law)[0];
    elastic = {at.x, one};
    if (!laws.curves.empty()) elastic = response_near(laws.curves, law, at.x, of_curve);
    if (laws.memory.exists()) elastic = with_memory(laws.memory, row, law, at.x, laws.step, elastic, stress);
    if (law == RowLaw::bend)
      elastic.stress = elastic.stress / curvature;
    else
      elastic = visit_membrane_law(measure, [&](auto of_law) { return of_law.response(at, elastic); });
  }
  if (is_viscous) {
    viscous = response_near(laws.viscosity, law, rate, carried - elastic.stress);
    elastic.stress += viscous.stress;
    elastic.slope += viscous.slope / laws.step;
  }
  c = elastic.stress / elastic.slope;
  scale = scale * square_root(elastic.slope);
}

/// c_0 of MembraneRows: stress of differences is K (C + C^3 / c_0^2), straight from a number of c_0 on, where
/// it is some hundred times as steep as at 0: what is torn must not be stiffer than all bounds.
constexpr double difference_knee = 0.025, straight_from = 20;

/// C and s of a difference of threads, as apply_law() has them. The tangent is that at C, or, where the
/// multiplier stands for less strain, one of up to three steps of Newton's method towards that; they fall
/// from C to it.
template <class S>
ISOCLOTH_HD void apply_difference_law(S& c, S& scale, S lambda) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S zero{}, one = number(1), three = number(3), most = number(straight_from), unit = scale * scale;
  const auto is_negative = c < zero;
  const S size = number(1 / difference_knee) * select(is_negative, -c, c),
          carried = number(1 / difference_knee) * lambda / select(unit > zero, unit, one),
          wanted = larger(select(is_negative, -carried, carried), zero);
  S at = select(size < most, size, most);
  for (int i = 0; i < 3; ++i) {
    const S square = at * at, beyond = multiply_add(square, at, at) - wanted;
    at = at - larger(beyond, zero) / multiply_add(three, square, one);
  }
  const S square = at * at, slope = multiply_add(three, square, one),
          stress = multiply_add(slope, size - at, multiply_add(square, at, at));
  const S strain = number(difference_knee) * stress / slope;
  c = select(is_negative, -strain, strain);
  scale = scale * square_root(slope);
}

/// Energy of a difference over K: the integral of its stress by C, of shear C^2 / 2. law: RowLaw.
template <class S>
ISOCLOTH_HD S difference_energy(S c, int law) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S half = number(0.5);
  if (law == RowLaw::shear) return half * c * c;
  const S size = number(1 / difference_knee) * magnitude(c), most = number(straight_from),
          at = select(size < most, size, most), square = at * at, beyond = size - at,
          of_cubic = half * square * multiply_add(half, square, number(1)),
          stress = multiply_add(square, at, at), slope = multiply_add(number(3), square, number(1));
  return number(difference_knee * difference_knee) *
         multiply_add(beyond, multiply_add(half * slope, beyond, stress), of_cubic);
}

/// Stiffness of a slack band over that of one that pulls: enough for its row to have a part in the system.
constexpr double slack_stiffness = 1e-3;

/// C and s of a piece of elastic band, as apply_law() has them: f(C) = 2 (1 - 1 / s) with the stretch s =
/// sqrt(1 + C) > 1, of which the tension is k (s - 1), and slack_stiffness C of a shorter one; see BandRows.
template <class S>
ISOCLOTH_HD void apply_band(S& c, S& scale) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S zero{}, one = number(1);
  const auto is_taut = c > zero;
  const S inverse = one / square_root(one + select(is_taut, c, zero)),
          slope = select(is_taut, inverse * inverse * inverse, number(slack_stiffness));
  c = select(is_taut, (one - inverse) * number(2) / slope, c);
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
  // Inertia alone may have taken the first iterate beyond a bound that forces keep it from.
  auto is_active = has_part & (laws.multipliers[row] > S{}) & (beyond > -tenth);
  if (bounds.iteration > 0) is_active = is_active | (has_part & (beyond > S{}));
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

/// s (C - lambda / s^2) of a compliant row, so that h^2 times the energy K c^2 / 2 of its mismatch c is half
/// the square of that; 0 of others.
template <class S>
ISOCLOTH_HD S scaled_mismatch(const RowLaws<S>& laws, std::size_t row, S c, S scale, S lambda) {
  if (laws.stiffness.empty()) return S{};
  const auto counts = (laws.stiffness[row] > S{}) & (scale > S{});
  const S divisor = select(counts, scale, S(typename Lanes<S>::Scalar(1)));
  S off = select(counts, scale * c - lambda / divisor, S{});
  if (laws.bounds.exist()) off = select(laws.bounds.values[row] > S{}, S{}, off);
  return off;
}

/// What a step must bring below its tolerance: C of rigid rows, C - lambda / s^2 of compliant ones, the
/// difference of the strains that positions and multipliers stand for, a tenth of it where the row is a
/// difference of triangles, which is no stress of the cloth; C - c - a lambda of bounded ones where
/// it is positive, in units in which the tolerance is no more than c / 10. What is stretched beyond all
/// bounds (kernels/core/divergence.hpp) is off by all of its C, however well forces balance that.
template <class S>
ISOCLOTH_HD S mismatch(const RowLaws<S>& laws, std::size_t row, S c, S scale, S lambda) {
  if (laws.stiffness.empty()) return c;
  const double torn = laws.curves.empty() && !laws.memory.exists() ? largest_linear_strain : HUGE_VAL;
  const auto is_torn = c > S(static_cast<typename Lanes<S>::Scalar>(torn));
  const auto is_compliant = (laws.stiffness[row] > S{}) & (scale > S{});
  const S one = S(typename Lanes<S>::Scalar(1));
  const S off = select(is_compliant, c - lambda / select(is_compliant, scale * scale, one), c),
          of_row = laws.is_difference(row) ? S(typename Lanes<S>::Scalar(0.1)) * off : off;
  if (!laws.bounds.exist()) return select(is_torn, c, of_row);
  const S bound = laws.bounds.values[row];
  const auto is_bounded = bound > S{};
  const S stiffest = select(is_bounded, bound_stiffness(laws, row), one);
  const S beyond = c - lambda / stiffest;
  const auto counts = (scale > S{}) & (beyond > S{});
  const S ten = S(typename Lanes<S>::Scalar(10)),
          weight = larger(one, ten * laws.bounds.tolerance / select(is_bounded, bound, one));
  const S of_bound = laws.bounds.iteration < last_iteration_for_bounds ? weight * beyond : S{};
  return select(is_torn, c, select(is_bounded, select(counts, of_bound, S{}), of_row));
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
