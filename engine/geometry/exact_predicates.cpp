#include "engine/geometry/exact_predicates.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "engine/core/whole_number.hpp"

namespace isocloth {
namespace {

/// A double as digits 2^exponent.
struct Binary {
  bool is_negative;
  std::uint64_t digits;
  int exponent;
};
constexpr int least_exponent = -1074, largest_exponent = 971;

Binary binary(double x) {
  constexpr int fraction_bits = 52;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int field = static_cast<int>(bits >> fraction_bits & 0x7FF);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << fraction_bits) - 1);
  const std::uint64_t leading = field > 0 ? std::uint64_t{1} << fraction_bits : 0;
  return {bits >> 63 != 0, leading | fraction, std::max(field, 1) - 1 + least_exponent};
}

/// 53 binary digits, shifted by what lies between the exponents.
using WholeCoordinate = WholeNumber<(53 + largest_exponent - least_exponent + 63) / 64>;
using WholeDifference = decltype(WholeCoordinate() - WholeCoordinate());
struct WholeVector {
  WholeDifference x, y, z;
};

/// Coordinates in units of one power of two, so that all are whole.
class CommonUnit {
 public:
  CommonUnit(std::initializer_list<Vec3d> points) {
    for (const Vec3d& p : points)
      for (const double x : {p.x, p.y, p.z})
        if (const Binary b = binary(x); b.digits > 0) exponent_ = std::min(exponent_, b.exponent);
  }
  WholeVector difference(const Vec3d& a, const Vec3d& b) const {
    return {whole(a.x) - whole(b.x), whole(a.y) - whole(b.y), whole(a.z) - whole(b.z)};
  }

 private:
  WholeCoordinate whole(double x) const {
    const Binary b = binary(x);
    return {b.is_negative, b.digits, b.digits > 0 ? static_cast<std::size_t>(b.exponent - exponent_) : 0};
  }
  int exponent_ = largest_exponent;
};

int exact_orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const CommonUnit unit{a, b, c, d};
  const WholeVector u = unit.difference(a, d), v = unit.difference(b, d), w = unit.difference(c, d);
  const auto determinant =
      u.x * (v.y * w.z - v.z * w.y) + u.y * (v.z * w.x - v.x * w.z) + u.z * (v.x * w.y - v.y * w.x);
  return -determinant.sign();
}

/// Rounding of a double, relative.
constexpr double rounding = 0x1p-53;

/// Whether the bound of rounding errors holds: below the first number what products lose to underflow, or
/// to denormal numbers flushed to zero, may be more than the bound has to spare, for factors up to the
/// second.
bool is_ordinary(double permanent, double size) { return permanent > 0x1p-700 && size < 0x1p100; }

bool is_same(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}
bool is_same(const Vec3d& a, const Vec3d& b) {
  return is_same(a.x, b.x) && is_same(a.y, b.y) && is_same(a.z, b.z);
}
bool is_same(double a, double b, double c, double d) {
  return is_same(a, b) && is_same(a, c) && is_same(a, d);
}
/// d is one of the others, as of neighbours, or all lie in a plane across an axis, as in a sheet that lies
/// flat.
bool is_plainly_flat(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  return is_same(d, a) || is_same(d, b) || is_same(d, c) || is_same(a.x, b.x, c.x, d.x) ||
         is_same(a.y, b.y, c.y, d.y) || is_same(a.z, b.z, c.z, d.z);
}

double size_of(const Vec3d& v) { return std::fabs(v.x) + std::fabs(v.y) + std::fabs(v.z); }

/// What is left of a point that is seen along an axis.
Vec2d flattened(const Vec3d& p, int axis) {
  return axis == 0 ? Vec2d{p.y, p.z} : axis == 1 ? Vec2d{p.z, p.x} : Vec2d{p.x, p.y};
}

/// The axis along which the triangle has the most area, 1 where its corners run counter-clockwise seen from
/// there, -1 clockwise; 0: it has no area.
struct View {
  int axis, sign;
};
View best_view(const std::array<Vec3d, 3>& t) {
  const Vec3d normal = cross(t[1] - t[0], t[2] - t[0]);
  const double x = std::fabs(normal.x), y = std::fabs(normal.y), z = std::fabs(normal.z);
  const int first = z >= x && z >= y ? 2 : y >= x ? 1 : 0;
  for (const int axis : {first, (first + 1) % 3, (first + 2) % 3})
    if (const int sign = turn(t[0], t[1], t[2], axis); sign != 0) return {axis, sign};
  return {first, 0};
}

/// Whether no point of t lies on the inner side of some side of s.
bool is_parted_by_a_side(const std::array<Vec3d, 3>& s, int sign, const std::array<Vec3d, 3>& t, int axis) {
  for (std::size_t k = 0; k < 3; ++k)
    if (std::ranges::none_of(t,
                             [&](const Vec3d& p) { return sign * turn(s[k], s[(k + 1) % 3], p, axis) > 0; }))
      return true;
  return false;
}

/// orientation(), where rounding leaves no doubt of it, else 0.
int clear_orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  const Vec3d u = a - d, v = b - d, w = c - d;
  const double yz = v.y * w.z, zy = v.z * w.y, zx = v.z * w.x, xz = v.x * w.z, xy = v.x * w.y, yx = v.y * w.x;
  // (b - a) x (c - a) . (d - a) = -u . v x w
  const double determinant = u.x * (yz - zy) + u.y * (zx - xz) + u.z * (xy - yx);
  const double permanent = (std::fabs(yz) + std::fabs(zy)) * std::fabs(u.x) +
                           (std::fabs(zx) + std::fabs(xz)) * std::fabs(u.y) +
                           (std::fabs(xy) + std::fabs(yx)) * std::fabs(u.z);
  // Shewchuk, Adaptive precision floating-point arithmetic and fast robust geometric predicates, 1997, table
  // "O3D", bound A: 7 + 56 rounding; one more for what is lost below the least double.
  constexpr double bound = (8 + 56 * rounding) * rounding;
  if (std::fabs(determinant) > bound * permanent &&
      is_ordinary(permanent, size_of(u) + size_of(v) + size_of(w)))
    return determinant > 0 ? -1 : 1;
  return 0;
}

}  // namespace

int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d) {
  if (const int clear = clear_orientation(a, b, c, d); clear != 0) return clear;
  return is_plainly_flat(a, b, c, d) ? 0 : exact_orientation(a, b, c, d);
}

int turn(const Vec3d& a, const Vec3d& b, const Vec3d& c, int axis) {
  const Vec2d p = flattened(a, axis), q = flattened(b, axis), r = flattened(c, axis);
  const Vec2d u = q - p, v = r - p;
  const double xy = u.x * v.y, yx = u.y * v.x, determinant = xy - yx;
  const double permanent = std::fabs(xy) + std::fabs(yx);
  // Shewchuk 1997, table "O2D", bound A: 3 + 16 rounding; one more as above.
  constexpr double bound = (4 + 16 * rounding) * rounding;
  if (is_ordinary(permanent, std::fabs(u.x) + std::fabs(u.y) + std::fabs(v.x) + std::fabs(v.y)) &&
      std::fabs(determinant) > bound * permanent)
    return determinant > 0 ? 1 : -1;
  if (is_same(c, a) || is_same(c, b) || is_same(p.x, q.x, r.x, r.x) || is_same(p.y, q.y, r.y, r.y)) return 0;
  const Vec3d first{p.x, p.y, 0}, second{q.x, q.y, 0}, third{r.x, r.y, 0};
  const CommonUnit unit{first, second, third};
  const WholeVector e = unit.difference(second, first), f = unit.difference(third, first);
  return (e.x * f.y - e.y * f.x).sign();
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

bool overlap_in_plane(const std::array<Vec3d, 3>& s, const std::array<Vec3d, 3>& t) {
  const auto are_in_plane = [&s, &t](const auto& side) {
    return std::ranges::all_of(t, [&](const Vec3d& corner) { return side(s[0], s[1], s[2], corner) == 0; });
  };
  if (!are_in_plane(clear_orientation)) return false;
  const View view = best_view(s);
  if (view.sign == 0) return false;
  const int other = turn(t[0], t[1], t[2], view.axis);
  // The insides of two convex figures of a plane are apart where a side of one of them parts them, else not.
  // Of what lies nearly in a plane that is soon decided, and whether it lies in it takes many digits.
  return other != 0 && !is_parted_by_a_side(s, view.sign, t, view.axis) &&
         !is_parted_by_a_side(t, other, s, view.axis) && are_in_plane(orientation);
}

}  // namespace isocloth
