// Poses and solids in closed form as the kernels see them.
#pragma once

#include <algorithm>

#include "engine/shapes/obstacle.hpp"
#include "kernels/contact/obstacles.hpp"

namespace isocloth {

template <class Real>
Vec3<Real> narrow(const Vec3d& v) {
  return {static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
}
template <class Real>
PoseView<Real> narrow(const Pose& pose) {
  return {narrow<Real>(pose.center),
          {narrow<Real>(pose.axes[0]), narrow<Real>(pose.axes[1]), narrow<Real>(pose.axes[2])}};
}

template <class Real>
ShapeView<Real> shape_view(const RoundedSolid& solid) {
  const Vec3d reach = solid.half_lengths();
  ShapeView<Real> view;
  const bool is_box = solid.half.x > 0 || solid.half.y > 0;
  view.kind = solid.disc > 0 ? ShapeKind::cylinder : is_box ? ShapeKind::box : ShapeKind::capsule;
  view.half = narrow<Real>(solid.half + Vec3d{solid.disc, 0, 0});
  view.rounding = static_cast<Real>(solid.rounding);
  view.reach = static_cast<Real>(std::min({reach.x, reach.y, reach.z}));
  return view;
}

}  // namespace isocloth
