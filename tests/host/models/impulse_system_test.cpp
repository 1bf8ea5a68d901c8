// Cloths whose impulses come from one system of linear equations.
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/model/recipe.hpp"
#include "engine/model/resolved_scene.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/reference/impulse_cases.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using reference::MatrixX3d;

const ExecutionOptions one_thread{.threads = 1};

Scene scene_of(Garment garment, double step, double tolerance, const char* recipe = "bender_sle") {
  Scene scene;
  scene.recipe = recipe;
  scene.step = scene.duration = step;
  scene.impulse.mode = ImpulseMode::converge;
  scene.impulse.tolerance = tolerance;
  scene.garments.push_back(std::move(garment));
  scene.impulse.substeps = 1;
  return scene;
}

/// A sheet between two corners 5 % closer than at rest, in motion, on its rows to 1e-9; with every force.
Garment swinging_garment() {
  const reference::SwingingSheet sheet = reference::swinging_sheet("bender_iterative");
  Garment garment = sheet.garment;
  garment.initial_positions = reference::to_vectors(sheet.positions);
  garment.initial_velocities = reference::to_vectors(sheet.velocities);
  garment.fabric.shear_spring = {.stiffness = 2, .damping = 0.01};
  garment.fabric.bend_spring = {.stiffness = 1, .damping = 0.01};
  garment.fabric.bending_stiffness = 1e-4;
  garment.fabric.stiffness_damping = 1e-5;
  return garment;
}

/// The same sheet with n x n nodes, straight between its corners and at rest.
Garment sheet(Index n, double shrink = 0.95) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = quad_grid(n, n, 1, 1);
  garment.initial_positions = garment.mesh.positions;
  for (Vec3d& p : garment.initial_positions) {
    // An arc of that length over a chord of `shrink`, nearly.
    const double sag = std::sqrt(3.0 / 8 * (1 - shrink));
    p = {shrink * p.x, p.y, -4 * sag * p.x * (1 - p.x)};
  }
  garment.fabric.mass_damping = 0.2;
  garment.pins.push_back({"corners", {0, n - 1}, FixedMotion{}});
  return garment;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double x : values) most = std::max(most, std::abs(x));
  return most;
}

double largest_difference(const std::vector<double>& found, const MatrixX3d& expected) {
  double worst = 0;
  for (Eigen::Index i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::abs(found[static_cast<std::size_t>(i)] - expected(i / 3, i % 3)));
  return worst;
}

TEST(ImpulseSystem, StepsAreThoseOfTheReference) {
  struct Case {
    double step, tolerance;
    int substeps, solves;
  };
  // One solve; a second one with the same factor; Newton's method; several parts.
  for (const Case& c :
       {Case{2e-3, 1e-2, 0, 1}, Case{2e-3, 1e-5, 0, 2}, Case{2e-3, 1e-7, 0, 3}, Case{6e-3, 1e-2, 3, 3}}) {
    Scene scene = scene_of(swinging_garment(), c.step, c.tolerance);
    scene.impulse.max_solves = 40;
    scene.impulse.substeps = c.substeps;
    const Garment& garment = scene.garments[0];
    const ImpulseSettings bound = ResolvedScene(scene).impulse(0);
    const double rate =
        reference::ImpulseCloth(garment, find_recipe(scene.recipe), bound, scene.gravity).force_rate();
    reference::ImpulseCloth expected(garment, find_recipe(scene.recipe), ResolvedScene(scene).impulse(rate),
                                     scene.gravity);
    const auto result = expected.step(c.step, reference::pinned_positions(expected));
    ASSERT_EQ(result.fallbacks, 0);
    Simulation simulation(scene, one_thread);
    const StepReport report = simulation.step()[0];
    const GarmentState state = simulation.state(0);
    EXPECT_GE(report.iterations, c.solves);
    EXPECT_EQ(report.iterations, result.solves);
    EXPECT_EQ(report.fallbacks, 0);
    EXPECT_EQ(report.status, StepStatus::converged);
    EXPECT_LE(largest_difference(state.positions, expected.positions()), 1e-9 * largest(state.positions));
    EXPECT_LE(largest_difference(state.velocities, expected.velocities()), 1e-9 * largest(state.velocities));
    EXPECT_NEAR(report.residual, result.residual, 1e-9);
  }
}

/// Strain that one linear solve leaves in a step; no second one and no sweep is let.
TEST(ImpulseSystem, OneSolveLeavesAStrainOfSecondOrder) {
  std::vector<double> strains;
  for (const double h : {8e-3, 4e-3, 2e-3, 1e-3}) {
    Scene scene = scene_of(swinging_garment(), h, 0.9);
    scene.impulse.max_solves = 1;
    Simulation simulation(scene, one_thread);
    const StepReport report = simulation.step()[0];
    ASSERT_EQ(report.fallbacks, 0);
    ASSERT_EQ(report.iterations, 1);
    strains.push_back(report.residual);
  }
  for (std::size_t i = 1; i < strains.size(); ++i) EXPECT_GE(strains[i - 1], 3.5 * strains[i]) << i;
}

/// Both solvers from the same state, step by step: the system's residual is the tolerance or that of the
/// sweeps.
void expect_no_worse_than_sweeps(const Garment& garment, double h, int steps, const std::string& what) {
  Scene by_sweeps = scene_of(garment, h, 1e-2, "bender_iterative");
  Simulation system(scene_of(garment, h, 1e-2), one_thread);
  Simulation sweeps(by_sweeps, {.solver = StepSolver::direct, .threads = 1});
  std::int64_t fallbacks = 0;
  for (int n = 0; n < steps; ++n) {
    GarmentState state = system.state(0);
    sweeps.set_state(0, state);
    const StepReport found = system.step()[0], expected = sweeps.step()[0];
    ASSERT_NE(found.status, StepStatus::non_finite) << what << ", step " << n;
    EXPECT_LE(found.residual, std::max(1e-2, expected.residual)) << what << ", step " << n;
    fallbacks += found.fallbacks;
  }
  EXPECT_TRUE(is_finite(system.state(0))) << what;
  std::printf("%s: %d of %d steps fell back\n", what.c_str(), static_cast<int>(fallbacks), steps);
}

TEST(ImpulseSystem, SingularSystemsAreSurvived) {
  // Four nodes of a quad on a line: four edges, three directions in which lengths change.
  Garment quad;
  quad.mesh = quad_grid(2, 2, 1, 1);
  quad.pins.push_back({"corner", {0}, FixedMotion{}});
  for (const auto& places : {std::vector<double>{0, 1, 1, 2}, std::vector<double>{0, 1, 1, 0}})
    for (const Vec3d direction : {Vec3d{1, 0, 0}, Vec3d{0, 0, -1}}) {
      quad.initial_positions.clear();
      for (const double place : places) quad.initial_positions.push_back(place * direction);
      expect_no_worse_than_sweeps(quad, 1.0 / 30, 60, "quad on a line");
    }
  // Collinear edges between pins at exactly their length: nothing holds the nodes between against gravity.
  expect_no_worse_than_sweeps(sheet(3, 1), 1.0 / 30, 60, "collinear pair");
  expect_no_worse_than_sweeps(sheet(8, 1), 1.0 / 30, 30, "pins at rest distance");
  expect_no_worse_than_sweeps(sheet(8, 1), 1e-3, 100, "pins at rest distance, short steps");
}

TEST(ImpulseSystem, WhatNoSystemHoldsIsLeftToSweepsAndSaid) {
  Scene scene = scene_of(sheet(8), 1.0 / 30, 1e-6);
  scene.impulse.max_solves = 1;  // too few
  scene.impulse.substeps = 2;
  Simulation system(scene, one_thread);
  scene.recipe = "bender_iterative";
  Simulation sweeps(scene, {.solver = StepSolver::direct, .threads = 1});
  const StepReport found = system.step()[0], expected = sweeps.step()[0];
  EXPECT_EQ(found.fallbacks, 2);
  EXPECT_EQ(found.iterations, expected.iterations + 2);
  EXPECT_EQ(found.residual, expected.residual);
  expect_same_state(system.state(0), sweeps.state(0), "from the same preview");
  EXPECT_EQ(system.advance(3)[0].fallbacks, 6);
}

TEST(ImpulseSystem, SwingsForTenThousandStepsOfAThirtieth) {
  Garment garment = sheet(10);
  garment.fabric.mass_damping = 1e-2;
  Simulation simulation(scene_of(garment, 1.0 / 30, 1e-2), one_thread);
  // Potential energy of the sheet's 1 kg, at most the edges' length above and below its pins.
  const double most = 9.8 * 2;
  for (int n = 0; n < unless_sanitized(100, 2); ++n) {
    const StepReport report = simulation.advance(100)[0];
    ASSERT_NE(report.status, StepStatus::non_finite) << n;
    EXPECT_LE(report.residual, 1e-2) << n;
    EXPECT_LE(simulation.measure(0).kinetic_energy, most) << n;
  }
}

TEST(ImpulseSystem, KeepsTheMomentumOfAFreeCloth) {
  Garment garment = swinging_garment();
  garment.pins.clear();
  garment.fabric.mass_damping = 0;
  for (const Precision precision : both_precisions) {
    Scene scene = scene_of(garment, 2e-3, 1e-4);
    scene.gravity = 0;
    if (precision == Precision::float32) scene.impulse.tolerance = 1e-3;
    Simulation simulation(scene, {.precision = precision, .threads = 1});
    const Vec3d before = simulation.measure(0).linear_momentum;
    double size = 0;  // sum of |rho m v|, 1 kg in all
    for (const Vec3d& v : simulation.velocities(0)) size = std::max(size, norm(v));
    const int steps = 50;
    const StepReport report = simulation.advance(steps)[0];
    ASSERT_EQ(report.status, StepStatus::converged);
    // Each solve rounds a node's velocity once for each of its edges, four solves and the forces a step.
    const double u = precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                     : std::numeric_limits<double>::epsilon();
    EXPECT_LE(norm(simulation.measure(0).linear_momentum - before),
              24 * (report.iterations + 2 * steps) * u * size)
        << to_string(precision);
  }
}

Scene batch_of_systems() {
  Scene scene = scene_of(swinging_garment(), 1.0 / 100, 1e-3);
  scene.garments.push_back(sheet(9));
  scene.garments.push_back(sheet(6, 1));
  scene.garments.push_back(sheet(57));  // 6384 edges: large
  for (std::size_t g = 0; g < scene.garments.size(); ++g) scene.garments[g].name = std::to_string(g);
  scene.garments[1].pins[0].motion = OscillationMotion{{0.05, 0, 0}, 1};
  return scene;
}

TEST(ImpulseSystem, DoesNotDependOnBatchOrThreads) {
  const Scene scene = batch_of_systems();
  for (const Precision precision : both_precisions) {
    const BatchRun expected = run_batch(scene, {.precision = precision, .threads = 1}, 3);
    const BatchRun found = run_batch(scene, {.precision = precision, .threads = 2}, 3);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      expect_same(found, g, expected, g, "two threads, garment " + std::to_string(g));
      Scene alone = scene;
      alone.garments = {scene.garments[g]};
      expect_same(run_batch(alone, {.precision = precision, .threads = 2}, 3), 0, expected, g,
                  "alone, garment " + std::to_string(g));
    }
  }
}

TEST(ImpulseSystem, GoesOnFromAStateAndStartsAgain) {
  Scene scene = batch_of_systems();
  scene.garments.pop_back();
  Simulation simulation(scene, {.threads = 2}), other(scene, {.threads = 2});
  simulation.advance(5);
  for (std::size_t g = 0; g < 3; ++g) other.set_state(g, simulation.state(g));
  simulation.advance(5);
  for (int n = 0; n < 5; ++n) other.step();
  for (std::size_t g = 0; g < 3; ++g) expect_same_state(other.state(g), simulation.state(g), "from a state");
  simulation.reset();
  other.reset();
  Simulation fresh(scene, {.threads = 2});
  simulation.advance(2), other.advance(2), fresh.advance(2);
  for (std::size_t g = 0; g < 3; ++g) {
    expect_same_state(simulation.state(g), fresh.state(g), "reset");
    expect_same_state(other.state(g), fresh.state(g), "reset");
  }
}

TEST(ImpulseSystem, ALostClothIsFrozenAndTheOthersGoOn) {
  Scene scene = batch_of_systems();
  scene.garments.pop_back();
  Simulation simulation(scene, {.threads = 2}), expected(scene, {.threads = 2});
  GarmentState state = simulation.state(1);
  for (double& v : state.velocities) v = 1e308;
  simulation.set_state(1, state);
  const auto reports = simulation.step();
  const auto others = expected.step();
  EXPECT_EQ(reports[1].status, StepStatus::non_finite);
  EXPECT_TRUE(simulation.frozen(1));
  EXPECT_EQ(simulation.state(1).positions, state.positions);
  for (const std::size_t g : {std::size_t{0}, std::size_t{2}}) {
    expect_same_report(reports[g], others[g], "beside a lost one");
    expect_same_state(simulation.state(g), expected.state(g), "beside a lost one");
  }
}

TEST(ImpulseSystem, AClothWithoutAFreeEdgeStays) {
  Garment garment;
  garment.mesh = quad_grid(2, 2, 1, 1);
  garment.pins.push_back({"all", {0, 1, 2, 3}, FixedMotion{}});
  Simulation simulation(scene_of(garment, 1e-2, 1e-2), one_thread);
  const auto before = simulation.positions(0);
  const StepReport report = simulation.step()[0];
  EXPECT_EQ(report.status, StepStatus::converged);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_EQ(simulation.positions(0), before);
}

TEST(ImpulseSystem, SaysWhatSolvesItAndRefusesOtherSolvers) {
  const Scene scene = scene_of(sheet(5), 1e-2, 1e-2);
  EXPECT_EQ(Simulation(scene).info(0).solver.find("impulses from one system, multifrontal Cholesky"), 0);
  for (const StepSolver solver : {StepSolver::batched, StepSolver::mixed, StepSolver::iterative}) try {
      const Simulation simulation(scene, {.solver = solver});
      ADD_FAILURE() << to_string(solver);
    } catch (const DeviceError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(to_string(solver)), std::string::npos) << message;
      EXPECT_NE(message.find("one cloth at a time is factored; use \"direct\""), std::string::npos)
          << message;
    }
}

using GpuSteps = GpuCase;
TEST_F(GpuSteps, SystemsOfImpulsesEqualCpu) {
  Scene scene = scene_of(swinging_garment(), 2e-3, 1e-4);
  Simulation cpu(scene), gpu(scene, {.backend = "cuda"});
  for (int n = 0; n < 20; ++n) {
    gpu.set_state(0, cpu.state(0));
    const StepReport expected = cpu.step()[0], found = gpu.step()[0];
    ASSERT_EQ(found.status, StepStatus::converged) << n;
    ASSERT_EQ(found.fallbacks, 0) << n;
    if (found.iterations != expected.iterations) continue;
    EXPECT_LE(distance(cpu, gpu, 0), 1e-9) << n;
  }
}

}  // namespace
}  // namespace isocloth
