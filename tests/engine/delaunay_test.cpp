#include "engine/mesh/delaunay.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using Triangles = std::vector<std::array<Index, 3>>;

double cross(Vec2d a, Vec2d b) { return a.x * b.y - a.y * b.x; }

double total_area(const std::vector<Vec2d>& points, const Triangles& triangles) {
  double area = 0;
  for (const auto& t : triangles) {
    const double part = cross(points[t[1]] - points[t[0]], points[t[2]] - points[t[0]]) / 2;
    EXPECT_GT(part, 0);
    area += part;
  }
  return area;
}

/// Least distance of a point to a circumscribed circle's inside, relative to its radius: >= 0 for Delaunay.
double emptiness(const std::vector<Vec2d>& points, const Triangles& triangles) {
  double least = 1;
  for (const auto& t : triangles) {
    const Vec2d a = points[t[0]], b = points[t[1]] - a, c = points[t[2]] - a;
    const double bb = b.x * b.x + b.y * b.y, cc = c.x * c.x + c.y * c.y, d = 2 * cross(b, c);
    const Vec2d centre{(c.y * bb - b.y * cc) / d, (b.x * cc - c.x * bb) / d};
    const double radius = std::hypot(centre.x, centre.y);
    for (const Vec2d& p : points) {
      const Vec2d q = p - a - centre;
      least = std::min(least, std::hypot(q.x, q.y) / radius - 1);
    }
  }
  return least;
}

TEST(Delaunay, RandomPointsHaveEmptyCircles) {
  Random random(1);
  std::vector<Vec2d> points{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i < 300; ++i) {
    const double x = random.uniform();
    points.push_back({x, random.uniform()});
  }
  const auto triangles = delaunay_triangles(points);
  EXPECT_EQ(triangles.size(), 2 * points.size() - 2 - 4);
  EXPECT_NEAR(total_area(points, triangles), 1, 1e-12);
  EXPECT_GT(emptiness(points, triangles), -1e-6);  // the lattice moves points by 1e-9
}

TEST(Delaunay, ManyPointsHaveEmptyCirclesToo) {
  Random random(2);
  std::vector<Vec2d> points{{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int i = 0; i < 1500; ++i) {
    const double x = random.uniform();
    points.push_back({x, random.uniform()});
  }
  const auto triangles = delaunay_triangles(points);
  EXPECT_EQ(triangles.size(), 2 * points.size() - 2 - 4);
  EXPECT_NEAR(total_area(points, triangles), 1, 1e-12);
  EXPECT_GT(emptiness(points, triangles), -1e-6);
  EXPECT_EQ(triangles, delaunay_triangles(points));
}

TEST(Delaunay, PointsAlongASquareAreQuick) {
  // In their order each of them would rebuild a part of the fan that those before it have made.
  constexpr int count = 5000;
  std::vector<Vec2d> points;
  for (int i = 0; i < count; ++i) points.push_back({1.0 * i / count, 0});
  for (int i = 0; i < count; ++i) points.push_back({1, 1.0 * i / count});
  for (int i = 0; i < count; ++i) points.push_back({1 - 1.0 * i / count, 1});
  for (int i = 0; i < count; ++i) points.push_back({0, 1 - 1.0 * i / count});
  const std::clock_t begin = std::clock();
  EXPECT_EQ(delaunay_triangles(points).size(), 4u * count - 2);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, is_sanitized ? 5 : 0.3);
}

TEST(Delaunay, LatticeIsNoSpecialCase) {
  // Every four neighbours lie on a circle, every row and the whole hull on lines, the first points too.
  std::vector<Vec2d> points;
  for (int j = 0; j < 12; ++j) {
    for (int i = 0; i < 17; ++i) points.push_back({0.1 * i, 0.1 * j});
  }
  const auto triangles = delaunay_triangles(points);
  EXPECT_EQ(triangles.size(), 2u * 16 * 11);
  EXPECT_NEAR(total_area(points, triangles), 1.6 * 1.1, 1e-12);
  EXPECT_GT(emptiness(points, triangles), -1e-6);
}

TEST(Delaunay, PointsOnACircleInsertedFromOutside) {
  std::vector<Vec2d> points;
  for (int i = 0; i < 50; ++i) points.push_back({std::cos(i * 2.4), std::sin(i * 2.4)});
  EXPECT_EQ(delaunay_triangles(points).size(), 48u);
}

TEST(Delaunay, RefusesWhatSpansNoPlane) {
  EXPECT_THROW(delaunay_triangles({{0, 0}, {1, 0}}), MeshError);
  EXPECT_THROW(delaunay_triangles({{0, 0}, {1, 1}, {2, 2}, {3, 3}}), MeshError);
  EXPECT_THROW(delaunay_triangles({{0, 0}, {1, 0}, {0, 1}, {1, 0}}), MeshError);
}

TEST(Delaunay, RegionLeavesOutWhatIsOutside) {
  // A U of area 7: the notch between (1, 1) and (2, 3) is outside.
  const std::vector<Vec2d> outline{{0, 0}, {1, 0}, {2, 0}, {3, 0}, {3, 1}, {3, 2}, {3, 3}, {2, 3},
                                   {2, 2}, {2, 1}, {1, 1}, {1, 2}, {1, 3}, {0, 3}, {0, 2}, {0, 1}};
  const auto triangles = triangulate_region(outline, 16);
  EXPECT_EQ(triangles.size(), 14u);
  EXPECT_NEAR(total_area(outline, triangles), 7, 1e-12);
}

TEST(Delaunay, RegionRefusesLostOutline) {
  // The interior point stands in the way of the long side 0-1 of a notch.
  const std::vector<Vec2d> points{{0, 0}, {4, -3}, {8, 0}, {8, 3}, {0, 3}, {4, -2.9}};
  EXPECT_EQ(triangulate_region(points, 5).size(), 5u);
  const std::vector<Vec2d> notched{{0, 0}, {4, 0.1}, {8, 0}, {8, 3}, {0, 3}, {2, 0.06}, {4, -3}};
  EXPECT_THROW(triangulate_region(notched, 5), MeshError);
}

TEST(Delaunay, SpreadingKeepsOutlineAndEvensOut) {
  // All triangles of a regular hexagon with one point inside meet in that point, and its only place of rest
  // is the centre.
  std::vector<Vec2d> points;
  for (int k = 0; k < 6; ++k) {
    points.push_back({std::cos(k * std::numbers::pi / 3), std::sin(k * std::numbers::pi / 3)});
  }
  const auto outline = points;
  points.push_back({0.5, 0.3});
  spread_points(points, 6, 50);
  EXPECT_TRUE(std::equal(outline.begin(), outline.end(), points.begin()));
  EXPECT_NEAR(points[6].x, 0, 1e-8);
  EXPECT_NEAR(points[6].y, 0, 1e-8);
}

TEST(Random, IsTheStandardsGenerator) {
  // C++20 [rand.predef]: the 10000th value of a default mt19937_64 is 9981545732273789042.
  Random random(std::mt19937_64::default_seed);
  for (int i = 1; i < 10000; ++i) random.uniform();
  EXPECT_EQ(random.uniform(), static_cast<double>(9981545732273789042ull >> 11) * 0x1p-53);
}

}  // namespace
}  // namespace isocloth
