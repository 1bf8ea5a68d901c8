// Terzopoulos, Platt, Barr, Fleischer 1987: metric and curvature energies of a grid, and their steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/models/terzopoulos1987/tensor_grid.hpp"
#include "host/reference/tensor_sheet.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

constexpr double pi = 3.14159265358979323846;

Fabric fabric() {
  return {.density = 0.2,
          .gravity_density = 0.2,
          .bending = BendingModel::plate,
          .bending_stiffness = 3e-4,
          .weft_bending_stiffness = 1e-4,
          .mass_damping = 0.1,
          .stretch_stiffness = 40,
          .weft_stretch_stiffness = 30,
          .shear_stiffness = 10};
}

/// Off its places by up to a third of an edge.
Garment crumpled(Index nx, Index ny) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(nx, ny, 0.05 * (nx - 1), 0.07 * (ny - 1));
  garment.fabric = fabric();
  Random random(11);
  for (const Vec3d& p : garment.mesh.positions) {
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    garment.initial_positions.push_back(p + 0.03 * Vec3d{x - 0.5, y - 0.5, z - 0.5});
  }
  return garment;
}

// Central differences of step d have an error of E''' d^2 / 6 and a rounding of u E / d.
TEST(Terzopoulos, ForcesAreDifferencesOfTheEnergy) {
  const Garment garment = crumpled(5, 4);
  const TensorGrid grid(garment.mesh, "sheet");
  std::vector<Vec3d> x = garment.initial_positions;
  const std::vector<Vec3d> forces = grid.forces(garment.fabric, x);
  double largest = 0;
  for (const Vec3d& f : forces) largest = std::max(largest, norm(f));
  constexpr double d = 1e-6;
  for (std::size_t i = 0; i < x.size(); ++i)
    for (double Vec3d::*part : {&Vec3d::x, &Vec3d::y, &Vec3d::z}) {
      const double place = x[i].*part;
      x[i].*part = place + d;
      const double above = grid.energy(garment.fabric, x);
      x[i].*part = place - d;
      const double below = grid.energy(garment.fabric, x);
      x[i].*part = place;
      EXPECT_NEAR(forces[i].*part, (below - above) / (2 * d), 1e-7 * largest);
    }
}

// Two implementations without a common formula: stencils by node, and difference operators on the whole grid.
TEST(Terzopoulos, StencilsEqualOperators) {
  const Garment garment = crumpled(6, 5);
  const TensorGrid grid(garment.mesh, "sheet");
  const reference::TensorSheet sheet(garment);
  const auto x = reference::to_matrix(garment.initial_positions);
  EXPECT_NEAR(grid.energy(garment.fabric, garment.initial_positions) / sheet.energy(x), 1, 1e-13);
  const auto forces = reference::to_matrix(grid.forces(garment.fabric, garment.initial_positions));
  EXPECT_LE((forces - sheet.forces(x)).cwiseAbs().maxCoeff(), 1e-12 * forces.cwiseAbs().maxCoeff());
}

// Chords h of a circle of radius R have second differences 1 / R; a cell at both ends has no curvature.
TEST(Terzopoulos, ACylinderHasTheEnergyOfAPlate) {
  constexpr Index nx = 9, ny = 5;
  constexpr double h = 0.05, angle = 0.2;
  const Mesh mesh = quad_grid(nx, ny, h * (nx - 1), h * (ny - 1));
  const TensorGrid grid(mesh, "sheet");
  const double radius = h / (2 * std::sin(angle / 2));
  std::vector<Vec3d> x;
  for (const Vec3d& p : mesh.positions) {
    const double a = angle * p.x / h;
    // Somewhere else, and turned: neither shows.
    x.push_back({5 + radius * std::sin(a), p.y - 7, radius * std::cos(a)});
  }
  const Fabric f = fabric();
  const double expected = f.bending_stiffness / 2 / (radius * radius) * h * (nx - 2) * h * (ny - 1);
  EXPECT_NEAR(grid.energy(f, x) / expected, 1, 1e-9);
  for (Vec3d& p : x) p = {p.y, p.z, p.x};
  EXPECT_NEAR(grid.energy(f, x) / expected, 1, 1e-9);
}

/// A strip of 3 x 6 nodes that hangs from its upper edge.
Scene strip(const char* recipe, double step) {
  Garment garment;
  garment.name = "strip";
  garment.mesh = quad_grid(3, 6, 0.2, 0.5);
  for (Vec3d& p : garment.mesh.positions) p = {p.x, 0, p.y};  // upright
  garment.fabric = {.density = 0.3,
                    .gravity_density = 0.3,
                    .mass_damping = 3,
                    .stretch_stiffness = 30,
                    .shear_stiffness = 5};
  garment.pins = {{"top", {15, 16, 17}, FixedMotion{}}};
  Scene scene;
  scene.recipe = recipe;
  scene.step = step;
  scene.duration = 100;
  scene.garments = {garment};
  return scene;
}

// Along a column that carries a weight per width, k (l^2 - 1) / 2 l with l the stretch.
TEST(Terzopoulos, AStripHangsAsLongAsItsMetricSays) {
  for (const char* recipe : {"terzopoulos1987", "terzopoulos1987_implicit"}) {
    const Scene scene = strip(recipe, 0.01);
    Simulation simulation(scene);
    simulation.advance(unless_sanitized(800, 400));
    const std::vector<Vec3d> x = simulation.positions(0);
    for (std::size_t column = 0; column < 3; ++column) {
      double carried = 0;
      for (std::size_t row = 0; row < 5; ++row) {
        carried += (row == 0 ? 0.5 : 1) * 0.3 * scene.gravity * 0.1;  // per width
        double stretch = 1;
        for (int n = 0; n < 50; ++n)  // Newton's method
          stretch -= (15 * (stretch * stretch - 1) * stretch - carried) / (15 * (3 * stretch * stretch - 1));
        const double length = norm(x[3 * (row + 1) + column] - x[3 * row + column]);
        EXPECT_NEAR(length / 0.1, stretch, unless_sanitized(1e-4, 1e-2)) << recipe << row << column;
      }
    }
  }
}

/// Where a sheet of 7 x 7 nodes that falls from one side is after 0.2 s.
std::vector<Vec3d> fallen(const char* recipe, int steps) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(7, 7, 0.3, 0.3);
  garment.fabric = fabric();
  garment.fabric.weft_bending_stiffness = 0;
  garment.pins = {{"side", {0, 7, 14, 21, 28, 35, 42}, FixedMotion{}}};
  Scene scene;
  scene.recipe = recipe;
  scene.step = 0.2 / steps;
  scene.impulse.substeps = 1;
  scene.garments = {garment};
  Simulation simulation(scene);
  simulation.advance(steps);
  return simulation.positions(0);
}
double distance(const std::vector<Vec3d>& a, const std::vector<Vec3d>& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, norm(a[i] - b[i]));
  return most;
}

// Both are of first order in the length of a step, and tend to the same.
TEST(Terzopoulos, BothStepsAreOfFirstOrder) {
  std::vector<Vec3d> ends[2];
  int kind = 0;
  for (const char* recipe : {"terzopoulos1987", "terzopoulos1987_implicit"}) {
    const auto a = fallen(recipe, 200), b = fallen(recipe, 400), c = fallen(recipe, 800);
    const double ratio = distance(a, b) / distance(b, c);
    std::printf("%s: halved steps change places by %.3g mm and %.3g mm\n", recipe, 1e3 * distance(a, b),
                1e3 * distance(b, c));
    EXPECT_GT(ratio, 1.6) << recipe;
    EXPECT_LT(ratio, 2.5) << recipe;
    for (std::size_t i = 0; i < c.size(); ++i) ends[kind].push_back(2.0 * c[i] - b[i]);  // Richardson
    ++kind;
  }
  EXPECT_LE(distance(ends[0], ends[1]), 1e-3);
}

// Implicit steps have no bound: a hundred times the semi-implicit one, and the energy falls.
TEST(Terzopoulos, ImplicitStepsHaveNoBound) {
  Scene scene = strip("terzopoulos1987_implicit", 1);
  scene.impulse.substeps = 1;
  Simulation simulation(scene);
  for (int n = 0; n < 5; ++n) EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
  for (const Vec3d& v : simulation.velocities(0)) EXPECT_LE(norm(v), 1e-2);
}

TEST(Terzopoulos, KernelsEqualTheReference) {
  for (const Precision precision : both_precisions) {
    Garment garment = crumpled(6, 5);
    for (std::size_t i = 0; i < garment.initial_positions.size(); ++i)  // nearer to what cloth does
      garment.initial_positions[i] = 0.9 * garment.mesh.positions[i] + 0.1 * garment.initial_positions[i] +
                                     Vec3d{0, 0, 0.01 * std::sin(pi * garment.mesh.positions[i].x / 0.1)};
    garment.pins = {{"swung", {0, 5}, OscillationMotion{{0.02, 0, 0.01}, 1.5, 0}},
                    {"held", {12}, FixedMotion{}}};
    Scene scene;
    scene.recipe = "terzopoulos1987";
    scene.step = 0.01;
    scene.garments = {garment};
    const ValidationReport report = validate(scene, {.precision = precision, .threads = 1}, 5);
    EXPECT_TRUE(report.passed());
    EXPECT_EQ(report.garments[0].whole_steps, 5);
    for (const Difference& d : report.garments[0].differences) {
      std::printf("%s: %.2g of %.2g\n", d.quantity.c_str(), d.worst, d.tolerance);
      EXPECT_LE(d.tolerance, precision == Precision::float64 ? 1e-8 : 1e-2) << d.quantity;
    }
  }
}

TEST(Terzopoulos, StepsDoNotDependOnWhoAsks) {
  for (const char* recipe : {"terzopoulos1987", "terzopoulos1987_implicit"})
    for (const Precision precision : both_precisions) {
      Scene scene = strip(recipe, 0.01);
      scene.garments.push_back(crumpled(4, 5));
      Simulation at_once(scene, {.precision = precision, .threads = 2}),
          one_by_one(scene, {.precision = precision, .threads = 1});
      at_once.advance(6);
      for (int n = 0; n < 3; ++n) one_by_one.step();
      const Snapshot middle = one_by_one.snapshot();
      for (int n = 0; n < 3; ++n) one_by_one.step();
      for (std::size_t g = 0; g < 2; ++g) expect_same_state(one_by_one.state(g), at_once.state(g), recipe);
      one_by_one.restore(middle);
      one_by_one.advance(3);
      for (std::size_t g = 0; g < 2; ++g) expect_same_state(one_by_one.state(g), at_once.state(g), recipe);
    }
}

std::string refusal(const Scene& scene, ExecutionOptions options = {}) {
  try {
    Simulation simulation(scene, options);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

TEST(Terzopoulos, WhatItCannotDoIsRefused) {
  Scene scene = strip("terzopoulos1987", 0.01);
  EXPECT_EQ(refusal(scene), "none");
  scene.impulse.substeps = 1;
  scene.garments[0].fabric.stretch_stiffness = 3e5;
  EXPECT_NE(refusal(scene).find("impulse.substeps: found 1 parts of a step of 0.01 s, expected at least "),
            std::string::npos)
      << refusal(scene);
  scene.recipe = "terzopoulos1987_implicit";
  EXPECT_EQ(refusal(scene), "none");
  EXPECT_NE(refusal(scene, {.solver = StepSolver::batched}).find("solver: found \"batched\""),
            std::string::npos);
  scene.garments[0].fabric.stiffness_damping = 1e-5;
  EXPECT_EQ(refusal(scene),
            "garments[0].fabric.stiffness_damping: found 1e-05, expected 0 with the recipe "
            "terzopoulos1987_implicit, which "
            "damps by mass_damping alone");
  scene.garments[0].fabric.stiffness_damping = 0;
  scene.garments[0].mesh = triangle_grid(5, 5, 1, 1, Diagonals::parallel);
  scene.garments[0].pins.clear();
  EXPECT_EQ(refusal(scene),
            "garments[0].mesh: found faces that are no quads, expected a quad_grid of rectangular cells, "
            "three nodes "
            "at least along each side");
  EXPECT_THROW(validate(strip("terzopoulos1987_implicit", 0.01), {}, 1), SceneError);
}

}  // namespace
}  // namespace isocloth
