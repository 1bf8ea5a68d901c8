// When a step has diverged.
#pragma once

#include "engine/core/platform.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

// A step that meets its tolerances has not diverged. One that misses them has where it ends beyond one of two
// bounds, and nothing that follows brings such a cloth back:
// - Strain: a row is stretched beyond `largest_strain`. Rows of averages bound their elements, too: what they
//   average is not negative. Of edges that are bounded from above, or not at all, the strain itself counts,
//   and so it does of rows of elastic cloth, which miss the tolerance there: their forces may be in balance
//   still.
// - Kinetic energy: a node went farther than its velocity, gravity and `largest_way` diameters of the cloth
// at
//   rest together take it, |x' - x|^2 > 2 (|h v|^2 + w^2) with w = h^2 delta g / rho + largest_way diameters;
//   the step's velocity is (x' - x) / h. Constraints move no node across the cloth: ten diameters leave room
//   for pins, obstacles and wind that drag the whole of it along.
constexpr double largest_strain = 10;  ///< 1: as long again as at rest
constexpr double largest_way = 10;     ///< greatest way of a node in a step [diameters of the cloth]

/// The C of an elastic row beyond which its strain counts. A band that is stretched by largest_strain has
/// this one, 2 s^2 (s - 1) < 2 s^3 of its stretch s (apply_band() in kernels/tensors/row_laws.hpp); other
/// rows have s^2 - 1, and come here at five times the strain. Rows with curves have no C that tells.
constexpr double largest_linear_strain =
    2 * (1 + largest_strain) * (1 + largest_strain) * (1 + largest_strain);

/// Residual of a row that is stretched so far: (1 + e)^2 - 1 of squared lengths, e of lengths.
ISOCLOTH_HD constexpr double largest_residual(bool of_lengths) {
  return of_lengths ? largest_strain : (1 + largest_strain) * (1 + largest_strain) - 1;
}

/// How far beyond the second bound a node is, squared; in it: not above 0, or not a number. displacement: x'
/// - x [m]; inertia: h v [m]; reach: w [m].
template <class S>
ISOCLOTH_HD S excess_displacement(Vec3<S> displacement, Vec3<S> inertia, S reach) {
  const S allowed = dot(inertia, inertia) + reach * reach;
  return dot(displacement, displacement) - (allowed + allowed);
}

}  // namespace isocloth
