// The law of rigid contacts, of cloth with cloth, of fast projection, of impulses and of bodies among
// themselves: when one begins, acts and is let go, what may stay of a depth, how stiff it is, and Coulomb's
// friction. Where the proximal Newton method brings cloth to obstacles and bodies its thickness gives instead
// (compression_law.hpp). Functions of numbers alone; where things touch is found elsewhere
// (contact_search.hpp, host/bodies/body_contacts.hpp).
//
// A point keeps a signed distance from another; g [m] is that less what it is to be, n the unit normal. The
// force on it times h^2 is p = gamma n + tau [kg m], tau . n = 0. The slip u [m] is the point's relative
// displacement since the step began, less its part along n.
//   wanted gap  g*: g less what may stay of a depth that was there when the step began
//   active      g* < 0, or gamma > 0 and g* < release distance
//   normal      gamma' = max(0, gamma - k (g* + n . d)) after a further displacement d of the point
//   tangential  tau' = tau - k_t (u + d_t) where |tau'| <= mu_s gamma_b: it sticks;
//               |tau'| = mu_d gamma_b, against the slip, where not: it slides
//   accepted    g >= -tolerance, but for what may stay of a greater depth
//
// What differs by method, and why, with m the inertia of the point, that of the metric over the sum of
// weight^2 / m_i of its nodes:
//
// | method           | p is kept           | k / m      | k_t / m | gamma_b                              |
// | cloth with cloth | from step to step   | 40 ... 1e4 | 50      | gamma of the iteration before        |
// | fast projection  | in an iteration     | 1000       | 1000    | gamma + m max(0, -g*), of it alone   |
// | impulses         | in a part of a step | 1          | 1       | gamma'                               |
// | bodies (Coulomb) | in a part of a step | exact      | exact   | gamma'                               |
//
// Forces that stay may be found by and by with a soft k, and a step that takes one iteration has the bound of
// the last step. Those that do not stay must be found in few iterations: firm, and with a bound of their own.
// Impulses meet one contact at a time, for which the point's inertia is the exact k. Bodies are few: their
// contacts are solved together (host/bodies/coulomb_solver.hpp).
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/signed_distance.hpp"

namespace isocloth {

/// A step that takes so many iterations goes on from another beginning: contacts become stiffer, and points
/// at which elements touch stay where they are. Points that go on sliding to where the element lies deepest
/// turn the force about the element by what no matrix tells, and pushed hard it tilts to and fro for ever.
constexpr int patience = 6;
ISOCLOTH_HD bool keeps_points(int iteration) { return iteration >= patience; }

/// Least k / m of a contact of the projection in iteration `number` (from 0), and the largest of all.
/// Iterations take contacts that let go as if they pulled, and the stiffer they are the harder: at more than
/// `firmest` a tight tolerance is not met, at 300 and more from the start sheets on a table jump for ever.
/// Stiffer, therefore, only where a step lasts or a contact bears much.
constexpr double most_stiffening = 1e4;
ISOCLOTH_HD double contact_stiffening(int number, bool keeps_forces) {
  constexpr double gentle = 70, firmest = 500, firm = 1000, growth = 1.5;
  if (!keeps_forces) return firm;
  double k = gentle;
  for (int n = patience; n <= number && k < firmest; ++n) k *= growth;
  return k;
}

namespace ISOCLOTH_BACKEND {

// Coulomb's friction.

/// Whether a contact slides that would need a tangential force of the size `needed` to stick.
template <class Real>
ISOCLOTH_DEVICE bool slides(Real needed, Real mu_static, Real normal_force) {
  return needed > mu_static * normal_force;
}
/// A tangential force of this size, or what friction can exert of it.
template <class Vector, class Real>
ISOCLOTH_DEVICE Vector bounded(const Vector& tangential, Real size, Real most) {
  return size > most ? Vector((most / size) * tangential) : tangential;
}

/// How contacts act, one in each lane: their numbers where there are several.
template <class S>
using ModeOf = std::conditional_t<Lanes<S>::width == 1, ContactMode, S>;
template <class S>
ISOCLOTH_DEVICE ModeOf<S> as_mode(ContactMode mode) {
  if constexpr (Lanes<S>::width == 1)
    return mode;
  else
    return number<S>(static_cast<int>(mode));
}
ISOCLOTH_HD ContactMode select(bool mask, ContactMode a, ContactMode b) { return mask ? a : b; }

/// A contact in an iteration that solves for the displacements d of all points:
///   p = pull - K d,  K = k n n^T + k_t (1 - n n^T), less k_t s s^T where it slides on.
template <class Real>
struct ContactResponse {
  ModeOf<Real> mode = as_mode<Real>(ContactMode::smooth);
  Vec3<Real> normal{}, pull{}, slip_direction{};  ///< n, p of an unchanged position [kg m], s
  Real along{}, across{};                         ///< k, k_t [kg]
  Real grip{};  ///< stiffness of the spring that friction holds by, see compression_law.hpp [kg]

  ISOCLOTH_DEVICE Vec3<Real> times(Vec3<Real> v) const {  ///< K v
    const Vec3<Real> s = slip_direction;
    const Real free = mode == ContactMode::slide_on ? across : Real(0);
    return (along - across) * dot(normal, v) * normal + across * v - free * dot(s, v) * s;
  }
};
template <class Real>
ISOCLOTH_DEVICE bool acts(const ContactArrays<Real>& a, Index contact) {
  return static_cast<int>(a.modes[static_cast<std::size_t>(contact)]) != static_cast<int>(ContactMode::none);
}
/// What an iteration kept of a contact; s: direction of the tangential pull.
template <class Real>
ISOCLOTH_DEVICE ContactResponse<Real> kept_response(const ContactArrays<Real>& a, Index contact) {
  const std::size_t c = static_cast<std::size_t>(contact);
  ContactResponse<Real> r{static_cast<ContactMode>(static_cast<int>(a.modes[c])),
                          a.normals.vector(c),
                          a.pulls.vector(c),
                          {},
                          a.stiffness[3 * c],
                          a.stiffness[3 * c + 1],
                          a.stiffness[3 * c + 2]};
  const Vec3<Real> tangential = r.pull - dot(r.pull, r.normal) * r.normal;
  const Real size = length(tangential);
  if (size > Real(0)) r.slip_direction = (Real(1) / size) * tangential;
  return r;
}
/// An impulse, moves times m, and how it acts.
template <class Real>
struct ContactImpulse {
  Vec3<Real> impulse{};
  ContactMode mode = ContactMode::none;
};

template <class Real>
struct ContactLaw {
  Real tolerance{};  ///< contact.tolerance: deepest penetration that a step may end with [m]
  /// Equal parts that every step is taken in (impulses): what leaves in a step leaves by their shares. Where
  /// parts are but a second try (projection, bodies) each counts as a step.
  Real parts = 1;
  /// Stiffness of contacts over their inertia in the projection, see contact_stiffening.
  Real stiffening = 1000;
  bool keeps_forces = true;  ///< whether contacts of the projection keep their forces from step to step

  /// A contact keeps its force up to this gap, and what is nearer may touch [m].
  static constexpr Real release_distance = Real(1e-3);
  /// An edge or a face touches where it comes so much deeper than its corners [m].
  static constexpr Real least_dip = Real(1e-6);

  // Where something moved by `distance` [m] in a step it may have entered a shape of this reach (ShapeView)
  // and left it on the other side: then it keeps to the tangent plane where it entered.

  static ISOCLOTH_DEVICE bool may_pass_through(Real distance, Real reach) {
    return distance > Real(0.5) * reach;
  }
  /// A surface is no nearer than its distance says: how far one may go at a gap without jumping it [m].
  static ISOCLOTH_DEVICE Real safe_advance(Real gap, Real reach) { return larger(gap, Real(0.01) * reach); }
  ISOCLOTH_DEVICE bool enters(Real gap) const { return gap < tolerance; }
  /// Beyond the tolerance. What began so has nothing to enter.
  ISOCLOTH_DEVICE bool is_inside(Real gap) const { return gap < -tolerance; }

  // A depth that was there when the step (or part) began, before = min(g, 0), leaves by a tenth per step
  // where it is within the tolerance; what is beyond by half. Pushed out at once, it would leave with a
  // speed.

  /// What may stay of the part beyond the tolerance [m], <= 0.
  ISOCLOTH_DEVICE Real deep_rest(Real before) const {
    const Real deep = before + tolerance;
    return deep < 0 ? (Real(1) - Real(0.5) / parts) * deep : Real(0);
  }
  /// g* [m]: g less what may stay of `before`.
  ISOCLOTH_DEVICE Real wanted_gap(Real gap, Real before) const {
    return gap - (Real(1) - Real(0.1) / parts) * larger(before, -tolerance) - deep_rest(before);
  }
  /// The depth that a step is judged by [m]: of one beyond the tolerance, deep_rest may stay.
  ISOCLOTH_DEVICE Real depth(Real gap, Real rest) const { return is_inside(gap) ? rest - gap : -gap; }

  /// gap: g*. The sum of impulses of a part of a step lets go by itself, when it is zero: no release
  /// distance.
  static ISOCLOTH_DEVICE bool is_active(Real gap, bool pushes, Real release = release_distance) {
    return gap < 0 || (pushes && gap < release);
  }

  /// k / m where gamma / m is so large [m]: what bears much must not give way by more than a share of the
  /// tolerance where the load changes.
  ISOCLOTH_DEVICE Real stiffening_of(Real gamma) const {
    constexpr Real firmness = Real(3);  // yielding by the tolerance changes gamma by so many times itself
    const Real of_load = firmness * gamma / tolerance;
    if (!keeps_forces || !(of_load > stiffening)) return stiffening;
    return of_load < Real(most_stiffening) ? of_load : Real(most_stiffening);
  }

  /// Response of a contact of the projection. p: force that the contact has; gap: g*; displacement of the
  /// point relative to the obstacle [m]; inertia: m [kg].
  ISOCLOTH_DEVICE ContactResponse<Real> response(Vec3<Real> p, Vec3<Real> n, Real gap,
                                                 Vec3<Real> displacement, Real inertia,
                                                 const FrictionView<Real>& mu) const {
    // The rows tie the points of a sheet together up to their tolerance: a stiffer k_t would make large
    // forces of what they leave, and sheets would creep.
    constexpr Real kept_stiffness = Real(50);
    const Real gamma = larger(dot(p, n), Real(0));
    ContactResponse<Real> r;
    r.normal = n;
    r.along = inertia * stiffening_of(gamma / inertia);
    r.pull = (gamma - r.along * gap) * n;
    if (!(mu.static_ > 0)) return r;
    const Vec3<Real> slip = displacement - dot(displacement, n) * n, held = p - dot(p, n) * n;
    const Real bound = keeps_forces ? gamma : gamma + inertia * larger(-gap, Real(0));
    const Real k_t = (keeps_forces ? kept_stiffness : stiffening) * inertia;
    // Where forces are not kept, it sticks where the bound bears what the point alone needs to stay.
    const Vec3<Real> needed = held - (keeps_forces ? k_t : inertia) * slip;
    const Real size = length(needed);
    if (!slides(size, mu.static_, bound)) {
      r.mode = ContactMode::stick;
      r.pull += held - k_t * slip;
      r.across = k_t;
      return r;
    }
    const Real share = mu.dynamic * bound / size;
    const bool goes_on = length(slip) * inertia > 2 * mu.dynamic * bound;
    r.mode = goes_on ? ContactMode::slide_on : ContactMode::slide;
    r.pull += share * needed;
    r.slip_direction = (Real(1) / size) * needed;
    r.across = keeps_forces ? share * k_t : Real(0);
    return r;
  }

  /// p after the displacement d of the point.
  static ISOCLOTH_DEVICE Vec3<Real> force(const ContactResponse<Real>& r, Vec3<Real> d,
                                          const FrictionView<Real>& mu) {
    const Vec3<Real> n = r.normal;
    const Real d_n = dot(n, d), pull_n = dot(n, r.pull), gamma = pull_n - r.along * d_n;
    if (!(gamma > 0)) return {};
    Vec3<Real> tangential = r.pull - pull_n * n, slip = d - d_n * n;
    const Real square = dot(tangential, tangential);
    if (r.mode == ContactMode::slide_on && square > 0) slip -= (dot(tangential, slip) / square) * tangential;
    tangential -= r.across * slip;
    const Real size = length(tangential);
    const bool slips = r.mode != ContactMode::stick || slides(size, mu.static_, gamma);
    return gamma * n + bounded(tangential, size, (slips ? mu.dynamic : mu.static_) * gamma);
  }

  /// Sum of a contact's impulses after one that takes the point alone out of the gap g*; `least`: least
  /// normal sum [m kg].
  static ISOCLOTH_DEVICE ContactImpulse<Real> impulse(Vec3<Real> p, Vec3<Real> n, Real gap,
                                                      Vec3<Real> displacement, Real inertia,
                                                      const FrictionView<Real>& mu, Real least) {
    const Real along = dot(p, n), gamma = larger(larger(along, Real(0)) - inertia * gap, least);
    if (!(gamma > 0)) return {gamma * n, ContactMode::none};
    if (!(mu.static_ > 0)) return {gamma * n, ContactMode::smooth};
    const Vec3<Real> needed = (p - along * n) - inertia * (displacement - dot(displacement, n) * n);
    const Real size = length(needed);
    const bool slips = slides(size, mu.static_, gamma);
    return {gamma * n + bounded(needed, size, (slips ? mu.dynamic : mu.static_) * gamma),
            slips ? ContactMode::slide : ContactMode::stick};
  }
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
