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
template <class S>
ISOCLOTH_DEVICE S inverse_cube_root(S r) {
  S scale = number<S>(1);
  for (auto is_large = r > number<S>(8); any(is_large); is_large = r > number<S>(8)) {
    r = select(is_large, r * number<S>(0.125), r);
    scale = select(is_large, scale * number<S>(0.5), scale);
  }
  S root = number<S>(0.43) + number<S>(0.57) / r;  // within 11 %
  for (int n = 0; n < 5; ++n) root = root * ((4 - r * root * root * root) / 3);
  return scale * root;
}

/// What a contact keeps, and what it is in an iteration.
template <class S>
struct ContactPoint {
  Vec3<S> normal{}, displacement{};                ///< n; relative to the obstacle in this step [m]
  S gap{}, gap_before{};                           ///< g, and min(g_n, 0) where g < 0
  S area{}, inertia{};                             ///< A, m [kg]
  Vec3<S> force{}, began{};                        ///< F n + tau, now and when the step began
  S slip{};                                        ///< s
  ModeOf<S> mode = as_mode<S>(ContactMode::none);  ///< mode that the last iteration found
};

/// Force of a contact after an iteration.
template <class S>
struct ContactForce {
  Vec3<S> force{};
  ModeOf<S> mode = as_mode<S>(ContactMode::none);
  S slip{};
  S mismatch{};  ///< what the force differs by from the one that was solved for, over what is accepted
};

/// S: lane value, a contact in each lane.
template <class S>
struct CompressionLaw {
  using Real = typename Lanes<S>::Scalar;
  using Mask = typename Lanes<S>::Mask;

  CompressionCurve<S> curve{};
  S step{};      ///< h [s]
  S unit{};      ///< factor of the forces that contacts keep, see ContactControl [s^2]
  S firmness{};  ///< see contact_stiffening
  S slight{};    ///< force that may be wrong by itself, times unit [kg m]

  static constexpr Real viscous_time = Real(1e-3);  ///< eta [s]
  /// Slip over which friction falls to the dynamic one [m].
  static constexpr Real weakening_slip = Real(1e-4);
  static constexpr Real gripping = Real(50);      ///< k_t h^2 / m of a contact that bears little
  static constexpr Real rest_speed = Real(1e-4);  ///< what slips slower sticks [m/s]
  /// Share of `slight` that friction may differ by where it turned against what was solved for.
  static constexpr Real turned = Real(1) / 40;

  struct Squeeze {
    S depth;      ///< s(F) [m]
    S stiffness;  ///< k(F) unit [kg]
    S loaded;     ///< the part of it that comes of the load, k(F) F / (F + A q) unit [kg]
  };
  ISOCLOTH_DEVICE Squeeze squeeze(S normal_force, S area) const {
    const S p = normal_force / (unit * area), on_curve = select(p < curve.linear_from, p, curve.linear_from);
    const S left = curve.give * inverse_cube_root(1 + on_curve / curve.offset);  // t - c
    const S rate = 6 * unit * area / left;
    return {(curve.give - left + (p - on_curve) / curve.largest_slope) / 2, rate * (on_curve + curve.offset),
            rate * on_curve};
  }

  /// g_v [m] and v.
  struct Gap {
    S gap, rate;
  };
  ISOCLOTH_DEVICE Gap viscous(const ContactPoint<S>& point) const {
    const Mask pushes = point.gap < S{};
    const S rate = viscous_time / step;
    return {select(pushes, point.gap + rate * (point.gap - point.gap_before), point.gap),
            select(pushes, 1 + rate, number<S>(1))};
  }

  static ISOCLOTH_DEVICE S pressing(const ContactPoint<S>& point) {  ///< F, not below 0
    return larger(dot(point.force, point.normal), S{});
  }
  ISOCLOTH_DEVICE Squeeze squeeze(const ContactPoint<S>& point) const {
    return squeeze(pressing(point), point.area);
  }

  /// By how much the thickness differs from that of the force [m]; now: squeeze() of the point.
  ISOCLOTH_DEVICE S error(const ContactPoint<S>& point, const Squeeze& now) const {
    const S force = dot(point.force, point.normal), gap = viscous(point).gap;
    // What hardly pushes may still be let go.
    const Mask bears = (force > slight) | ((force > S{}) & (point.gap < S{}));
    return select(bears, magnitude(gap + now.depth), select(gap < S{}, -gap, S{}));
  }

  /// k_t unit [kg].
  static ISOCLOTH_DEVICE S grip(S normal_force, S stiffness, S inertia) {
    const S firm = gripping * inertia + normal_force / weakening_slip;
    return select(stiffness < firm, stiffness, firm);
  }
  static ISOCLOTH_DEVICE S coefficient(const FrictionView<S>& mu, S slip) {
    return mu.dynamic + (mu.static_ - mu.dynamic) * larger(S{}, 1 - slip / weakening_slip);
  }

  /// Mode none: the point is not in the step. now: squeeze() of the point.
  ISOCLOTH_DEVICE ContactResponse<S> response(const ContactPoint<S>& point, const Squeeze& now,
                                              const FrictionView<S>& mu) const {
    const Vec3<S> n = point.normal;
    const S force = pressing(point);
    const Gap gap = viscous(point);
    const S light = firmness * point.inertia, firm = now.loaded + light, left = gap.gap + now.depth;
    S k = select(now.stiffness < firm, now.stiffness, firm);
    // What bore much and comes off pulls back by no more than it pushed.
    const Mask comes_off = (left > S{}) & (k * left > 2 * force);
    if (any(comes_off)) k = select(comes_off, larger(2 * force / left, select(k < light, k, light)), k);
    const S pull = force - k * left;
    const Mask acts = (pull > S{}) | (force > S{}), rubs = acts & (mu.static_ > S{});
    ContactResponse<S> r{.mode = as_mode<S>(ContactMode::none)};
    if (!any(acts)) return r;
    r.mode = select(acts, as_mode<S>(ContactMode::smooth), r.mode);
    r.normal = n;
    r.pull = pull * n;
    r.along = gap.rate * k;
    if (!any(rubs)) return r;
    const Vec3<S> slip = point.displacement - dot(point.displacement, n) * n;
    // Of a contact that has no force yet: what the point alone needs.
    const S alone = larger(-point.inertia * gap.gap, S{}),
            bound =
                coefficient(mu, point.slip) * select(force > S{}, force, select(alone < pull, alone, pull));
    rub(point, slip, now, bound, rubs, r);
    return r;
  }

  /// Friction up to `bound`, of contacts that rub.
  ISOCLOTH_DEVICE void rub(const ContactPoint<S>& point, Vec3<S> slip, const Squeeze& now, S bound, Mask rubs,
                           ContactResponse<S>& r) const {
    const Vec3<S> n = point.normal;
    const S force = pressing(point), began = larger(dot(point.began, n), S{});
    // In a first iteration the force is the one that the step began with.
    S stiffness = now.stiffness;
    if (any(rubs & (began != force))) stiffness = squeeze(began, point.area).stiffness;
    const S before = grip(began, stiffness, point.inertia), own = grip(force, now.stiffness, point.inertia);
    S kept = number<S>(1);
    if (const Mask softens = before > own; any(softens)) kept = select(softens, own / before, kept);
    const Vec3<S> z = kept * (point.began - dot(point.began, n) * n) - own * slip;
    const S size = length(z);
    const Mask may_stick =
        (point.mode == as_mode<S>(ContactMode::none)) & (point.inertia * length(slip) <= 2 * bound);
    const Mask slides = rubs & (size > bound) & !may_stick;
    r.grip = select(rubs, own, r.grip);
    r.mode = select(rubs, as_mode<S>(ContactMode::stick), r.mode);
    S across = own;
    if (any(slides)) {
      const Mask goes_on = slides & (2 * length(slip) * point.inertia > bound);
      r.mode = select(slides, as_mode<S>(ContactMode::slide), r.mode);
      r.mode = select(goes_on, as_mode<S>(ContactMode::slide_on), r.mode);
      r.slip_direction = select(slides, (1 / size) * z, r.slip_direction);
      across = select(slides, across * (bound / size), across);
    }
    r.across = select(rubs, across, r.across);
    r.pull = select(rubs, r.pull + across / own * z, r.pull);
  }

  /// Force after the displacement d of the point, of one that is in the step. slip: as the step began.
  ISOCLOTH_DEVICE ContactForce<S> after(const ContactResponse<S>& r, Vec3<S> d, S slip,
                                        const FrictionView<S>& mu) const {
    const Vec3<S> n = r.normal;
    const S d_n = dot(n, d), pull = dot(n, r.pull), found = pull - r.along * d_n, force = larger(found, S{}),
            bound = coefficient(mu, slip) * force;
    const S accepted = larger(Real(accepted_share) * force, slight);
    ContactForce<S> next{force * n, r.mode, S{}, (force - found) / accepted};
    const Mask rubs = mu.static_ > S{};
    if (!any(rubs)) return next;
    const Vec3<S> held = r.pull - pull * n, d_t = d - d_n * n, s = r.slip_direction;
    const Mask slides_on = r.mode == as_mode<S>(ContactMode::slide_on);
    const Vec3<S> found_t = held - r.across * select(slides_on, d_t - dot(s, d_t) * s, d_t);
    const Vec3<S> z = r.grip / r.across * held - r.grip * d_t;
    const S size = length(z);
    const Mask slides = size > bound;
    const Vec3<S> tau = select(slides, (bound / size) * z, z);
    // What turned round would drive cloth that lies still.
    const S turned_round = larger(Real(accepted_share) * force, turned * slight);
    const S mismatch =
        next.mismatch + length(tau - found_t) / select(dot(tau, found_t) < S{}, turned_round, accepted);
    const Mask slipped = size - bound > r.grip * rest_speed * step;
    next.force = select(rubs, next.force + tau, next.force);
    next.mismatch = select(rubs, mismatch, next.mismatch);
    next.mode = select(rubs, select(slides, as_mode<S>(ContactMode::slide), as_mode<S>(ContactMode::stick)),
                       next.mode);
    next.slip = select(rubs & slipped, slip, next.slip);
    return next;
  }
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
