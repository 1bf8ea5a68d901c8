#include "engine/models/drape/catenary.hpp"

#include <algorithm>
#include <limits>

#include "engine/core/error_free.hpp"

namespace isocloth {
namespace {

/// sinh(t) / t - 1 without cancellation.
double sinh_ratio_minus_one(double t) {
  if (t > 1) return std::sinh(t) / t - 1;
  double term = 1, sum = 0;
  for (int k = 2; k <= 20; k += 2) {
    term *= t * t / (k * (k + 1));
    sum += term;
  }
  return sum;
}

/// t > 0 with ln(sinh(t) / t) = c > 0. The left side is convex and grows, so that Newton's method comes from
/// above after its first step; in logarithms nothing overflows.
double half_span(double c) {
  double t = c < 1 ? std::sqrt(6 * c) : c + std::log(2 * c + 2);
  for (int i = 0; i < 60; ++i) {
    const double value = t < 300 ? std::log1p(sinh_ratio_minus_one(t)) : t - std::log(2 * t);
    // coth t - 1 / t, which cancels where t is small.
    const double slope = t < 1e-2 ? t / 3 * (1 - t * t / 15) : 1 / std::tanh(t) - 1 / t;
    const double step = (value - c) / slope;
    t -= step;
    if (std::fabs(step) <= 1e-16 * t) break;
  }
  return t;
}

/// L^2 - |to - from|^2, to rounding of itself: in plain doubles a chain that is longer than straight by 1e-14
/// of its length would lose all but two digits of it, and its sag, the root of it, 3e-10 of the length.
double excess_of(const Vec3d& from, const Vec3d& to, double length) {
  const ExactPair square = two_product(length, length);
  double sum = square.high, rest = square.low;
  for (const ExactPair side : {two_sum(to.x, -from.x), two_sum(to.y, -from.y), two_sum(to.z, -from.z)}) {
    const ExactPair part = two_product(side.high, side.high), next = two_sum(sum, -part.high);
    sum = next.high;
    rest += next.low - part.low - 2 * side.high * side.low;
  }
  return sum + rest;
}

/// asinh(p) - asinh(q), exact to rounding also where the two are close; `d`: p - q.
double asinh_difference(double p, double q, double d) {
  const double root_p = std::hypot(1, p), root_q = std::hypot(1, q);
  if (p * q <= 0) return std::asinh(p * root_q - q * root_p);
  return std::asinh(d * (p + q) / (p * root_q + q * root_p));
}

}  // namespace

Catenary::Catenary(const Vec3d& from, const Vec3d& to, double length)
    : from_(from), to_(to), length_(length), parameter_(std::numeric_limits<double>::infinity()) {
  horizontal_ = std::hypot(to.x - from.x, to.y - from.y);
  const double excess = excess_of(from, to, length);
  if (!(excess > 0)) return;
  if (horizontal_ <= 1e-14 * length) {
    parameter_ = 0;
    return;
  }
  // L^2 - v^2 = h^2 + excess, which keeps the digits of a nearly taut and of a steep chain.
  const double t = half_span(0.5 * std::log1p(excess / (horizontal_ * horizontal_)));
  parameter_ = horizontal_ / (2 * t);
  start_ = std::asinh((to.z - from.z) / std::hypot(horizontal_, std::sqrt(excess))) - t;
  sinh_of_start_ = std::sinh(start_);
}

Vec3d Catenary::at(double s) const {
  if (s <= 0) return from_;
  if (s >= length_) return to_;
  const double share = s / length_;
  if (parameter_ == 0) {
    const double below = 0.5 * (length_ + from_.z - to_.z);  // the lowest point, from `from`
    const double z = from_.z - (s <= below ? s : 2 * below - s);
    return {from_.x + share * (to_.x - from_.x), from_.y + share * (to_.y - from_.y), z};
  }
  if (std::isinf(parameter_)) return from_ + share * (to_ - from_);
  const double way = s / parameter_;
  const double angle = asinh_difference(sinh_of_start_ + way, sinh_of_start_, way);  // x / a from `from`
  const double across = std::min(1.0, parameter_ * angle / horizontal_);
  const double up = 2 * parameter_ * std::sinh(start_ + angle / 2) * std::sinh(angle / 2);
  return {from_.x + across * (to_.x - from_.x), from_.y + across * (to_.y - from_.y), from_.z + up};
}

}  // namespace isocloth
