// Contacts of one cloth: where it touches, what pushes and rubs there, and what comes of a correction.
//
// A point x of the cloth must keep a signed distance g(x) >= 0 (less the offset of the cloth) from every
// obstacle. Its contact is one more row of the proximal Newton (kernels/projection/nodal_system.hpp) with a
// multiplier p, the force times h^2:
//   normal      gamma' = max(0, gamma - k (g + n . d)), active while g < 0, or gamma > 0 and g < 1 mm
//   tangential  tau' = tau - k_t (u + d_t) where it sticks, |tau'| <= mu_s gamma; u: way relative to the
//               obstacle since the beginning of the step; else |tau'| = mu_d gamma against that way
// with k of contact_stiffening and k_t = 50 times the point's inertia, and gamma in the bounds of tau' that
// of the iteration before: where a step takes one iteration, that of the last step. Where forces do not stay
// from step to step (fast projection), k_t is k and the bounds come from what the point alone would need
// (act). All are symmetric 3x3 blocks on nodes of one face, where the matrix has blocks already. Forces stay
// from step to step, so that what rests stays where it is.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/deepest_point.hpp"
#include "kernels/contact/near_obstacles.hpp"
#include "kernels/contact/swept_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ContactTerms {
  /// A contact keeps its force up to this distance [m].
  static constexpr Real carry = Real(1e-3);
  /// An edge or a face touches where it comes so much deeper than its corners [m].
  static constexpr Real deeper = Real(1e-6);
  /// Least way of an element's deepest point within an iteration that is a jump, in parts of the element.
  static constexpr Real jump = Real(0.05);
  /// Across the normal. The rows tie the points of a sheet together up to their tolerance: stiffer friction
  /// would make large forces of what they leave, and sheets would creep.
  static constexpr Real grip = Real(50);
  /// A contact that yields by the tolerance changes its force by so many times itself.
  static constexpr Real firmness = Real(3);

 public:
  ISOCLOTH_DEVICE ContactTerms(const SamplePattern& pattern, const ObstaclesView<Real>& obstacles,
                               const ContactControl<Real>& control, const ContactPlaces<Real>& places,
                               const NearObstacles<Real>& near, const ContactArrays<Real>& arrays)
      : p_(pattern), o_(obstacles), c_(control), x_(places), near_(near), a_(arrays) {}

  /// A sample without contacts in this iteration; their forces are kept.
  ISOCLOTH_DEVICE void pass(Index sample) const {
    clear(sample);
    const Index first = p_.first_contact(sample);
    for (Index c = first; c < first + p_.contacts_of(sample); ++c)
      a_.modes[c] = static_cast<Real>(static_cast<int>(ContactMode::none));
    if (sample >= p_.node_count)
      for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
        a_.weights[slot] = 0;
  }

  /// Contacts of a sample at the iterate, their stiffness and forces, and how deep it lies.
  ISOCLOTH_DEVICE void find(Index sample) const {
    if (sample >= p_.node_count + p_.element_count()) return;  // found with the first sample of its element
    clear(sample);
    if (p_.contacts_per_node == 0) return;
    if (sample < p_.node_count)
      find_at_node(sample);
    else
      find_on_element(sample);
  }

  /// p of the sample's contacts after the correction d of its nodes: correction(node).
  template <class Correction>
  ISOCLOTH_DEVICE void update(Index sample, const Correction& correction) const {
    update(sample, correction, [](Index, Index) { return Vec3<Real>{}; });
  }
  /// The same where obstacles are moved, too: move(obstacle, sample), at the sample's point.
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index sample, const Correction& correction, const Move& move) const {
    Vec3<Real> d{};
    const Index first = p_.first_contact(sample), count = p_.contacts_of(sample);
    bool touches = false;
    for (Index c = first; c < first + count; ++c) touches = touches || mode(c) != ContactMode::none;
    if (!touches) return;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      d += a_.weights[slot] * correction(p_.slot_nodes[slot]);
    for (Index c = first; c < first + count; ++c)
      if (mode(c) != ContactMode::none)
        update_contact(c, d - move(static_cast<Index>(a_.obstacles[c]), sample));
  }

  /// Lists the obstacles whose boxes meet that of the cloth.
  ISOCLOTH_DEVICE void list_near(Vec3<Real> least, Vec3<Real> most) const {
    ISOCLOTH_BACKEND::list_near(o_, least, most, c_.offset + carry, near_);
  }

 private:
  ISOCLOTH_DEVICE void clear(Index sample) const {
    for (int i = 0; i < 6; ++i) a_.sample_stiffness[sample * 6 + i] = 0;
    a_.sample_forces.set_vector(sample, {});
    a_.depths[sample] = 0;
    if (sample < p_.node_count) a_.weights[p_.sample_begin[sample]] = 1;
  }

  struct Hit {
    Index obstacle = -1;
    Real gap = Real(HUGE_VAL);  ///< to what the middle of the cloth must not enter
    Vec3<Real> normal{};        ///< in the obstacle's frame
    Vec3<Real> from{}, to{};    ///< of the point, in the obstacle's frame before and after
    Real before = 0;            ///< gap when the step began, where that is negative and the gap is, too
    PoseView<Real> begin, end;
  };

  /// Of a point of an edge or a face.
  struct ElementHit {
    Hit hit;
    Real u = 0, v = 0;
    bool is_corner = false;  ///< no deeper than the corners
  };

  ISOCLOTH_DEVICE ContactMode mode(Index contact) const {
    return static_cast<ContactMode>(static_cast<int>(a_.modes[contact]));
  }

  /// visit(obstacle) for all that the cloth may meet.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_near(const Visit& visit) const {
    ISOCLOTH_BACKEND::for_each_near(o_, near_, visit);
  }

  /// A point that moved from hit.from to hit.to.
  ISOCLOTH_DEVICE void measure(Hit& hit) const {
    const SweptDistance<Real> swept =
        swept_distance(o_.shapes[hit.obstacle], c_.offset, c_.tolerance, hit.from, hit.to);
    hit.gap = swept.gap;
    hit.normal = swept.normal;
    hit.before = swept.before;
  }

  ISOCLOTH_DEVICE void look_back(Hit& hit) const {
    if (hit.gap < 0)
      hit.before = negative_part(signed_distance(o_.shapes[hit.obstacle], hit.from).value - c_.offset);
  }

  ISOCLOTH_DEVICE Hit hit_of(Index o) const {
    Hit hit;
    hit.obstacle = o;
    const Placement<Real>& way = o_.placement(o);
    const bool is_whole = o >= o_.first_body;
    hit.begin = o_.moving[o] < 0 || is_whole ? way.begin : pose_between(way.begin, way.end, c_.from);
    hit.end = o_.moving[o] < 0 ? way.begin : is_whole ? way.end : pose_between(way.begin, way.end, c_.to);
    return hit;
  }

  ISOCLOTH_DEVICE void find_at_node(Index node) const {
    const Index first = p_.first_contact(node), count = p_.contacts_per_node;
    const Vec3<Real> from = x_.start.vector(node), to = x_.iterate.vector(node);
    Hit hits[most_contacts_per_node];
    for (Index k = 0; k < count; ++k) {
      hits[k].obstacle = static_cast<Index>(a_.obstacles[first + k]);
      if (hits[k].obstacle >= 0) hits[k].gap = carry;  // unless it is found near again
    }
    for_each_near([&](Index o) {
      Hit hit = hit_of(o);
      hit.from = to_local(hit.begin, from);
      hit.to = to_local(hit.end, to);
      measure(hit);
      note_depth(node, hit);
      Index place = -1;
      for (Index k = 0; k < count; ++k)
        if (hits[k].obstacle == o) place = k;
      if (place < 0) {
        if (!(hit.gap < 0)) return;
        place = least_needed(hits, count);
        if (!(gap_of(hits[place]) > hit.gap)) return;
        a_.forces.set_vector(first + place, {});
      }
      hits[place] = hit;
    });
    for (Index k = 0; k < count; ++k) act(node, first + k, hits[k]);
  }
  static ISOCLOTH_DEVICE Real gap_of(const Hit& hit) { return hit.obstacle < 0 ? Real(HUGE_VAL) : hit.gap; }
  static ISOCLOTH_DEVICE Real gap_of(const ElementHit& own) { return gap_of(own.hit); }
  template <class AnyHit>
  static ISOCLOTH_DEVICE Index least_needed(const AnyHit* hits, Index count) {
    Index place = 0;
    for (Index k = 1; k < count; ++k)
      if (gap_of(hits[k]) > gap_of(hits[place])) place = k;
    return place;
  }

  /// A contact goes with the deepest point of its obstacle while that moves a little in an iteration. Where
  /// it jumps, the contact stays where it was and the deepest point gets one of its own: with one for both,
  /// an element that rolls over a solid tilts to and fro.
  ISOCLOTH_DEVICE void find_on_element(Index sample) const {
    const Index slot0 = p_.sample_begin[sample], count = p_.contacts_per_element;
    Element<Real> element;
    element.size = static_cast<int>(p_.sample_begin[sample + 1] - slot0);
    const auto contact_of = [&](Index k) { return p_.first_contact(sample + k * p_.element_count()); };
    ElementHit hits[most_contacts_per_element];
    for (Index k = 0; k < count; ++k) {
      hits[k].hit.obstacle = static_cast<Index>(a_.obstacles[contact_of(k)]);
      if (hits[k].hit.obstacle >= 0) hits[k].hit.gap = carry;  // unless it is found near again
      hits[k].u = a_.points[contact_of(k) * 2];
      hits[k].v = a_.points[contact_of(k) * 2 + 1];
    }
    for_each_near([&](Index o) {
      if (o_.shapes[o].kind == ShapeKind::plane) return;  // nothing lies deeper than the corners
      ElementHit deepest;
      deepest.hit = hit_of(o);
      for (int i = 0; i < element.size; ++i)
        element.corners[i] = to_local(deepest.hit.end, x_.iterate.vector(p_.slot_nodes[slot0 + i]));
      bool keeps = false;
      for (Index k = 0; k < count; ++k) keeps = keeps || hits[k].hit.obstacle == o;
      const bool found = find_deepest(element, slot0, keeps, deepest);
      Index place = -1;
      Real nearest = jump;
      for (Index k = 0; k < count && found; ++k) {
        const Real way = larger(magnitude(hits[k].u - deepest.u), magnitude(hits[k].v - deepest.v));
        if (hits[k].hit.obstacle != o || !(way < nearest)) continue;
        place = k;
        nearest = way;
      }
      for (Index k = 0; k < count && keeps; ++k) {
        if (hits[k].hit.obstacle != o || k == place) continue;
        hits[k].hit = hit_of(o);
        measure_at(element, slot0, hits[k]);
      }
      if (!found || (place < 0 && deepest.is_corner)) return;
      if (place < 0) {
        place = least_needed(hits, count);
        if (!(gap_of(hits[place]) > deepest.hit.gap)) return;
        if (hits[place].hit.obstacle != o) a_.forces.set_vector(contact_of(place), {});
      }
      hits[place] = deepest;
    });
    for (Index k = 0; k < count; ++k) {
      const Index at = sample + k * p_.element_count();
      const ElementHit& own = hits[k];
      if (k > 0) clear(at);
      Real weights[4] = {};
      if (own.hit.obstacle >= 0) element.weigh(own.u, own.v, weights);
      for (int i = 0; i < element.size; ++i) a_.weights[p_.sample_begin[at] + i] = weights[i];
      a_.points[contact_of(k) * 2] = own.u;
      a_.points[contact_of(k) * 2 + 1] = own.v;
      if (own.hit.obstacle >= 0) note_depth(at, own.hit);
      act(at, contact_of(k), own.hit);
    }
  }

  /// The point of an element that lies at (u, v).
  ISOCLOTH_DEVICE void measure_at(const Element<Real>& element, Index slot0, ElementHit& own) const {
    Real weights[4];
    element.weigh(own.u, own.v, weights);
    own.hit.from = {};
    for (int i = 0; i < element.size; ++i)
      own.hit.from += weights[i] * to_local(own.hit.begin, x_.start.vector(p_.slot_nodes[slot0 + i]));
    own.hit.to = element.at(weights);
    measure(own.hit);
  }

  /// Whether the element touches its obstacle at a point that is not a corner, or one that it keeps; that
  /// point.
  ISOCLOTH_DEVICE bool find_deepest(const Element<Real>& element, Index slot0, bool keeps,
                                    ElementHit& own) const {
    Hit& hit = own.hit;
    const ShapeView<Real>& shape = o_.shapes[hit.obstacle];
    const Real middle = element.size == 3 ? Real(1) / 3 : Real(0.5);
    const ElementPoint<Real> center = point_at(shape, element, middle, element.size == 2 ? Real(0) : middle);
    Real radius = 0;
    for (int i = 0; i < element.size; ++i) radius = larger(length(element.corners[i] - center.place), radius);
    // How far the middle came from; the corners cannot have come from much further.
    Vec3<Real> from{};
    for (int i = 0; i < element.size; ++i)
      from += center.weights[i] * x_.start.vector(p_.slot_nodes[slot0 + i]);
    from = to_local(hit.begin, from);
    const bool is_fast = length(center.place - from) > Real(0.5) * shape.reach;
    const Real limit = c_.offset + (keeps ? carry : Real(0));
    if (!is_fast && !(center.distance.value - radius < limit)) return false;
    if (is_fast) return find_first_entry(element, slot0, own);
    Real corner = Real(HUGE_VAL), mean = 0;
    for (int i = 0; i < element.size; ++i) {
      const Real distance = signed_distance(shape, element.corners[i]).value;
      corner = distance < corner ? distance : corner;
      mean += distance / static_cast<Real>(element.size);
    }
    // Distances to a convex shape are convex: where they are even, no point lies deeper than the corners.
    if (!keeps && shape.kind != ShapeKind::grid && center.distance.value > mean - deeper) return false;
    const ElementPoint<Real> best =
        element.size == 2 ? deepest_on_edge(shape, element) : deepest_on_face(shape, element);
    if (!(best.distance.value < limit)) return false;
    own.is_corner = !(best.distance.value < corner - deeper);
    if (!keeps && own.is_corner) return false;
    own.u = best.u;
    own.v = best.v;
    hit.from = {};
    for (int i = 0; i < element.size; ++i)
      hit.from += best.weights[i] * to_local(hit.begin, x_.start.vector(p_.slot_nodes[slot0 + i]));
    hit.to = best.place;
    hit.gap = best.distance.value - c_.offset;
    hit.normal = best.distance.normal;
    look_back(hit);
    return true;
  }

  /// Of five points (three of an edge) that moved far in this step, the one deepest behind where it entered.
  ISOCLOTH_DEVICE bool find_first_entry(const Element<Real>& element, Index slot0, ElementHit& own) const {
    const Real us[5] = {Real(0.5), Real(0.25), Real(0.75), Real(0.75), Real(0.25)},
               vs[5] = {Real(0.5), Real(0.25), Real(0.25), Real(0.75), Real(0.75)};
    ElementHit found = own;
    found.hit.gap = 0;
    for (int n = 0; n < (element.size == 2 ? 3 : 5); ++n) {
      ElementHit trial = own;
      trial.u = us[n];
      trial.v = element.size == 2 ? Real(0) : vs[n];
      if (element.size == 3) {
        trial.u = us[n] * Real(2) / 3;
        trial.v = vs[n] * Real(2) / 3 * (1 - trial.u);
      }
      measure_at(element, slot0, trial);
      if (trial.hit.gap < found.hit.gap) found = trial;
    }
    if (!(found.hit.gap < 0)) return false;
    own = found;
    return true;
  }

  ISOCLOTH_DEVICE void note_depth(Index sample, const Hit& hit) const {
    if (!(hit.gap < -a_.depths[sample])) return;
    const Real depth = (hit.gap < -c_.tolerance ? deep_part(hit.before) : Real(0)) - hit.gap;
    if (depth > a_.depths[sample]) a_.depths[sample] = depth;
  }

  /// The gap, less what may stay of one that was there when the step began: a depth within the tolerance
  /// leaves by a tenth per step, what is beyond by half. Pushed out at once, it would leave with a speed.
  ISOCLOTH_DEVICE Real wanted_gap(const Hit& hit) const {
    const Real shallow = hit.before < -c_.tolerance ? -c_.tolerance : negative_part(hit.before);
    return hit.gap - Real(0.9) * shallow - deep_part(hit.before);
  }
  static ISOCLOTH_DEVICE Real negative_part(Real before) { return before < 0 ? before : Real(0); }
  ISOCLOTH_DEVICE Real deep_part(Real before) const {
    return Real(0.5) * negative_part(before + c_.tolerance);
  }

  /// k of a contact over the inertia of its point, of gamma over the same: what bears much must not give way
  /// by more than a share of the tolerance where the load changes.
  ISOCLOTH_DEVICE Real stiffening(Real gamma) const {
    const Real of_load = firmness * gamma / c_.tolerance;
    if (!c_.carries || !(of_load > c_.stiffening)) return c_.stiffening;
    return of_load < Real(most_stiffening) ? of_load : Real(most_stiffening);
  }

  /// Stiffness and force of one contact, added to those of its sample.
  ISOCLOTH_DEVICE void act(Index sample, Index contact, const Hit& hit) const {
    if (hit.obstacle < 0) return let_go(contact);
    const Vec3<Real> force = a_.forces.vector(contact), n = turned(hit.end, hit.normal);
    const Real gamma = larger(dot(force, n), Real(0)), gap = wanted_gap(hit);
    Real inverse = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      inverse += a_.weights[slot] * a_.weights[slot] *
                 x_.inverse_masses[static_cast<std::size_t>(p_.slot_nodes[slot])];
    const bool active = inverse > 0 && (gap < 0 || (gamma > 0 && gap < carry));
    if (!active) return let_go(contact);
    const Real inertia = c_.inertia / inverse, k = inertia * stiffening(gamma / inertia);
    Vec3<Real> pull = (gamma - k * gap) * n, slide{};
    Real across = 0;
    ContactMode mode = ContactMode::smooth;
    const FrictionView<Real>& mu = o_.friction[hit.obstacle];
    if (mu.static_ > 0) {
      const Vec3<Real> way = turned(hit.end, hit.to - hit.from), along = way - dot(way, n) * n;
      const Vec3<Real> held = force - dot(force, n) * n;
      // Where forces are not kept, the bound is that of what the point alone needs to leave the obstacle, and
      // it sticks where that bears what the point alone needs to stay.
      const Real bound = c_.carries ? gamma : gamma + inertia * larger(-gap, Real(0));
      const Real k_t = (c_.carries ? grip : c_.stiffening) * inertia;
      const Vec3<Real> needed = held - (c_.carries ? k_t : inertia) * along;
      const Real size = length(needed);
      mode = ContactMode::stick;
      across = k_t;
      Vec3<Real> rub = held - k_t * along;
      if (size > mu.static_ * bound) {
        rub = (mu.dynamic * bound / size) * needed;
        across = c_.carries ? mu.dynamic * bound / size * k_t : Real(0);
        const bool stays = length(along) * inertia > 2 * mu.dynamic * bound;
        mode = stays ? ContactMode::slide_on : ContactMode::slide;
        slide = (Real(1) / size) * needed;
      }
      pull += rub;
    }
    a_.obstacles[contact] = static_cast<Real>(hit.obstacle);
    a_.modes[contact] = static_cast<Real>(static_cast<int>(mode));
    a_.normals.set_vector(contact, n);
    a_.pulls.set_vector(contact, pull);
    a_.stiffness[contact * 2] = k;
    a_.stiffness[contact * 2 + 1] = across;
    a_.forces.set_vector(contact, force);
    // Where forces are not kept, those of earlier iterations act already.
    const Vec3<Real> added = c_.carries ? pull : pull - force;
    a_.sample_forces.set_vector(sample, a_.sample_forces.vector(sample) + added);
    const Real kept = mode == ContactMode::slide_on ? across : Real(0), normal = k - across;
    const Real n_[3] = {n.x, n.y, n.z}, s_[3] = {slide.x, slide.y, slide.z};
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        a_.sample_stiffness[sample * 6 + entry] +=
            normal * n_[i] * n_[j] + (i == j ? across : Real(0)) - kept * s_[i] * s_[j];
  }

  ISOCLOTH_DEVICE void let_go(Index contact) const {
    a_.obstacles[contact] = -1;
    a_.modes[contact] = static_cast<Real>(static_cast<int>(ContactMode::none));
    a_.forces.set_vector(contact, {});
  }

  /// p after a move d of the point.
  ISOCLOTH_DEVICE void update_contact(Index contact, Vec3<Real> d) const {
    const Vec3<Real> n = a_.normals.vector(contact), pull = a_.pulls.vector(contact);
    const Real k = a_.stiffness[contact * 2], across = a_.stiffness[contact * 2 + 1];
    const Real d_n = dot(n, d), pull_n = dot(n, pull), gamma = pull_n - k * d_n;
    if (!(gamma > 0)) {
      a_.forces.set_vector(contact, {});
      return;
    }
    Vec3<Real> tangential = pull - pull_n * n, move = d - d_n * n;
    const Real square = dot(tangential, tangential);
    if (mode(contact) == ContactMode::slide_on && square > 0)
      move -= (dot(tangential, move) / square) * tangential;
    tangential -= across * move;
    const FrictionView<Real>& mu = o_.friction[static_cast<std::size_t>(a_.obstacles[contact])];
    const Real size = length(tangential);
    const bool slides = mode(contact) != ContactMode::stick || size > mu.static_ * gamma;
    const Real most = (slides ? mu.dynamic : mu.static_) * gamma;
    if (size > most) tangential = (most / size) * tangential;
    a_.forces.set_vector(contact, gamma * n + tangential);
  }

  const SamplePattern& p_;
  const ObstaclesView<Real>& o_;
  const ContactControl<Real>& c_;
  const ContactPlaces<Real>& x_;
  const NearObstacles<Real> near_;
  const ContactArrays<Real>& a_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
