// What IntersectionSearch counts, by brute force: every edge and every triangle against every triangle, by
// numbers without rounding. Shares neither code nor formulas with it: where an edge meets a plane is
// computed, as a rational point, and so is the part of a triangle that lies in another one of its plane.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "tests/support/exact_number.hpp"

namespace isocloth {

struct ExactCounts {
  std::int64_t crossing = 0, touching = 0, overlapping = 0;
  bool operator==(const ExactCounts&) const = default;
};

using ExactPoint = std::array<ExactNumber, 3>;
using ExactTriangle = std::array<ExactPoint, 3>;

inline ExactPoint exact_point(const Vec3d& p) { return {p.x, p.y, p.z}; }

namespace exact {

inline ExactPoint difference(const ExactPoint& a, const ExactPoint& b) {
  return {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
}
inline ExactNumber dot(const ExactPoint& a, const ExactPoint& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline ExactPoint normal(const ExactTriangle& t) {
  const ExactPoint u = difference(t[1], t[0]), v = difference(t[2], t[0]);
  return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

/// A triangle seen along an axis along which it has an area.
struct Seen {
  explicit Seen(const ExactTriangle& t) : corners(t) {
    const ExactPoint n = normal(t);
    while (axis < 3 && n[axis].sign() == 0) ++axis;
    if (axis < 3) sign = n[axis].sign();
  }
  /// A point of its plane, (first, second) / weight of the two coordinates that are left, weight > 0.
  struct Point {
    ExactNumber first, second, weight;
  };
  Point point(const ExactPoint& p) const { return {p[(axis + 1) % 3], p[(axis + 2) % 3], 1.0}; }
  /// > 0 inside of side k, 0 on its line; times a positive number.
  ExactNumber inside(std::size_t k, const Point& p) const {
    const Point from = point(corners[k]), to = point(corners[(k + 1) % 3]);
    const ExactNumber value = (to.first - from.first) * (p.second - from.second * p.weight) -
                              (to.second - from.second) * (p.first - from.first * p.weight);
    return sign > 0 ? value : ExactNumber(0) - value;
  }
  const ExactTriangle& corners;
  std::size_t axis = 0;
  int sign = 0;  ///< 0: it has no area
};

/// 2: the segment and the triangle meet inside of both; 1: they meet elsewhere; 0: not, or in one plane.
inline int meeting(const ExactPoint& p, const ExactPoint& q, const ExactTriangle& t) {
  const ExactPoint n = normal(t);
  const ExactNumber at_p = dot(n, difference(p, t[0])), at_q = dot(n, difference(q, t[0]));
  const int sides = at_p.sign() * at_q.sign();
  if (sides > 0 || (at_p.sign() == 0 && at_q.sign() == 0)) return 0;
  const Seen seen(t);
  const Seen::Point from = seen.point(p), to = seen.point(q);
  const bool turns = (at_p - at_q).sign() < 0;  // the weight is to be > 0
  const auto mixed = [&](const ExactNumber& a, const ExactNumber& b) {
    return turns ? a * at_q - b * at_p : b * at_p - a * at_q;
  };
  const Seen::Point place{mixed(from.first, to.first), mixed(from.second, to.second), mixed(1.0, 1.0)};
  int least = 1;
  for (std::size_t k = 0; k < 3; ++k) least = std::min(least, seen.inside(k, place).sign());
  return least < 0 ? 0 : least > 0 && sides < 0 ? 2 : 1;
}

/// Whether they lie in one plane and what is left of t, cut along the sides of s, has an area.
inline bool overlaps(const ExactTriangle& s, const ExactTriangle& t) {
  const ExactPoint n = normal(s);
  for (const ExactPoint& corner : t)
    if (dot(n, difference(corner, s[0])).sign() != 0) return false;
  const Seen seen(s);
  if (seen.sign == 0) return false;
  std::vector<Seen::Point> figure;
  for (const ExactPoint& corner : t) figure.push_back(seen.point(corner));
  for (std::size_t k = 0; k < 3; ++k) {  // Sutherland and Hodgman 1974
    std::vector<Seen::Point> left;
    for (std::size_t i = 0; i < figure.size(); ++i) {
      const Seen::Point &p = figure[i], &q = figure[(i + 1) % figure.size()];
      const ExactNumber at_p = seen.inside(k, p), at_q = seen.inside(k, q);
      if (at_p.sign() >= 0) left.push_back(p);
      if (at_p.sign() * at_q.sign() >= 0) continue;
      const auto between = [&](const ExactNumber& a, const ExactNumber& b) {
        return at_p.sign() > 0 ? b * at_p - a * at_q : a * at_q - b * at_p;
      };
      left.push_back({between(p.first, q.first), between(p.second, q.second), between(p.weight, q.weight)});
    }
    figure = std::move(left);
  }
  const auto has_area = [](const Seen::Point& a, const Seen::Point& b, const Seen::Point& c) {
    return (a.first * (b.second * c.weight - c.second * b.weight) -
            b.first * (a.second * c.weight - c.second * a.weight) +
            c.first * (a.second * b.weight - b.second * a.weight))
               .sign() != 0;
  };
  for (std::size_t i = 2; i < figure.size(); ++i)
    if (has_area(figure[0], figure[i - 1], figure[i])) return true;
  return false;
}

struct Box {
  Vec3d low, high;
  explicit Box(const std::vector<Vec3d>& points) : low(points[0]), high(points[0]) {
    for (const Vec3d& p : points) {
      low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
    }
  }
  bool meets(const Box& b) const {
    return !(low.x > b.high.x || low.y > b.high.y || low.z > b.high.z || b.low.x > high.x ||
             b.low.y > high.y || b.low.z > high.z);
  }
};

/// A surface's edges and triangles; quads are two, from corner 0 to corner 2, and their diagonal is an edge.
struct Pieces {
  Pieces(const Mesh& mesh, const std::vector<Vec3d>& positions) {
    std::set<std::array<Index, 2>> sides;
    for (Index f = 0; f < mesh.face_count(); ++f)
      for (std::size_t k = 2; k < mesh.face(f).size(); ++k) {
        const std::array<Index, 3> t{mesh.face(f)[0], mesh.face(f)[k - 1], mesh.face(f)[k]};
        triangles.push_back(t);
        for (std::size_t i = 0; i < 3; ++i)
          sides.insert({std::min(t[i], t[(i + 1) % 3]), std::max(t[i], t[(i + 1) % 3])});
      }
    edges.assign(sides.begin(), sides.end());
    const auto at = [&positions](Index node) { return positions[static_cast<std::size_t>(node)]; };
    for (const auto& [a, b, c] : triangles) triangle_boxes.emplace_back(std::vector{at(a), at(b), at(c)});
    for (const auto& [a, b] : edges) edge_boxes.emplace_back(std::vector{at(a), at(b)});
    for (const Vec3d& p : positions) points.push_back(exact_point(p));
    sewn.resize(positions.size());
    std::iota(sewn.begin(), sewn.end(), 0);
    for (bool changes = true; changes;) {
      changes = false;
      for (const Stitch& stitch : mesh.stitches)
        for (const auto& [a, b] : {std::pair(stitch.a, stitch.b), std::pair(stitch.b, stitch.a)})
          if (const Index other = sewn[static_cast<std::size_t>(b)];
              sewn[static_cast<std::size_t>(a)] > other)
            sewn[static_cast<std::size_t>(a)] = other, changes = true;
    }
  }
  ExactPoint point(Index node) const { return points[static_cast<std::size_t>(node)]; }
  ExactTriangle triangle(std::size_t i) const {
    const auto& [a, b, c] = triangles[i];
    return {point(a), point(b), point(c)};
  }
  bool shares_node(const std::array<Index, 2>& edge, const std::array<Index, 3>& t) const {
    return std::any_of(edge.begin(), edge.end(), [&](Index node) {
      return std::any_of(t.begin(), t.end(), [&](Index corner) {
        return sewn[static_cast<std::size_t>(node)] == sewn[static_cast<std::size_t>(corner)];
      });
    });
  }
  std::vector<std::array<Index, 2>> edges;
  std::vector<std::array<Index, 3>> triangles;
  std::vector<Box> edge_boxes, triangle_boxes;
  std::vector<ExactPoint> points;
  std::vector<Index> sewn;  ///< the same number where nodes are sewn together
};

}  // namespace exact

/// All surfaces meet all. positions: finite, shape [surface_count, node_count].
inline ExactCounts count_exactly(const std::vector<const Mesh*>& meshes,
                                 const std::vector<std::vector<Vec3d>>& positions) {
  std::vector<exact::Pieces> surfaces;
  for (std::size_t s = 0; s < meshes.size(); ++s) surfaces.emplace_back(*meshes[s], positions[s]);
  ExactCounts counts;
  for (std::size_t s = 0; s < surfaces.size(); ++s)
    for (std::size_t r = 0; r < surfaces.size(); ++r) {
      const exact::Pieces &one = surfaces[s], &other = surfaces[r];
      for (std::size_t t = 0; t < other.triangles.size(); ++t) {
        const ExactTriangle triangle = other.triangle(t);
        for (std::size_t e = 0; e < one.edges.size(); ++e) {
          if (!one.edge_boxes[e].meets(other.triangle_boxes[t])) continue;
          if (s == r && one.shares_node(one.edges[e], other.triangles[t])) continue;
          const int kind = exact::meeting(one.point(one.edges[e][0]), one.point(one.edges[e][1]), triangle);
          counts.crossing += kind == 2;
          counts.touching += kind == 1;
        }
        for (std::size_t u = s == r ? t + 1 : 0; s <= r && u < one.triangles.size(); ++u)
          if (one.triangle_boxes[u].meets(other.triangle_boxes[t]))
            counts.overlapping += exact::overlaps(triangle, one.triangle(u));
      }
    }
  return counts;
}

}  // namespace isocloth
