// Rigid bodies in free flight.
#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/model/rigid_body.hpp"

namespace isocloth {
namespace {

/// A v, with the axes A as columns.
Vec3d from_frame(const std::array<Vec3d, 3>& axes, const Vec3d& v) {
  return v.x * axes[0] + v.y * axes[1] + v.z * axes[2];
}
Vec3d into_frame(const std::array<Vec3d, 3>& axes, const Vec3d& v) {
  return {dot(axes[0], v), dot(axes[1], v), dot(axes[2], v)};
}

/// u' where exp(u) A turns with the angular velocity w, to third order in u.
Vec3d rate_of_vector(const Vec3d& u, const Vec3d& w) {
  const Vec3d uw = cross(u, w);
  return w - 0.5 * uw + (1.0 / 12) * cross(u, uw);
}

}  // namespace

Vec3d product(const Matrix3& a, const Vec3d& v) { return {dot(a[0], v), dot(a[1], v), dot(a[2], v)}; }

Matrix3 turned_inertia(const Matrix3& inertia, const std::array<Vec3d, 3>& axes) {
  Matrix3 result;
  const std::array<Vec3d, 3> units{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  for (std::size_t i = 0; i < 3; ++i)
    result[i] = from_frame(axes, product(inertia, into_frame(axes, units[i])));
  return result;
}

Matrix3 inverse(const Matrix3& a) {
  const Vec3d u = cross(a[1], a[2]), v = cross(a[2], a[0]), w = cross(a[0], a[1]);
  const double det = dot(a[0], u);
  if (!(det > 0 && a[0].x > 0 && w.z > 0))
    throw SceneError("body: found an inertia that is not positive definite, expected a solid with a volume");
  const double s = 1 / det;
  return {Vec3d{s * u.x, s * v.x, s * w.x}, Vec3d{s * u.y, s * v.y, s * w.y},
          Vec3d{s * u.z, s * v.z, s * w.z}};
}

BodyState start_state(const RigidBody& body, const MassProperties& properties) {
  std::array<Vec3d, 3> axes{Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}};
  for (Vec3d& axis : axes) axis = rotated(body.rotation, axis);
  return {.pose = {.center = body.position + from_frame(axes, properties.center), .axes = axes},
          .velocity = body.velocity,
          .angular_momentum = angular_momentum(body, properties, axes, body.angular_velocity)};
}

Vec3d angular_momentum(const RigidBody& body, const MassProperties& properties,
                       const std::array<Vec3d, 3>& axes, const Vec3d& w) {
  return body.mass * product(turned_inertia(properties.inertia, axes), w);
}

Pose shape_pose(const Pose& pose, const MassProperties& properties) {
  return {.center = pose.center - from_frame(pose.axes, properties.center), .axes = pose.axes};
}

BodyState free_flight(const BodyState& state, const Matrix3& inverse_inertia, const Vec3d& gravity,
                      double h) {
  constexpr double largest_turn = 0.02;  // [rad]
  const Vec3d velocity = state.velocity + h * gravity, l = state.angular_momentum;
  BodyState result{.pose = {.center = state.pose.center + h * velocity, .axes = state.pose.axes},
                   .velocity = velocity,
                   .angular_momentum = l};
  if (l == Vec3d{}) return result;
  const auto spin = [&](const std::array<Vec3d, 3>& axes) {
    return from_frame(axes, product(inverse_inertia, into_frame(axes, l)));
  };
  // |w| <= trace(I^-1) |L| throughout; many turns in one step are worth no more than so many parts.
  const double fastest = (inverse_inertia[0].x + inverse_inertia[1].y + inverse_inertia[2].z) * norm(l);
  const int parts = static_cast<int>(std::clamp(std::ceil(h * fastest / largest_turn), 1.0, 1e4));
  const double s = h / parts;
  for (int i = 0; i < parts; ++i) {
    const std::array<Vec3d, 3> axes = result.pose.axes;
    const auto rate = [&](const Vec3d& u) {
      std::array<Vec3d, 3> turned = axes;
      for (Vec3d& axis : turned) axis = rotated(u, axis);
      return rate_of_vector(u, spin(turned));
    };
    const Vec3d k1 = spin(axes), k2 = rate(s / 2 * k1), k3 = rate(s / 2 * k2), k4 = rate(s * k3);
    result.pose.axes = turned_axes(s / 6 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), axes);
  }
  return result;
}

}  // namespace isocloth
