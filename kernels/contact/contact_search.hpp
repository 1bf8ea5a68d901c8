// Where one cloth touches obstacles: its nodes, and the points of its edges and faces that come deepest.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/near_obstacles.hpp"
#include "kernels/contact/swept_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// A point of the cloth and an obstacle; the gap is to what the middle of the cloth must not enter.
template <class Real>
struct Hit : SweptDistance<Real> {
  Index obstacle = -1;
  Vec3<Real> from{}, to{};  ///< point in the obstacle's frame before and after [m]
};

/// A hit by a point (u, v) of an edge or a face.
template <class Real>
struct ElementHit : Hit<Real> {
  Real u = 0, v = 0;
  bool is_corner = false;  ///< no deeper than the corners
};

/// min(gap, 0) when the step began, of what is inside `now` [m]: along the normal of now; where that leads
/// far into the obstacle, which is wrong beyond an edge, by distance.
template <class Real>
ISOCLOTH_DEVICE Real gap_before(const ShapeView<Real>& shape, ContactOffset<Real> offset, Real tolerance,
                                const SweptDistance<Real>& now, Vec3<Real> from, Vec3<Real> to) {
  if (!(now.gap < 0)) return Real(0);
  const Real along = now.gap - dot(to - from, now.normal), before = along < 0 ? along : Real(0);
  if (!(before < now.gap) || !(before < -tolerance)) return before;
  const Real found = distance_value(shape, from) - offset.before;
  return found < 0 ? larger(found, before) : Real(0);
}

template <class Real>
class ContactSearch {
  using Law = ContactLaw<Real>;

 public:
  ISOCLOTH_DEVICE ContactSearch(const SamplePattern& pattern, const ObstaclesView<Real>& obstacles,
                                const ContactControl<Real>& control, const ContactPositions<Real>& positions,
                                const NearObstacles<Real>& near, const EasedDepths<Real>& eased)
      : p_(pattern),
        o_(obstacles),
        c_(control),
        x_(positions),
        easing_(pattern, obstacles, eased, control.from, control.to),
        near_(near) {}

  /// Lists the obstacles whose boxes meet that of the cloth.
  ISOCLOTH_DEVICE void list_near(Vec3<Real> least, Vec3<Real> most) const {
    ISOCLOTH_BACKEND::list_near(o_, least, most, c_.offset + Law::release_distance, near_);
  }
  /// Notes how far a node has gone since the last look.
  ISOCLOTH_DEVICE void note_way(Index node) const {
    const Clearances<Real>& own = near_.clearances;
    if (own.ways.empty()) return;
    const Vec3<Real> to = x_.iterate.vector(node), start = x_.start.vector(node), seen_at = own.seen_at[node];
    const Real way = own.by_start ? length(start - seen_at) + length(to - start) : length(to - seen_at);
    own.ways[node] = way < Real(HUGE_VAL) ? way : Real(HUGE_VAL);
    own.seen_at[node] = to;
  }
  /// Obstacles that a sample without contacts may meet at the iterate or on the way there, as bits of
  /// Clearances. Once per look.
  ISOCLOTH_DEVICE std::uint32_t near_obstacles(Index sample) const {
    const Clearances<Real>& own = near_.clearances;
    if (own.rooms.empty()) return ~std::uint32_t{0};
    Real way = 0;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      way = larger(own.ways[p_.slot_nodes[slot]], way);
    own.rooms[sample] -= way;
    if (!(own.rooms[sample] > 0)) measure_clearance(sample, way);
    return own.obstacles[sample];
  }
  /// visit(obstacle) for all that the cloth may meet, of those of a sample.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_near(std::uint32_t obstacles, const Visit& visit) const {
    if (obstacles == 0) return;
    const bool are_all = near_.clearances.rooms.empty();
    ISOCLOTH_BACKEND::for_each_near(o_, near_, [&](Index o) {
      if (are_all || (obstacles & Clearances<Real>::bit(o)) != 0) visit(o);
    });
  }
  /// Edges and faces lie no deeper in it than their corners.
  ISOCLOTH_DEVICE bool is_flat(Index o) const { return o_.shapes[o].kind == ShapeKind::plane; }

  ISOCLOTH_DEVICE void measure_node(Index o, Index node, Hit<Real>& hit) const {
    PoseView<Real> between;
    hit.obstacle = o;
    hit.from = to_local(pose_at_begin(o, between), x_.start.vector(node));
    hit.to = to_local(pose_at_end(o, between), x_.iterate.vector(node));
    measure(hit, node);
  }
  /// How deep a sample lies in obstacle o when the step begins [m]; far away at most 0.
  ISOCLOTH_DEVICE Real start_depth(Index o, Index sample) const {
    Box<Real> box{x_.start.vector(p_.slot_nodes[p_.sample_begin[sample]]), {}};
    box.most = box.least;
    for (Index slot = p_.sample_begin[sample]; slot < p_.sample_begin[sample + 1]; ++slot)
      box.add(x_.start.vector(p_.slot_nodes[slot]));
    if (!may_meet(o_, o, box.least, box.most, c_.offset)) return Real(0);
    PoseView<Real> between;
    return c_.offset - least_distance(o_.shapes[o], element_at(sample, pose_at_begin(o, between), x_.start));
  }
  /// The element of a sample at the iterate, in the frame of obstacle o.
  ISOCLOTH_DEVICE Element<Real> element_at(Index o, Index sample) const {
    PoseView<Real> between;
    return element_at(sample, pose_at_end(o, between), x_.iterate);
  }
  /// Whether an element without contacts may get one.
  ISOCLOTH_DEVICE bool may_touch_any(Index sample, std::uint32_t obstacles) const {
    if (obstacles == 0 || !(near_.list[0] > 0)) return false;
    const Box<Real> box = box_around(sample);
    bool may = false;
    for_each_near(obstacles, [&](Index o) {
      if (may || is_flat(o) || !comes_near(o, box)) return;
      may = approach(o, sample, element_at(o, sample), false).may_touch;
    });
    return may;
  }
  /// A displacement in the frame of obstacle o, as it is now.
  ISOCLOTH_DEVICE Vec3<Real> turned_by(Index o, Vec3<Real> v) const {
    PoseView<Real> between;
    return turned(pose_at_end(o, between), v);
  }
  /// The point of the element that lies at (u, v) of the hit.
  ISOCLOTH_DEVICE void measure_point(Index o, Index sample, const Element<Real>& element,
                                     ElementHit<Real>& own) const {
    PoseView<Real> between;
    own.obstacle = o;
    Real weights[4];
    element.weigh(own.u, own.v, weights);
    own.from = element_at(sample, pose_at_begin(o, between), x_.start).at(weights);
    own.to = element.at(weights);
    measure(own, sample);
  }
  /// Whether the element touches obstacle o at a point that is not a corner, or one that it keeps; that
  /// point.
  ISOCLOTH_DEVICE bool find_deepest(Index o, Index sample, const Element<Real>& element, bool keeps,
                                    ElementHit<Real>& own) const {
    const Approach found = approach(o, sample, element, keeps);
    if (!found.may_touch) return false;
    own.obstacle = o;
    const ShapeView<Real>& shape = o_.shapes[o];
    PoseView<Real> between;
    const Element<Real> before = element_at(sample, pose_at_begin(o, between), x_.start);
    const ContactOffset<Real> offset = easing_.offset_from(c_.offset, o, sample);
    if (found.is_fast) {
      const EntryPoint<Real> entry = deepest_entry(shape, offset, c_.tolerance, before, element);
      if (!(entry.gap < 0)) return false;
      own.u = entry.u;
      own.v = entry.v;
      measure_point(o, sample, element, own);
      return true;
    }
    // What is less deep than the thickness gives, the corners keep out.
    const Real least_dip = larger(Law::least_dip, c_.curve.give / 4);
    const Real limit = limit_of(offset.now, keeps), dip = found.corner - least_dip;
    const ElementPoint<Real> best =
        element.size == 2
            ? deepest_on_edge(shape, element)
            : deepest_on_face(shape, element, (keeps || limit < dip ? limit : dip) + Law::least_dip);
    if (!(best.distance.value < limit)) return false;
    own.is_corner = !(best.distance.value < dip);
    if (!keeps && own.is_corner) return false;
    own.u = best.u;
    own.v = best.v;
    own.from = before.at(best.weights);
    own.to = best.position;
    own.gap = best.distance.value - offset.now;
    own.normal = best.distance.normal;
    return true;
  }

 protected:
  const SamplePattern& p_;
  const ObstaclesView<Real>& o_;
  const ContactControl<Real>& c_;
  const ContactPositions<Real>& x_;
  const Easing<Real> easing_;

 private:
  /// Whatever a sample passed on the way of the step is as far as it is, but for the length of that way.
  ISOCLOTH_DEVICE_CALL void measure_clearance(Index sample, Real way) const {
    const Index first = p_.sample_begin[sample], count = p_.sample_begin[sample + 1] - first;
    Vec3<Real> center{}, corners[4];
    Real passed = 0;
    for (Index i = 0; i < count; ++i) {
      const Index node = p_.slot_nodes[first + i];
      corners[i] = x_.iterate.vector(node);
      center += (Real(1) / static_cast<Real>(count)) * corners[i];
      passed = larger(length(corners[i] - x_.start.vector(node)), passed);
    }
    for (Index i = 0; i < count; ++i) corners[i] -= center;
    // What is not near stays so for two steps like this one; what is near may be so no more after some.
    const Real touching = c_.offset + c_.tolerance + passed, spare = c_.tolerance + 2 * passed;
    std::uint32_t near = 0;
    Real room = Real(HUGE_VAL);
    for (Index o = 0; o < static_cast<Index>(o_.size()); ++o) {
      const Real own =
          o_.moving[o] >= 0 ? Real(0) : distance_at_least(o_, o, center, corners, count) - touching;
      if (!(own > spare))
        near |= Clearances<Real>::bit(o);
      else if (own < room)
        room = own;
    }
    if (near != 0 && 4 * spare < room) room = 4 * spare;
    near_.clearances.rooms[sample] = way < Real(HUGE_VAL) ? room : Real(0);
    near_.clearances.obstacles[sample] = near;
  }
  struct Approach {
    bool may_touch = false;
    bool is_fast = false;  ///< it may have passed through
    Real corner{};         ///< distance of the deepest corner, where it is not fast
  };
  static ISOCLOTH_DEVICE Real limit_of(Real offset, bool keeps) {
    return offset + (keeps ? Law::release_distance : Real(0));
  }
  /// Whether find_deepest() may find anything: few distances tell where it cannot.
  ISOCLOTH_DEVICE_CALL Approach approach(Index o, Index sample, const Element<Real>& element,
                                         bool keeps) const {
    Approach result;
    const Index slot0 = p_.sample_begin[sample];
    const ShapeView<Real>& shape = o_.shapes[o];
    const Real middle = element.size == 3 ? Real(1) / 3 : Real(0.5);
    ElementPoint<Real> center = element_point(element, middle, element.size == 2 ? Real(0) : middle);
    // How far the middle came from; the corners cannot have come from much further.
    Vec3<Real> from{};
    for (int i = 0; i < element.size; ++i)
      from += center.weights[i] * x_.start.vector(p_.slot_nodes[slot0 + i]);
    PoseView<Real> between;
    from = to_local(pose_at_begin(o, between), from);
    result.is_fast = result.may_touch = Law::may_pass_through(length(center.position - from), shape.reach);
    if (result.is_fast || (!keeps && lies_over_one_face(shape, element))) return result;
    center.distance = signed_distance(shape, center.position);
    const bool is_convex = shape.is_convex();
    const Real limit = limit_of(easing_.offset_from(c_.offset, o, sample).now, keeps);
    // Bounds are taken a little wider than they are, for what is rounded.
    if (!(is_convex ? least_in_convex(element, center) < limit + Law::least_dip
                    : center.distance.value - radius_around(element, center) < limit))
      return result;
    Real mean = 0;
    result.corner = Real(HUGE_VAL);
    for (int i = 0; i < element.size; ++i) {
      const Real distance = distance_value(shape, element.corners[i]);
      result.corner = distance < result.corner ? distance : result.corner;
      mean += distance / static_cast<Real>(element.size);
    }
    // Distances to a convex shape are convex: where they are even, no point lies deeper than the corners.
    result.may_touch = keeps || !is_convex || !(center.distance.value > mean - Law::least_dip);
    return result;
  }
  /// A box around the element over the step so far.
  ISOCLOTH_DEVICE Box<Real> box_around(Index sample) const {
    const Index slot0 = p_.sample_begin[sample];
    const Vec3<Real> first = x_.iterate.vector(p_.slot_nodes[slot0]);
    Box<Real> box{first, first};
    for (Index slot = slot0; slot < p_.sample_begin[sample + 1]; ++slot) {
      box.add(x_.start.vector(p_.slot_nodes[slot]));
      box.add(x_.iterate.vector(p_.slot_nodes[slot]));
    }
    return box;
  }
  /// Whether what stays in the box may touch obstacle o. In the frame of one that turns points do not move on
  /// straight lines, and leave the box.
  ISOCLOTH_DEVICE bool comes_near(Index o, const Box<Real>& box) const {
    return o_.moving[o] >= 0 ||
           may_meet(o_, o, box.least, box.most, c_.offset + Law::release_distance + c_.tolerance);
  }
  static ISOCLOTH_DEVICE Real radius_around(const Element<Real>& element, const ElementPoint<Real>& center) {
    Real square = 0;
    for (int i = 0; i < element.size; ++i) {
      const Vec3<Real> d = element.corners[i] - center.position;
      square = larger(dot(d, d), square);
    }
    return square_root(square);
  }
  // Of an obstacle, which moves through the step, or a body, which moves in the part that is sought;
  // `between` keeps a pose that is neither that of the beginning nor that of the end.
  ISOCLOTH_DEVICE const PoseView<Real>& pose_at_begin(Index o, PoseView<Real>& between) const {
    const Placement<Real>& motion = o_.placement(o);
    if (o_.moving[o] < 0 || o >= o_.first_body) return motion.begin;
    return between = pose_between(motion.begin, motion.end, c_.from);
  }
  ISOCLOTH_DEVICE const PoseView<Real>& pose_at_end(Index o, PoseView<Real>& between) const {
    const Placement<Real>& motion = o_.placement(o);
    if (o_.moving[o] < 0) return motion.begin;
    if (o >= o_.first_body) return motion.end;
    return between = pose_between(motion.begin, motion.end, c_.to);
  }
  ISOCLOTH_DEVICE Element<Real> element_at(Index sample, const PoseView<Real>& pose,
                                           const Strided<const Real>& positions) const {
    const Index slot0 = p_.sample_begin[sample];
    Element<Real> element;
    element.size = static_cast<int>(p_.sample_begin[sample + 1] - slot0);
    for (int i = 0; i < element.size; ++i)
      element.corners[i] = to_local(pose, positions.vector(p_.slot_nodes[slot0 + i]));
    return element;
  }
  /// A point that moved from hit.from to hit.to.
  ISOCLOTH_DEVICE void measure(Hit<Real>& hit, Index sample) const {
    static_cast<SweptDistance<Real>&>(hit) =
        swept_distance(o_.shapes[hit.obstacle], easing_.offset_from(c_.offset, hit.obstacle, sample),
                       c_.tolerance, hit.from, hit.to);
  }

  const NearObstacles<Real>& near_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
