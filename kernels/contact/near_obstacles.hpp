// Which obstacles a box of nodes may meet within a step.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/contact/signed_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Corners of a box [m].
template <class Real>
struct Box {
  Vec3<Real> least, most;
  ISOCLOTH_DEVICE void add(Vec3<Real> x) {
    least = {x.x < least.x ? x.x : least.x, x.y < least.y ? x.y : least.y, x.z < least.z ? x.z : least.z};
    most = {larger(x.x, most.x), larger(x.y, most.y), larger(x.z, most.z)};
  }
  ISOCLOTH_DEVICE void add(const Box& b) {
    add(b.least);
    add(b.most);
  }
};

/// Whether obstacle o comes within `room` [m] of the box between two corners anywhere in its motion.
template <class Real>
ISOCLOTH_DEVICE bool may_meet(const ObstaclesView<Real>& obstacles, Index o, Vec3<Real> least,
                              Vec3<Real> most, Real room) {
  const Placement<Real>& motion = obstacles.placement(o);
  if (obstacles.shapes[o].kind == ShapeKind::plane) {
    // The corner of the box that lies deepest, at both ends of the motion.
    for (const PoseView<Real>* pose : {&motion.begin, &motion.end}) {
      const Vec3<Real> n = pose->axes[2];
      const Vec3<Real> corner{n.x > 0 ? least.x : most.x, n.y > 0 ? least.y : most.y,
                              n.z > 0 ? least.z : most.z};
      if (dot(n, corner - pose->center) < room) return true;
    }
    return false;
  }
  return least.x - room < motion.most.x && most.x + room > motion.least.x && least.y - room < motion.most.y &&
         most.y + room > motion.least.y && least.z - room < motion.most.z && most.z + room > motion.least.z;
}

/// At most the distance of any point between `corners`, which are relative to `center`, one of them, from
/// obstacle o, which is at rest [m].
template <class Real>
ISOCLOTH_DEVICE Real distance_at_least(const ObstaclesView<Real>& obstacles, Index o, Vec3<Real> center,
                                       const Vec3<Real>* corners, Index count) {
  const Placement<Real>& place = obstacles.placement(o);
  const ShapeView<Real>& shape = obstacles.shapes[o];
  if (shape.is_convex()) {  // it lies behind the tangent plane of each of its distances
    const Distance<Real> at_center = signed_distance(shape, to_local(place.begin, center));
    const Vec3<Real> normal = turned(place.begin, at_center.normal);
    Real least = 0;
    for (Index i = 0; i < count; ++i) {
      const Real along = dot(normal, corners[i]);
      least = along < least ? along : least;
    }
    return at_center.value + least;
  }
  // Values of a grid change faster than distances.
  Real radius = 0;
  for (Index i = 0; i < count; ++i) radius = larger(length(corners[i]), radius);
  const Vec3<Real> beyond{larger(larger(place.least.x - center.x, center.x - place.most.x), Real(0)),
                          larger(larger(place.least.y - center.y, center.y - place.most.y), Real(0)),
                          larger(larger(place.least.z - center.z, center.z - place.most.z), Real(0))};
  return length(beyond) - radius;
}

/// Lists the obstacles that may meet the box; past most_near they are only counted.
template <class Real>
ISOCLOTH_DEVICE void list_near(const ObstaclesView<Real>& obstacles, Vec3<Real> least, Vec3<Real> most,
                               Real room, const NearObstacles<Real>& near) {
  Index count = 0;
  for (Index o = 0; o < static_cast<Index>(obstacles.size()); ++o) {
    if (!may_meet(obstacles, o, least, most, room)) continue;
    if (count < most_near) near.list[static_cast<std::size_t>(1 + count)] = static_cast<Real>(o);
    ++count;
  }
  near.list[0] = static_cast<Real>(count);
}

/// visit(obstacle) for all that are listed, or for all where the list is too short.
template <class Real, class Visit>
ISOCLOTH_DEVICE void for_each_near(const ObstaclesView<Real>& obstacles, const NearObstacles<Real>& near,
                                   const Visit& visit) {
  const Index listed = static_cast<Index>(near.list[0]);
  const bool all = listed > most_near;
  const Index count = all ? static_cast<Index>(obstacles.size()) : listed;
  for (Index i = 0; i < count; ++i)
    visit(all ? i : static_cast<Index>(near.list[static_cast<std::size_t>(1 + i)]));
}

}  // namespace isocloth::ISOCLOTH_BACKEND
