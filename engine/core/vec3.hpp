// Small fixed-size vectors, usable on host and device.
#pragma once

#include <cmath>

#include "engine/core/platform.hpp"

namespace isocloth {

template <class Real>
struct Vec2 {
  Real x{}, y{};
  ISOCLOTH_HD friend Vec2 operator+(Vec2 a, Vec2 b) { return {a.x + b.x, a.y + b.y}; }
  ISOCLOTH_HD friend Vec2 operator-(Vec2 a, Vec2 b) { return {a.x - b.x, a.y - b.y}; }
  ISOCLOTH_HD friend Vec2 operator*(Real s, Vec2 a) { return {s * a.x, s * a.y}; }
  ISOCLOTH_HD friend bool operator==(Vec2 a, Vec2 b) { return a.x == b.x && a.y == b.y; }
};

template <class Real>
struct Vec3 {
  Real x{}, y{}, z{};
  ISOCLOTH_HD friend Vec3 operator+(Vec3 a, Vec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
  ISOCLOTH_HD friend Vec3 operator-(Vec3 a, Vec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
  ISOCLOTH_HD friend Vec3 operator-(Vec3 a) { return {-a.x, -a.y, -a.z}; }
  ISOCLOTH_HD friend Vec3 operator*(Real s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }
  ISOCLOTH_HD friend bool operator==(Vec3 a, Vec3 b) { return a.x == b.x && a.y == b.y && a.z == b.z; }
  ISOCLOTH_HD Vec3& operator+=(Vec3 b) { return *this = *this + b; }
  ISOCLOTH_HD Vec3& operator-=(Vec3 b) { return *this = *this - b; }
};

template <class Real>
ISOCLOTH_HD Real dot(Vec3<Real> a, Vec3<Real> b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class Real>
ISOCLOTH_HD Vec3<Real> cross(Vec3<Real> a, Vec3<Real> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class Real>
ISOCLOTH_HD Real norm(Vec3<Real> a) {
  return std::sqrt(dot(a, a));
}
/// a / |a|; the caller makes sure that |a| > 0.
template <class Real>
ISOCLOTH_HD Vec3<Real> normalized(Vec3<Real> a) {
  return (Real(1) / norm(a)) * a;
}

/// A vector and one number more, aligned so that a register takes all four at once.
template <class Real>
struct alignas(4 * sizeof(Real)) Vec4 {
  Real x{}, y{}, z{}, w{};
};

using Vec2d = Vec2<double>;
using Vec3d = Vec3<double>;

}  // namespace isocloth
