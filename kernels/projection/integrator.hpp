// How places and velocities follow from forces: backward Euler, and two-step formulas that remember the step
// before. All that depends on it are two numbers.
#pragma once

#include "engine/model/integrator.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// A step of h ends with v = rate (x - x^) / h and an acceleration of rate (v - v^) / h, where x^ = x_n +
/// memory (x_n - x_{n-1}) and v^ likewise. Multipliers and forces on nodes are those times h^2, whatever the
/// integrator: forces mean the same in parts of every length.
template <class S>
struct IntegratorCoefficients {
  S rate{}, memory{};
};

/// What a cloth remembers of the step before; see StepHistoryLayout::size().
struct StepHistoryLayout {
  std::size_t nodes = 0;  ///< 0: nothing is remembered

  /// Place of the velocities, which follow the positions.
  ISOCLOTH_HD std::size_t velocities() const { return 3 * nodes; }
  /// Place of the length of the step before [s], 0: there was none.
  ISOCLOTH_HD std::size_t step() const { return 6 * nodes; }
  ISOCLOTH_HD std::size_t size() const { return nodes == 0 ? 0 : 6 * nodes + 1; }
};

namespace ISOCLOTH_BACKEND {

/// BDF2 after a step of length `before`, with w = h / before: rate (1 + 2 w) / (1 + w), memory w^2 / (1 + 2
/// w) (Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, III.5). Without a step before, and
/// where w exceeds 2 (stable up to 1 + sqrt 2), w is 0: backward Euler, rate 1 and memory 0.
template <class S>
ISOCLOTH_HD IntegratorCoefficients<S> bdf2(S h, S before) {
  using Scalar = typename Lanes<S>::Scalar;
  const S one(Scalar(1)), two(Scalar(2));
  const S ratio = h / select(before > S{}, before, one);
  const S w = select((before > S{}) & (ratio <= two), ratio, S{}), twice = one + w + w;
  return {twice / (one + w), w * w / twice};
}

/// Coefficients of a step of h after one of length `before`, 0: there was none.
template <class S>
ISOCLOTH_HD IntegratorCoefficients<S> coefficients(Integrator integrator, S h, S before) {
  switch (integrator) {
    case Integrator::backward_euler:
    case Integrator::automatic:
      break;
    case Integrator::bdf2:
      return bdf2(h, before);
  }
  return {S(typename Lanes<S>::Scalar(1)), S{}};
}

/// x^ or v^.
template <class S>
ISOCLOTH_HD Vec3<S> extrapolated(S memory, Vec3<S> now, Vec3<S> before) {
  return multiply_add(memory, now - before, now);
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
