// Cloths that are torn or thrown beyond all bounds: they keep the state before it, and the others go on.
#include "kernels/core/divergence.hpp"

#include <gtest/gtest.h>

#include "tests/host/body_case.hpp"
#include "tests/host/impulse_case.hpp"

namespace isocloth {
namespace {

/// Its right pin jumps in step `step`.
Garment torn(Garment garment, double h, int step, double distance) {
  const double jump = garment.time_offset + (step + 0.5) * h;
  garment.pins.back().motion = KeyframeMotion{
      .times = {jump, jump + 0.1 * h}, .translations = {{}, {0, distance, 0}}, .rotations = {}, .center = {}};
  return garment;
}

/// The torn garment is frozen in the state before the jump, with reports that say so; the others are as in
/// the scene without it.
void expect_frozen(const Scene& sound, std::size_t bad, double distance, const ExecutionOptions& options) {
  constexpr int step = 2, steps = 4;
  Scene scene = sound;
  scene.garments[bad] = torn(sound.garments[bad], sound.step, step, distance);
  const BatchRun found = run_batch(scene, options, steps);
  Scene still = scene;
  GarmentState last = run_batch(still, options, step).states[bad];
  EXPECT_FALSE(last.frozen);
  last.frozen = last.diverged = true;
  expect_same_state(found.states[bad], last, "the torn cloth");
  for (int n = 0; n < steps; ++n) {
    const StepReport& report = found.reports[bad][static_cast<std::size_t>(n)];
    EXPECT_EQ(report.status == StepStatus::diverged, n >= step) << n;
    EXPECT_EQ(has_failed(report.status), n >= step) << n;
    if (n <= step) continue;
    EXPECT_EQ(report.iterations, 0) << "a frozen cloth is not tried again";
  }
  const double residual = found.reports[bad][step].residual;
  EXPECT_TRUE(std::isfinite(residual));
  EXPECT_GT(residual, largest_strain);
  const BatchRun expected = run_batch(sound, options, steps);
  for (std::size_t g = 0; g < sound.garments.size(); ++g)
    if (g != bad) expect_same(found, g, expected, g, "cloth " + std::to_string(g));

  Simulation at_once(scene, options);
  const std::vector<StepReport> reports = at_once.advance(steps);
  EXPECT_EQ(reports[bad].status, StepStatus::diverged);
  EXPECT_TRUE(at_once.frozen(bad));
  expect_same_state(at_once.state(bad), found.states[bad], "in one launch");
  // A checkpoint tells why.
  Simulation resumed(scene, options);
  resumed.set_state(bad, found.states[bad]);
  EXPECT_EQ(resumed.step()[bad].status, StepStatus::diverged);
}

TEST(Divergence, AClothThatTearsIsFrozenInEverySchedule) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const bool parted : {false, true})
      for (const Precision precision : both_precisions) {
        SCOPED_TRACE(std::string(to_string(solver)) + ", " + to_string(precision));
        expect_frozen(batch_scene({.parted = parted}, 7), 3, 10,
                      {.precision = precision, .solver = solver, .threads = 1});
      }
}

// Its forces may be in balance however far it is stretched.
TEST(Divergence, AnElasticClothIsFrozenToo) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : both_precisions) {
      SCOPED_TRACE(std::string(to_string(solver)) + ", " + to_string(precision));
      Scene scene = batch_scene({}, 5);
      scene.recipe = "membrane";
      scene.projection.tolerance = 5e-3;
      for (Garment& garment : scene.garments) {
        garment.fabric.stretch_stiffness = 2000;
        garment.fabric.shear_stiffness = 100;
      }
      expect_frozen(scene, 3, 30, {.precision = precision, .solver = solver, .threads = 1});
    }
}

TEST(Divergence, AClothThatImpulsesHoldIsFrozenToo) {
  for (const char* recipe : sweep_recipes)
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
      for (const Precision precision : both_precisions) {
        SCOPED_TRACE(std::string(recipe) + ", " + to_string(solver) + ", " + to_string(precision));
        Scene scene = batch_scene({}, 5);
        scene.recipe = recipe;
        expect_frozen(scene, 3, 100, {.precision = precision, .solver = solver, .threads = 1});
      }
}

TEST(Divergence, StretchingThatAClothMayRecoverFromIsNoDivergence) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    Scene scene = batch_scene({}, 1);
    scene.garments[0] = torn(scene.garments[0], scene.step, 1, 0.6);
    Simulation simulation(scene, {.solver = solver, .threads = 1});
    simulation.step();
    EXPECT_EQ(simulation.step()[0].status, StepStatus::stalled);
    EXPECT_FALSE(simulation.frozen(0));
  }
}

TEST(Divergence, BodiesGoOnWithoutTheTornCloth) {
  Scene scene = body_scene(hanging_net(9), {body(SphereShape{0.1}, 1, {0.02, 0.01, 0.11}, 0.2)}, 0.01);
  scene.garments.push_back(far_sheet());
  scene.garments[1].name = "other";
  scene.garments[1] = torn(scene.garments[1], scene.step, 2, 10);
  scene.garments[1].pins.front().nodes = {0};
  scene.garments[1].pins.push_back({"corner", {2}, scene.garments[1].pins.front().motion});
  scene.garments[1].pins.front().motion = FixedMotion{};
  Simulation simulation(scene, {.threads = 1});
  for (int n = 0; n < 4; ++n) {
    const std::vector<StepReport> reports = simulation.step();
    EXPECT_FALSE(has_failed(reports[0].status)) << n;
    EXPECT_EQ(reports[1].status == StepStatus::diverged, n >= 2) << n << to_string(reports[1].status);
  }
  EXPECT_TRUE(simulation.frozen(1));
  EXPECT_EQ(simulation.state(1).step_index, 2);
}

TEST(Divergence, AWayIsMeasuredAgainstInertiaGravityAndSize) {
  const Vec3d still{};
  const double reach = 4;  // 0.4 m across
  EXPECT_LE(excess_displacement(Vec3d{4, 0, 0}, still, reach), 0);
  EXPECT_GT(excess_displacement(Vec3d{6, 0, 0}, still, reach), 0);
  EXPECT_LE(excess_displacement(Vec3d{1000, 0, 0}, {1000, 0, 0}, reach), 0) << "a fast cloth";
  EXPECT_GT(excess_displacement(Vec3d{1e200, 0, 0}, still, reach), 0) << "infinite";
}

}  // namespace
}  // namespace isocloth
