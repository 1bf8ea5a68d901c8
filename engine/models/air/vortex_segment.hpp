// What a straight vortex does to the air around it.
#pragma once

#include <numbers>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Velocity at `point` per circulation of a straight vortex from a to b [1/m]: the law of Biot and Savart,
/// (r1 x r2) (|r1| + |r2|) / (4 pi (|r1| |r2| (|r1| |r2| + r1 . r2) + (core l)^2)), r1 = point - a,
/// r2 = point - b, l = |b - a| (Katz, Plotkin, Low-Speed Aerodynamics, 2001, section 2.12, with the core of
/// van Garrel, ECN-C--03-079, 2003). Beside a long vortex this is d / (2 pi (d^2 + 2 core^2)) at the distance
/// d. 0 on the vortex and for one without length. core [m], >= 0.
inline Vec3d segment_velocity(const Vec3d& point, const Vec3d& a, const Vec3d& b, double core) {
  const Vec3d r1 = point - a, r2 = point - b, along = b - a;
  const double n1 = norm(r1), n2 = norm(r2);
  const double denominator = n1 * n2 * (n1 * n2 + dot(r1, r2)) + core * core * dot(along, along);
  if (!(denominator > 0)) return {};
  return (n1 + n2) / (4 * std::numbers::pi * denominator) * cross(r1, r2);
}

}  // namespace isocloth
