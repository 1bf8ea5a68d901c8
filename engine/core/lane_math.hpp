// Operations of a lane value S: a number, or a vector of them (kernels/launch/lanes.hpp). Formulas that the
// engine and the kernels share are templates on S and use these.
#pragma once

#include "engine/core/platform.hpp"
#include "engine/core/vec3.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// c + a b, rounded once where the machine can.
ISOCLOTH_HD double multiply_add(double a, double b, double c) {
#if defined(__CUDACC__) || defined(__FMA__)
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}
ISOCLOTH_HD float multiply_add(float a, float b, float c) {
#if defined(__CUDACC__) || defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  return a * b + c;
#endif
}
// Builtins: std::sqrt would be a function of its own in builds without optimisation, shared among instruction
// sets.
ISOCLOTH_HD double square_root(double a) { return __builtin_sqrt(a); }
ISOCLOTH_HD float square_root(float a) { return __builtin_sqrtf(a); }
ISOCLOTH_HD double magnitude(double a) { return __builtin_fabs(a); }
ISOCLOTH_HD float magnitude(float a) { return __builtin_fabsf(a); }
ISOCLOTH_HD double select(bool mask, double a, double b) { return mask ? a : b; }
ISOCLOTH_HD float select(bool mask, float a, float b) { return mask ? a : b; }
ISOCLOTH_HD bool any(bool mask) { return mask; }
/// The value of one lane.
ISOCLOTH_HD double lane_value(double a, int) { return a; }
ISOCLOTH_HD float lane_value(float a, int) { return a; }

/// Scalar type and number of cloths of a lane value; mask type of its comparisons.
template <class S>
struct Lanes {
  using Scalar = S;
  using Mask = bool;
  static constexpr int width = 1;
};

/// The same number in every lane.
template <class S>
ISOCLOTH_HD S number(double x) {
  return S(static_cast<typename Lanes<S>::Scalar>(x));
}

/// The larger; b where a is not a number.
template <class S>
ISOCLOTH_HD S larger(S a, S b) {
  return select(a > b, a, b);
}

/// c + a b, component by component.
template <class S>
ISOCLOTH_HD Vec3<S> multiply_add(S a, Vec3<S> b, Vec3<S> c) {
  return {multiply_add(a, b.x, c.x), multiply_add(a, b.y, c.y), multiply_add(a, b.z, c.z)};
}
/// c + a . b.
template <class S>
ISOCLOTH_HD S dot_add(Vec3<S> a, Vec3<S> b, S c) {
  return multiply_add(a.x, b.x, multiply_add(a.y, b.y, multiply_add(a.z, b.z, c)));
}
template <class S>
ISOCLOTH_HD Vec3<S> select(typename Lanes<S>::Mask mask, Vec3<S> a, Vec3<S> b) {
  return {select(mask, a.x, b.x), select(mask, a.y, b.y), select(mask, a.z, b.z)};
}

}  // namespace isocloth::ISOCLOTH_BACKEND
