// Conjugate gradients on A = P + E with the factor of P, for the lanes of a tile and for the host.
#pragma once

#include "kernels/launch/lanes.hpp"

namespace isocloth {

/// Relative tolerance where nothing takes up what is left of the residual.
template <class Real>
ISOCLOTH_HD constexpr double exact_rtol() {
  return sizeof(Real) == sizeof(float) ? 1e-5 : 1e-12;
}
constexpr int most_cg_iterations = 100;

namespace ISOCLOTH_BACKEND {

/// (P + E) x = b (Hestenes and Stiefel 1952), preconditioned by P, until (r . P^-1 r) <= rtol^2 (b . P^-1 b):
/// one product with E and one solve with P per iteration, because P p follows from p like p from z = P^-1 r.
/// `System` has b in r and does for those lanes whose number is not zero:
///   precondition()  z = P^-1 r
///   energy()        r . z
///   most_energy()   a bound of it that needs no z: r . D^-1 r of some D <= P; may be absent
///   begin()         x = z - z, which is not 0 where z is not finite; p = z, q = r
///   curvature()     w = q + E p; p . w
///   descend(alpha)  x += alpha p, r -= alpha w
///   turn(beta)      p = z + beta p, q = r + beta q
/// A lane that is done takes steps of length 0: what the others do does not show in it. Ends early where A is
/// not positive along p; x is no number where r . z is none, as squares of 1e200 are. Returns the iterations.
template <class S, class System>
ISOCLOTH_DEVICE int conjugate_gradients(System& system, double rtol) {
  using Scalar = typename Lanes<S>::Scalar;
  const S one(Scalar(1)), goal_factor(static_cast<Scalar>(rtol * rtol));
  system.precondition();
  S energy = system.energy();
  const S goal = goal_factor * energy, length = energy - energy;  // 0, or no number
  system.begin();
  auto active = !(energy <= S{});
  int iteration = 0;
  while (any(active) && iteration < most_cg_iterations) {
    const S curvature = system.curvature();
    active = active & (curvature > S{});
    system.descend(select(active, energy / select(active, curvature, one), length));
    ++iteration;
    if constexpr (requires { system.most_energy(); }) {
      active = active & (system.most_energy() > goal);
      if (!any(active)) break;  // and z is not needed any more
    }
    system.precondition();
    const S next = system.energy();
    active = active & (next > goal);
    system.turn(select(active, next / select(active, energy, one), S{}));
    energy = next;
  }
  return iteration;
}

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
