// The shadow of a drape against closed forms.
#include "engine/geometry/drape_shadow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

constexpr double pi = std::numbers::pi;
constexpr DrapeMeter meter{.center = {}, .disc = 0.09};

/// A fine disc whose rim is at r(theta), all nodes on its rays.
std::vector<Vec3d> waved(const Mesh& mesh, double mean, double height, int folds, double turn = 0) {
  std::vector<Vec3d> positions = mesh.positions;
  for (Vec3d& p : positions) {
    const double angle = std::atan2(p.y, p.x);
    p = ((mean + height * std::cos(folds * (angle - turn))) / 0.15) * p;
  }
  return positions;
}

TEST(DrapeShadow, OfAFlatDiscIsThatOfItsPolygon) {
  const int around = 48;
  const Mesh mesh = disc(9, around, 0.15, FaceKind::triangles);
  const double polygon = around * std::sin(2 * pi / around) / 2 * 0.15 * 0.15;
  const DrapeShadow shadow = drape_shadow(mesh, mesh.positions, meter);
  EXPECT_NEAR(shadow.area, polygon - pi * 0.09 * 0.09, 1e-4 * polygon);
  ASSERT_EQ(shadow.radii.size(), 720u);
  EXPECT_NEAR(shadow.radii[0], 0.15, 1e-12);
  for (const double r : shadow.radii) {
    EXPECT_LE(r, 0.15 * (1 + 1e-12));
    EXPECT_GE(r, 0.15 * std::cos(pi / around) * (1 - 1e-12));
  }
  EXPECT_EQ(count_folds(shadow.radii, 0.003), 0);
}

// Of r = m + a cos(n t): pi (m^2 + a^2 / 2).
TEST(DrapeShadow, OfFoldsIsThatOfTheirCurve) {
  const Mesh mesh = disc(5, 720, 0.15, FaceKind::triangles);
  for (const int folds : {4, 7}) {
    const double mean = 0.12, height = 0.01;
    const DrapeShadow shadow = drape_shadow(mesh, waved(mesh, mean, height, folds), meter);
    const double whole = pi * (mean * mean + height * height / 2 - 0.09 * 0.09);
    EXPECT_NEAR(shadow.area / whole, 1, 1e-4);
    EXPECT_EQ(count_folds(shadow.radii, 0.003), folds);
    EXPECT_EQ(count_folds(shadow.radii, 0.021), 0) << "lower than asked for";
    EXPECT_NEAR(shadow.radii[0], mean + height, 1e-6);
  }
}

TEST(DrapeShadow, CountsWhatLiesOverOtherClothOnce) {
  // A rim that hangs down and comes back below.
  const Mesh mesh = disc(6, 180, 0.15, FaceKind::quads);
  std::vector<Vec3d> positions = mesh.positions;
  for (Vec3d& p : positions) {
    const double r = norm(p);
    if (r > 0.125) p = Vec3d{(0.25 - r) / r * p.x, (0.25 - r) / r * p.y, -0.01};
  }
  const DrapeShadow shadow = drape_shadow(mesh, positions, meter);
  EXPECT_NEAR(shadow.area / (pi * (0.125 * 0.125 - 0.09 * 0.09)), 1, 2e-3);
}

// Not in steps, as pixels would: a node that goes out by 1e-9 m takes the area along.
TEST(DrapeShadow, GoesContinuouslyWithPositions) {
  const Mesh mesh = disc(9, 48, 0.15, FaceKind::triangles);
  std::vector<Vec3d> positions = waved(mesh, 0.12, 0.01, 6);
  const auto rim = static_cast<std::size_t>(mesh.node_count() - 20);
  const double before = drape_shadow(mesh, positions, meter).area;
  const auto change = [&](double by) {
    std::vector<Vec3d> moved = positions;
    moved[rim] = (1 + by) * moved[rim];
    return drape_shadow(mesh, moved, meter).area - before;
  };
  const double slope = change(1e-4) / 1e-4;
  EXPECT_GT(slope, 1e-5);
  EXPECT_NEAR(change(1e-8) / 1e-8 / slope, 1, 1e-2);
}

TEST(DrapeShadow, OfAnOutlineIsThatOfTheClothWithinIt) {
  std::vector<Vec2d> outline;
  for (int k = 0; k < 360; ++k) {
    const double angle = -2 * pi * k / 360, r = 0.12 + 0.01 * std::cos(5 * angle);  // the other way around
    outline.push_back({0.3 + r * std::cos(angle), -0.2 + r * std::sin(angle)});
  }
  const DrapeShadow shadow = drape_shadow(outline, {.center = {0.3, -0.2}, .disc = 0.09});
  EXPECT_EQ(count_folds(shadow.radii, 0.003), 5);
  for (std::size_t k = 0; k < shadow.radii.size(); k += 2)
    EXPECT_NEAR(shadow.radii[k], 0.12 + 0.01 * std::cos(5 * 2 * pi * static_cast<double>(k) / 720), 1e-5);
}

TEST(DrapeShadow, IsTurnedOntoAnother) {
  const Mesh mesh = disc(3, 720, 0.15, FaceKind::triangles);
  const double turn = 0.3217;
  auto uneven = [&](double by) {
    std::vector<Vec3d> positions = waved(mesh, 0.12, 0.01, 5, by);
    for (Vec3d& p : positions) p = (1 + 0.03 * std::cos(std::atan2(p.y, p.x) - by)) * p;
    return drape_shadow(mesh, positions, meter).radii;
  };
  const std::vector<double> here = uneven(0), there = uneven(turn);
  const double found = best_turn(there, here);
  EXPECT_NEAR(std::remainder(found - turn, 2 * pi), 0, 1e-3);
  const std::vector<double> back = turned(there, found);
  for (std::size_t k = 0; k < back.size(); ++k) EXPECT_NEAR(back[k], here[k], 1e-4);
}

}  // namespace
}  // namespace isocloth
