#include "engine/mesh/fill_region.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/plane.hpp"

namespace isocloth {

void fill_region(std::vector<Vec2d>& points, const std::vector<Vec2d>& places,
                 const std::vector<std::array<Index, 2>>& sides, double h) {
  const std::vector<Vec2d> outline = points;
  Vec2d low = outline.front(), high = low;
  for (const Vec2d& p : outline) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y)};
  }
  const double rise = h * std::sqrt(0.75), apart = 0.55 * h;
  const auto rows = static_cast<Index>((high.y - low.y) / rise) + 1,
             columns = static_cast<Index>((high.x - low.x) / h) + 2;
  const auto at = [&](Index row, Index column) {
    return Vec2d{low.x + h * (column + (row % 2 == 0 ? 0.0 : -0.5)), low.y + (row + 0.5) * rise};
  };
  /// The numbers whose places, start + step * number, lie between two, and one more on either side.
  const auto near_numbers = [](double from, double to, double start, double step, Index count) {
    return std::pair{std::max(Index{0}, static_cast<Index>((from - start) / step) - 1),
                     std::min(count - 1, static_cast<Index>((to - start) / step) + 1)};
  };
  std::vector<std::vector<double>> crossings(static_cast<std::size_t>(rows));  // of the outline, by row
  std::vector<char> is_near(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns), 0);
  const auto place = [&](Index row, Index column) {
    return static_cast<std::size_t>(row) * static_cast<std::size_t>(columns) +
           static_cast<std::size_t>(column);
  };
  /// Takes note of what is near to a side; visit(row) of each row there.
  const auto mark = [&](Vec2d a, Vec2d b, const auto& visit) {
    const Vec2d side = b - a;
    const auto [first, last] =
        near_numbers(std::min(a.y, b.y) - apart, std::max(a.y, b.y) + apart, low.y + 0.5 * rise, rise, rows);
    for (Index row = first; row <= last; ++row) {
      visit(row);
      const auto [begin, end] =
          near_numbers(std::min(a.x, b.x) - apart, std::max(a.x, b.x) + apart, at(row, 0).x, h, columns);
      for (Index column = begin; column <= end; ++column) {
        const Vec2d way = at(row, column) - a;
        const double t = std::clamp(dot(side, way) / dot(side, side), 0.0, 1.0);
        if (norm(way - t * side) < apart) is_near[place(row, column)] = 1;
      }
    }
  };
  for (std::size_t i = 0; i < outline.size(); ++i) {
    const Vec2d a = outline[i], b = outline[(i + 1) % outline.size()];
    mark(a, b, [&](Index row) {
      const double y = at(row, 0).y;
      if ((a.y > y) != (b.y > y))
        crossings[static_cast<std::size_t>(row)].push_back(a.x + (y - a.y) / (b - a).y * (b - a).x);
    });
  }
  for (const Vec2d& place_of : places) {
    const auto [first, last] =
        near_numbers(place_of.y - apart, place_of.y + apart, low.y + 0.5 * rise, rise, rows);
    for (Index row = first; row <= last; ++row) {
      const auto [begin, end] =
          near_numbers(place_of.x - apart, place_of.x + apart, at(row, 0).x, h, columns);
      for (Index column = begin; column <= end; ++column)
        if (norm(at(row, column) - place_of) < apart) is_near[place(row, column)] = 1;
    }
  }
  points.insert(points.end(), places.begin(), places.end());
  for (const auto& [from, to] : sides)
    mark(points[static_cast<std::size_t>(from)], points[static_cast<std::size_t>(to)], [](Index) {});
  for (Index row = 0; row < rows; ++row) {
    std::vector<double>& here = crossings[static_cast<std::size_t>(row)];
    std::ranges::sort(here);
    for (Index column = 0; column < columns; ++column) {
      const Vec2d p = at(row, column);
      const auto beyond = here.end() - std::ranges::upper_bound(here, p.x);
      if (beyond % 2 == 1 && !is_near[place(row, column)]) points.push_back(p);
    }
  }
}

void clear_sides(std::vector<Vec2d>& points, const std::vector<std::array<Index, 2>>& sides, Index kept) {
  std::vector<Vec2d> left(points.begin(), points.begin() + kept);
  for (auto p = points.begin() + kept; p != points.end(); ++p) {
    const auto is_in_the_way = [&, p](const std::array<Index, 2>& side) {
      const Vec2d a = points[static_cast<std::size_t>(side[0])],
                  b = points[static_cast<std::size_t>(side[1])];
      return norm(*p - 0.5 * (a + b)) < 0.501 * norm(b - a);
    };
    if (std::ranges::none_of(sides, is_in_the_way)) left.push_back(*p);
  }
  points = std::move(left);
}

}  // namespace isocloth
