// Impulses on the GPU, and the same on the CPU.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

using GpuImpulse = GpuCase;

struct Case {
  const char* recipe;
  ImpulseMode mode;
  bool triangles;
};
const std::vector<Case> cases = of_known_recipes<Case>({{"bender_iterative", ImpulseMode::substeps, false},
                                                        {"bender_iterative", ImpulseMode::converge, true},
                                                        {"isometric_impulse", ImpulseMode::substeps, true},
                                                        {"isometric_impulse", ImpulseMode::converge, false},
                                                        {"sakaguchi1991", ImpulseMode::substeps, true}});

/// Hanging sheets with springs, bending and damping, each a little softer than the one before.
Scene sheets(const Case& c, int count) {
  Scene scene;
  scene.recipe = c.recipe;
  scene.impulse.mode = c.mode;
  for (int g = 0; g < count; ++g) {
    Garment sheet;
    sheet.name = "sheet " + std::to_string(g);
    sheet.mesh =
        c.triangles ? triangle_grid(12, 15, 0.3, 0.4, Diagonals::alternating) : quad_grid(12, 15, 0.3, 0.4);
    for (Vec3d& p : sheet.mesh.positions) p = {0.01 * std::sin(9 * p.x + 5 * p.y), p.x, p.y};
    sheet.fabric.bending_stiffness = 1e-6;
    sheet.fabric.mass_damping = 0.5;
    sheet.fabric.shear_spring = {.stiffness = 5.0 / (1 + g), .damping = 1e-3};
    sheet.fabric.bend_spring = {.stiffness = 1, .damping = 1e-3};
    if (c.recipe == std::string("sakaguchi1991")) {
      sheet.fabric.structural_spring = {.stiffness = 20, .damping = 1e-3};
      sheet.fabric.plasticity = {.yield_strain = 1e-3, .flow_time = 0.01};
    }
    sheet.pins.push_back({.name = "corners",
                          .nodes = {12 * 14, 12 * 15 - 1},
                          .motion = OscillationMotion{{0.05, 0, 0}, 0.6, 0, 10}});
    scene.garments.push_back(sheet);
  }
  return scene;
}

/// Steps of all garments on both backends, each from the CPU's state. In substeps the number of sweeps is
/// fixed and both sides do the same operations: an impulse moves nodes to the nearest place that its row
/// allows, so that an error does not grow by more than the ratio of the masses, and each of `operations` adds
/// some roundings of coordinates below 1 m. Where steps converge, a row may be within rounding of its
/// threshold: the ends are within the tolerance of the rows alone.
void expect_steps_equal_cpu(const Case& c, const ExecutionOptions& options, int count) {
  const Scene scene = sheets(c, count);
  ExecutionOptions on_gpu = options;
  on_gpu.backend = "cuda";
  Simulation cpu(scene, options), gpu(scene, on_gpu);
  const double u = options.precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                           : std::numeric_limits<double>::epsilon();
  for (int n = 0; n < 10; ++n) {
    for (std::size_t g = 0; g < cpu.garment_count(); ++g) gpu.set_state(g, cpu.state(g));
    const auto expected = cpu.step(), found = gpu.step();
    for (std::size_t g = 0; g < cpu.garment_count(); ++g) {
      const std::string what =
          std::string(c.recipe) + ", step " + std::to_string(n) + ", cloth " + std::to_string(g);
      ASSERT_NE(found[g].status, StepStatus::non_finite) << what;
      EXPECT_EQ(found[g].substeps, expected[g].substeps) << what;
      if (c.mode == ImpulseMode::converge) {
        EXPECT_EQ(found[g].status, expected[g].status) << what;
        EXPECT_LE(found[g].residual, scene.impulse.tolerance) << what;
        continue;
      }
      EXPECT_EQ(found[g].iterations, expected[g].iterations) << what;
      constexpr double roundings = 16, mass_ratio = 4;
      const double operations = 2 * found[g].iterations + 2 * found[g].substeps;
      EXPECT_LE(distance(cpu, gpu, g), roundings * mass_ratio * operations * u) << what;
    }
  }
}

TEST_F(GpuImpulse, StepsEqualCpu) {
  for (const Case& c : cases)
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
        expect_steps_equal_cpu(c, {.precision = precision, .solver = solver}, 1);
}

// The host solves for both; places and moves come from the device and go back.
TEST_F(GpuImpulse, StepsByTensorsEqualCpu) {
  for (const char* recipe : known_recipes({"terzopoulos1987", "terzopoulos1987_implicit"}))
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      Scene scene = sheets({recipe, ImpulseMode::substeps, false}, 2);
      scene.recipe = recipe;
      for (Garment& sheet : scene.garments) {
        sheet.fabric.shear_spring = sheet.fabric.bend_spring = {};
        sheet.initial_positions = sheet.mesh.positions;
        for (Vec3d& p : sheet.mesh.positions) p.x = 0;  // flat
      }
      Simulation cpu(scene, {.precision = precision}),
          gpu(scene, {.backend = "cuda", .precision = precision});
      for (Simulation* each : {&cpu, &gpu}) each->advance(5);
      const double u = precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                       : std::numeric_limits<double>::epsilon();
      // Roundings of places below 1 m in five steps, by the condition of what stretches.
      for (std::size_t g = 0; g < 2; ++g) EXPECT_LE(distance(cpu, gpu, g), 1e3 * u) << recipe;
    }
}

TEST_F(GpuImpulse, BatchEqualsCpu) { expect_steps_equal_cpu(cases[0], {}, 70); }

TEST_F(GpuImpulse, OneSolverEqualsTheOtherAndItself) {
  for (const Case& c : cases) {
    const auto end = [&](StepSolver solver, int block_threads) {
      Simulation simulation(sheets(c, 1),
                            {.backend = "cuda", .solver = solver, .block_threads = block_threads});
      simulation.advance(10);
      return simulation.positions(0);
    };
    const auto whole = end(StepSolver::batched, 0);
    EXPECT_EQ(end(StepSolver::direct, 0), whole) << c.recipe;
    EXPECT_EQ(end(StepSolver::batched, 32), whole) << c.recipe;
    EXPECT_EQ(end(StepSolver::batched, 0), whole) << c.recipe;
  }
}

}  // namespace
}  // namespace isocloth
