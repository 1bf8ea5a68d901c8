// Which gripper holds a node, and where it wants it.
#pragma once

#include "kernels/contact/signed_distance.hpp"
#include "kernels/grippers/grippers.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// The gripper that holds a node in a step which begins with the node at x, -1: none; `holder` did before.
/// Open grippers let go; the first closing one whose region a free node is in takes it, and `local_position`
/// is then where in its frame. Asking again changes nothing.
template <class Real>
ISOCLOTH_DEVICE Index next_holder(const GrippersView<Real>& grippers, Index holder, Vec3<Real> x,
                                  bool is_free, Vec3<Real>& local_position) {
  if (holder >= 0 && grippers.grip(holder) == Grip::open) holder = -1;
  for (Index g = 0; g < grippers.size() && holder < 0 && is_free; ++g) {
    if (grippers.grip(g) != Grip::closing) continue;
    const Vec3<Real> local = to_local(grippers.begin[g], x);
    if (!(signed_distance(grippers.grippers[g].region, local).value <= 0)) continue;
    holder = g;
    local_position = local;
  }
  return holder;
}

/// Where a gripper wants the node with this local position after a part of the step.
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> held_position(const GrippersView<Real>& grippers, Index holder,
                                         Vec3<Real> local_position, Real done) {
  const PoseView<Real> pose = pose_between(grippers.begin[holder], grippers.end[holder], done);
  return pose.center + turned(pose, local_position);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
