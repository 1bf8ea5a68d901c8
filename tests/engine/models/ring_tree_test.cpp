// Far vortices taken together against vortices one by one.
#include "engine/models/air/ring_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "engine/models/air/vortex_segment.hpp"

namespace isocloth {
namespace {

Vec3d random_vector(std::mt19937_64& random, double scale) {
  std::uniform_real_distribution<double> part(-scale, scale);
  const double x = part(random), y = part(random);
  return {x, y, part(random)};
}

/// Rings between lines of points, and a point of the sheet in each.
struct Sheet {
  Index rows, columns;
  std::vector<Vec3d> corners, middles;
  std::vector<double> circulations;

  template <class Place>
  Sheet(Index m, Index n, const Place& place) : rows(m), columns(n) {
    for (Index i = 0; i <= m; ++i)
      for (Index j = 0; j <= n; ++j) corners.push_back(place(1. * i / m, 1. * j / m));
    const auto at = [&](Index i, Index j) { return corners[static_cast<std::size_t>(i * (n + 1) + j)]; };
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j)
        middles.push_back(0.25 * (at(i, j) + at(i + 1, j) + at(i, j + 1) + at(i + 1, j + 1)));
    circulations.assign(middles.size(), 1);
  }
  ItemGrid rings() const {
    ItemGrid grid{{}, columns, true, 0};
    for (Index i = 0; i <= rows; ++i) grid.lines.push_back(corners.data() + i * (columns + 1));
    return grid;
  }
  ItemGrid points() const {
    ItemGrid grid{{}, columns, false, 0};
    for (Index i = 0; i < rows; ++i) grid.lines.push_back(middles.data() + i * columns);
    return grid;
  }
  std::vector<Vec3d> direct(double core) const {
    std::vector<Vec3d> velocities(middles.size());
    RingVelocities all(columns, core);
    for (std::size_t p = 0; p < middles.size(); ++p)
      all(middles[p], rings().lines, [&](std::size_t r, std::size_t j, const Vec3d& u) {
        velocities[p] += circulations[r * static_cast<std::size_t>(columns) + j] * u;
      });
    return velocities;
  }
};

Sheet wavy_sheet(Index rows, Index columns) {
  return {rows, columns, [](double x, double y) {
            return Vec3d{x, y, 0.08 * std::sin(9 * x + 2 * y) + 0.05 * std::cos(7 * y)};
          }};
}

Sheet random_sheet(Index rows, Index columns) {
  std::mt19937_64 random(7);
  Sheet sheet(rows, columns, [&](double x, double y) {
    return Vec3d{x, y, 0} + random_vector(random, 0.3 / rows);
  });
  std::normal_distribution<double> circulation;
  for (double& c : sheet.circulations) c = circulation(random);
  return sheet;
}

/// Greatest difference in parts of the greatest velocity.
double error_of_tree(const Sheet& sheet) {
  const double core = 0.02 / sheet.rows;
  std::vector<Vec3d> found(sheet.middles.size());
  RingTree(sheet.rings(), sheet.points(), core).add_velocities(sheet.circulations, {}, found);
  const std::vector<Vec3d> expected = sheet.direct(core);
  double error = 0, greatest = 0;
  for (std::size_t p = 0; p < found.size(); ++p) {
    error = std::max(error, norm(found[p] - expected[p]));
    greatest = std::max(greatest, norm(expected[p]));
  }
  return error / greatest;
}

TEST(SolidHarmonics, AddUpToTheInverseOfADistance) {
  const Vec3d y{0.1, -0.15, 0.05}, x{-1, 0.7, 1.2};
  const Expansion r = regular_harmonics(y);
  const Harmonics<2 * harmonic_degree> s = irregular_harmonics(x);
  double sum = 0;
  for (std::size_t k = 0; k < r.re.size(); ++k) sum += r.re[k] * s.re[k] + r.im[k] * s.im[k];
  EXPECT_NEAR(sum * norm(x - y), 1, std::pow(norm(y) / norm(x), harmonic_degree + 1));
}

TEST(SolidHarmonics, OfARegularShiftAreSumsOfProducts) {
  const Vec3d a{0.4, -0.2, 0.3}, b{-0.7, 0.1, 0.5};
  const Expansion ra = regular_harmonics(a), rb = regular_harmonics(b), both = regular_harmonics(a + b);
  for (int l = 0; l <= harmonic_degree; ++l)
    for (int m = -l; m <= l; ++m) {
      double re = 0, im = 0;
      for (int j = 0; j <= l; ++j)
        for (int k = std::max(-j, m - l + j); k <= std::min(j, m + l - j); ++k) {
          const std::size_t i = harmonic_index(j, k), o = harmonic_index(l - j, m - k);
          re += ra.re[i] * rb.re[o] - ra.im[i] * rb.im[o];
          im += ra.re[i] * rb.im[o] + ra.im[i] * rb.re[o];
        }
      EXPECT_NEAR(both.re[harmonic_index(l, m)], re, 1e-15);
      EXPECT_NEAR(both.im[harmonic_index(l, m)], im, 1e-15);
    }
}

TEST(SolidHarmonics, GiveTheVelocityOfASmallRingByAnyWay) {
  // A square of side 1e-3 at `source`, seen at `point`: from far to near around centres beside them, and by
  // way of others a little further off.
  const Vec3d source{0.05, 0.02, -0.03}, point{2.1, -1.4, 0.9};
  const double a = 1e-3;
  const Vec3d corners[] = {source, source + Vec3d{a, 0, 0}, source + Vec3d{a, a, 0}, source + Vec3d{0, a, 0}};
  Vec3d expected;
  for (int k = 0; k < 4; ++k) expected += segment_velocity(point, corners[k], corners[(k + 1) % 4], 0);
  const Vec3d middle = source + Vec3d{a / 2, a / 2, 0};
  Expansion far, moved, near, moved_near;
  add_ring(regular_harmonics(middle), {0, 0, a * a}, far);
  const Vec3d shift{0.04, -0.05, 0.06}, end{2, -1.5, 1}, end_shift{-0.03, 0.05, 0.02};
  add_far_to_far(far, shift, moved);
  add_far_to_near(moved, end + shift, near);
  add_near_to_near(near, end_shift, moved_near);
  const double tolerance = 1e-5 * norm(expected);
  EXPECT_NEAR(norm(near_velocity(near, point - end) - expected), 0, tolerance);
  EXPECT_NEAR(norm(near_velocity(moved_near, point - end - end_shift) - expected), 0, tolerance);
}

TEST(ItemCells, HaveEachItemInOneLeafAndThePointsInTheirBalls) {
  const Sheet sheet = wavy_sheet(23, 9);
  ItemGrid grid = sheet.rings();
  grid.cut = 20;
  const std::vector<ItemCell> cells = item_cells(grid, 10);
  std::vector<int> leaves(sheet.middles.size());
  for (const ItemCell& cell : cells) {
    EXPECT_TRUE(cell.row_end <= 20 || cell.row >= 20 || cell.child != 0);
    EXPECT_TRUE(cell.child != 0 || cell.count() <= 10);
    for (Index i = cell.row; i < cell.row_end; ++i)
      for (Index j = cell.column; j < cell.column_end; ++j) {
        if (cell.child == 0) ++leaves[static_cast<std::size_t>(i * grid.columns + j)];
        for (const Vec3d& x :
             {grid.lines[static_cast<std::size_t>(i)][j], grid.lines[static_cast<std::size_t>(i + 1)][j + 1]})
          EXPECT_LE(norm(x - cell.centre), cell.radius);
      }
  }
  EXPECT_EQ(std::count(leaves.begin(), leaves.end(), 1), static_cast<std::ptrdiff_t>(leaves.size()));
}

TEST(RingTree, HasTheVelocitiesOfTheDirectSum) {
  Sheet smooth = wavy_sheet(48, 48), still = wavy_sheet(40, 60);
  for (std::size_t p = 0; p < smooth.middles.size(); ++p) {
    const Vec3d& x = smooth.middles[p];
    smooth.circulations[p] = std::sqrt(std::max(0., x.x * (1 - x.x) * x.y * (1 - x.y)));
  }
  EXPECT_LT(error_of_tree(smooth), 1e-4);
  EXPECT_LT(error_of_tree(still), 1e-4);
  EXPECT_LT(error_of_tree(random_sheet(48, 48)), 1e-4);
  EXPECT_LT(error_of_tree(random_sheet(7, 5)), 1e-14);  // one by one
}

TEST(RingTree, KeepsTheWashOfItsVelocities) {
  const Sheet sheet = random_sheet(30, 34);
  std::mt19937_64 random(3);
  std::vector<Vec3d> normals, velocities(sheet.middles.size());
  for (std::size_t p = 0; p < sheet.middles.size(); ++p)
    normals.push_back(normalized(random_vector(random, 1)));
  RingTree tree(sheet.rings(), sheet.points(), 1e-3);
  tree.add_velocities(sheet.circulations, normals, velocities);
  std::vector<double> wash(sheet.middles.size());
  tree.add_wash(sheet.circulations, normals, wash);
  for (std::size_t p = 0; p < wash.size(); ++p)
    EXPECT_NEAR(wash[p], dot(normals[p], velocities[p]), 1e-11 * norm(velocities[p]));
}

}  // namespace
}  // namespace isocloth
