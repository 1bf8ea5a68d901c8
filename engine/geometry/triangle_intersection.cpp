#include "engine/geometry/triangle_intersection.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace isocloth {
namespace {

__extension__ using Wide = __int128;

using LatticePoint = PointLattice::LatticePoint;

constexpr double steps = 0x1p40;

int sign(Wide value) { return (value > 0) - (value < 0); }

struct WideVector {
  Wide x, y, z;
};

/// (b - a) x (c - a); each component below 2^82.
WideVector normal(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c) {
  const Wide ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z, vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
  return {uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx};
}

/// Six times the volume of a b c d, below 2^124: > 0 where d lies in front of a b c.
Wide volume(const LatticePoint& a, const LatticePoint& b, const LatticePoint& c, const LatticePoint& d) {
  const WideVector n = normal(a, b, c);
  return n.x * (d.x - a.x) + n.y * (d.y - a.y) + n.z * (d.z - a.z);
}

struct FlatPoint {
  std::int64_t x, y;
};

/// > 0 where a b c run counter-clockwise.
int turn(FlatPoint a, FlatPoint b, FlatPoint c) {
  return sign(Wide(b.x - a.x) * (c.y - a.y) - Wide(b.y - a.y) * (c.x - a.x));
}

/// Whether r, on the line through p and q, lies between them.
bool between(FlatPoint p, FlatPoint q, FlatPoint r) {
  return std::min(p.x, q.x) <= r.x && r.x <= std::max(p.x, q.x) && std::min(p.y, q.y) <= r.y &&
         r.y <= std::max(p.y, q.y);
}

bool segments_touch(FlatPoint a, FlatPoint b, FlatPoint c, FlatPoint d) {
  const int ac = turn(a, b, c), ad = turn(a, b, d), ca = turn(c, d, a), cb = turn(c, d, b);
  if (ac * ad < 0 && ca * cb < 0) return true;
  return (ac == 0 && between(a, b, c)) || (ad == 0 && between(a, b, d)) || (ca == 0 && between(c, d, a)) ||
         (cb == 0 && between(c, d, b));
}

/// Points of one plane, seen along the axis that is steepest to it.
FlatPoint flattened(const LatticePoint& p, const WideVector& n) {
  const Wide x = n.x < 0 ? -n.x : n.x, y = n.y < 0 ? -n.y : n.y, z = n.z < 0 ? -n.z : n.z;
  if (x >= y && x >= z) return {p.y, p.z};
  return y >= z ? FlatPoint{p.z, p.x} : FlatPoint{p.x, p.y};
}

}  // namespace

PointLattice::PointLattice(const std::vector<Vec3d>& points) : low_(points.front()) {
  Vec3d high = low_;
  for (const Vec3d& p : points) {
    low_ = {std::min(low_.x, p.x), std::min(low_.y, p.y), std::min(low_.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const double side = std::max({high.x - low_.x, high.y - low_.y, high.z - low_.z});
  step_ = side / steps;
  const auto snapped = [&](double x) {
    return side > 0 ? static_cast<std::int64_t>(std::llround(x / side * steps)) : 0;
  };
  lattice_points_.reserve(points.size());
  for (const Vec3d& p : points)
    lattice_points_.push_back({snapped(p.x - low_.x), snapped(p.y - low_.y), snapped(p.z - low_.z)});
}

Vec3d PointLattice::point(const LatticePoint& p) const {
  return low_ + step_ * Vec3d{static_cast<double>(p.x), static_cast<double>(p.y), static_cast<double>(p.z)};
}

double PointLattice::height(Index a, Index b, Index c) const {
  const WideVector n = normal(lattice_points_[a], lattice_points_[b], lattice_points_[c]);
  const Vec3d x = point(lattice_points_[a]), y = point(lattice_points_[b]), z = point(lattice_points_[c]);
  const double longest = std::max({norm(y - x), norm(z - y), norm(x - z)});
  const Vec3d area{static_cast<double>(n.x), static_cast<double>(n.y), static_cast<double>(n.z)};
  return longest > 0 ? norm(area) * step_ * step_ / longest : 0;
}

std::optional<Vec3d> PointLattice::common_point(Index p, Index q, const std::array<Index, 3>& t) const {
  const LatticePoint &from = lattice_points_[p], &to = lattice_points_[q];
  const LatticePoint &a = lattice_points_[t[0]], &b = lattice_points_[t[1]], &c = lattice_points_[t[2]];
  const Wide at_from = volume(a, b, c, from), at_to = volume(a, b, c, to);
  if (sign(at_from) * sign(at_to) > 0) return std::nullopt;
  if (at_from == 0 && at_to == 0) {
    const WideVector n = normal(a, b, c);
    const FlatPoint f = flattened(from, n), g = flattened(to, n);
    const FlatPoint corners[3] = {flattened(a, n), flattened(b, n), flattened(c, n)};
    int left = 0, right = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      if (segments_touch(f, g, corners[k], corners[(k + 1) % 3])) return 0.5 * (point(from) + point(to));
      const int side = turn(corners[k], corners[(k + 1) % 3], f);
      left += side > 0;
      right += side < 0;
    }
    if (left == 3 || right == 3) return 0.5 * (point(from) + point(to));
    return std::nullopt;
  }
  // The line passes the three sides all on one hand.
  const int ab = sign(volume(from, to, a, b)), bc = sign(volume(from, to, b, c)),
            ca = sign(volume(from, to, c, a));
  if (std::min({ab, bc, ca}) < 0 && std::max({ab, bc, ca}) > 0) return std::nullopt;
  const double u = std::abs(static_cast<double>(at_from)), v = std::abs(static_cast<double>(at_to));
  return point(from) + (u / (u + v)) * (point(to) - point(from));
}

std::optional<Vec3d> PointLattice::common_point(const std::array<Index, 3>& s,
                                                const std::array<Index, 3>& t) const {
  const auto holds = [](const std::array<Index, 3>& triangle, Index node) {
    return std::find(triangle.begin(), triangle.end(), node) != triangle.end();
  };
  int shared = 0;
  for (const Index node : s) shared += holds(t, node);
  if (shared == 3)
    return (1.0 / 3) *
           (point(lattice_points_[s[0]]) + point(lattice_points_[s[1]]) + point(lattice_points_[s[2]]));
  if (shared == 2) {
    // They overlap only where one is folded flat onto the other.
    std::size_t k = 0, l = 0;
    while (holds(t, s[k])) ++k;
    while (holds(s, t[l])) ++l;
    const LatticePoint &a = lattice_points_[s[(k + 1) % 3]], &b = lattice_points_[s[(k + 2) % 3]],
                       &c = lattice_points_[s[k]], &d = lattice_points_[t[l]];
    if (volume(a, b, c, d) != 0) return std::nullopt;
    const WideVector n = normal(a, b, c);
    const FlatPoint from = flattened(a, n), to = flattened(b, n);
    if (turn(from, to, flattened(c, n)) != turn(from, to, flattened(d, n))) return std::nullopt;
    return 0.5 * (point(a) + point(b));
  }
  // A side of one must meet the other; sides that end in a shared corner do so without meaning it, and where
  // the triangles meet farther away from that corner, the opposite side of one of them meets the other.
  for (std::size_t k = 0; k < 3; ++k) {
    const Index p = s[k], q = s[(k + 1) % 3], x = t[k], y = t[(k + 1) % 3];
    if (!holds(t, p) && !holds(t, q)) {
      if (const auto found = common_point(p, q, t)) return found;
    }
    if (!holds(s, x) && !holds(s, y)) {
      if (const auto found = common_point(x, y, s)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace isocloth
