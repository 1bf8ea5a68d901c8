// The same scene gives the same bits: however often, on however many threads, interrupted or not, alone or
// not.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

Garment swung_quads() {
  Garment garment;
  garment.name = "quads";
  garment.mesh = quad_grid(13, 17, 0.3, 0.4);
  for (Vec3d& p : garment.mesh.positions) p = {0.002 * std::sin(20 * p.x + 9 * p.y), p.x, p.y};
  garment.fabric = {.density = 1,
                    .gravity_density = 0.5,
                    .bending_stiffness = 1e-5,
                    .mass_damping = 2,
                    .stiffness_damping = 1e-6};
  garment.pins = {{"corners", {13 * 16, 13 * 17 - 1}, OscillationMotion{{0.05, 0.01, 0}, 0.7, 0, 10}}};
  return garment;
}

Garment falling_triangles() {
  Garment garment;
  garment.name = "triangles";
  garment.mesh = irregular_triangles(9, 90, 0.4, 0.3, 2);
  for (Vec3d& p : garment.mesh.positions) p = {p.x + 1, p.y, 0.003 * std::sin(15 * p.x)};
  garment.fabric = {.density = 0.5,
                    .gravity_density = 0.5,
                    .bending_stiffness = 0,
                    .mass_damping = 1,
                    .stiffness_damping = 0};
  garment.pins = {{"edge", {0, 1, 2}, FixedMotion{}}};
  return garment;
}

Scene scene_of(std::vector<Garment> garments) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = std::move(garments);
  scene.step = 0.01;
  scene.duration = 1;
  return scene;
}

constexpr Precision both[] = {Precision::float64, Precision::float32};

/// State and counts after `steps`.
struct Outcome {
  std::vector<GarmentState> states;
  std::vector<int> iterations;
  std::vector<double> residuals;
};

void advance(Simulation& simulation, int steps, Outcome& outcome) {
  for (int i = 0; i < steps; ++i)
    for (const StepReport& report : simulation.step()) {
      EXPECT_EQ(report.status, StepStatus::converged);
      outcome.iterations.push_back(report.iterations);
      outcome.residuals.push_back(report.residual);
    }
  outcome.states.clear();
  for (std::size_t g = 0; g < simulation.scene().garments.size(); ++g)
    outcome.states.push_back(simulation.state(g));
}

Outcome run(const Scene& scene, const ExecutionOptions& options, int steps) {
  Simulation simulation(scene, options);
  Outcome outcome;
  advance(simulation, steps, outcome);
  return outcome;
}

void expect_same(const GarmentState& a, const GarmentState& b) {
  EXPECT_EQ(a.positions, b.positions);
  EXPECT_EQ(a.velocities, b.velocities);
  EXPECT_EQ(a.multipliers, b.multipliers);
}

void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.states.size(), b.states.size());
  for (std::size_t g = 0; g < a.states.size(); ++g) expect_same(a.states[g], b.states[g]);
  EXPECT_EQ(a.iterations, b.iterations);
  EXPECT_EQ(a.residuals, b.residuals);
}

TEST(Determinism, AgainAndOnAnyNumberOfThreads) {
  const Scene scene = scene_of({swung_quads(), falling_triangles()});
  for (const Precision precision : both) {
    const Outcome first = run(scene, {.precision = precision, .threads = 1}, 20);
    for (const int threads : {1, 2, 3})
      expect_same(run(scene, {.precision = precision, .threads = threads}, 20), first);
  }
}

TEST(Determinism, FastProjectionToo) {
  Scene scene = scene_of({swung_quads()});
  scene.projection.method = ProjectionMethod::fast_projection;
  scene.projection.metric = Metric::mass;
  for (const Precision precision : both) {
    const Outcome first = run(scene, {.precision = precision, .threads = 1}, 10);
    for (const int threads : {1, 2, 3})
      expect_same(run(scene, {.precision = precision, .threads = threads}, 10), first);
  }
}

TEST(Determinism, ARestartGoesOnAsIfNothingHadHappened) {
  const Scene scene = scene_of({swung_quads(), falling_triangles()});
  for (const Precision precision : both) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const Outcome whole = run(scene, options, 25);
    const Outcome half = run(scene, options, 11);
    Simulation resumed(scene, options);
    Outcome rest = half;
    for (std::size_t g = 0; g < half.states.size(); ++g) resumed.set_state(g, half.states[g]);
    resumed.set_step_index(11);
    advance(resumed, 14, rest);
    expect_same(rest, whole);
    EXPECT_EQ(resumed.step_index(), 25);
  }
}

TEST(Determinism, ResetBeginsAgain) {
  const Scene scene = scene_of({swung_quads(), falling_triangles()});
  for (const Precision precision : both) {
    Simulation simulation(scene, {.precision = precision, .threads = 1});
    Outcome first, second;
    advance(simulation, 12, first);
    simulation.reset();
    EXPECT_EQ(simulation.step_index(), 0);
    advance(simulation, 12, second);
    expect_same(second, first);
  }
}

TEST(Determinism, LookingChangesNothing) {
  const Scene scene = scene_of({swung_quads()});
  Simulation watched(scene, {.threads = 1});
  Outcome outcome;
  for (int i = 0; i < 10; ++i) {
    advance(watched, 1, outcome);
    watched.measure(0);
    watched.positions(0);
    watched.info(0);
  }
  expect_same(outcome, run(scene, {.threads = 1}, 10));
}

TEST(Garments, AreIndependent) {
  for (const Precision precision : both) {
    const ExecutionOptions options{.precision = precision, .threads = 2};
    const Outcome together = run(scene_of({swung_quads(), falling_triangles()}), options, 15);
    expect_same(together.states[0], run(scene_of({swung_quads()}), options, 15).states[0]);
    expect_same(together.states[1], run(scene_of({falling_triangles()}), options, 15).states[0]);
  }
}

/// Both garments for `before` steps, then with garment 0 spoiled; checks that garment 1 does not notice.
void expect_isolated(Simulation& simulation, int before, int after, const GarmentState& kept) {
  for (int i = 0; i < after; ++i) {
    const auto reports = simulation.step();
    EXPECT_EQ(reports[0].status, StepStatus::non_finite);
    EXPECT_EQ(reports[1].status, StepStatus::converged);
    EXPECT_TRUE(i == 0 || reports[0].iterations == 0) << "a frozen garment is not tried again";
  }
  const GarmentState frozen = simulation.state(0);
  EXPECT_EQ(frozen.positions, kept.positions);
  EXPECT_EQ(frozen.multipliers, kept.multipliers);
  const Outcome alone = run(scene_of({falling_triangles()}), simulation.options(), before + after);
  expect_same(simulation.state(1), alone.states[0]);
}

TEST(Garments, ANonFiniteOneIsFrozenAndTheOthersGoOn) {
  for (const Precision precision : both)
    for (const double sign : {1, -1}) {
      const double bad = sign * (precision == Precision::float32 ? 1e38 : 1e200);  // its square overflows
      Simulation simulation(scene_of({swung_quads(), falling_triangles()}),
                            {.precision = precision, .threads = 1});
      for (int i = 0; i < 3; ++i) simulation.step();
      GarmentState spoiled = simulation.state(0);
      spoiled.velocities[100] = bad;
      simulation.set_state(0, spoiled);
      expect_isolated(simulation, 3, 4, spoiled);
      // A healthy state wakes it.
      spoiled.velocities[100] = 0;
      simulation.set_state(0, spoiled);
      EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
    }
}

TEST(Garments, AMotionOutOfRangeLeavesTheLastFiniteState) {
  Garment torn = swung_quads();
  torn.pins[0].motion = KeyframeMotion{
      .times = {0.025, 0.035}, .translations = {{0, 0, 0}, {1e200, 0, 0}}, .rotations = {}, .center = {}};
  Simulation simulation(scene_of({torn, falling_triangles()}), {.threads = 1});
  for (int i = 0; i < 2; ++i) EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
  const GarmentState last = simulation.state(0);
  expect_isolated(simulation, 2, 3, last);
  expect_same(simulation.state(0), last);
}

TEST(Substeps, MeetTheToleranceWhereOneStepStalls) {
  Garment jerked = swung_quads();
  jerked.fabric.bending_stiffness = jerked.fabric.stiffness_damping = 0;
  jerked.pins[0].motion = KeyframeMotion{
      .times = {0, 0.05}, .translations = {{0, 0, 0}, {0.05, -0.025, 0.1}}, .rotations = {}, .center = {}};
  Scene scene = scene_of({jerked});
  scene.step = 0.05;
  scene.projection.max_iterations = 10;
  Simulation whole(scene, {.threads = 1});
  const StepReport stalled = whole.step()[0];
  EXPECT_EQ(stalled.status, StepStatus::stalled);
  EXPECT_GT(stalled.residual, scene.projection.tolerance);
  EXPECT_EQ(stalled.substeps, 1);
  EXPECT_EQ(stalled.iterations, 10);

  scene.projection.max_substeps = 32;
  Simulation parted(scene, {.threads = 1});
  const StepReport met = parted.step()[0];
  EXPECT_EQ(met.status, StepStatus::converged);
  EXPECT_LE(met.residual, scene.projection.tolerance);
  EXPECT_LE(parted.measure(0).residual, scene.projection.tolerance);
  EXPECT_GT(met.substeps, 1);
  EXPECT_LE(met.substeps, 32);
  EXPECT_EQ(met.substeps & (met.substeps - 1), 0) << "a power of two";
  const Vec3d pin = parted.positions(0)[13 * 16], start = jerked.mesh.positions[13 * 16];
  EXPECT_NEAR(norm(pin - start - Vec3d{0.05, -0.025, 0.1}), 0, 1e-15);
  EXPECT_EQ(parted.time(), scene.step);
}

TEST(State, OfAnotherGarmentIsRefused) {
  Simulation simulation(scene_of({swung_quads(), falling_triangles()}), {.threads = 1});
  const GarmentState before = simulation.state(0);
  EXPECT_THROW(simulation.set_state(0, simulation.state(1)), ShapeError);
  EXPECT_THROW(simulation.set_state(2, before), ShapeError);
  expect_same(simulation.state(0), before);
}

}  // namespace
}  // namespace isocloth
