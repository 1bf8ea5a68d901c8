#include "engine/mesh/polygon.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "engine/core/plane.hpp"

namespace isocloth {
namespace {

/// Whether two segments cross or touch.
bool meet(Vec2d a, Vec2d b, Vec2d c, Vec2d d) {
  // Boxes first: parts of one straight edge lie on one line but for rounding.
  if (std::max(a.x, b.x) < std::min(c.x, d.x) || std::max(c.x, d.x) < std::min(a.x, b.x) ||
      std::max(a.y, b.y) < std::min(c.y, d.y) || std::max(c.y, d.y) < std::min(a.y, b.y))
    return false;
  const double ab_c = cross(b - a, c - a), ab_d = cross(b - a, d - a), cd_a = cross(d - c, a - c),
               cd_b = cross(d - c, b - c);
  return ((ab_c <= 0 && ab_d >= 0) || (ab_c >= 0 && ab_d <= 0)) &&
         ((cd_a <= 0 && cd_b >= 0) || (cd_a >= 0 && cd_b <= 0));
}

}  // namespace

std::size_t first_meeting(const std::vector<Vec2d>& points) {
  const std::size_t n = points.size();
  constexpr Vec2d direction{1, 0.6180339887};
  std::vector<std::array<double, 2>> ranges;
  for (std::size_t i = 0; i < n; ++i) {
    const double here = dot(direction, points[i]), next = dot(direction, points[(i + 1) % n]);
    ranges.push_back({std::min(here, next), std::max(here, next)});
  }
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return ranges[i][0]; });
  std::size_t first = n;
  for (std::size_t a = 0; a < n; ++a)
    for (std::size_t b = a + 1; b < n && ranges[order[b]][0] <= ranges[order[a]][1]; ++b) {
      const auto [i, j] = std::minmax(order[a], order[b]);
      if (j == i + 1 || (i == 0 && j + 1 == n) || i >= first) continue;
      if (meet(points[i], points[i + 1], points[j], points[(j + 1) % n])) first = i;
    }
  return first;
}

double distance_to_polygon(const std::vector<Vec2d>& points, Vec2d p) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2d side = points[(i + 1) % points.size()] - points[i], way = p - points[i];
    const double t = std::clamp(dot(side, way) / dot(side, side), 0.0, 1.0);
    least = std::min(least, norm(way - t * side));
  }
  return least;
}

bool is_inside_polygon(const std::vector<Vec2d>& points, Vec2d p) {
  bool is_inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec2d a = points[i], b = points[(i + 1) % points.size()];
    if ((a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x))
      is_inside = !is_inside;
  }
  return is_inside;
}

}  // namespace isocloth
