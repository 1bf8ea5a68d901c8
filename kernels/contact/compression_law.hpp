// The row of a contact of cloth with an obstacle or a body: the thickness of cloth is a material.
//
// The middle of the cloth keeps half of its thickness t(p) of the pressure p
// (engine/material/compression.hpp) from the obstacle. A point that stands for the area A and bears the force
// F along the unit normal n, with the gap g [m], its distance less T/2, is so far squeezed and so stiff:
//   s(F) = (T - t(F / A)) / 2,   k(F) = 2 A S(F / A) = -dF/dg.
// A step ends where the gap is that of the force, g_v = -s(F); a function of the state and not of history.
// Where g < 0, g_v = g + (eta / h) (g - min(g_n, 0)) with the gap g_n when the step began: a dashpot
// along with the spring, which never pulls. With v = dg_v/dg, and d the further displacement of the point,
//   F^ = F - k (g_v + s(F)),   F' = max(0, F^ - k v n . d);   in the step where F^ > 0 or F > 0.
// What was solved for and is cut off, a pull, is a mismatch, as is friction beyond its bound.
// The slope is that at the force: t(F) is convex, Newton's method climbs to F from below, and s and k exist
// for every iterate, however deep, where p(t) and its tangent mislead. Slopes of what bears little are
// bounded by contact_stiffening m, of what comes off by 2 F / gap: thin sheets would jump, loaded ones be
// thrown. Bounds change how fast, not where a step ends.
//
// Friction: tau [N], tau . n = 0, holds by a spring k_t, no stiffer than the contact, and gives as it bends:
// with u the slip of this step, tau_n and k_n what they were when it began, d the further displacement, and
// mu' the coefficient after the slip s since the point last stuck,
//   z = tau_n min(1, k_t / k_n) - k_t u,   mu' = mu_d + (mu_s - mu_d) max(0, 1 - s / 0.1 mm)
//   tau' = w (z - k_t d_t),   w = min(1, mu' F / |z|);
// it is then cut to mu' F', as z' - what the spring would bear - asks for. w is that of the iterate before:
// the pull never grows beyond its bound, so that what turns round does not tilt to and fro. Where the slip is
// longer than friction can stop, nothing resists along it. s counts slip by the speed at which steps begin: a
// coefficient that changed within a step would have two solutions. A spring that softens loses force, so that
// it gains no energy. The coupling mu' dF would not be symmetric, and is left to the next iteration.
//
// Contacts keep forces and stiffness times `unit`, h^2 [s^2] where the metric is that of the step.
#pragma once

#include "kernels/contact/contact_law.hpp"

namespace isocloth {

/// What the force at a contact may differ by from the one that was solved for when a step ends: a share of
/// itself, or so many weights of a mean node, in steps that last twice as many.
constexpr double accepted_share = 0.2;
ISOCLOTH_HD double accepted_weights(int iteration) { return iteration < 2 * patience ? 20 : 40; }

namespace ISOCLOTH_BACKEND {

/// r^(-1/3) of a number from 1 on, to rounding, by the same operations on all machines.
template <class Real>
ISOCLOTH_DEVICE Real inverse_cube_root(Real r) {
  Real scale = 1;
  for (; r > 8; r *= Real(0.125)) scale *= Real(0.5);
  Real root = Real(0.43) + Real(0.57) / r;  // within 11 %
  for (int n = 0; n < 5; ++n) root *= (4 - r * root * root * root) / 3;
  return scale * root;
}

/// What a contact keeps, and what it is in an iteration.
template <class Real>
struct ContactPoint {
  Vec3<Real> normal{}, displacement{};   ///< n; of the point relative to the obstacle in this step [m]
  Real gap{}, gap_before{};              ///< g, and min(g_n, 0) where g < 0
  Real area{}, inertia{};                ///< A, m [kg]
  Vec3<Real> force{}, began{};           ///< F n + tau, now and when the step began
  Real slip{};                           ///< s
  ContactMode mode = ContactMode::none;  ///< mode that the last iteration found
};

/// Force of a contact after an iteration.
template <class Real>
struct ContactForce {
  Vec3<Real> force{};
  ContactMode mode = ContactMode::none;
  Real slip{};
  Real mismatch{};  ///< what the force differs by from the one that was solved for, over what is accepted
};

template <class Real>
struct CompressionLaw {
  CompressionCurve<Real> curve{};
  Real step{};      ///< h [s]
  Real unit{};      ///< factor of the forces that contacts keep, see ContactControl [s^2]
  Real firmness{};  ///< see contact_stiffening
  Real slight{};    ///< force that may be wrong by itself, times unit [kg m]

  static constexpr Real viscous_time = Real(1e-3);  ///< eta [s]
  /// Slip over which friction falls to the dynamic one [m].
  static constexpr Real weakening_slip = Real(1e-4);
  static constexpr Real gripping = Real(50);      ///< k_t h^2 / m of a contact that bears little
  static constexpr Real rest_speed = Real(1e-4);  ///< what slips slower sticks [m/s]
  /// Share of `slight` that friction may differ by where it turned against what was solved for.
  static constexpr Real turned = Real(1) / 40;

  struct Squeeze {
    Real depth;      ///< s(F) [m]
    Real stiffness;  ///< k(F) unit [kg]
    Real loaded;     ///< the part of it that comes of the load, k(F) F / (F + A q) unit [kg]
  };
  ISOCLOTH_DEVICE Squeeze squeeze(Real normal_force, Real area) const {
    const Real p = normal_force / (unit * area), on_curve = p < curve.linear_from ? p : curve.linear_from;
    const Real left = curve.give * inverse_cube_root(1 + on_curve / curve.offset);  // t - c
    const Real rate = 6 * unit * area / left;
    return {(curve.give - left + (p - on_curve) / curve.largest_slope) / 2, rate * (on_curve + curve.offset),
            rate * on_curve};
  }

  /// g_v [m] and v.
  struct Gap {
    Real gap, rate;
  };
  ISOCLOTH_DEVICE Gap viscous(const ContactPoint<Real>& point) const {
    if (!(point.gap < 0)) return {point.gap, Real(1)};
    const Real rate = viscous_time / step;
    return {point.gap + rate * (point.gap - point.gap_before), 1 + rate};
  }

  /// By how much the thickness differs from that of the force [m].
  ISOCLOTH_DEVICE Real error(const ContactPoint<Real>& point) const {
    const Real force = dot(point.force, point.normal), gap = viscous(point).gap;
    // What hardly pushes may still be let go.
    if (force > slight || (force > 0 && point.gap < 0))
      return magnitude(gap + squeeze(force, point.area).depth);
    return gap < 0 ? -gap : Real(0);
  }

  /// k_t unit [kg].
  static ISOCLOTH_DEVICE Real grip(Real normal_force, Real stiffness, Real inertia) {
    const Real firm = gripping * inertia + normal_force / weakening_slip;
    return stiffness < firm ? stiffness : firm;
  }
  static ISOCLOTH_DEVICE Real coefficient(const FrictionView<Real>& mu, Real slip) {
    return mu.dynamic + (mu.static_ - mu.dynamic) * larger(Real(0), 1 - slip / weakening_slip);
  }

  /// Mode none: the point is not in the step.
  ISOCLOTH_DEVICE ContactResponse<Real> response(const ContactPoint<Real>& point,
                                                 const FrictionView<Real>& mu) const {
    const Vec3<Real> n = point.normal;
    const Real force = larger(dot(point.force, n), Real(0));
    const Gap gap = viscous(point);
    const Squeeze now = squeeze(force, point.area);
    const Real light = firmness * point.inertia, firm = now.loaded + light, left = gap.gap + now.depth;
    Real k = now.stiffness < firm ? now.stiffness : firm;
    // What bore much and comes off pulls back by no more than it pushed.
    if (left > 0 && k * left > 2 * force) k = larger(2 * force / left, k < light ? k : light);
    const Real pull = force - k * left;
    ContactResponse<Real> r{.mode = ContactMode::none};
    if (!(pull > 0) && !(force > 0)) return r;
    r.mode = ContactMode::smooth;
    r.normal = n;
    r.pull = pull * n;
    r.along = gap.rate * k;
    if (!(mu.static_ > 0)) return r;
    const Vec3<Real> slip = point.displacement - dot(point.displacement, n) * n;
    // Of a contact that has no force yet: what the point alone needs.
    const Real alone = larger(-point.inertia * gap.gap, Real(0)),
               bound = coefficient(mu, point.slip) * (force > 0      ? force
                                                      : alone < pull ? alone
                                                                     : pull);
    rub(point, slip, now.stiffness, bound, r);
    return r;
  }

  /// Friction up to `bound`.
  ISOCLOTH_DEVICE void rub(const ContactPoint<Real>& point, Vec3<Real> slip, Real stiffness, Real bound,
                           ContactResponse<Real>& r) const {
    const Vec3<Real> n = point.normal;
    const Real began = larger(dot(point.began, n), Real(0)),
               before = grip(began, squeeze(began, point.area).stiffness, point.inertia);
    r.grip = grip(larger(dot(point.force, n), Real(0)), stiffness, point.inertia);
    const Real kept = before > r.grip ? r.grip / before : Real(1);
    const Vec3<Real> z = kept * (point.began - dot(point.began, n) * n) - r.grip * slip;
    const Real size = length(z);
    r.mode = ContactMode::stick;
    r.across = r.grip;
    const bool may_stick = point.mode == ContactMode::none && point.inertia * length(slip) <= 2 * bound;
    if (size > bound && !may_stick) {
      r.mode = 2 * length(slip) * point.inertia > bound ? ContactMode::slide_on : ContactMode::slide;
      r.slip_direction = (1 / size) * z;
      r.across *= bound / size;
    }
    r.pull += r.across / r.grip * z;
  }

  /// Force after the displacement d of the point, of one that is in the step. slip: as the step began.
  ISOCLOTH_DEVICE ContactForce<Real> after(const ContactResponse<Real>& r, Vec3<Real> d, Real slip,
                                           const FrictionView<Real>& mu) const {
    const Vec3<Real> n = r.normal;
    const Real d_n = dot(n, d), pull = dot(n, r.pull), found = pull - r.along * d_n,
               force = larger(found, Real(0)), bound = coefficient(mu, slip) * force;
    const Real accepted = larger(Real(accepted_share) * force, slight);
    ContactForce<Real> next{force * n, r.mode, Real(0), (force - found) / accepted};
    if (!(mu.static_ > 0)) return next;
    const Vec3<Real> held = r.pull - pull * n, d_t = d - d_n * n, s = r.slip_direction;
    const Vec3<Real> found_t =
        held - r.across * (r.mode == ContactMode::slide_on ? d_t - dot(s, d_t) * s : d_t);
    const Vec3<Real> z = r.grip / r.across * held - r.grip * d_t;
    const Real size = length(z);
    const Vec3<Real> tau = bounded(z, size, bound);
    next.force += tau;
    // What turned round would drive cloth that lies still.
    next.mismatch +=
        length(tau - found_t) /
        (dot(tau, found_t) < 0 ? larger(Real(accepted_share) * force, turned * slight) : accepted);
    next.mode = size > bound ? ContactMode::slide : ContactMode::stick;
    next.slip = size - bound > r.grip * rest_speed * step ? slip : Real(0);
    return next;
  }
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
