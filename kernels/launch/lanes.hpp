// A lane value: one number, or one of each of several cloths side by side in a vector register (CPU only).
//
// Kernels that are written for a lane value S run one cloth per thread (S = Real) or Pack<Real>::width of
// them at once (S = Pack<Real>), with the same bits: products and sums are fused where multiply_add says so
// and nowhere else. Vectors are as wide as the instruction set of this compilation.
#pragma once

#include <cmath>
#include <type_traits>

#include "engine/core/lane_math.hpp"

#if !defined(__CUDACC__) && defined(__x86_64__)
#include <immintrin.h>
#endif

namespace isocloth::ISOCLOTH_BACKEND {

#if !defined(__CUDACC__)

#if defined(__AVX512F__)
constexpr int vector_bytes = 64;
#elif defined(__AVX2__)
constexpr int vector_bytes = 32;
#else
constexpr int vector_bytes = 16;
#endif

template <class Real>
struct Native;
template <>
struct Native<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef long long Mask __attribute__((vector_size(vector_bytes)));
};
template <>
struct Native<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef int Mask __attribute__((vector_size(vector_bytes)));
};

/// Outcome of a comparison lane by lane: all bits of a lane or none.
template <class Real>
struct PackMask {
  typename Native<Real>::Mask bits;
  PackMask() = default;
  ISOCLOTH_HD PackMask(typename Native<Real>::Mask b) : bits(b) {}
  ISOCLOTH_HD explicit PackMask(bool all) : bits(typename Native<Real>::Mask{} - (all ? 1 : 0)) {}
  ISOCLOTH_HD bool operator[](int lane) const { return bits[lane] != 0; }
  ISOCLOTH_HD friend PackMask operator&(PackMask a, PackMask b) { return a.bits & b.bits; }
  ISOCLOTH_HD friend PackMask operator|(PackMask a, PackMask b) { return a.bits | b.bits; }
  ISOCLOTH_HD friend PackMask operator!(PackMask a) { return ~a.bits; }
};

template <class Real>
struct Pack {
  static constexpr int width = vector_bytes / static_cast<int>(sizeof(Real));
  using Vector = typename Native<Real>::Vector;
  using Mask = PackMask<Real>;
  Vector v{};

  Pack() = default;
  ISOCLOTH_HD Pack(Vector vector) : v(vector) {}
  ISOCLOTH_HD Pack(Real all) : v(all - Vector{}) {}
  ISOCLOTH_HD friend Pack operator+(Pack a, Pack b) { return a.v + b.v; }
  ISOCLOTH_HD friend Pack operator-(Pack a, Pack b) { return a.v - b.v; }
  ISOCLOTH_HD friend Pack operator-(Pack a) { return -a.v; }
  ISOCLOTH_HD friend Pack operator*(Pack a, Pack b) { return a.v * b.v; }
  ISOCLOTH_HD friend Pack operator/(Pack a, Pack b) { return a.v / b.v; }
  ISOCLOTH_HD Pack& operator+=(Pack b) { return *this = *this + b; }
  ISOCLOTH_HD friend Mask operator>(Pack a, Pack b) { return {a.v > b.v}; }
  ISOCLOTH_HD friend Mask operator<(Pack a, Pack b) { return {a.v < b.v}; }
  ISOCLOTH_HD friend Mask operator<=(Pack a, Pack b) { return {a.v <= b.v}; }
  ISOCLOTH_HD friend Mask operator>=(Pack a, Pack b) { return {a.v >= b.v}; }
  ISOCLOTH_HD friend Mask operator==(Pack a, Pack b) { return {a.v == b.v}; }
  ISOCLOTH_HD friend Mask operator!=(Pack a, Pack b) { return {a.v != b.v}; }
};

template <class Real>
struct Lanes<Pack<Real>> {
  using Scalar = Real;
  using Mask = PackMask<Real>;
  static constexpr int width = Pack<Real>::width;
};

ISOCLOTH_HD Pack<double> multiply_add(Pack<double> a, Pack<double> b, Pack<double> c) {
#if defined(__AVX512F__)
  return {(Pack<double>::Vector)_mm512_fmadd_pd(a.v, b.v, c.v)};
#elif defined(__FMA__)
  return {(Pack<double>::Vector)_mm256_fmadd_pd(a.v, b.v, c.v)};
#else
  return a * b + c;
#endif
}
ISOCLOTH_HD Pack<float> multiply_add(Pack<float> a, Pack<float> b, Pack<float> c) {
#if defined(__AVX512F__)
  return {(Pack<float>::Vector)_mm512_fmadd_ps(a.v, b.v, c.v)};
#elif defined(__FMA__)
  return {(Pack<float>::Vector)_mm256_fmadd_ps(a.v, b.v, c.v)};
#else
  return a * b + c;
#endif
}
ISOCLOTH_HD Pack<double> square_root(Pack<double> a) {
#if defined(__AVX512F__)
  return {(Pack<double>::Vector)_mm512_maskz_sqrt_pd(0xff, a.v)};
#elif defined(__AVX2__)
  return {(Pack<double>::Vector)_mm256_sqrt_pd(a.v)};
#else
  for (int lane = 0; lane < Pack<double>::width; ++lane) a.v[lane] = std::sqrt(a.v[lane]);
  return a;
#endif
}
ISOCLOTH_HD Pack<float> square_root(Pack<float> a) {
#if defined(__AVX512F__)
  return {(Pack<float>::Vector)_mm512_maskz_sqrt_ps(0xffff, a.v)};
#elif defined(__AVX2__)
  return {(Pack<float>::Vector)_mm256_sqrt_ps(a.v)};
#else
  for (int lane = 0; lane < Pack<float>::width; ++lane) a.v[lane] = std::sqrt(a.v[lane]);
  return a;
#endif
}
template <class Real>
ISOCLOTH_HD Pack<Real> select(PackMask<Real> mask, Pack<Real> a, Pack<Real> b) {
  return {mask.bits ? a.v : b.v};
}
template <class Real>
ISOCLOTH_HD Pack<Real> magnitude(Pack<Real> a) {
  return {a.v > 0 ? a.v : 0 - a.v};  // +0 for -0, as of a scalar
}
template <class Real>
ISOCLOTH_HD Real lane_value(Pack<Real> a, int lane) {
  return a.v[lane];
}
template <class Real>
ISOCLOTH_HD bool any(PackMask<Real> mask) {
  bool found = false;
  for (int lane = 0; lane < Pack<Real>::width; ++lane) found |= mask.bits[lane] != 0;
  return found;
}

#endif

}  // namespace isocloth::ISOCLOTH_BACKEND
