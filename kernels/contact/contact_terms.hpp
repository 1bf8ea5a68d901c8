// Contacts of one cloth: which it keeps, how they push and rub, and what comes of a correction.
//
// Each is one more row of the proximal Newton (kernels/projection/nodal_system.hpp), by the law of
// contact_law.hpp: symmetric 3x3 blocks on nodes of one face, where the matrix has blocks already. Forces
// stay from step to step, so that what rests stays where it is.
#pragma once

#include "kernels/contact/contact_search.hpp"
#include "kernels/samples/act_on_samples.hpp"
#include "kernels/samples/sample_term.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ContactTerms : public SampleTerm<Real>, ContactSearch<Real> {
  using Search = ContactSearch<Real>;
  using Search::p_, Search::o_, Search::c_, Search::x_, Search::easing_;
  using Law = ContactLaw<Real>;
  /// Least move of an element's deepest point within an iteration that is a jump, in parts of the element.
  static constexpr Real jump = Real(0.05);

 public:
  ISOCLOTH_DEVICE explicit ContactTerms(const ActOnSamples<Real>& args)
      : Search(args.pattern, args.obstacles, args.control, args.places, args.near, args.contacts.eased),
        law_{.tolerance = args.control.tolerance,
             .stiffening = args.control.stiffening,
             .keeps_forces = args.control.keeps_forces},
        a_(args.contacts),
        without_contacts_(args.without_contacts) {}

  /// What is left of depths at the start, see Easing.
  ISOCLOTH_DEVICE void begin(Index sample) const {
    if (!p_.eases || sample >= p_.node_count + p_.element_count()) return;
    easing_.keep(sample, static_cast<Index>(o_.size()), c_.tolerance,
                 [&](Index o) { return this->start_depth(o, sample); });
  }

  /// Contacts of a sample at the iterate, their stiffness and forces, and how deep it lies.
  ISOCLOTH_DEVICE void act(Index sample) const {
    if (without_contacts_) return pass(sample);
    if (sample >= p_.node_count + p_.element_count()) return;  // found with the first sample of its element
    if (sample >= p_.node_count) return find_on_element(sample);
    clear(sample);
    if (p_.contacts_per_node > 0) find_at_node(sample);
  }

  /// p of the sample's contacts.
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index sample, const Correction& correction, const Move& move) const {
    Vec3<Real> d{};
    const Index first = p_.first_contact(sample), count = p_.contacts_of(sample);
    bool touches = false;
    for (Index c = first; c < first + count; ++c) touches = touches || acts(a_, c);
    if (!touches) return;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      d += a_.weights[slot] * correction(p_.slot_nodes[slot]);
    for (Index c = first; c < first + count; ++c)
      if (acts(a_, c)) {
        const Index o = static_cast<Index>(a_.obstacles[c]);
        a_.forces.set_vector(c, law_.force(kept_response(a_, c), d - move(o, sample), o_.friction[o]));
      }
  }

  using Search::list_near;

 private:
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

  ISOCLOTH_DEVICE void clear(Index sample) const {
    for (int i = 0; i < 6; ++i) a_.sample_stiffness[sample * 6 + i] = 0;
    a_.sample_forces.set_vector(sample, {});
    a_.depths[sample] = 0;
    if (sample < p_.node_count) a_.weights[p_.sample_begin[sample]] = 1;
  }

  ISOCLOTH_DEVICE void find_at_node(Index node) const {
    const Index first = p_.first_contact(node), count = p_.contacts_per_node;
    Hit<Real> hits[most_contacts_per_node];
    for (Index k = 0; k < count; ++k) {
      hits[k].obstacle = static_cast<Index>(a_.obstacles[first + k]);
      if (hits[k].obstacle >= 0) hits[k].gap = Law::release_distance;  // unless it is found near again
    }
    this->for_each_near([&](Index o) {
      Hit<Real> hit;
      this->measure_node(o, node, hit);
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
    for (Index k = 0; k < count; ++k) push(node, first + k, hits[k]);
  }
  static ISOCLOTH_DEVICE Real gap_of(const Hit<Real>& hit) {
    return hit.obstacle < 0 ? Real(HUGE_VAL) : hit.gap;
  }
  template <class AnyHit>
  static ISOCLOTH_DEVICE Index least_needed(const AnyHit* hits, Index count) {
    Index place = 0;
    for (Index k = 1; k < count; ++k)
      if (gap_of(hits[k]) > gap_of(hits[place])) place = k;
    return place;
  }

  ISOCLOTH_DEVICE void find_on_element(Index sample) const {
    bool holds = false;
    for (Index k = 0; k < p_.contacts_per_element; ++k)
      holds = holds || a_.obstacles[p_.first_contact(sample + k * p_.element_count())] >= 0;
    if (!holds && !this->may_touch_any(sample)) return leave(sample);
    clear(sample);
    move_on_element(sample);
  }
  /// A contact goes with the deepest point of its obstacle while that moves a little in an iteration. Where
  /// it jumps, the contact stays where it was and the deepest point gets one of its own: with one for both,
  /// an element that rolls over a solid tilts to and fro.
  ISOCLOTH_DEVICE_CALL void move_on_element(Index sample) const {
    const Index count = p_.contacts_per_element;
    const auto contact_of = [&](Index k) { return p_.first_contact(sample + k * p_.element_count()); };
    ElementHit<Real> hits[most_contacts_per_element];
    for (Index k = 0; k < count; ++k) {
      hits[k].obstacle = static_cast<Index>(a_.obstacles[contact_of(k)]);
      if (hits[k].obstacle >= 0) hits[k].gap = Law::release_distance;  // unless it is found near again
      hits[k].u = a_.points[contact_of(k) * 2];
      hits[k].v = a_.points[contact_of(k) * 2 + 1];
    }
    this->for_each_near([&](Index o) {
      if (this->is_flat(o)) return;
      bool keeps = false;
      for (Index k = 0; k < count; ++k) keeps = keeps || hits[k].obstacle == o;
      const Element<Real> element = this->element_at(o, sample);
      ElementHit<Real> deepest;
      const bool found = this->find_deepest(o, sample, element, keeps, deepest);
      Index place = -1;
      Real nearest = jump;
      for (Index k = 0; k < count && found; ++k) {
        const Real move = larger(magnitude(hits[k].u - deepest.u), magnitude(hits[k].v - deepest.v));
        if (hits[k].obstacle != o || !(move < nearest)) continue;
        place = k;
        nearest = move;
      }
      for (Index k = 0; k < count && keeps; ++k)
        if (hits[k].obstacle == o && k != place) this->measure_point(o, sample, element, hits[k]);
      if (!found || (place < 0 && deepest.is_corner)) return;
      if (place < 0) {
        place = least_needed(hits, count);
        if (!(gap_of(hits[place]) > deepest.gap)) return;
        if (hits[place].obstacle != o) a_.forces.set_vector(contact_of(place), {});
      }
      if (c_.keeps_points && hits[place].obstacle == o)
        this->measure_point(o, sample, element, hits[place]);
      else
        hits[place] = deepest;
    });
    Element<Real> element;
    element.size = static_cast<int>(p_.sample_begin[sample + 1] - p_.sample_begin[sample]);
    for (Index k = 0; k < count; ++k) {
      const Index at = sample + k * p_.element_count();
      const ElementHit<Real>& own = hits[k];
      if (k > 0) clear(at);
      Real weights[4] = {};
      if (own.obstacle >= 0) element.weigh(own.u, own.v, weights);
      for (int i = 0; i < element.size; ++i) a_.weights[p_.sample_begin[at] + i] = weights[i];
      a_.points[contact_of(k) * 2] = own.u;
      a_.points[contact_of(k) * 2 + 1] = own.v;
      if (own.obstacle >= 0) note_depth(at, own);
      push(at, contact_of(k), own);
    }
  }

  /// An element that touches nothing. What its samples exert is left as it was: without weights it counts for
  /// nothing.
  ISOCLOTH_DEVICE void leave(Index sample) const {
    for (Index k = 0; k < p_.contacts_per_element; ++k) {
      const Index at = sample + k * p_.element_count(), contact = p_.first_contact(at);
      a_.depths[at] = 0;
      for (Index slot = p_.sample_begin[at]; slot < p_.sample_begin[at + 1]; ++slot) a_.weights[slot] = 0;
      if (acts(a_, contact)) let_go(contact);
    }
  }

  ISOCLOTH_DEVICE void note_depth(Index sample, const Hit<Real>& hit) const {
    if (!(hit.gap < -a_.depths[sample])) return;
    const Real depth = law_.depth(hit.gap, law_.deep_rest(hit.before));
    if (depth > a_.depths[sample]) a_.depths[sample] = depth;
  }

  /// Stiffness and force of one contact, added to those of its sample.
  ISOCLOTH_DEVICE void push(Index sample, Index contact, const Hit<Real>& hit) const {
    if (hit.obstacle < 0) {
      if (acts(a_, contact)) let_go(contact);
      return;
    }
    const Vec3<Real> force = a_.forces.vector(contact), n = this->turned_by(hit.obstacle, hit.normal);
    const Real gap = law_.wanted_gap(hit.gap, hit.before);
    Real inverse = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      inverse += a_.weights[slot] * a_.weights[slot] *
                 x_.inverse_masses[static_cast<std::size_t>(p_.slot_nodes[slot])];
    if (!(inverse > 0) || !law_.is_active(gap, dot(force, n) > 0)) return let_go(contact);
    const ContactResponse<Real> r =
        law_.response(force, n, gap, this->turned_by(hit.obstacle, hit.to - hit.from), c_.inertia / inverse,
                      o_.friction[hit.obstacle]);
    a_.obstacles[contact] = static_cast<Real>(hit.obstacle);
    a_.modes[contact] = static_cast<Real>(static_cast<int>(r.mode));
    a_.normals.set_vector(contact, n);
    a_.pulls.set_vector(contact, r.pull);
    a_.stiffness[contact * 2] = r.along;
    a_.stiffness[contact * 2 + 1] = r.across;
    a_.forces.set_vector(contact, force);
    // Where forces are not kept, those of earlier iterations act already.
    const Vec3<Real> added = c_.keeps_forces ? r.pull : r.pull - force;
    a_.sample_forces.set_vector(sample, a_.sample_forces.vector(sample) + added);
    const Real free = r.mode == ContactMode::slide_on ? r.across : Real(0), normal = r.along - r.across;
    const Vec3<Real> s = r.slip_direction;
    const Real n_[3] = {n.x, n.y, n.z}, s_[3] = {s.x, s.y, s.z};
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        a_.sample_stiffness[sample * 6 + entry] +=
            normal * n_[i] * n_[j] + (i == j ? r.across : Real(0)) - free * s_[i] * s_[j];
  }

  ISOCLOTH_DEVICE void let_go(Index contact) const {
    a_.obstacles[contact] = -1;
    a_.modes[contact] = static_cast<Real>(static_cast<int>(ContactMode::none));
    a_.forces.set_vector(contact, {});
  }

  const ContactLaw<Real> law_;
  const ContactArrays<Real>& a_;
  const bool without_contacts_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
