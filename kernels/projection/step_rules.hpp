// How a step is iterated, whoever iterates it: kernel by kernel, or tile by tile.
#pragma once

#include "kernels/core/divergence.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// The least relative softness of the rows that the factor of a matrix can take.
ISOCLOTH_HD constexpr double least_eps(bool is_float) { return is_float ? 1e-6 : 1e-9; }

/// How much more energy than at the end of a step mismatches may have before they are projected again by an
/// old matrix: of larger ones the multipliers would answer for forces that do not balance.
inline constexpr double mismatch_before_projection = 1e3;
/// How much the largest mismatch before a projection would have if all were as large. Stiff cloth that is
/// within its tolerance there may still be far off.
inline constexpr double largest_mismatch_before_projection = 4e5;
/// A strain that is rounding; see MismatchEnergy::rounding.
ISOCLOTH_HD constexpr double strain_rounding(bool is_float) { return is_float ? 1e-5 : 1e-10; }

namespace ISOCLOTH_BACKEND {

/// Whether the largest mismatch of rows is small enough for that; rate [J/s^2] and rounding [J] of
/// MismatchEnergy, the latter of strains `least`.
template <class S>
ISOCLOTH_HD auto is_near(S residual, S h, S rate, S rounding, double least) {
  const auto number = [](double x) { return S(static_cast<typename Lanes<S>::Scalar>(x)); };
  const S share = residual * number(1 / least);
  return share * share * rounding <=
         number(largest_mismatch_before_projection) * multiply_add(h * h, rate, rounding);
}

/// eps of the next iteration, from the residuals of the last two. Residuals in directions where J M^-1 J^T is
/// nearly singular (the sheet is nearly flat there) shrink by eps D / (sigma + eps D) per iteration: slowly,
/// unless eps follows. Far from the surface a small eps overshoots, hence only where the rows are nearly
/// linear, and back again, up to `most`, when the residual grows.
template <class S>
ISOCLOTH_HD S adapted_eps(S eps, S before, S after, double least, double most) {
  using Scalar = typename Lanes<S>::Scalar;
  const auto number = [](double x) { return S(static_cast<Scalar>(x)); };
  const S factor = number(10), least_now = number(least < most ? least : most);
  const S up = eps * factor, down = eps / factor;
  const auto grew = after > before;
  const auto slow = (after > number(0.1) * before) & (after < number(3e-3));
  return select(grew, select(up > number(most), number(most), up),
                select(slow, select(down > least_now, down, least_now), eps));
}

/// Whether the next attempt may start from the multipliers of this one, which ended with this residual: those
/// that led beyond all bounds are no start. A matrix that could not be factorised is better with them.
template <class S>
ISOCLOTH_HD auto starts_warm(S residual, S bad_pivot) {
  return (residual <= S(static_cast<typename Lanes<S>::Scalar>(largest_residual(false)))) | (bad_pivot > S{});
}

/// Whether a step keeps its multipliers: of rows that cannot be met they grow in every iteration, and would
/// keep the cloth from coming back.
template <class S>
ISOCLOTH_HD auto keeps_multipliers(S residual, double tolerance) {
  return residual <= S(static_cast<typename Lanes<S>::Scalar>(tolerance));
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
