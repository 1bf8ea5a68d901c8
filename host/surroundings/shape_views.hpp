// Shapes in closed form as the kernels see them.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/model/obstacle.hpp"
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

/// A core of these half lengths and a surface `rounding` around it.
template <class Real>
ShapeView<Real> core_view(ShapeKind kind, const Vec3d& core, double rounding, double reach) {
  ShapeView<Real> view;
  view.kind = kind;
  view.half = narrow<Real>(core);
  view.rounding = static_cast<Real>(rounding);
  view.reach = static_cast<Real>(reach);
  return view;
}

template <class Real>
ShapeView<Real> shape_view(const PlaneShape&) {
  return core_view<Real>(ShapeKind::plane, {}, 0, std::numeric_limits<float>::max());
}
template <class Real>
ShapeView<Real> shape_view(const SphereShape& s) {
  return core_view<Real>(ShapeKind::sphere, {}, s.radius, s.radius);
}
template <class Real>
ShapeView<Real> shape_view(const CapsuleShape& s) {
  return core_view<Real>(ShapeKind::capsule, {0, 0, s.length / 2}, s.radius, s.radius);
}
template <class Real>
ShapeView<Real> shape_view(const CylinderShape& s) {
  return core_view<Real>(ShapeKind::cylinder, {s.radius - s.rounding, 0, s.height / 2 - s.rounding},
                         s.rounding, std::min(s.radius, s.height / 2));
}
template <class Real>
ShapeView<Real> shape_view(const BoxShape& s) {
  const Vec3d half = 0.5 * s.size;
  return core_view<Real>(ShapeKind::box, half - Vec3d{s.rounding, s.rounding, s.rounding}, s.rounding,
                         std::min({half.x, half.y, half.z}));
}

}  // namespace isocloth
