// Impulses that keep one cloth out of obstacles, with Coulomb friction, whoever calls them.
//
// A contact keeps the sum p of its impulses of this part of a step, by the law of contact_law.hpp with the
// gap of its point at the preview; the nodes take what p has changed by. A point at rest on a slope thus has
// no slip and stays.
#pragma once

#include "kernels/contact/near_obstacles.hpp"
#include "kernels/contact/swept_distance.hpp"
#include "kernels/impulse/impulse_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ImpulseContactTerms {
  using Law = ContactLaw<Real>;

 public:
  ISOCLOTH_DEVICE ImpulseContactTerms(const ImpulseCloths<Real>& args, Index cloth, Index step, int part,
                                      const ImpulseWork<Real>& work)
      : p_(args.contacts.samples),
        order_(args.contacts.order.data()),
        o_(args.contacts.obstacles.of(static_cast<std::size_t>(cloth), step)),
        work_(work),
        inverse_masses_(args.inverse_masses(cloth)),
        offset_(args.parameters[cloth].contact_offset),
        law_{.tolerance = args.contacts.tolerance, .parts = static_cast<Real>(args.parameters[cloth].parts)},
        scale_(args.parameters[cloth].contact_scale),
        from_(static_cast<Real>(part) / law_.parts),
        to_(static_cast<Real>(part + 1) / law_.parts) {
    const ImpulseContactLayout at(p_);
    Real* const own = args.contacts.work.data() + static_cast<std::size_t>(cloth) * at.count;
    obstacles_ = {own + at.obstacles, 1};
    modes_ = {own + at.modes, 1};
    forces_ = {own + at.forces, 1};
    impulses_ = {own + at.impulses, 1};
    normals_ = {own + at.normals, 1};
    floors_ = {own + at.floors, 1};
    weights_ = {own + at.weights, 1};
    near_ = {{own + at.near, 1}};
    eased_ = {{own + at.eased_obstacles, 1}, {own + at.eased_depths, 1}};
  }

  ISOCLOTH_DEVICE void operator()(phases::BeginContacts, Index contact) const {
    obstacles_[contact] = -1;
    set_mode(contact, ContactMode::none);
    forces_.set_vector(contact, {});
    impulses_.set_vector(contact, {});
  }
  ISOCLOTH_DEVICE void operator()(phases::Ease, Index sample) const {
    easing().keep(sample, static_cast<Index>(o_.size()), law_.tolerance,
                  [&](Index o) { return start_depth(o, sample); });
  }
  ISOCLOTH_DEVICE Real operator()(phases::MeasureEased, Index slot) const { return easing().left(slot); }
  ISOCLOTH_DEVICE void operator()(phases::EndContacts, Index contact) const {
    forces_.set_vector(contact, forces_.vector(contact) + scale_ * impulses_.vector(contact));
    impulses_.set_vector(contact, {});
  }

  /// Around all that a node does in this part.
  ISOCLOTH_DEVICE Box<Real> box_of(Index node) const {
    const Vec3<double> x = start(node);
    Box<Real> box{narrow(x), narrow(x)};
    box.add(narrow(x + wide(move(node))));
    return box;
  }
  /// Lists the obstacles that come near the box of all nodes.
  ISOCLOTH_DEVICE void list(const Box<Real>& box) const { list_near(o_, box.least, box.most, room(), near_); }
  ISOCLOTH_DEVICE bool are_near() const { return near_.list[0] > Real(0); }

  /// Impulses that take a sample out of obstacles at the preview; edges and faces that do not seek their
  /// deepest points keep the last ones. Returns the largest move of the sample's point.
  ISOCLOTH_DEVICE Real operator()(const phases::PushOut& push_out, Index slot) const {
    if (!are_near()) return Real(0);
    const Index sample = order_[slot];
    if (sample < p_.node_count) return correct_node(sample);
    if (push_out.seeks) keep_deepest(sample);
    if (!has_point(sample)) return Real(0);
    const Index c = p_.first_contact(sample);
    const Point point = point_of(sample);
    const auto o = static_cast<Index>(obstacles_[c]);
    return push(sample, c, point, touch(o, point, sample), Real(0));
  }

  /// Impulses against velocities into obstacles, in moves, of contacts that had an impulse on positions. The
  /// first sweep takes note of those.
  ISOCLOTH_DEVICE Real operator()(const phases::PushBack& push_back, Index slot) const {
    const Index sample = order_[slot];
    const Index first = p_.first_contact(sample), count = p_.contacts_of(sample);
    Real moved = 0;
    for (Index c = first; c < first + count; ++c) {
      const auto o = static_cast<Index>(obstacles_[c]);
      if (o < 0) continue;
      const Vec3<Real> n = normals_.vector(c);
      if (push_back.is_first) floors_[c] = dot(impulses_.vector(c), n);
      if (!(floors_[c] > 0)) continue;
      const Point point = point_of(sample);
      const Vec3<Real> surface = surface_move(o, point.start, true);
      const Touch touch{dot(n, point.move - surface), n, surface};
      moved = larger(push(sample, c, point, touch, floors_[c]), moved);
    }
    return moved;
  }

  /// How deep a sample lies at the preview in what it must not enter [m]. Nodes that lay deeper than the
  /// tolerance when the part began may leave slowly, and what is between them.
  ISOCLOTH_DEVICE Real operator()(phases::MeasureDepths, Index sample) const {
    if (!are_near()) return Real(0);
    if (sample < p_.node_count) return depth_of_node(sample);
    Real weights[4];
    const Index o = find_deepest(sample, -1, Real(0), weights);
    if (o < 0) return Real(0);
    Real rest = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot) {
      const Index node = p_.slot_nodes[slot];
      const Real own = law_.deep_rest(sweep(o, point_of(node), node).before);
      rest = own < rest ? own : rest;
    }
    return larger(law_.depth(sweep(o, point_of(sample, weights), sample).gap, rest), Real(0));
  }

 private:
  struct Swept : SweptDistance<Real> {
    Real before = 0;  ///< min(gap, 0) when the part began, where the gap is negative and no entry's [m]
  };
  /// A point of the cloth in this part.
  struct Point {
    Vec3<double> start;
    Vec3<Real> move;
    Real inverse = 0;  ///< w [1/m^2]
  };
  /// What an obstacle asks of a point.
  struct Touch {
    Real gap;            ///< gap that is made zero where it is negative [m]
    Vec3<Real> normal;   ///< normal of the obstacle in the world
    Vec3<Real> surface;  ///< move of the obstacle's surface at the point [m]
  };

  static ISOCLOTH_DEVICE Vec3<double> wide(Vec3<Real> v) { return {v.x, v.y, v.z}; }
  static ISOCLOTH_DEVICE Vec3<Real> narrow(Vec3<double> v) {
    return {static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
  }
  ISOCLOTH_DEVICE Real room() const { return offset_ + Law::release_distance; }
  ISOCLOTH_DEVICE Vec3<double> start(Index node) const {
    if constexpr (ImpulseTerms<Real>::origin_is_zero) {
      const Vec4<Real> x = work_.relative_positions[node];
      return {x.x, x.y, x.z};
    } else {
      return work_.positions[node];
    }
  }
  ISOCLOTH_DEVICE Vec3<Real> move(Index node) const {
    const Vec4<Real> u = work_.moves[node];
    return {u.x, u.y, u.z};
  }

  template <class Weights>
  ISOCLOTH_DEVICE Point point_of(Index sample, const Weights& weights) const {
    Point point{};
    const Index slot0 = p_.sample_begin[sample];
    for (Index slot = slot0; slot < p_.sample_begin[sample + 1]; ++slot) {
      const Index node = p_.slot_nodes[slot];
      const Real w = weights[slot - slot0];
      point.start += static_cast<double>(w) * start(node);
      point.move += w * move(node);
      point.inverse += w * w * inverse_masses_[node];
    }
    return point;
  }
  ISOCLOTH_DEVICE Point point_of(Index sample) const {
    if (sample < p_.node_count) return {start(sample), move(sample), inverse_masses_[sample]};
    return point_of(sample, weights_.data + p_.sample_begin[sample]);
  }
  ISOCLOTH_DEVICE bool has_point(Index sample) const {
    if (obstacles_[p_.first_contact(sample)] < 0) return false;  // the weights are of an earlier step
    Real sum = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      sum += weights_[slot];
    return sum > Real(0.5);
  }

  ISOCLOTH_DEVICE PoseView<Real> pose_at(Index o, Real done) const {
    const Placement<Real>& motion = o_.placement(o);
    return o_.moving[o] < 0 ? motion.begin : pose_between(motion.begin, motion.end, done);
  }
  /// Differences in double: cloth and obstacle may be far from the origin.
  static ISOCLOTH_DEVICE Vec3<Real> local(const PoseView<Real>& pose, Vec3<double> x) {
    const Vec3<Real> r = narrow(x - wide(pose.center));
    return {dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
  }
  /// Move in this part of the obstacle's point that is at x when it begins, or ends.
  ISOCLOTH_DEVICE Vec3<Real> surface_move(Index o, Vec3<double> x, bool at_end) const {
    if (o_.moving[o] < 0) return {};
    const PoseView<Real> begin = pose_at(o, from_), end = pose_at(o, to_);
    const Vec3<Real> r = local(at_end ? end : begin, x);
    return (end.center - begin.center) + r.x * (end.axes[0] - begin.axes[0]) +
           r.y * (end.axes[1] - begin.axes[1]) + r.z * (end.axes[2] - begin.axes[2]);
  }

  ISOCLOTH_DEVICE Easing<Real> easing() const { return {p_, o_, eased_, from_, to_}; }
  /// How deep a sample lies in obstacle o when the step begins [m]; far away at most 0.
  ISOCLOTH_DEVICE Real start_depth(Index o, Index sample) const {
    const Index slot0 = p_.sample_begin[sample];
    const PoseView<Real> pose = pose_at(o, from_);
    Box<Real> box{narrow(start(p_.slot_nodes[slot0])), {}};
    box.most = box.least;
    Element<Real> element;
    element.size = static_cast<int>(p_.sample_begin[sample + 1] - slot0);
    for (int i = 0; i < element.size; ++i) {
      const Vec3<double> x = start(p_.slot_nodes[slot0 + i]);
      box.add(narrow(x));
      element.corners[i] = local(pose, x);
    }
    if (!may_meet(o_, o, box.least, box.most, offset_)) return Real(0);
    return offset_ - least_distance(o_.shapes[o], element);
  }
  ISOCLOTH_DEVICE Swept sweep(Index o, const Point& point, Index sample) const {
    const ContactOffset<Real> offset = easing().offset_from(offset_, o, sample);
    const Vec3<Real> from = local(pose_at(o, from_), point.start);
    Swept swept{swept_distance(o_.shapes[o], offset, law_.tolerance, from,
                               local(pose_at(o, to_), point.start + wide(point.move)))};
    if (!swept.is_entry && swept.gap < 0)
      swept.before = -larger(offset.before - signed_distance(o_.shapes[o], from).value, Real(0));
    return swept;
  }
  ISOCLOTH_DEVICE Touch touch(Index o, const Point& point, Index sample) const {
    const Swept swept = sweep(o, point, sample);
    return {law_.wanted_gap(swept.gap, swept.before), turned(pose_at(o, to_), swept.normal),
            surface_move(o, point.start, false)};
  }
  ISOCLOTH_DEVICE Real depth_of_node(Index node) const {
    const Box<Real> box = box_of(node);
    Real deepest = 0;
    for_each_near(o_, near_, [&](Index o) {
      if (!may_meet(o_, o, box.least, box.most, room())) return;
      const Swept swept = sweep(o, point_of(node), node);
      deepest = larger(law_.depth(swept.gap, law_.deep_rest(swept.before)), deepest);
    });
    return deepest;
  }

  ISOCLOTH_DEVICE Real correct_node(Index node) const {
    const Index first = p_.first_contact(node), count = p_.contacts_per_node;
    const Box<Real> box = box_of(node);
    Real moved = 0;
    for_each_near(o_, near_, [&](Index o) {
      if (!may_meet(o_, o, box.least, box.most, room())) return;
      const Point point = point_of(node);
      const Touch found = touch(o, point, node);
      Index slot = -1;
      for (Index c = first; c < first + count; ++c)
        if (static_cast<Index>(obstacles_[c]) == o) slot = c;
      if (slot < 0) {
        if (!(found.gap < 0)) return;
        slot = free_slot(first, count);
        if (slot < 0) return;
        obstacles_[slot] = static_cast<Real>(o);
        forces_.set_vector(slot, {});
      }
      moved = larger(push(node, slot, point, found, Real(0)), moved);
    });
    return moved;
  }
  /// A place that holds nothing in this part, best one that held nothing in this step; -1: none.
  ISOCLOTH_DEVICE Index free_slot(Index first, Index count) const {
    Index slot = -1;
    for (Index c = first; c < first + count; ++c) {
      if (static_cast<Index>(obstacles_[c]) < 0) return c;
      const Vec3<Real> p = impulses_.vector(c);
      if (slot < 0 && !(dot(p, p) > 0)) slot = c;
    }
    return slot;
  }

  ISOCLOTH_DEVICE void set_mode(Index contact, ContactMode mode) const {
    modes_[contact] = static_cast<Real>(static_cast<int>(mode));
  }

  /// Returns how far its point moved.
  ISOCLOTH_DEVICE Real push(Index sample, Index contact, const Point& point, const Touch& touch,
                            Real least) const {
    const Vec3<Real> p = impulses_.vector(contact), n = touch.normal;
    if (!(point.inverse > 0) || !law_.is_active(touch.gap, dot(p, p) > 0, Real(HUGE_VAL))) return Real(0);
    const FrictionView<Real>& mu = o_.friction[static_cast<std::size_t>(obstacles_[contact])];
    const ContactImpulse<Real> next =
        law_.impulse(p, n, touch.gap, point.move - touch.surface, Real(1) / point.inverse, mu, least);
    const Vec3<Real> change = next.impulse - p;
    impulses_.set_vector(contact, next.impulse);
    set_mode(contact, next.mode);
    normals_.set_vector(contact, n);
    const bool is_node = sample < p_.node_count;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot) {
      const Index node = p_.slot_nodes[slot];
      const Real weight = is_node ? Real(1) : weights_[slot], w = weight * inverse_masses_[node];
      Vec4<Real>& u = work_.moves[node];
      u = {u.x + w * change.x, u.y + w * change.y, u.z + w * change.z, Real(0)};
      if (work_.loads == nullptr) continue;
      Vec4<Real>& load = work_.loads[node];
      load = {load.x + weight * change.x, load.y + weight * change.y, load.z + weight * change.z, Real(0)};
    }
    return point.inverse * length(change);
  }

  /// Notes the deepest point of an edge or a face.
  ISOCLOTH_DEVICE void keep_deepest(Index sample) const {
    const Index slot0 = p_.sample_begin[sample], contact = p_.first_contact(sample);
    const Index kept = static_cast<Index>(obstacles_[contact]);
    const Vec3<Real> p = impulses_.vector(contact);
    Real weights[4];
    const Index o = find_deepest(sample, kept, dot(p, p) > 0 ? Law::release_distance : Real(0), weights);
    for (Index slot = slot0; slot < p_.sample_begin[sample + 1]; ++slot)
      weights_[slot] = weights[slot - slot0];
    if (o < 0 || o == kept) return;
    obstacles_[contact] = static_cast<Real>(o);
    forces_.set_vector(contact, {});
    impulses_.set_vector(contact, {});
  }

  /// The point at which an edge or face lies deepest in an obstacle, where that is no corner of it; the
  /// obstacle `kept` touched it before, and does up to the gap `limit`. Returns the obstacle, -1 and zeros:
  /// none.
  ISOCLOTH_DEVICE Index find_deepest(Index sample, Index kept, Real limit, Real (&weights)[4]) const {
    for (Real& w : weights) w = 0;
    const Index slot0 = p_.sample_begin[sample];
    const int size = static_cast<int>(p_.sample_begin[sample + 1] - slot0);
    Box<Real> box = box_of(p_.slot_nodes[slot0]);
    for (int i = 1; i < size; ++i) box.add(box_of(p_.slot_nodes[slot0 + i]));
    Index deepest = -1;
    Real least = Real(HUGE_VAL);
    for_each_near(o_, near_, [&](Index o) {
      if (o_.shapes[o].kind == ShapeKind::plane) return;  // nothing lies deeper than the corners
      if (!may_meet(o_, o, box.least, box.most, room())) return;
      Real own[4] = {};
      const Real most = o == kept ? limit : Real(0);
      const ContactOffset<Real> offset = easing().offset_from(offset_, o, sample);
      const Real gap = find_deepest_in(o, offset, slot0, size, o == kept, most, own);
      if (!(gap < most) || !(gap < least)) return;
      least = gap;
      deepest = o;
      for (int i = 0; i < 4; ++i) weights[i] = own[i];
    });
    return deepest;
  }

  /// Gap of the deepest point in obstacle o where it is below `limit`; infinite: none.
  ISOCLOTH_DEVICE Real find_deepest_in(Index o, ContactOffset<Real> offset, Index slot0, int size, bool keeps,
                                       Real limit, Real (&weights)[4]) const {
    constexpr Real none = Real(HUGE_VAL);
    const ShapeView<Real>& shape = o_.shapes[o];
    const PoseView<Real> begin = pose_at(o, from_), end = pose_at(o, to_);
    Element<Real> element, before;
    element.size = before.size = size;
    for (int i = 0; i < size; ++i) {
      const Index node = p_.slot_nodes[slot0 + i];
      before.corners[i] = local(begin, start(node));
      element.corners[i] = local(end, start(node) + wide(move(node)));
    }
    const Real middle = size == 3 ? Real(1) / 3 : Real(0.5), v = size == 2 ? Real(0) : middle;
    Real even[4];
    element.weigh(middle, v, even);
    const Vec3<Real> point = element.at(even);
    if (!(dot(point, point) < Real(HUGE_VAL))) return none;
    const Distance<Real> center = signed_distance(shape, point);
    // The corners cannot have come from much further than the middle.
    if (law_.may_pass_through(length(point - before.at(even)), shape.reach)) {
      const EntryPoint<Real> entry = deepest_entry(shape, offset, law_.tolerance, before, element);
      if (entry.gap < 0) element.weigh(entry.u, entry.v, weights);
      return entry.gap;
    }
    // Distances of convex shapes lie above their tangents, those of all grow no faster than by one.
    const bool is_convex = shape.is_convex();
    Real bound = center.value;
    for (int i = 0; i < size; ++i) {
      const Vec3<Real> d = element.corners[i] - point;
      const Real own = center.value + (is_convex ? dot(center.normal, d) : -length(d));
      bound = own < bound ? own : bound;
    }
    if (!(bound < offset.now + limit)) return none;
    Real corner = Real(HUGE_VAL), mean = 0;
    for (int i = 0; i < size; ++i) {
      const Real own = signed_distance(shape, element.corners[i]).value;
      corner = own < corner ? own : corner;
      mean += own / static_cast<Real>(size);
    }
    // Distances to a convex shape are convex: where they are even, no point lies deeper than the corners.
    if (!keeps && is_convex && center.value > mean - Law::least_dip) return none;
    const ElementPoint<Real> best = size == 2   ? deepest_on_edge(shape, element)
                                    : is_convex ? deepest_on_face_in_convex(shape, element)
                                                : deepest_on_face(shape, element);
    if (!keeps && !(best.distance.value < corner - Law::least_dip)) return none;
    for (int i = 0; i < size; ++i) weights[i] = best.weights[i];
    return best.distance.value - offset.now;
  }

  const SamplePattern& p_;
  const Index* const order_;  ///< samples by colour, shape [sample]
  const ObstaclesView<Real> o_;
  const ImpulseWork<Real> work_;
  const Real* const inverse_masses_;  ///< shape [node]
  const Real offset_;
  const ContactLaw<Real> law_;
  const Real scale_;
  const Real from_, to_;  ///< part of the obstacles' motion that this part of a step begins and ends with
  Strided<Real> obstacles_, modes_, forces_, impulses_, normals_, floors_, weights_;
  NearObstacles<Real> near_;
  EasedDepths<Real> eased_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
