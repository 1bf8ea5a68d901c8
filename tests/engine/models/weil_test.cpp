// Weil's two stages: lengths that the relaxation repairs, symmetry, curves that are dropped, what is refused.
#include "engine/models/drape/weil.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/models/drape/catenary.hpp"

namespace isocloth {
namespace {

constexpr Index n = 17;
const DrapeSettings weil{};

/// Hung at its corners, (0.1, 0.1) to (0.9, 0.9), the last at another height.
std::vector<HangingPoint> four_corners(double raised = 0) {
  return {{0, {0.1, 0.1, 0}},
          {n - 1, {0.9, 0.1, 0}},
          {n * (n - 1), {0.1, 0.9, 0}},
          {n * n - 1, {0.9, 0.9, raised}}};
}

struct EdgeErrors {
  double mean = 0, max = 0;
};
EdgeErrors edge_errors(const HangingSheet& sheet, const std::vector<Vec3d>& x) {
  EdgeErrors errors;
  const std::vector<Vec3d>& rest = sheet.mesh.positions;
  for (const auto& [a, b] : sheet.topology.edges) {
    const double error = std::fabs(norm(x[b] - x[a]) / norm(rest[b] - rest[a]) - 1);
    errors.mean += error / static_cast<double>(sheet.topology.edges.size());
    errors.max = std::max(errors.max, error);
  }
  return errors;
}

std::string refusal(const Mesh& mesh, const std::vector<HangingPoint>& points,
                    const DrapeSettings& settings) {
  try {
    const HangingSheet sheet(mesh, points, settings, "KEY");
    weil_catenaries(sheet, 0, "KEY");
  } catch (const SceneError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Weil, HangsTheRimOnCatenaries) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  const HangingSheet sheet(mesh, four_corners(0.2), weil, "");
  const std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
  const Catenary side({0.1, 0.1, 0}, {0.9, 0.1, 0}, 1), raised({0.9, 0.1, 0}, {0.9, 0.9, 0.2}, 1);
  for (Index i = 0; i < n; ++i) {
    EXPECT_NEAR(norm(x[i] - side.at(i / 16.0)), 0, 1e-12);
    EXPECT_NEAR(norm(x[i * n + n - 1] - raised.at(i / 16.0)), 0, 1e-12);
  }
}

TEST(Weil, DropsTheLowerOfTwoDiagonals) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  const HangingSheet sheet(mesh, four_corners(0.2), weil, "");
  const std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
  const double length = std::sqrt(2);
  const Catenary with_raised({0.1, 0.1, 0}, {0.9, 0.9, 0.2}, length),
      other({0.9, 0.1, 0}, {0.1, 0.9, 0}, length);
  ASSERT_GT(with_raised.at(length / 2).z, other.at(length / 2).z);
  for (Index i = 0; i < n; ++i) EXPECT_NEAR(norm(x[i * n + i] - with_raised.at(length * i / 16)), 0, 1e-12);
  EXPECT_GT(norm(x[4 * n + 12] - other.at(length / 4)), 0.01);
}

TEST(Weil, RelaxationRepairsLengths) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  for (const double raised : {0.0, 0.2}) {
    const HangingSheet sheet(mesh, four_corners(raised), weil, "");
    std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
    EXPECT_GT(edge_errors(sheet, x).mean, 0.1);
    EXPECT_LT(relax_distances(sheet, weil, x), weil.most_passes);
    EXPECT_LT(edge_errors(sheet, x).mean, 0.002);
    EXPECT_LT(edge_errors(sheet, x).max, 0.02);
    for (const HangingPoint& point : sheet.points) EXPECT_EQ(x[point.node], point.position);
  }
}

TEST(Weil, RelaxationOfAnglesHoldsDiagonals) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  const auto most_sheared = [&](bool angles) {
    const DrapeSettings settings{.angles = angles};
    const HangingSheet sheet(mesh, four_corners(), settings, "");
    std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
    relax_distances(sheet, settings, x);
    double most = 0;
    for (Index j = 0; j + 1 < n; ++j)
      for (Index i = 0; i + 1 < n; ++i)
        most = std::max(most, std::fabs(norm(x[(j + 1) * n + i + 1] - x[j * n + i]) * 16 / std::sqrt(2) - 1));
    return most;
  };
  EXPECT_GT(most_sheared(false), 0.2);
  EXPECT_LT(most_sheared(true), 0.1);
}

TEST(Weil, LeastAngleIsKept) {
  // A strip whose ends touch: without a bound it folds sharply at the bottom.
  const Mesh mesh = quad_grid(21, 2, 1, 0.05);
  const std::vector<HangingPoint> ends{
      {0, {0, 0, 0}}, {20, {0, 0, 0}}, {21, {0, 0.05, 0}}, {41, {0, 0.05, 0}}};
  const auto sharpest = [&](double least_angle) {
    const DrapeSettings settings{.least_angle = least_angle};
    const HangingSheet sheet(mesh, ends, settings, "");
    std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
    for (Index i = 0; i < 42; ++i) x[i].x += 1e-3 * (i % 21 - 10);  // not exactly on itself
    x[0] = x[20] = ends[0].position;
    x[21] = x[41] = ends[2].position;
    relax_distances(sheet, settings, x);
    double least = 180;
    for (Index i = 1; i < 20; ++i)
      least = std::min(least, 360 / M_PI * std::asin(std::min(1.0, norm(x[i + 1] - x[i - 1]) * 20 / 2)));
    return least;
  };
  EXPECT_LT(sharpest(0), 60);
  EXPECT_GT(sharpest(120), 110);  // lengths pull against it
}

TEST(Weil, SymmetricInputHasASymmetricShape) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  const HangingSheet sheet(mesh, four_corners(), weil, "");
  std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
  // Rounding of a pass, 1e-16, may grow with the passes, of which there are some hundreds.
  const auto expect_symmetric = [&](double tolerance) {
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) {
        const Vec3d &p = x[j * n + i], &mirrored = x[j * n + n - 1 - i], &swapped = x[i * n + j];
        EXPECT_NEAR(norm(mirrored - Vec3d{1 - p.x, p.y, p.z}), 0, tolerance) << i << " " << j;
        EXPECT_NEAR(norm(swapped - Vec3d{p.y, p.x, p.z}), 0, tolerance) << i << " " << j;
      }
  };
  expect_symmetric(1e-12);
  relax_distances(sheet, weil, x);
  expect_symmetric(1e-10);
}

TEST(Weil, StaysFlatWhereTheWholeRimIsHeldTaut) {
  // All 64 nodes of the rim: all curves cross in the plane, in far more places than may become corners.
  const Mesh mesh = quad_grid(n, n, 1, 1);
  std::vector<HangingPoint> rim;
  for (Index node = 0; node < n * n; ++node)
    if (node % n == 0 || node % n == n - 1 || node < n || node >= n * (n - 1))
      rim.push_back({node, mesh.positions[node]});
  ASSERT_EQ(rim.size(), most_weil_points);
  const HangingSheet sheet(mesh, rim, weil, "");
  const std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
  // A curve one rounding longer than straight sags by sqrt(3 / 8 2^-52) = 1e-8.
  for (Index node = 0; node < n * n; ++node) EXPECT_NEAR(norm(x[node] - mesh.positions[node]), 0, 1e-7);
}

TEST(Weil, HangsFromTwoPointsAndFromPointsInside) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  for (const std::vector<HangingPoint>& points :
       {std::vector<HangingPoint>{{n * (n - 1), {0.1, 1, 0}}, {n * n - 1, {0.9, 1, 0}}},
        {{0, {0.1, 0.1, 0}}, {n * n - 1, {0.9, 0.9, 0}}},
        {{n * n / 2, {0, 0, 1}}, {3, {0.2, 0, 1}}, {n * 5, {0, 0.2, 1.1}}},
        {{0, {0, 0, 0}}, {n - 1, {0, 0, 0}}, {n * n - 1, {0, 0, 0}}}}) {
    const HangingSheet sheet(mesh, points, weil, "");
    std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
    const double before = edge_errors(sheet, x).mean;
    relax_distances(sheet, weil, x);
    for (const Vec3d& p : x) ASSERT_TRUE(std::isfinite(p.x + p.y + p.z));
    EXPECT_LT(edge_errors(sheet, x).mean, std::max(0.002, 0.1 * before));
  }
}

TEST(Weil, TrianglesAreSheetsToo) {
  const Mesh mesh = irregular_triangles(12, 150, 1, 1, 3);
  const HangingSheet sheet(
      mesh, {{0, {0.1, 0.1, 0}}, {12, {0.9, 0.1, 0}}, {24, {0.9, 0.9, 0}}, {36, {0.1, 0.9, 0}}}, weil, "");
  std::vector<Vec3d> x = weil_catenaries(sheet, 0, "");
  relax_distances(sheet, weil, x);
  EXPECT_LT(edge_errors(sheet, x).mean, 0.02);
}

TEST(Weil, RefusesWhatCannotHang) {
  const Mesh mesh = quad_grid(n, n, 1, 1);
  EXPECT_EQ(refusal(mesh, {{0, {}}}, weil),
            "KEY: found 1 pinned node, expected at least 2 to hang the cloth from; pin more");
  EXPECT_EQ(
      refusal(mesh, {{0, {0, 0, 0}}, {16, {1.25, 0, 0}}}, weil),
      "KEY: nodes 0 and 16 hang 1.25 m apart, expected at most 1 m, the length of the cloth between them; "
      "bring them closer together");
  EXPECT_EQ(refusal(quad_grid(2, 2, 1, 1), {{0, {}}, {1, {}}, {2, {}}, {3, {}}}, weil),
            "KEY: every node is pinned, expected some that hang; take pins away, or leave the drape out");
  EXPECT_EQ(
      refusal(ring(3, 12, 0.2, 1, FaceKind::quads), {{0, {}}, {1, {}}}, weil),
      "KEY: found a sheet with holes, expected a flat, convex one such as quad_grid; leave the drape out");
  EXPECT_NE(
      refusal(tube(5, 12, 0.2, 1, FaceKind::quads), {{0, {}}, {1, {}}}, weil).find("KEY: found a mesh that "),
      std::string::npos);
  std::vector<HangingPoint> many;
  for (Index i = 0; i < 65; ++i) many.push_back({i, {}});
  EXPECT_EQ(refusal(mesh, many, weil),
            "KEY: found 65 pinned nodes, expected at most 64, each of which hangs a curve to all others; use "
            "laplace");
  const DrapeSettings laplace{.method = DrapeMethod::laplace};
  EXPECT_EQ(refusal(mesh, {{0, {}}, {16, {}}}, laplace),
            "KEY: found 2 pinned nodes, expected at least 3 to hang the cloth from; pin more");
  EXPECT_EQ(
      refusal(mesh, {{0, {}}, {16, {}}, {n + 1, {}}}, laplace),
      "KEY: found 2 pinned nodes on the rim, expected at least 3, the corners of the polygon that laplace "
      "hangs; pin more, or use weil");
  EXPECT_EQ(
      refusal(ring(3, 12, 0.2, 1, FaceKind::quads), {{0, {}}, {1, {}}, {2, {}}}, laplace),
      "KEY: found a mesh with 2 boundary loops, expected one, along which catenaries hang; leave the drape "
      "out");
  EXPECT_EQ(refusal(mesh, {{0, {}}, {8, {}}, {16, {}}}, laplace),
            "KEY: found all pinned nodes of the rim on a line, expected corners of a polygon that laplace "
            "hangs; pin one beside it, or use weil");
}

}  // namespace
}  // namespace isocloth
