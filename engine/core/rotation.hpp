// Rotations by vectors along their axes.
#pragma once

#include <cmath>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// v turned by the rotation vector r [rad] (Rodrigues); v itself, bit for bit, where r = 0.
ISOCLOTH_HD Vec3d rotated(const Vec3d& r, const Vec3d& v) {
  const double angle = norm(r);
  if (angle == 0) return v;
  // Divided, not multiplied by 1 / angle: a turn about a coordinate axis then leaves that coordinate alone.
  const Vec3d axis{r.x / angle, r.y / angle, r.z / angle};
  return std::cos(angle) * v + std::sin(angle) * cross(axis, v) + (1 - std::cos(angle)) * dot(axis, v) * axis;
}

}  // namespace isocloth
