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
  Vec3<Real> from{}, to{};  ///< of the point, in the obstacle's frame before and after
  PoseView<Real> begin, end;
};

/// Of a point of an edge or a face.
template <class Real>
struct ElementHit : Hit<Real> {
  Real u = 0, v = 0;
  bool is_corner = false;  ///< no deeper than the corners
};

template <class Real>
class ContactSearch {
  using Law = ContactLaw<Real>;

 public:
  ISOCLOTH_DEVICE ContactSearch(const SamplePattern& pattern, const ObstaclesView<Real>& obstacles,
                                const ContactControl<Real>& control, const ContactPlaces<Real>& places,
                                const NearObstacles<Real>& near)
      : p_(pattern), o_(obstacles), c_(control), x_(places), near_(near) {}

  /// Lists the obstacles whose boxes meet that of the cloth.
  ISOCLOTH_DEVICE void list_near(Vec3<Real> least, Vec3<Real> most) const {
    ISOCLOTH_BACKEND::list_near(o_, least, most, c_.offset + Law::release_distance, near_);
  }
  /// visit(obstacle) for all that the cloth may meet.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_near(const Visit& visit) const {
    ISOCLOTH_BACKEND::for_each_near(o_, near_, visit);
  }
  /// Edges and faces lie no deeper in it than their corners.
  ISOCLOTH_DEVICE bool is_flat(Index o) const { return o_.shapes[o].kind == ShapeKind::plane; }

  ISOCLOTH_DEVICE void measure_node(Index o, Index node, Hit<Real>& hit) const {
    begin_hit(o, hit);
    hit.from = to_local(hit.begin, x_.start.vector(node));
    hit.to = to_local(hit.end, x_.iterate.vector(node));
    measure(hit);
  }
  /// The element of a sample at the iterate, in the frame of obstacle o.
  ISOCLOTH_DEVICE Element<Real> element_at(Index o, Index sample) const {
    return element_at(sample, pose_at_end(o), x_.iterate);
  }
  /// The point of the element that lies at (u, v) of the hit.
  ISOCLOTH_DEVICE void measure_point(Index o, Index sample, const Element<Real>& element,
                                     ElementHit<Real>& own) const {
    begin_hit(o, own);
    Real weights[4];
    element.weigh(own.u, own.v, weights);
    own.from = element_at(sample, own.begin, x_.start).at(weights);
    own.to = element.at(weights);
    measure(own);
  }
  /// Whether the element touches obstacle o at a point that is not a corner, or one that it keeps; that
  /// point.
  ISOCLOTH_DEVICE bool find_deepest(Index o, Index sample, const Element<Real>& element, bool keeps,
                                    ElementHit<Real>& own) const {
    begin_hit(o, own);
    const Index slot0 = p_.sample_begin[sample];
    const ShapeView<Real>& shape = o_.shapes[o];
    const Real middle = element.size == 3 ? Real(1) / 3 : Real(0.5);
    const ElementPoint<Real> center = point_at(shape, element, middle, element.size == 2 ? Real(0) : middle);
    Real radius = 0;
    for (int i = 0; i < element.size; ++i) radius = larger(length(element.corners[i] - center.place), radius);
    // How far the middle came from; the corners cannot have come from much further.
    Vec3<Real> from{};
    for (int i = 0; i < element.size; ++i)
      from += center.weights[i] * x_.start.vector(p_.slot_nodes[slot0 + i]);
    from = to_local(own.begin, from);
    const bool is_fast = Law::may_pass_through(length(center.place - from), shape.reach);
    const Real limit = c_.offset + (keeps ? Law::release_distance : Real(0));
    if (!is_fast && !(center.distance.value - radius < limit)) return false;
    if (is_fast) {
      const EntryPoint<Real> entry =
          deepest_entry(shape, c_.offset, c_.tolerance, element_at(sample, own.begin, x_.start), element);
      if (!(entry.gap < 0)) return false;
      own.u = entry.u;
      own.v = entry.v;
      measure_point(o, sample, element, own);
      return true;
    }
    Real corner = Real(HUGE_VAL), mean = 0;
    for (int i = 0; i < element.size; ++i) {
      const Real distance = signed_distance(shape, element.corners[i]).value;
      corner = distance < corner ? distance : corner;
      mean += distance / static_cast<Real>(element.size);
    }
    // Distances to a convex shape are convex: where they are even, no point lies deeper than the corners.
    if (!keeps && shape.kind != ShapeKind::grid && center.distance.value > mean - Law::least_dip)
      return false;
    const ElementPoint<Real> best =
        element.size == 2 ? deepest_on_edge(shape, element) : deepest_on_face(shape, element);
    if (!(best.distance.value < limit)) return false;
    own.is_corner = !(best.distance.value < corner - Law::least_dip);
    if (!keeps && own.is_corner) return false;
    own.u = best.u;
    own.v = best.v;
    own.from = element_at(sample, own.begin, x_.start).at(best.weights);
    own.to = best.place;
    own.gap = best.distance.value - c_.offset;
    own.normal = best.distance.normal;
    own.before = own.gap < 0 ? gap_before(shape, c_.offset, own.from) : Real(0);
    return true;
  }

 protected:
  const SamplePattern& p_;
  const ObstaclesView<Real>& o_;
  const ContactControl<Real>& c_;
  const ContactPlaces<Real>& x_;

 private:
  /// Of an obstacle, which moves through the step, or a body, which moves in the part that is sought.
  ISOCLOTH_DEVICE PoseView<Real> pose_at_end(Index o) const {
    const Placement<Real>& motion = o_.placement(o);
    return o_.moving[o] < 0     ? motion.begin
           : o >= o_.first_body ? motion.end
                                : pose_between(motion.begin, motion.end, c_.to);
  }
  ISOCLOTH_DEVICE void begin_hit(Index o, Hit<Real>& hit) const {
    const Placement<Real>& motion = o_.placement(o);
    hit.obstacle = o;
    hit.begin = o_.moving[o] < 0 || o >= o_.first_body ? motion.begin
                                                       : pose_between(motion.begin, motion.end, c_.from);
    hit.end = pose_at_end(o);
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
  ISOCLOTH_DEVICE void measure(Hit<Real>& hit) const {
    static_cast<SweptDistance<Real>&>(hit) =
        swept_distance(o_.shapes[hit.obstacle], c_.offset, c_.tolerance, hit.from, hit.to);
  }

  const NearObstacles<Real> near_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
