// Vectors of nodes, one node per lane: loads and stores of whole Vec4, arithmetic in lanes.
//
// A kernel over pairs of nodes takes Lanes<S>::width pairs at a time. Their nodes lie anywhere in memory;
// what is loaded is a register per node, and a transposition makes lanes of it: cheaper than gathering
// component by component, whatever the order of the nodes.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// One Vec4 per lane of S.
template <class S>
struct Quads {
  using Real = S;
  static constexpr int width = 1;
  Vec4<Real> of_lane;

  /// Quads of lanes; w = 0.
  static ISOCLOTH_HD Quads of(Vec3<S> v) { return {{v.x, v.y, v.z, Real(0)}}; }
  /// values[nodes[lane]]
  static ISOCLOTH_HD Quads at(const Vec4<Real>* values, const Index* nodes) { return {values[nodes[0]]}; }
  /// values[b] - values[a] of each pair (a, b) = pairs[2 lane], pairs[2 lane + 1]
  static ISOCLOTH_HD Quads difference(const Vec4<Real>* values, const Index* pairs) {
    const Vec4<Real> a = values[pairs[0]], b = values[pairs[1]];
    return {{b.x - a.x, b.y - a.y, b.z - a.z, b.w - a.w}};
  }
  /// (x[b] - x[a]) + (u[b] - u[a]), in one go: no register is needed for long.
  static ISOCLOTH_HD Quads difference(const Vec4<Real>* x, const Vec4<Real>* u, const Index* pairs) {
    const Quads dx = difference(x, pairs), du = difference(u, pairs);
    return {{dx.of_lane.x + du.of_lane.x, dx.of_lane.y + du.of_lane.y, dx.of_lane.z + du.of_lane.z,
             dx.of_lane.w + du.of_lane.w}};
  }
  /// x, y, z in lanes
  ISOCLOTH_HD Vec3<S> lanes() const { return {of_lane.x, of_lane.y, of_lane.z}; }
  /// values[a] += to_a q, values[b] -= to_b q of each pair; nodes of different pairs are different ones, but
  /// for spare pairs whose factors are zero. w of the values is lost.
  ISOCLOTH_HD void exchange(Vec4<Real>* values, const Index* pairs, S to_a, S to_b) const {
    Vec4<Real>&a = values[pairs[0]], &b = values[pairs[1]];
    a = {multiply_add(to_a, of_lane.x, a.x), multiply_add(to_a, of_lane.y, a.y),
         multiply_add(to_a, of_lane.z, a.z), Real(0)};
    b = {multiply_add(-to_b, of_lane.x, b.x), multiply_add(-to_b, of_lane.y, b.y),
         multiply_add(-to_b, of_lane.z, b.z), Real(0)};
  }
};

#if !defined(__CUDACC__)

template <class Real>
struct QuadRegister {
  typedef Real Type __attribute__((vector_size(4 * sizeof(Real)), may_alias));
};

ISOCLOTH_HD void multiply_add_to(QuadRegister<double>::Type& sum, double factor,
                                 const QuadRegister<double>::Type& value) {
#if defined(__FMA__)
  sum = (QuadRegister<double>::Type)_mm256_fmadd_pd(_mm256_set1_pd(factor), (__m256d)value, (__m256d)sum);
#else
  sum += factor * value;
#endif
}
ISOCLOTH_HD void multiply_add_to(QuadRegister<float>::Type& sum, float factor,
                                 const QuadRegister<float>::Type& value) {
#if defined(__FMA__)
  sum = (QuadRegister<float>::Type)_mm_fmadd_ps(_mm_set1_ps(factor), (__m128)value, (__m128)sum);
#else
  sum += factor * value;
#endif
}

/// Rows of four to lanes; the fourth is dropped.
ISOCLOTH_HD Vec3<Pack<double>> transposed(const QuadRegister<double>::Type* q) {
  Vec3<Pack<double>> r;
#if defined(__AVX512F__)
  // Lanes i and i + 4 share a register, so that what follows stays within its quarters but for the last step.
  Pack<double>::Vector joined[4];
  for (int i = 0; i < 4; ++i) joined[i] = __builtin_shufflevector(q[i], q[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
  const auto xz01 = __builtin_shufflevector(joined[0], joined[1], 0, 8, 2, 10, 4, 12, 6, 14);
  const auto xz23 = __builtin_shufflevector(joined[2], joined[3], 0, 8, 2, 10, 4, 12, 6, 14);
  const auto y01 = __builtin_shufflevector(joined[0], joined[1], 1, 9, 3, 11, 5, 13, 7, 15);
  const auto y23 = __builtin_shufflevector(joined[2], joined[3], 1, 9, 3, 11, 5, 13, 7, 15);
  r.x.v = __builtin_shufflevector(xz01, xz23, 0, 1, 8, 9, 4, 5, 12, 13);
  r.y.v = __builtin_shufflevector(y01, y23, 0, 1, 8, 9, 4, 5, 12, 13);
  r.z.v = __builtin_shufflevector(xz01, xz23, 2, 3, 10, 11, 6, 7, 14, 15);
#elif defined(__AVX2__)
  const auto xz01 = __builtin_shufflevector(q[0], q[1], 0, 4, 2, 6);
  const auto xz23 = __builtin_shufflevector(q[2], q[3], 0, 4, 2, 6);
  const auto y01 = __builtin_shufflevector(q[0], q[1], 1, 5, 3, 7);
  const auto y23 = __builtin_shufflevector(q[2], q[3], 1, 5, 3, 7);
  r.x.v = __builtin_shufflevector(xz01, xz23, 0, 1, 4, 5);
  r.y.v = __builtin_shufflevector(y01, y23, 0, 1, 4, 5);
  r.z.v = __builtin_shufflevector(xz01, xz23, 2, 3, 6, 7);
#else
  for (int lane = 0; lane < Pack<double>::width; ++lane)
    r.x.v[lane] = q[lane][0], r.y.v[lane] = q[lane][1], r.z.v[lane] = q[lane][2];
#endif
  return r;
}
ISOCLOTH_HD Vec3<Pack<float>> transposed(const QuadRegister<float>::Type* q) {
  Vec3<Pack<float>> r;
#if defined(__AVX512F__)
  // Lanes i, i + 4, i + 8, i + 12 share a register: all that follows stays within its quarters.
  Pack<float>::Vector joined[4];
  for (int i = 0; i < 4; ++i) {
    const auto low = __builtin_shufflevector(q[i], q[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
    const auto high = __builtin_shufflevector(q[i + 8], q[i + 12], 0, 1, 2, 3, 4, 5, 6, 7);
    joined[i] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }
  const auto pairs = [](Pack<float>::Vector a, Pack<float>::Vector b) __attribute__((always_inline)) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  };
  const auto xy01 = pairs(joined[0], joined[1]), xy23 = pairs(joined[2], joined[3]);
  const auto z01 = __builtin_shufflevector(joined[0], joined[1], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                           14, 30, 15, 31);
  const auto z23 = __builtin_shufflevector(joined[2], joined[3], 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27,
                                           14, 30, 15, 31);
  r.x.v = __builtin_shufflevector(xy01, xy23, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
  r.y.v = __builtin_shufflevector(xy01, xy23, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);
  r.z.v = __builtin_shufflevector(z01, z23, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);
#elif defined(__AVX2__)
  Pack<float>::Vector joined[4];
  for (int i = 0; i < 4; ++i) joined[i] = __builtin_shufflevector(q[i], q[i + 4], 0, 1, 2, 3, 4, 5, 6, 7);
  const auto xy01 = __builtin_shufflevector(joined[0], joined[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const auto xy23 = __builtin_shufflevector(joined[2], joined[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const auto z01 = __builtin_shufflevector(joined[0], joined[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const auto z23 = __builtin_shufflevector(joined[2], joined[3], 2, 10, 3, 11, 6, 14, 7, 15);
  r.x.v = __builtin_shufflevector(xy01, xy23, 0, 1, 8, 9, 4, 5, 12, 13);
  r.y.v = __builtin_shufflevector(xy01, xy23, 2, 3, 10, 11, 6, 7, 14, 15);
  r.z.v = __builtin_shufflevector(z01, z23, 0, 1, 8, 9, 4, 5, 12, 13);
#else
  for (int lane = 0; lane < Pack<float>::width; ++lane)
    r.x.v[lane] = q[lane][0], r.y.v[lane] = q[lane][1], r.z.v[lane] = q[lane][2];
#endif
  return r;
}

template <class Scalar>
struct Quads<Pack<Scalar>> {
  using Real = Scalar;
  using S = Pack<Real>;
  using Register = typename QuadRegister<Real>::Type;
  static constexpr int width = S::width;
  Register of_lane[width];

  static ISOCLOTH_HD Quads of(Vec3<S> v) {
    Quads result;
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane)
      result.of_lane[lane] = Register{v.x.v[lane], v.y.v[lane], v.z.v[lane], Real(0)};
    return result;
  }
  static ISOCLOTH_HD Quads at(const Vec4<Real>* values, const Index* nodes) {
    Quads result;
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane)
      result.of_lane[lane] = *reinterpret_cast<const Register*>(values + nodes[lane]);
    return result;
  }
  static ISOCLOTH_HD Quads difference(const Vec4<Real>* values, const Index* pairs) {
    Quads result;
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane)
      result.of_lane[lane] = *reinterpret_cast<const Register*>(values + pairs[2 * lane + 1]) -
                             *reinterpret_cast<const Register*>(values + pairs[2 * lane]);
    return result;
  }
  static ISOCLOTH_HD Quads difference(const Vec4<Real>* x, const Vec4<Real>* u, const Index* pairs) {
    Quads result;
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane) {
      const Index a = pairs[2 * lane], b = pairs[2 * lane + 1];
      result.of_lane[lane] =
          (*reinterpret_cast<const Register*>(x + b) - *reinterpret_cast<const Register*>(x + a)) +
          (*reinterpret_cast<const Register*>(u + b) - *reinterpret_cast<const Register*>(u + a));
    }
    return result;
  }
  ISOCLOTH_HD Vec3<S> lanes() const { return transposed(of_lane); }
  ISOCLOTH_HD void exchange(Vec4<Real>* values, const Index* pairs, S to_a, S to_b) const {
    alignas(vector_bytes) Real of_a[width], of_b[width];
    *reinterpret_cast<typename S::Vector*>(of_a) = to_a.v;
    *reinterpret_cast<typename S::Vector*>(of_b) = -to_b.v;
#pragma GCC unroll 16
    for (int lane = 0; lane < width; ++lane) {
      multiply_add_to(*reinterpret_cast<Register*>(values + pairs[2 * lane]), of_a[lane], of_lane[lane]);
      multiply_add_to(*reinterpret_cast<Register*>(values + pairs[2 * lane + 1]), of_b[lane], of_lane[lane]);
    }
  }
};

#endif

}  // namespace isocloth::ISOCLOTH_BACKEND
