// Contacts of one cloth: which it keeps, how they push and rub, and what comes of a correction.
//
// Each is one more row of the projection (kernels/projection/nodal_system.hpp), by the law of
// compression_law.hpp: symmetric 3x3 blocks on nodes of one face, where the matrix has blocks already. Forces
// stay from step to step, as a beginning, and for friction.
//
// The points that touch an obstacle stand for areas that are together the cloth's: a node for its own m_i,
// less what the points of its edges and faces take from it, w_i m_i / 8 each, and less the nearer that is to
// a corner, where it is the node's. They are what they were when the step began.
#pragma once

#include "engine/core/standard_gravity.hpp"
#include "kernels/contact/compression_law.hpp"
#include "kernels/contact/contact_search.hpp"
#include "kernels/samples/act_on_samples.hpp"
#include "kernels/samples/sample_term.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ContactTerms : public SampleTerm<Real>, ContactSearch<Real> {
  using Search = ContactSearch<Real>;
  using Search::p_, Search::o_, Search::c_, Search::x_, Search::easing_;
  using Law = CompressionLaw<Real>;
  using Rigid = ContactLaw<Real>;
  /// Least move of an element's deepest point within an iteration that is a jump, in parts of the element.
  static constexpr Real jump = Real(0.05);

 public:
  /// Least part of its own area that a node stands for.
  static constexpr Real least_area = Real(0.2);

  ISOCLOTH_DEVICE explicit ContactTerms(const ActOnSamples<Real>& args)
      : Search(args.pattern, args.obstacles, args.control, args.positions, args.near, args.contacts.eased),
        law_{.curve = args.control.curve,
             .step = args.control.step,
             .unit = args.control.unit,
             .firmness = Real(contact_stiffening(args.control.iteration, true)),
             .slight = Real(accepted_weights(args.control.iteration) * standard_gravity) * args.control.step *
                       args.control.step * args.control.inertia * args.control.mean_mass},
        rigid_{.tolerance = args.control.tolerance,
               .stiffening = static_cast<Real>(contact_stiffening(args.control.iteration, false)),
               .keeps_forces = false},
        a_(args.contacts),
        free_(args.free),
        node_slots_(args.node_slots),
        without_contacts_(args.without_contacts) {}

  /// The areas of points of edges and faces, and what is left of depths at the start, see Easing.
  ISOCLOTH_DEVICE void begin(Index sample) const {
    if (sample >= p_.node_count) share_area(sample);
    if (!p_.eases || sample >= p_.node_count + p_.element_count()) return;
    // What the thickness gives need not be eased out.
    easing_.keep(sample, static_cast<Index>(o_.size()), larger(c_.tolerance, c_.curve.give / 2),
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

  /// Whether a contact of the sample acts, so that update() has something to do.
  static ISOCLOTH_DEVICE bool touches(const SamplePattern& pattern, const ContactArrays<Real>& contacts,
                                      Index sample) {
    const Index first = pattern.first_contact(sample), end = first + pattern.contacts_of(sample);
    for (Index c = first; c < end; ++c)
      if (acts(contacts, c)) return true;
    return false;
  }
  /// p of the sample's contacts.
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index sample, const Correction& correction, const Move& move) const {
    if (!touches(p_, a_, sample)) return;
    Vec3<Real> d{};
    const Index first = p_.first_contact(sample), count = p_.contacts_of(sample);
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      d += a_.weights[slot] * correction(p_.slot_nodes[slot]);
    for (Index c = first; c < first + count; ++c) {
      if (!acts(a_, c)) continue;
      const Index o = static_cast<Index>(a_.obstacles[c]);
      const ContactResponse<Real> r = kept_response(a_, c);
      if (!c_.keeps_forces) {
        a_.forces.set_vector(c, Rigid::force(r, d - move(o, sample), o_.friction[o]));
        continue;
      }
      ContactForce<Real> next = law_.after(r, d - move(o, sample), a_.began[4 * c + 3], o_.friction[o]);
      // What goes to and fro meets in the middle; what is let go stays so.
      if (c_.iteration >= 2 * patience && dot(next.force, next.force) > 0)
        next.force = Real(0.5) * (a_.forces.vector(c) + next.force);
      a_.forces.set_vector(c, next.force);
      a_.modes[c] = static_cast<Real>(static_cast<int>(next.mode));
      a_.slips[c] = next.slip;
      a_.mismatches[c] = next.mismatch;
    }
  }

  /// Area that a sample's point stands for at an obstacle [m^2]; 0 where neither of them can move.
  ISOCLOTH_DEVICE Real area_of(Index sample, Index obstacle) const {
    const Index first = p_.sample_begin[sample];
    const int size = size_of(sample);
    Real movable = 0, sum = 0;
    for (int i = 0; i < size; ++i) {
      const Real weight = a_.weights[first + i];
      movable += weight * x_.inverse_masses[static_cast<std::size_t>(p_.slot_nodes[first + i])];
    }
    if (!(movable > 0) && !is_body(obstacle)) return 0;
    if (sample < p_.node_count) {
      const Index node = free_.number[sample];
      const Real own = node_area(first, obstacle);
      if (node < 0) return own;
      for (Index e = node_slots_.begin[node]; e < node_slots_.begin[node + 1]; ++e) {
        const Index other = node_slots_.second[e];
        if (other >= p_.node_count && static_cast<Index>(a_.shared_with[other]) == obstacle)
          sum += a_.shared_areas[node_slots_.first[e]];
      }
      return larger(own - sum, least_area * own);
    }
    const bool is_shared = static_cast<Index>(a_.shared_with[sample]) == obstacle;
    const Real share = share_of(&a_.weights[first], size, a_.weights.stride);
    for (int i = 0; i < size; ++i)
      sum += is_shared ? a_.shared_areas[first + i]
                       : share * a_.weights[first + i] * node_area(first + i, obstacle);
    return sum;
  }

  /// m of a sample's point, that of the metric over the sum of weight^2 / m_i of its nodes [kg].
  ISOCLOTH_DEVICE Real inertia_of(Index sample) const {
    Real inverse = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      inverse += a_.weights[slot] * a_.weights[slot] *
                 x_.inverse_masses[static_cast<std::size_t>(p_.slot_nodes[slot])];
    return c_.inertia / inverse;
  }
  /// The same of a point at an obstacle; of one that cannot move that of its nodes if nothing held them: a
  /// body's contact with it is as soft as with cloth beside it.
  ISOCLOTH_DEVICE Real inertia_at(Index sample, Index obstacle) const {
    const Real inertia = inertia_of(sample);
    if (inertia < Real(HUGE_VAL) || !is_body(obstacle)) return inertia;
    Real inverse = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      inverse +=
          a_.weights[slot] * a_.weights[slot] / x_.masses[static_cast<std::size_t>(p_.slot_nodes[slot])];
    return c_.inertia / inverse;
  }

  using Search::list_near, Search::note_way;

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
    a_.errors[sample] = 0;
    if (sample < p_.node_count) a_.weights[p_.sample_begin[sample]] = 1;
  }

  ISOCLOTH_DEVICE void find_at_node(Index node) const {
    const Index first = p_.first_contact(node), count = p_.contacts_per_node;
    Hit<Real> hits[most_contacts_per_node];
    std::uint32_t near = this->near_obstacles(node);
    for (Index k = 0; k < count; ++k) {
      hits[k].obstacle = static_cast<Index>(a_.obstacles[first + k]);
      if (hits[k].obstacle >= 0) near |= Clearances<Real>::bit(hits[k].obstacle);
    }
    this->for_each_near(near, [&](Index o) {
      Hit<Real> hit;
      this->measure_node(o, node, hit);
      note_depth(node, hit);
      Index slot = -1;
      for (Index k = 0; k < count; ++k)
        if (hits[k].obstacle == o) slot = k;
      if (slot < 0) {
        if (!(hit.gap < 0)) return;
        slot = least_needed(hits, count);
        if (!(gap_of(hits[slot]) > hit.gap)) return note_error(node, -hit.gap / c_.accuracy);
        begin_contact(first + slot);
      }
      hits[slot] = hit;
    });
    for (Index k = 0; k < count; ++k) push(node, first + k, hits[k]);
  }
  static ISOCLOTH_DEVICE Real gap_of(const Hit<Real>& hit) {
    return hit.obstacle < 0 ? Real(HUGE_VAL) : hit.gap;
  }
  template <class AnyHit>
  static ISOCLOTH_DEVICE Index least_needed(const AnyHit* hits, Index count) {
    Index slot = 0;
    for (Index k = 1; k < count; ++k)
      if (gap_of(hits[k]) > gap_of(hits[slot])) slot = k;
    return slot;
  }

  ISOCLOTH_DEVICE void find_on_element(Index sample) const {
    std::uint32_t near = this->near_obstacles(sample);
    bool holds = false;
    for (Index k = 0; k < p_.contacts_per_element; ++k) {
      const Index o = static_cast<Index>(a_.obstacles[p_.first_contact(sample + k * p_.element_count())]);
      holds = holds || o >= 0;
      if (o >= 0) near |= Clearances<Real>::bit(o);
    }
    if (!holds && !this->may_touch_any(sample, near)) return leave(sample);
    clear(sample);
    move_on_element(sample, near);
  }
  /// A contact goes with the deepest point of its obstacle while that moves a little in an iteration. Where
  /// it jumps, the contact stays where it was and the deepest point gets one of its own: with one for both,
  /// an element that rolls over a solid tilts to and fro.
  ISOCLOTH_DEVICE_CALL void move_on_element(Index sample, std::uint32_t near) const {
    const Index count = p_.contacts_per_element;
    const auto contact_of = [&](Index k) { return p_.first_contact(sample + k * p_.element_count()); };
    ElementHit<Real> hits[most_contacts_per_element];
    for (Index k = 0; k < count; ++k) {
      hits[k].obstacle = static_cast<Index>(a_.obstacles[contact_of(k)]);
      hits[k].u = a_.points[contact_of(k) * 2];
      hits[k].v = a_.points[contact_of(k) * 2 + 1];
    }
    this->for_each_near(near, [&](Index o) {
      if (this->is_flat(o)) return;
      bool keeps = false;
      for (Index k = 0; k < count; ++k) keeps = keeps || hits[k].obstacle == o;
      const Element<Real> element = this->element_at(o, sample);
      ElementHit<Real> deepest;
      const bool found = this->find_deepest(o, sample, element, keeps, deepest);
      Index slot = -1;
      Real nearest = jump;
      for (Index k = 0; k < count && found; ++k) {
        const Real move = larger(magnitude(hits[k].u - deepest.u), magnitude(hits[k].v - deepest.v));
        if (hits[k].obstacle != o || !(move < nearest)) continue;
        slot = k;
        nearest = move;
      }
      for (Index k = 0; k < count && keeps; ++k)
        if (hits[k].obstacle == o && k != slot) this->measure_point(o, sample, element, hits[k]);
      if (!found || (slot < 0 && deepest.is_corner)) return;
      if (slot < 0) {
        slot = least_needed(hits, count);
        if (!(gap_of(hits[slot]) > deepest.gap)) return;
        if (hits[slot].obstacle != o) begin_contact(contact_of(slot));
      }
      if (keeps_points(c_.iteration) && hits[slot].obstacle == o)
        this->measure_point(o, sample, element, hits[slot]);
      else
        hits[slot] = deepest;
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
      a_.depths[at] = a_.errors[at] = 0;
      note_lost(at, contact);
      for (Index slot = p_.sample_begin[at]; slot < p_.sample_begin[at + 1]; ++slot) a_.weights[slot] = 0;
      if (acts(a_, contact)) let_go(contact);
    }
  }

  ISOCLOTH_DEVICE void note_depth(Index sample, const Hit<Real>& hit) const {
    if (!(hit.gap < -a_.depths[sample])) return;
    const Real depth =
        c_.keeps_forces ? -hit.gap : rigid_.depth(hit.gap, rigid_.deep_rest(gap_before(sample, hit)));
    if (depth > a_.depths[sample]) a_.depths[sample] = depth;
    if (!c_.keeps_forces) note_error(sample, depth / c_.tolerance);
  }
  /// See gap_before() of contact_search.hpp.
  ISOCLOTH_DEVICE Real gap_before(Index sample, const Hit<Real>& hit) const {
    if (!(hit.gap < 0)) return Real(0);
    // Depths are kept with the first sample of an element.
    const Index first =
        sample < p_.node_count ? sample : p_.node_count + (sample - p_.node_count) % p_.element_count();
    return ISOCLOTH_BACKEND::gap_before<Real>(o_.shapes[hit.obstacle],
                                              easing_.offset_from(c_.offset, hit.obstacle, first),
                                              c_.tolerance, hit, hit.from, hit.to);
  }
  ISOCLOTH_DEVICE void note_error(Index sample, Real error) const {
    if (error > a_.errors[sample]) a_.errors[sample] = error;
  }
  /// Notes the error of a contact that pushed in the last solve and is nowhere near now: no step ends so.
  ISOCLOTH_DEVICE void note_lost(Index sample, Index contact) const {
    if (!c_.keeps_forces || c_.iteration == 0 || !acts(a_, contact)) return;
    const Vec3<Real> force = a_.forces.vector(contact);
    note_error(sample, a_.mismatches[contact]);
    if (dot(force, force) > law_.slight * law_.slight) note_error(sample, Real(2));
  }
  /// Whether an obstacle gives way, so that it meets pinned nodes, too.
  ISOCLOTH_DEVICE bool is_body(Index obstacle) const {
    return obstacle >= o_.first_body && x_.masses.data != nullptr;
  }
  /// m_i of a node [m^2]; of one that a pin holds only for a body, else 0.
  ISOCLOTH_DEVICE Real node_area(Index slot, Index obstacle) const {
    const auto node = static_cast<std::size_t>(p_.slot_nodes[slot]);
    const Real inverse = x_.rest_inverse_masses[node];
    if (inverse > 0) return 1 / inverse;
    return is_body(obstacle) ? x_.masses[node] : Real(0);
  }
  /// Share of its nodes' areas that a point of an edge or a face with these weights takes.
  ISOCLOTH_DEVICE Real share_of(const Real* weights, int size, int stride) const {
    Real corner = 0;
    for (int i = 0; i < size; ++i) corner = larger(weights[i * stride], corner);
    const Real inner = (1 - corner) * static_cast<Real>(size) / static_cast<Real>(size - 1);
    constexpr Real least = Real(0.3), eighth = Real(0.125);
    return eighth * larger(inner, least);
  }
  ISOCLOTH_DEVICE int size_of(Index sample) const {
    return static_cast<int>(p_.sample_begin[sample + 1] - p_.sample_begin[sample]);
  }
  /// A step begins.
  ISOCLOTH_DEVICE void share_area(Index sample) const {
    const Index contact = p_.first_contact(sample), first = p_.sample_begin[sample];
    a_.shared_with[sample] = a_.obstacles[contact];
    if (a_.obstacles[contact] < 0) return;
    Element<Real> element;
    element.size = size_of(sample);
    Real weights[4];
    element.weigh(a_.points[2 * contact], a_.points[2 * contact + 1], weights);
    const Real share = share_of(weights, element.size, 1);
    for (int i = 0; i < element.size; ++i)
      a_.shared_areas[first + i] =
          share * weights[i] * node_area(first + i, static_cast<Index>(a_.obstacles[contact]));
  }
  /// Stiffness and force of one contact, added to those of its sample.
  ISOCLOTH_DEVICE void push(Index sample, Index contact, const Hit<Real>& hit) const {
    const bool is_near = hit.obstacle >= 0 && hit.gap < Real(HUGE_VAL);
    if (!is_near) note_lost(sample, contact);
    if (hit.obstacle < 0) {
      if (acts(a_, contact)) let_go(contact);
      return;
    }
    if (c_.keeps_forces && c_.iteration == 0) begin_step(contact, is_near ? slip_of(hit) : Real(0));
    if (!is_near) return c_.keeps_forces ? rest(contact) : let_go(contact);
    const Vec3<Real> force = a_.forces.vector(contact);
    const ContactResponse<Real> r =
        c_.keeps_forces ? squeezed(sample, contact, hit) : held_out(sample, force, hit);
    if (r.mode == ContactMode::none) return c_.keeps_forces ? rest(contact) : let_go(contact);
    a_.obstacles[contact] = static_cast<Real>(hit.obstacle);
    a_.modes[contact] = static_cast<Real>(static_cast<int>(r.mode));
    a_.normals.set_vector(contact, r.normal);
    a_.pulls.set_vector(contact, r.pull);
    a_.stiffness[contact * 3] = r.along;
    a_.stiffness[contact * 3 + 1] = r.across;
    a_.stiffness[contact * 3 + 2] = r.grip;
    // Where forces are not kept, those of earlier iterations act already.
    const Vec3<Real> added = c_.keeps_forces ? r.pull : r.pull - force;
    a_.sample_forces.set_vector(sample, a_.sample_forces.vector(sample) + added);
    const Real free = r.mode == ContactMode::slide_on ? r.across : Real(0), normal = r.along - r.across;
    const Vec3<Real> n = r.normal, s = r.slip_direction;
    const Real n_[3] = {n.x, n.y, n.z}, s_[3] = {s.x, s.y, s.z};
    int entry = 0;
    for (int i = 0; i < 3; ++i)
      for (int j = i; j < 3; ++j, ++entry)
        a_.sample_stiffness[sample * 6 + entry] +=
            normal * n_[i] * n_[j] + (i == j ? r.across : Real(0)) - free * s_[i] * s_[j];
  }

  static ISOCLOTH_DEVICE Real slip_of(const Hit<Real>& hit) {
    const Vec3<Real> way = hit.to - hit.from;
    return length(way - dot(way, hit.normal) * hit.normal);
  }
  /// Response by the law of the thickness, with what the step has still to do about it.
  ISOCLOTH_DEVICE ContactResponse<Real> squeezed(Index sample, Index contact, const Hit<Real>& hit) const {
    const Vec3<Real> n = this->turned_by(hit.obstacle, hit.normal),
                     way = this->turned_by(hit.obstacle, hit.to - hit.from);
    if (c_.iteration > 0) note_error(sample, a_.mismatches[contact]);
    const Real area = area_of(sample, hit.obstacle);
    if (!(area > 0)) return {.mode = ContactMode::none};
    const ContactPoint<Real> point{.normal = n,
                                   .displacement = way,
                                   .gap = hit.gap,
                                   .gap_before = gap_before(sample, hit),
                                   .area = area,
                                   .inertia = inertia_at(sample, hit.obstacle),
                                   .force = a_.forces.vector(contact),
                                   .began = began_force(contact),
                                   .slip = a_.began[4 * contact + 3],
                                   .mode = static_cast<ContactMode>(static_cast<int>(a_.modes[contact]))};
    const typename Law::Squeeze now = law_.squeeze(point);
    note_error(sample, law_.error(point, now) / c_.accuracy);
    return law_.response(point, now, o_.friction[hit.obstacle]);
  }
  /// Response of a contact of fast projection, whose contacts are rigid.
  ISOCLOTH_DEVICE ContactResponse<Real> held_out(Index sample, Vec3<Real> force, const Hit<Real>& hit) const {
    const Vec3<Real> n = this->turned_by(hit.obstacle, hit.normal);
    const Real gap = rigid_.wanted_gap(hit.gap, gap_before(sample, hit)), inertia = inertia_of(sample);
    if (!(inertia < Real(HUGE_VAL)) || !rigid_.is_active(gap, dot(force, n) > 0))
      return {.mode = ContactMode::none};
    return rigid_.response(force, n, gap, this->turned_by(hit.obstacle, hit.to - hit.from), inertia,
                           o_.friction[hit.obstacle]);
  }

  // What a contact keeps.

  ISOCLOTH_DEVICE Vec3<Real> began_force(Index contact) const {
    return {a_.began[4 * contact], a_.began[4 * contact + 1], a_.began[4 * contact + 2]};
  }
  /// slip: of the first iterate, by the speed at which the step begins [m].
  ISOCLOTH_DEVICE void begin_step(Index contact, Real slip) const {
    const Vec3<Real> p = a_.forces.vector(contact);
    a_.began[4 * contact] = p.x;
    a_.began[4 * contact + 1] = p.y;
    a_.began[4 * contact + 2] = p.z;
    a_.began[4 * contact + 3] = a_.slips[contact] + (slip > Law::rest_speed * c_.step ? slip : Real(0));
    a_.mismatches[contact] = 0;
  }
  /// Begins a contact with another obstacle than before.
  ISOCLOTH_DEVICE void begin_contact(Index contact) const {
    a_.forces.set_vector(contact, {});
    a_.modes[contact] = static_cast<Real>(static_cast<int>(ContactMode::none));
    a_.slips[contact] = 0;
    begin_step(contact, Real(0));
  }
  /// It exerts nothing; what bore something when the step began may again, and remembers its friction.
  ISOCLOTH_DEVICE void rest(Index contact) const {
    const Vec3<Real> began = began_force(contact);
    if (!(dot(began, began) > 0)) return let_go(contact);
    a_.modes[contact] = static_cast<Real>(static_cast<int>(ContactMode::none));
    a_.forces.set_vector(contact, {});
    a_.mismatches[contact] = 0;
  }
  ISOCLOTH_DEVICE void let_go(Index contact) const {
    begin_contact(contact);
    a_.obstacles[contact] = -1;
  }

  const Law law_;
  const Rigid rigid_;
  const ContactArrays<Real>& a_;
  const FreeNodesView& free_;
  const GatherView& node_slots_;
  const bool without_contacts_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
