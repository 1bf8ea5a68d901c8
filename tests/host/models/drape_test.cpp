// Laplace's equation against the tutorial's own numbers, and the shapes that it gives.
#include "host/models/drape/drape.hpp"

#include <gtest/gtest.h>

#include "engine/mesh/generators.hpp"
#include "engine/models/drape/catenary.hpp"
#include "host/isocloth.hpp"
#include "host/models/drape/laplace.hpp"
#include "host/models/shapes/shape_measures.hpp"
#include "host/run/equilibrium_search.hpp"

namespace isocloth {
namespace {

/// The appendix of Karthikeyan and Ranganathan, Tutorial on Cloth Modelling: 24 x 24 cells, heights on all
/// four edges 100 cosh(x / 10) for x from -6 to 6 in steps of 0.5, 0 inside.
constexpr Index side = 25;
using Heights = std::vector<double>;  // node j * 25 + i

Heights appendix_start() {
  Heights grid(side * side, 0);
  for (Index i = 0; i < side; ++i) {
    const double y = 100 * std::cosh((-6 + 0.5 * i) / 10);
    grid[i] = grid[(side - 1) * side + i] = grid[i * side] = grid[i * side + side - 1] = y;
  }
  return grid;
}

/// Their loop: each node in turn becomes the mean of its four neighbours.
void sweep(Heights& grid, int count) {
  for (int k = 0; k < count; ++k)
    for (Index j = 1; j + 1 < side; ++j)
      for (Index i = 1; i + 1 < side; ++i) {
        const Index at = j * side + i;
        grid[at] = (grid[at - 1] + grid[at + 1] + grid[at - side] + grid[at + side]) / 4;
      }
}

Heights solved_appendix() {
  const Mesh mesh = quad_grid(side, side, 2.4, 2.4);
  const Topology topology = build_topology(mesh);
  std::vector<Vec3d> positions = mesh.positions;
  const Heights start = appendix_start();
  for (std::size_t i = 0; i < start.size(); ++i) positions[i].z = start[i];
  solve_laplace(topology, topology.is_boundary, positions);
  Heights heights;
  for (const Vec3d& p : positions) heights.push_back(p.z);
  return heights;
}

TEST(LaplaceDrape, SweepsOfTheAppendixGiveItsPrintedNumbers) {
  Heights grid = appendix_start();
  sweep(grid, 101);  // for (k = 0; k <= 100; k++)
  // The eight vertices of the two polygons that it prints, heights over 100 to four decimals.
  const auto printed = [&](Index i, Index j) { return grid[j * side + i] / 100; };
  EXPECT_NEAR(printed(0, 0), 1.1855, 5e-5);
  EXPECT_NEAR(printed(1, 0), 1.1551, 5e-5);
  EXPECT_NEAR(printed(1, 1), 1.1289, 5e-5);
  EXPECT_NEAR(printed(0, 1), 1.1551, 5e-5);
  EXPECT_NEAR(printed(2, 0), 1.1276, 5e-5);
  EXPECT_NEAR(printed(2, 1), 1.1029, 5e-5);
}

TEST(LaplaceDrape, SolutionIsWhatSweepsConvergeTo) {
  const Heights solved = solved_appendix();
  Heights grid = appendix_start();
  // A sweep multiplies the slowest error by cos(pi / 24)^2 = 0.983: 2500 of them leave 1e-17 of it.
  sweep(grid, 2500);
  for (std::size_t i = 0; i < grid.size(); ++i) EXPECT_NEAR(grid[i], solved[i], 1e-11) << i;
  EXPECT_NEAR(solved[side + 1], 113.479067, 1e-6);
}

TEST(LaplaceDrape, HundredSweepsAreFarFromTheSolution) {
  Heights grid = appendix_start();
  sweep(grid, 101);
  const Index middle = 12 * side + 12;
  EXPECT_NEAR(grid[middle] / solved_appendix()[middle], 0.71, 0.01);
}

TEST(LaplaceDrape, SolutionIsHarmonic) {
  const Heights solved = solved_appendix();
  for (Index j = 1; j + 1 < side; ++j)
    for (Index i = 1; i + 1 < side; ++i) {
      const Index at = j * side + i;
      EXPECT_NEAR(solved[at], (solved[at - 1] + solved[at + 1] + solved[at - side] + solved[at + side]) / 4,
                  1e-11);
    }
}

std::vector<HangingPoint> corners(Index n, double raised) {
  return {{0, {0.1, 0.1, 0}},
          {n - 1, {0.9, 0.1, 0}},
          {n * (n - 1), {0.1, 0.9, 0}},
          {n * n - 1, {0.9, 0.9, raised}}};
}

TEST(LaplaceDrape, RimHangsOnCatenariesAndTheShapeIsSymmetric) {
  constexpr Index n = 13;
  const Mesh mesh = quad_grid(n, n, 1, 1);
  for (const bool diagonals : {false, true}) {
    const auto x = drape(mesh, corners(n, 0), {.method = DrapeMethod::laplace, .diagonals = diagonals}, "");
    const Catenary edge({0.1, 0.1, 0}, {0.9, 0.1, 0}, 1);
    for (Index i = 0; i < n; ++i) EXPECT_NEAR(norm(x[i] - edge.at(i / 12.0)), 0, 1e-12);
    for (Index j = 0; j < n; ++j)
      for (Index i = 0; i < n; ++i) {
        const Vec3d& p = x[j * n + i];
        EXPECT_NEAR(norm(x[i * n + j] - Vec3d{p.y, p.x, p.z}), 0, 1e-12);
        EXPECT_NEAR(norm(x[j * n + n - 1 - i] - Vec3d{1 - p.x, p.y, p.z}), 0, 1e-12);
      }
  }
}

TEST(LaplaceDrape, DiagonalsMeetAtTheirMean) {
  constexpr Index n = 13;
  const Mesh mesh = quad_grid(n, n, 1, 1);
  const auto x = drape(mesh, corners(n, 0.2), {.method = DrapeMethod::laplace, .diagonals = true}, "");
  const double length = std::sqrt(2);
  const Catenary one({0.1, 0.1, 0}, {0.9, 0.9, 0.2}, length), other({0.9, 0.1, 0}, {0.1, 0.9, 0}, length);
  EXPECT_NEAR(norm(x[4 * n + 4] - one.at(length / 3)), 0, 1e-12);
  EXPECT_NEAR(norm(x[4 * n + 8] - other.at(length / 3)), 0, 1e-12);
  // Both go through the centre of mass, so that they count alike.
  EXPECT_NEAR(norm(x[6 * n + 6] - 0.5 * (one.at(length / 2) + other.at(length / 2))), 0, 1e-12);
}

TEST(LaplaceDrape, HangsAPolygonThatIsNotConvex) {
  // An L of three squares, hung at its six corners.
  Mesh mesh;
  constexpr Index n = 9;
  std::vector<Index> number(n * n, -1);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      if (i > 4 && j > 4) continue;
      number[j * n + i] = mesh.node_count();
      mesh.positions.push_back({0.1 * i, 0.1 * j, 0});
    }
  for (Index j = 0; j + 1 < n; ++j)
    for (Index i = 0; i + 1 < n; ++i)
      if (i < 4 || j < 4)
        mesh.add_face(
            {number[j * n + i], number[j * n + i + 1], number[(j + 1) * n + i + 1], number[(j + 1) * n + i]});
  std::vector<HangingPoint> points;
  for (const auto& [i, j] : {std::pair{0, 0}, {8, 0}, {8, 4}, {4, 4}, {4, 8}, {0, 8}})
    points.push_back({number[j * n + i], {0.09 * i, 0.09 * j, 0}});
  const auto x = drape(mesh, points, {.method = DrapeMethod::laplace}, "");
  for (const HangingPoint& point : points) EXPECT_EQ(x[point.node], point.position);
  double lowest = 0;
  for (const Vec3d& p : x) lowest = std::min(lowest, p.z);
  EXPECT_NEAR(lowest, Catenary({}, {0.72, 0, 0}, 0.8).at(0.4).z, 1e-12);  // on the rim: the maximum principle
}

TEST(ShapeMeasures, OfAShapeThatIsKnown) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  std::vector<Vec3d> x = mesh.positions;
  for (Vec3d& p : x) p = {1.1 * p.x, p.y, 0.5 - p.y};  // tilted: y edges and areas by sqrt 2
  const ShapeMeasures found = measure_shape(mesh, x, {0, 2});
  EXPECT_NEAR(found.edge_error_mean, (0.1 + std::sqrt(2) - 1) / 2, 1e-12);
  EXPECT_NEAR(found.edge_error_max, std::sqrt(2) - 1, 1e-12);
  EXPECT_NEAR(found.area_error_total, 1.1 * std::sqrt(2) - 1, 1e-12);
  EXPECT_NEAR(found.area_error_p95, 1.1 * std::sqrt(2) - 1, 1e-12);
  EXPECT_NEAR(found.sag, 1, 1e-12);
  EXPECT_NEAR(found.center_height, 0, 1e-12);
}

TEST(ShapeMeasures, AreThoseOfARun) {
  // Quads that leave their planes: an area of another definition would differ by a per cent.
  constexpr Index n = 9;
  Garment garment;
  garment.mesh = quad_grid(n, n, 1, 1);
  garment.pins.push_back({"corners", {0, n - 1, n * (n - 1), n * n - 1}, FixedMotion{}});
  garment.initial_positions = drape(garment.mesh, corners(n, 0.2), {.angles = true}, "");
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments.push_back(garment);
  const Simulation simulation(scene);
  const Measures measures = simulation.measure(0);
  const Strain strain = simulation.strains()[0];
  const ShapeMeasures found = measure_shape(garment.mesh, garment.initial_positions, garment.pins[0].nodes);
  EXPECT_NEAR(found.edge_error_mean, strain.mean, 1e-12);
  EXPECT_NEAR(found.edge_error_max, strain.max, 1e-12);
  EXPECT_NEAR(found.area_error_mean, measures.area_error_mean, 1e-12);
  EXPECT_NEAR(found.area_error_max, measures.area_error_element_max, 1e-12);
  EXPECT_NEAR(found.area_error_total, measures.area_error_total, 1e-12);
}

TEST(ShapeMeasures, WeilWithAnglesLiesNearAMembraneAtRest) {
  constexpr Index n = 17;
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(n, n, 1, 1);
  garment.pins.push_back({"corners", {0, n - 1, n * (n - 1), n * n - 1}, FixedMotion{}});
  garment.initial_positions = drape(garment.mesh, corners(n, 0.2), {.angles = true}, "");
  garment.fabric.density = garment.fabric.gravity_density = 0.2;
  garment.fabric.bending_stiffness = 1e-5;
  garment.fabric.mass_damping = 0.3;
  Scene scene;
  scene.recipe = "membrane";
  scene.garments.push_back(garment);
  scene.duration = scene.step;
  scene.projection.max_substeps = 1;
  scene.projection.max_iterations = 100;
  Simulation simulation(scene);
  const double hung = simulation.measure(0).potential_energy;
  EquilibriumSearch search(simulation, {});
  for (int step = 0; step < 200 && !search.has_converged(); ++step) search.step();
  ASSERT_TRUE(search.has_converged());
  const double at_rest = simulation.measure(0).potential_energy;
  EXPECT_NEAR(at_rest / hung, 1, 0.1);
  // Threads that may shear freely fall further than the membrane lets them.
  const std::vector<Vec3d> sheared = drape(garment.mesh, corners(n, 0.2), {}, "");
  simulation.write(GarmentField::positions, {sheared.data(), sheared.size()});
  EXPECT_LT(simulation.measure(0).potential_energy, 1.1 * at_rest);
}

}  // namespace
}  // namespace isocloth
