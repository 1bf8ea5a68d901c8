// Frames of rigid things, and rotations between them.
#pragma once

#include <array>
#include <tuple>

#include "engine/core/fields.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth {

/// Where a frame is: x = center + axes x_local.
struct Pose {
  Vec3d center;                 ///< [m]
  std::array<Vec3d, 3> axes{};  ///< the frame's unit vectors in the world, right-handed
  static constexpr auto fields() {
    return std::tuple{Field{"center", &Pose::center}, Field{"axes", &Pose::axes}};
  }
  bool operator==(const Pose&) const = default;
};

/// How far axes are from orthonormal and right-handed ones: 0, or infinite where they are not finite.
double orthonormality_error(const std::array<Vec3d, 3>& axes);
/// A turned by the rotation vector r and made orthonormal again.
std::array<Vec3d, 3> turned_axes(const Vec3d& r, const std::array<Vec3d, 3>& axes);
/// The rotation vector of at most a half turn that leads from one frame's axes to another's [rad].
Vec3d turn_between(const std::array<Vec3d, 3>& from, const std::array<Vec3d, 3>& to);
/// Axes of the rotation of a quaternion that is not zero, which need not be of unit length.
std::array<Vec3d, 3> axes_of(double w, double x, double y, double z);
/// The quaternion w, x, y, z of unit length, w >= 0, of axes.
std::array<double, 4> quaternion_of(const std::array<Vec3d, 3>& axes);

}  // namespace isocloth
