// Lengths and products of vectors in a plane.
#pragma once

#include <cmath>

#include "engine/core/vec3.hpp"

namespace isocloth {

inline double norm(const Vec2d& v) { return std::hypot(v.x, v.y); }
inline double dot(const Vec2d& a, const Vec2d& b) { return a.x * b.x + a.y * b.y; }
/// The third coordinate of the product: > 0 where b is to the left of a.
inline double cross(const Vec2d& a, const Vec2d& b) { return a.x * b.y - a.y * b.x; }

}  // namespace isocloth
