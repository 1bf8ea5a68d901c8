// Provot 1995: sheets of explicit springs, and what becomes of springs beyond a limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

Scene hanging(Mesh mesh, std::vector<Index> pinned, const Fabric& fabric) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = std::move(mesh);
  garment.fabric = fabric;
  garment.pins = {{"pinned", std::move(pinned), FixedMotion{}}};
  Scene scene;
  scene.recipe = "provot1995";
  scene.step = 0.01;
  scene.duration = 100;
  scene.projection.on_violation = OnViolation::go_on;
  scene.garments = {garment};
  return scene;
}

/// l / l0 - 1 of every edge.
std::vector<double> strains(const Mesh& mesh, const std::vector<Vec3d>& positions) {
  std::vector<double> all;
  for (const auto& [a, b] : build_topology(mesh).edges)
    all.push_back(norm(positions[b] - positions[a]) / norm(mesh.positions[b] - mesh.positions[a]) - 1);
  return all;
}

/// Under its weight each spring of a strip that hangs from its upper edge carries the nodes below it.
TEST(Provot, StripHangsAsLongAsItsSpringsSay) {
  constexpr Index columns = 3, rows = 6;
  constexpr double size = 0.1, stiffness = 30, rho = 0.3;
  Mesh mesh = quad_grid(columns, rows, size * (columns - 1), size * (rows - 1));
  for (Vec3d& p : mesh.positions) p = {p.x, 0, p.y};  // upright
  std::vector<Index> top;
  for (Index i = 0; i < columns; ++i) top.push_back((rows - 1) * columns + i);
  const Scene scene = hanging(mesh, top,
                              {.density = rho,
                               .gravity_density = rho,
                               .mass_damping = 3,
                               .structural_spring = {.stiffness = stiffness}});
  Simulation simulation(scene);
  simulation.advance(unless_sanitized(600, 200));
  const std::vector<Vec3d> positions = simulation.positions(0);
  for (Index column = 0; column < columns; ++column) {
    // A quarter of an element's weight at each of its corners.
    double carried = 0;
    const double share = column == 0 || column == columns - 1 ? 0.5 : 1;
    for (Index row = 0; row + 1 < rows; ++row) {
      carried += share * (row == 0 ? 0.5 : 1) * rho * scene.gravity * size * size;
      const std::size_t low = static_cast<std::size_t>(row * columns + column), high = low + columns;
      const double length = norm(positions[high] - positions[low]);
      EXPECT_NEAR(length, size + carried / stiffness, 1e-4 * size) << row << ", " << column;
    }
  }
}

/// A sheet that hangs from two corners: the springs there stretch most, and are held to the limit while those
/// that are pulled less keep their lengths.
TEST(Provot, PullsAtTheCornersAreLimited) {
  constexpr Index count = 17;
  double largest[2] = {}, beside[2] = {};
  for (const bool is_limited : {false, true}) {
    Fabric fabric{.density = 0.2,
                  .gravity_density = 0.2,
                  .mass_damping = 0.2,
                  .shear_spring = {.stiffness = 10, .damping = 0.01},
                  .bend_spring = {.stiffness = 2, .damping = 0.01},
                  .structural_spring = {.stiffness = 20, .damping = 0.01}};
    fabric.strain_limit = is_limited ? 0.1 : 0;
    const Scene scene =
        hanging(quad_grid(count, count, 1, 1), {count * (count - 1), count * count - 1}, fabric);
    Simulation simulation(scene);
    simulation.advance(300);
    std::vector<double> found = strains(scene.garments[0].mesh, simulation.positions(0));
    std::sort(found.begin(), found.end());
    largest[is_limited] = found.back();
    beside[is_limited] = found[found.size() / 2];
  }
  std::printf("largest strain %.3f, limited %.3f; median %.4f, limited %.4f\n", largest[0], largest[1],
              beside[0], beside[1]);
  EXPECT_GT(largest[0], 0.3);
  // One pass over all springs a part leaves what those after it have pulled.
  EXPECT_LT(largest[1], 0.13);
  EXPECT_LT(beside[1], 0.1);
}

/// Springs without a limit are of any length, and still a cloth that they have torn apart is named and
/// frozen.
TEST(Provot, WhatIsTornApartHasDiverged) {
  const Fabric fabric{.density = 0.2, .gravity_density = 0.2, .structural_spring = {.stiffness = 20}};
  for (const double strain : {8.0, 16.0})
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      Scene scene = hanging(quad_grid(5, 5, 1, 1), {20, 24}, fabric);
      Garment& sheet = scene.garments[0];
      sheet.initial_velocities.assign(sheet.mesh.positions.size(), Vec3d{});
      sheet.initial_velocities[0] = {0, -0.25 * strain / scene.step, 0};
      Simulation simulation(scene, {.precision = precision});
      const StepReport report = simulation.step()[0];
      EXPECT_EQ(report.status, strain > 10 ? StepStatus::diverged : StepStatus::converged) << strain;
      if (strain > 10) {
        EXPECT_EQ(simulation.positions(0)[0], sheet.mesh.positions[0]);
      }
    }
}

std::string refusal(const Scene& scene) {
  try {
    Simulation simulation(scene);
  } catch (const SceneError& error) {
    return error.what();
  }
  return "none";
}

TEST(Provot, WhatItCannotDoIsRefused) {
  const Fabric fabric{.density = 0.2, .gravity_density = 0.2, .structural_spring = {.stiffness = 20}};
  Scene scene = hanging(quad_grid(5, 5, 1, 1), {20, 24}, fabric);
  EXPECT_EQ(refusal(scene), "none");
  scene.garments[0].fabric.structural_spring.stiffness = 0;
  EXPECT_EQ(refusal(scene),
            "garments[0].fabric.structural_spring.stiffness: found 0, expected more than 0 with the recipe "
            "provot1995");
  scene.garments[0].fabric.structural_spring.stiffness = -1;
  EXPECT_EQ(refusal(scene).find("garments[0].fabric.structural_spring.stiffness: found -1"), 0u);
  // What is explicit bounds the step, and says so.
  scene.garments[0].fabric.structural_spring.stiffness = 2e5;
  scene.impulse.substeps = 3;
  EXPECT_NE(refusal(scene).find("impulse.substeps: found 3 parts of a step of 0.01 s, expected at least "),
            std::string::npos)
      << refusal(scene);
  scene.recipe = "bender_iterative";
  EXPECT_NE(refusal(scene).find("structural_spring: found stiffness 200000 and damping 0, expected none with "
                                "the recipe bender_iterative: use provot1995"),
            std::string::npos)
      << refusal(scene);
}

}  // namespace
}  // namespace isocloth
