// BDF2 against what it promises: closed forms, its order, what swings and spins, and the reference's steps.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/batch_case.hpp"

namespace isocloth {
namespace {

constexpr Integrator both[] = {Integrator::backward_euler, Integrator::bdf2};

Scene sheet_scene(Integrator integrator, double h) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(5, 4, 0.4, 0.3);
  sheet.fabric = {.density = 0.2, .gravity_density = 0.2, .bending_stiffness = 0, .mass_damping = 0};
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.step = h;
  scene.projection.integrator = integrator;
  scene.projection.tolerance = 1e-10;
  scene.garments = {sheet};
  return scene;
}

/// Position of the middle of the nodes.
Vec3d center(const Simulation& simulation) {
  Vec3d sum;
  const auto positions = simulation.positions(0);
  for (const Vec3d& p : positions) sum += p;
  return (1.0 / static_cast<double>(positions.size())) * sum;
}

// Backward Euler falls g h t / 2 too far. BDF2 does so in its first step, which is one of backward Euler, and
// is exact for parabolas from then on: that start leaves a speed of its own, and g h^2 at most.
TEST(Integrators, AFreeFallIsAParabola) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Integrator integrator : both) {
      const double h = 0.01;
      const Scene scene = sheet_scene(integrator, h);
      Simulation simulation(scene, {.solver = solver, .threads = 1});
      const Vec3d start = center(simulation);
      const int steps = 100;
      simulation.advance(steps);
      const double t = steps * h, g = scene.gravity, fallen = start.z - center(simulation).z;
      const double excess = fallen - g * t * t / 2;
      if (integrator == Integrator::backward_euler)
        EXPECT_NEAR(excess, g * h * t / 2, 1e-9);
      else
        EXPECT_LT(std::abs(excess), g * h * h);
    }
}

// 6 rad/s about the normal, nothing acts: an implicit step damps what turns.
TEST(Integrators, ASpinIsKept) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : both_precisions) {
      double kept[2] = {};
      for (const Integrator integrator : both) {
        Scene scene = sheet_scene(integrator, 0.01);
        scene.gravity = 0;
        scene.projection.tolerance = 1e-5;
        Garment& sheet = scene.garments[0];
        for (const Vec3d& p : sheet.mesh.positions)
          sheet.initial_velocities.push_back({-6 * (p.y - 0.15), 6 * (p.x - 0.2), 0});
        Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
        const auto momentum = [&] {
          const GarmentState state = simulation.state(0);
          const Vec3d c = center(simulation);
          double sum = 0;
          for (std::size_t i = 0; i < state.positions.size(); i += 3)
            sum += (state.positions[i] - c.x) * state.velocities[i + 1] -
                   (state.positions[i + 1] - c.y) * state.velocities[i];
          return sum;
        };
        const double before = momentum();
        simulation.advance(300);
        kept[integrator == Integrator::bdf2] = momentum() / before;
      }
      EXPECT_LT(kept[0], 0.7);
      EXPECT_GT(kept[1], 0.98);
      EXPECT_LT(kept[1], 1.01);
    }
}

// A strip that swings: halving the step leaves a half of backward Euler's error and a quarter of BDF2's.
TEST(Integrators, HaveTheirOrder) {
  const auto end = [](Integrator integrator, int steps) {
    Scene scene = sheet_scene(integrator, 0.32 / steps);
    Garment& strip = scene.garments[0];
    strip.mesh = quad_grid(2, 5, 0.05, 0.2);
    for (const Vec3d& p : strip.mesh.positions)
      strip.initial_positions.push_back({p.x, 0.2 * p.y, -p.y * std::sqrt(1 - 0.04)});
    strip.pins = {{"top", {0, 1}, FixedMotion{}}};
    Simulation simulation(scene, {.solver = StepSolver::batched, .threads = 1});
    for (int left = steps; left > 0; left -= 40) simulation.advance(std::min(left, 40));
    return simulation.positions(0);
  };
  const auto exact = end(Integrator::bdf2, 5120);
  for (const Integrator integrator : both) {
    const auto error = [&](int steps) {
      const auto found = end(integrator, steps);
      double worst = 0;
      for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, norm(found[i] - exact[i]));
      return worst;
    };
    const double ratio = error(80) / error(160);
    if (integrator == Integrator::backward_euler)
      EXPECT_NEAR(ratio, 2, 0.2);
    else
      EXPECT_NEAR(ratio, 4, 0.8);
  }
}

// The two schedules, both precisions, steps in parts, and systems that conjugate gradients finish.
TEST(Integrators, AreThoseOfTheReference) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : both_precisions)
      for (const BatchCase& batch :
           {BatchCase{.bending = true, .integrator = Integrator::bdf2},
            {.bending = true, .parted = true, .integrator = Integrator::bdf2},
            {.bending = true, .factor = FactorPattern::rows},
            {.bending = true, .integrator = Integrator::bdf2, .factor = FactorPattern::rows}}) {
        const ValidationReport report =
            validate(batch_scene(batch, 2), {.precision = precision, .solver = solver, .threads = 1}, 5);
        EXPECT_TRUE(report.passed()) << describe(batch) << ", " << to_string(solver) << ", "
                                     << to_string(precision);
        for (const GarmentValidation& garment : report.garments) EXPECT_GT(garment.whole_steps, 0);
      }
}

TEST(Integrators, GoOnFromAStateBitForBit) {
  const Scene scene = batch_scene({.bending = true, .parted = true, .integrator = Integrator::bdf2}, 3);
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    Simulation simulation(scene, {.solver = solver, .threads = 1}), other(scene, {.solver = solver});
    simulation.advance(3);
    for (std::size_t g = 0; g < 3; ++g) other.set_state(g, simulation.state(g));
    EXPECT_GT(simulation.state(0).previous_step, 0);
    simulation.advance(2);
    other.advance(2);
    for (std::size_t g = 0; g < 3; ++g) expect_same_state(other.state(g), simulation.state(g), "restored");
  }
}

TEST(Integrators, TheMassMetricKnowsBackwardEulerAlone) {
  Scene scene = sheet_scene(Integrator::bdf2, 0.01);
  scene.projection.metric = Metric::mass;
  EXPECT_THROW(Simulation{scene}, SceneError);
}

// What conjugate gradients leave is within what steps leave; solved to the end they give the whole matrix's
// steps.
TEST(FactorOfRows, StepsAreThoseOfTheWholeMatrix) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const double kappa : {1e-5, 1e-3}) {
      Scene scene = batch_scene({.bending = true, .factor = FactorPattern::rows}, 3);
      for (Garment& garment : scene.garments) garment.fabric.bending_stiffness = kappa;
      const auto positions = [&](FactorPattern factor, double cg_tolerance) {
        scene.projection.factorization = factor;
        scene.projection.cg_tolerance = cg_tolerance;
        scene.projection.tolerance = 1e-8;
        Simulation simulation(scene, {.solver = solver, .threads = 1});
        simulation.advance(10);
        return simulation.positions(1);
      };
      const auto whole = positions(FactorPattern::whole, 1e-2);
      const auto distance = [&](double cg_tolerance) {
        const auto found = positions(FactorPattern::rows, cg_tolerance);
        double worst = 0;
        for (std::size_t i = 0; i < found.size(); ++i) worst = std::max(worst, norm(found[i] - whole[i]));
        return worst;
      };
      EXPECT_LT(distance(1e-12), 1e-8);
      const double inexact = distance(1e-2);
      EXPECT_GT(inexact, 0);  // something was left out
      EXPECT_LT(inexact, 1e-3);
    }
}

TEST(FactorOfRows, IsRefusedAmongBodies) {
  Scene scene = sheet_scene(Integrator::backward_euler, 0.01);
  scene.projection.factorization = FactorPattern::rows;
  scene.bodies.emplace_back();
  EXPECT_THROW(Simulation{scene}, SceneError);
}

}  // namespace
}  // namespace isocloth
