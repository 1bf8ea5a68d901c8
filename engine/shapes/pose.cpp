#include "engine/shapes/pose.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/rotation.hpp"

namespace isocloth {

double orthonormality_error(const std::array<Vec3d, 3>& axes) {
  double error = norm(cross(axes[0], axes[1]) - axes[2]);
  for (const Vec3d& axis : axes) error = std::max(error, std::abs(norm(axis) - 1));
  return std::isfinite(error) ? error : HUGE_VAL;
}

std::array<Vec3d, 3> turned_axes(const Vec3d& r, const std::array<Vec3d, 3>& axes) {
  const Vec3d x = normalized(rotated(r, axes[0])), b = rotated(r, axes[1]);
  const Vec3d y = normalized(b - dot(x, b) * x);
  return {x, y, cross(x, y)};
}

Vec3d turn_between(const std::array<Vec3d, 3>& from, const std::array<Vec3d, 3>& to) {
  // By the quaternion of the turn, which keeps its digits at a half turn, where sines do not.
  std::array<Vec3d, 3> turn;  // the columns of sum_k to_k from_k^T
  for (std::size_t k = 0; k < 3; ++k) {
    turn[0] += from[k].x * to[k];
    turn[1] += from[k].y * to[k];
    turn[2] += from[k].z * to[k];
  }
  const auto [w, x, y, z] = quaternion_of(turn);
  const Vec3d sine{x, y, z};
  const double size = norm(sine);
  return size > 0 ? 2 * std::atan2(size, w) / size * sine : Vec3d{};
}

std::array<Vec3d, 3> axes_of(double w, double x, double y, double z) {
  const double s = 2 / (w * w + x * x + y * y + z * z);
  return {Vec3d{1 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)},
          Vec3d{s * (x * y - w * z), 1 - s * (x * x + z * z), s * (y * z + w * x)},
          Vec3d{s * (x * z + w * y), s * (y * z - w * x), 1 - s * (x * x + y * y)}};
}

std::array<double, 4> quaternion_of(const std::array<Vec3d, 3>& axes) {
  const auto& [x, y, z] = axes;
  // Four times the square of each component; the largest is at least 1, so its root is safe to divide by.
  const std::array<double, 4> squares{1 + x.x + y.y + z.z, 1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z,
                                      1 - x.x - y.y + z.z};
  const auto largest =
      static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  // Four times the product of the largest component and each.
  const std::array<double, 4> products[] = {{squares[0], y.z - z.y, z.x - x.z, x.y - y.x},
                                            {y.z - z.y, squares[1], x.y + y.x, x.z + z.x},
                                            {z.x - x.z, x.y + y.x, squares[2], y.z + z.y},
                                            {x.y - y.x, x.z + z.x, y.z + z.y, squares[3]}};
  std::array<double, 4> q = products[largest];
  const double scale = std::copysign(0.5 / std::sqrt(squares[largest]), q[0]);
  for (double& component : q) component *= scale;
  return q;
}

}  // namespace isocloth
