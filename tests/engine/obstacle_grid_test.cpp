#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/geometry/distance_grid.hpp"
#include "engine/geometry/surface_solid.hpp"
#include "tests/engine/closed_meshes.hpp"
#include "tests/engine/mesh_measures.hpp"
#include "tests/support/nasty_bodies.hpp"

namespace isocloth {
namespace {

using namespace testing;

DistanceGrid grid_of(const Mesh& mesh, double cell = 0, double thicken = 0) {
  return build_obstacle_grid(MeshShape{mesh, cell, thicken}, "body");
}
Vec3d random_place(const DistanceGrid& grid, Random& random) {
  const auto along = [&](double origin, Index nodes) {
    return origin + grid.cell * random.uniform(0, nodes - 1);
  };
  const double x = along(grid.origin.x, grid.nodes[0]), y = along(grid.origin.y, grid.nodes[1]);
  return {x, y, along(grid.origin.z, grid.nodes[2])};
}
/// Distance of p from what bounds a body, by all its triangles; sheets and walls as thick as they are.
double exact(const SurfaceSolid& solid, double thicken, Vec3d p) {
  double shell = 1e9, sheet = 1e9;
  for (const BoundingTriangle& t : solid.triangles()) {
    double& least = t.is_sheet ? sheet : shell;
    least = std::min(least, std::sqrt(nearest_on_triangle(p, t.corners, 0).distance_squared));
  }
  return std::min(solid.is_inside(p) ? -shell : shell, sheet) - thicken;
}

TEST(ObstacleGrid, OfAClosedSurfaceIsTheDenseOne) {
  for (const Mesh& mesh : {octasphere(3), torus_mesh(24, 16, 0.3, 0.1)}) {
    const MeshShape shape{mesh, 0.02, 0.01};
    const DistanceGrid found = build_obstacle_grid(shape, "body"), dense = build_distance_grid(shape, "body");
    EXPECT_TRUE(found.blocks.empty());
    EXPECT_EQ(found.note, "");
    EXPECT_EQ(found.distances, dense.distances);
    EXPECT_EQ(found.nodes, dense.nodes);
  }
}

// Near the surface distances are exact at nodes of blocks; elsewhere outside they are no greater than that.
TEST(ObstacleGrid, ShowsBodies) {
  Random random(4);
  for (const auto& [name, mesh] : nasty_bodies()) {
    if (name == "sheet" || name == "thin_box") continue;  // thickened
    const SurfaceSolid solid(mesh, name);
    const DistanceGrid grid = grid_of(mesh);
    ASSERT_FALSE(grid.blocks.empty()) << name;
    const double cell = grid.least_cell();
    int inside = 0;
    for (int n = 0; n < 500; ++n) {
      const Vec3d p = random_place(grid, random);
      const double distance = exact(solid, 0, p), found = interpolate(grid, p);
      inside += distance < -2 * cell;
      // Of a cell of any size trilinear values are off by less than 0.9 of it, and less than zero inside.
      if (std::abs(distance) > grid.cell / 4) {
        ASSERT_EQ(distance < 0, found < 0) << name << " " << distance;
      }
      if (distance > 0) {
        ASSERT_LE(found, distance + grid.cell / 4) << name;
      }
      if (distance > 2 * grid.cell) {
        ASSERT_LE(found, 1.13 * distance) << name;
      }
    }
    EXPECT_GT(inside, 1) << name;
  }
}

TEST(ObstacleGrid, ResolvesFingersOfABodyWithFewNodes) {
  const DistanceGrid grid = grid_of(mannequin_mesh());
  EXPECT_LT(grid.distances.size(), 1u << 20);
  EXPECT_LT(3 * grid.least_cell(), 0.0145);
  // The middle of a finger is 7 mm deep, but for the cell.
  EXPECT_NEAR(interpolate(grid, {0.58, 0, 1.0775}), -0.007, grid.least_cell());
  EXPECT_NE(grid.note.find("where it is thin"), std::string::npos) << grid.note;
}

TEST(ObstacleGrid, ThickensSheetsAndThinWalls) {
  const DistanceGrid sheet = grid_of(sheet_mesh());
  EXPECT_NE(sheet.note.find("taken as a sheet"), std::string::npos) << sheet.note;
  const double half = 1.5 * sheet.least_cell();
  EXPECT_NEAR(interpolate(sheet, {0, 0, 0.03}), -half, 0.5 * sheet.least_cell());
  EXPECT_NEAR(interpolate(sheet, {0, 0, 0.03 + 0.01}), 0.01 - half, 0.2 * sheet.least_cell());
  EXPECT_NEAR(interpolate(sheet, {0, 0, 0.03 - 0.01}), 0.01 - half, 0.2 * sheet.least_cell());
  const DistanceGrid thick = grid_of(sheet_mesh(), 0, 0.01);
  EXPECT_NEAR(interpolate(thick, {0, 0, 0.03 + 0.02}), 0.01, 0.2 * thick.least_cell());
  const DistanceGrid box = grid_of(thin_box_mesh());
  EXPECT_NE(box.note.find("which are thickened to that"), std::string::npos) << box.note;
  // No way through the wall anywhere.
  for (double z = -0.09; z < 0.095; z += 0.003)
    for (double y = -0.09; y < 0.095; y += 0.003) ASSERT_LT(interpolate(box, {0.099, y, z}), 0);
  EXPECT_GT(interpolate(box, {0, 0, 0}), 0.05) << "the room in it stays open";
}

TEST(ObstacleGrid, TakesTheThicknessOfItsSurface) {
  Random random(5);
  const Mesh mesh = eyeballs_mesh();
  const SurfaceSolid solid(mesh, "body");
  const DistanceGrid grid = grid_of(mesh, 0, 0.005);
  for (int n = 0; n < 1000; ++n) {
    const Vec3d p = random_place(grid, random);
    const double distance = exact(solid, 0.005, p);
    if (distance > -grid.cell && distance < 2 * grid.least_cell()) {
      ASSERT_NEAR(interpolate(grid, p), distance, grid.least_cell());
    }
  }
}

TEST(ObstacleGrid, SaysWhichCellServes) {
  const std::string message = refusal_of([] { grid_of(sheet_mesh(), 1e-5); });
  EXPECT_NE(message.find("body.cell: a cell of 1e-05 m makes too large a grid"), std::string::npos)
      << message;
  const std::string words = "set cell to at least ";
  const double better = std::stod(message.substr(message.find(words) + words.size()));
  EXPECT_GT(better, 1e-4);
  EXPECT_LT(better, 1e-3);
  EXPECT_NE(refusal_of([] {
              Mesh small = sheet_mesh();
              for (Vec3d& x : small.positions) x = 1e-9 * x;
              grid_of(small);
            }).find("scale it to metres"),
            std::string::npos);
}

}  // namespace
}  // namespace isocloth
