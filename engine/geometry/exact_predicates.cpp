#include "engine/geometry/exact_predicates.hpp"

#include <array>
#include <cmath>
#include <cstddef>

#include "engine/core/error_free.hpp"

namespace isocloth {
namespace {

/// A number as the exact sum of doubles that do not overlap, the smallest first, without zeros.
template <std::size_t capacity>
struct Expansion {
  std::array<double, capacity> terms;
  std::size_t count = 0;

  void add(double term) {
    if (term != 0) terms[count++] = term;
  }
  /// The largest term outweighs all others.
  int sign() const { return count == 0 ? 0 : terms[count - 1] > 0 ? 1 : -1; }
};

Expansion<2> difference(double a, double b) {
  const ExactPair exact = two_sum(a, -b);
  Expansion<2> result;
  result.add(exact.low);
  result.add(exact.high);
  return result;
}

/// Shewchuk, fast expansion sum (theorem 13).
template <std::size_t n, std::size_t m>
Expansion<n + m> operator+(const Expansion<n>& e, const Expansion<m>& f) {
  Expansion<n + m> result;
  double sum = 0;
  for (std::size_t i = 0, j = 0; i < e.count || j < f.count;) {
    const bool from_e = j == f.count || (i < e.count && std::fabs(e.terms[i]) < std::fabs(f.terms[j]));
    const ExactPair next = two_sum(sum, from_e ? e.terms[i++] : f.terms[j++]);
    result.add(next.low);
    sum = next.high;
  }
  result.add(sum);
  return result;
}

/// Shewchuk, scale expansion (theorem 19).
template <std::size_t n>
Expansion<2 * n> operator*(double factor, const Expansion<n>& e) {
  Expansion<2 * n> result;
  double sum = 0;
  for (std::size_t i = 0; i < e.count; ++i) {
    const ExactPair product = two_product(factor, e.terms[i]);
    const ExactPair low = two_sum(sum, product.low);
    result.add(low.low);
    const ExactPair high = two_sum(product.high, low.high);
    result.add(high.low);
    sum = high.high;
  }
  result.add(sum);
  return result;
}

template <std::size_t n>
Expansion<4 * n> operator*(const Expansion<2>& e, const Expansion<n>& f) {
  return (e.count > 0 ? e.terms[0] : 0) * f + (e.count > 1 ? e.terms[1] : 0) * f;
}

template <std::size_t n>
Expansion<n> operator-(Expansion<n> e) {
  for (std::size_t i = 0; i < e.count; ++i) e.terms[i] = -e.terms[i];
  return e;
}

/// A point seen from another.
struct ExactVector {
  Expansion<2> x, y, z;
};
ExactVector difference(const Vec3d& a, const Vec3d& b) {
  return {difference(a.x, b.x), difference(a.y, b.y), difference(a.z, b.z)};
}

int exact_orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const ExactVector u = difference(a, d), v = difference(b, d), w = difference(c, d);
  const auto determinant =
      u.x * (v.y * w.z + -(v.z * w.y)) + u.y * (v.z * w.x + -(v.x * w.z)) + u.z * (v.x * w.y + -(v.y * w.x));
  return -determinant.sign();
}

}  // namespace

int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const Vec3d u = a - d, v = b - d, w = c - d;
  const double yz = v.y * w.z, zy = v.z * w.y, zx = v.z * w.x, xz = v.x * w.z, xy = v.x * w.y, yx = v.y * w.x;
  // (b - a) x (c - a) . (d - a) = -u . v x w
  const double determinant = u.x * (yz - zy) + u.y * (zx - xz) + u.z * (xy - yx);
  const double permanent = (std::fabs(yz) + std::fabs(zy)) * std::fabs(u.x) +
                           (std::fabs(zx) + std::fabs(xz)) * std::fabs(u.y) +
                           (std::fabs(xy) + std::fabs(yx)) * std::fabs(u.z);
  // Factors above 2^-353 have products above 2^-1059, which is not 0: each term holds a factor that is.
  if (permanent == 0) return 0;
  // Shewchuk, table "O3D", bound A, with rounding to 2^-53; below the second bound products lose digits.
  constexpr double rounding = 0x1p-53, bound = (7 + 56 * rounding) * rounding;
  if (permanent > 0x1p-900 && std::fabs(determinant) > bound * permanent) return determinant > 0 ? -1 : 1;
  return exact_orientation(a, b, c, d);
}

Meeting meeting(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, const Vec3d& c) {
  const int at_p = orientation(a, b, c, p), at_q = orientation(a, b, c, q);
  if (at_p == at_q) return Meeting::none;
  const int ab = orientation(p, q, a, b), bc = orientation(p, q, b, c);
  if (ab * bc < 0) return Meeting::none;
  const int ca = orientation(p, q, c, a);
  if (ab * ca < 0 || bc * ca < 0) return Meeting::none;
  return at_p * at_q * ab * bc * ca != 0 ? Meeting::crossing : Meeting::touching;
}

}  // namespace isocloth
