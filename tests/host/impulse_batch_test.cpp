// What a cloth held by impulses does must not depend on the batch, the blocks and the threads that it is in.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

/// Every recipe, mode and precision; under sanitizers each mode in another precision.
template <class Check>
void for_each_kind(const Check& check) {
  for (const char* recipe : sweep_recipes)
    for (const ImpulseMode mode : both_modes)
      for (const Precision precision : both_precisions) {
        if (is_sanitized && (precision == Precision::float32) != (mode == ImpulseMode::substeps)) continue;
        SCOPED_TRACE(std::string(recipe) + ", " + describe(mode) + ", " + to_string(precision));
        check(recipe, mode, precision);
      }
}

TEST(ImpulseBatch, AClothMovesAsIfAlone) {
  for_each_kind([](const char* recipe, ImpulseMode mode, Precision precision) {
    const ExecutionOptions options{.precision = precision, .threads = 1};
    const std::vector<int> members{4, 0, 7, 2, 5};
    const BatchRun together = run_batch(impulse_batch(recipe, mode, members), options, 3);
    for (std::size_t g = 0; g < members.size(); ++g)
      expect_same(together, g, run_batch(impulse_batch(recipe, mode, {members[g]}), options, 3), 0,
                  "cloth " + std::to_string(members[g]));
    std::vector<int> parts;
    for (const auto& reports : together.reports) parts.push_back(reports.front().substeps);
    EXPECT_GT(*std::max_element(parts.begin(), parts.end()), *std::min_element(parts.begin(), parts.end()));
  });
}

TEST(ImpulseBatch, ThreadsBlocksAndLaunchesDoNotShow) {
  for_each_kind([](const char* recipe, ImpulseMode mode, Precision precision) {
    BatchCase small{.bending = true, .nx = 4, .ny = 5};
    Scene scene = impulse_batch(recipe, mode, {0, 1, 2}, small);
    scene.impulse.max_sweeps = mode == ImpulseMode::substeps ? 2 : unless_sanitized(20, 4);
    if (is_sanitized) scene.step = 1e-3;
    const BatchRun expected = run_batch(
        scene, {.precision = precision, .solver = StepSolver::batched, .threads = 1, .emulated_block = 0}, 1);
    const auto compare = [&](ExecutionOptions options, const std::string& what) {
      options.precision = precision;
      const BatchRun found = run_batch(scene, options, 1);
      for (std::size_t g = 0; g < 3; ++g) expect_same(found, g, expected, g, what);
    };
    for (const int threads : {2, 3})
      compare({.solver = StepSolver::batched, .threads = threads}, std::to_string(threads) + " threads");
    for (const int block : {2, 7, 32})
      if (block < 32 || mode == ImpulseMode::substeps)  // a whole warp waits long for two cores
        compare({.solver = StepSolver::batched, .threads = 1, .emulated_block = block},
                "block of " + std::to_string(block));
    for (const int threads : {1, 3})
      compare({.solver = StepSolver::direct, .threads = threads},
              "kernel by kernel, " + std::to_string(threads) + " threads");
  });
}

// A stencil too large for registers, springs, bending, irregular triangles: block and kernel by kernel.
TEST(ImpulseBatch, KernelByKernelGivesTheBitsOfABlock) {
  for (const std::string& simd : simd_names())
    for_each_kind([&](const char* recipe, ImpulseMode mode, Precision precision) {
      Scene scene = impulse_scene(impulse_garments(), recipe, mode);
      if (is_sanitized) scene.step = 1e-3;
      if (is_sanitized && mode == ImpulseMode::converge) scene.impulse.max_sweeps = 10;
      ExecutionOptions options{
          .precision = precision, .solver = StepSolver::batched, .simd = simd, .threads = 1};
      const BatchRun block = run_batch(scene, options, 2);
      options.solver = StepSolver::direct;
      options.threads = 2;
      const BatchRun kernels = run_batch(scene, options, 2);
      for (std::size_t g = 0; g < scene.garments.size(); ++g)
        expect_same(kernels, g, block, g, simd + ", " + scene.garments[g].name);
    });
}

TEST(ImpulseBatch, ManyStepsAtOnceAreTheSame) {
  for_each_kind([](const char* recipe, ImpulseMode mode, Precision precision) {
    Scene scene = impulse_batch(recipe, mode, {0, 3, 8}, {.bending = true, .nx = 3, .ny = 4});
    const ExecutionOptions options{.precision = precision, .threads = 1};
    if (is_sanitized) scene.impulse.max_sweeps = 2;
    const int steps = largest_start + 3;
    const BatchRun one_by_one = run_batch(scene, options, steps);
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      ExecutionOptions own = options;
      own.solver = solver;
      Simulation simulation(scene, own);
      const auto reports = simulation.advance(steps);
      for (std::size_t g = 0; g < 3; ++g) {
        expect_same_state(simulation.state(g), one_by_one.states[g], "cloth " + std::to_string(g));
        int sweeps = 0;
        for (const StepReport& report : one_by_one.reports[g]) sweeps += report.iterations;
        EXPECT_EQ(reports[g].iterations, sweeps);
      }
    }
  });
}

TEST(ImpulseBatch, ResetsAndRestartsAreExact) {
  for_each_kind([](const char* recipe, ImpulseMode mode, Precision precision) {
    const Scene scene = impulse_batch(recipe, mode, {0, 1, 2, 3});
    const ExecutionOptions options{.precision = precision, .threads = 1};
    Simulation straight(scene, options), reset(scene, options);
    straight.advance(4);
    reset.advance(4);
    reset.reset({1, 3});
    Simulation resumed(scene, options);
    for (std::size_t g = 0; g < 4; ++g) resumed.set_state(g, straight.state(g));
    for (std::size_t g = 0; g < 4; ++g)
      expect_same_state(resumed.state(g), straight.state(g), "round trip of " + std::to_string(g));
    reset.advance(4);
    Simulation fresh(scene, options);
    fresh.advance(4);
    straight.advance(4);
    resumed.advance(4);
    for (std::size_t g = 0; g < 4; ++g) {
      expect_same_state(resumed.state(g), straight.state(g), "resumed " + std::to_string(g));
      expect_same_state(reset.state(g), g % 2 == 1 ? fresh.state(g) : straight.state(g),
                        "reset " + std::to_string(g));
    }
  });
}

// A motion beyond all numbers, and velocities whose squares are: the cloth keeps its last finite state.
TEST(ImpulseBatch, AClothThatBreaksIsFrozenAndTheRestGoesOn) {
  for_each_kind([](const char* recipe, ImpulseMode mode, Precision precision) {
    const std::vector<int> members{0, 1, 2, 3, 4};
    const Scene sound = impulse_batch(recipe, mode, members);
    Scene broken = sound;
    const double fast = precision == Precision::float32 ? 1e30 : 1e300;
    broken.garments[1].initial_velocities.assign(broken.garments[1].mesh.positions.size(),
                                                 {fast, -fast, fast});
    broken.garments[1].initial_velocities[7] = {-fast, fast, fast};
    broken.garments[3].pins[0].motion = OscillationMotion{{0, 1e300, 0}, 0.6, 0, 10};
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      const ExecutionOptions options{.precision = precision, .solver = solver, .threads = 1};
      const BatchRun expected = run_batch(sound, options, 3);
      Simulation simulation(broken, options);
      const BatchRun found = run_batch(simulation, 3);
      for (std::size_t g = 0; g < members.size(); ++g) {
        const bool is_broken = g == 1 || g == 3;
        EXPECT_EQ(simulation.frozen(g), is_broken) << g;
        EXPECT_TRUE(is_finite(found.states[g])) << g;
        if (!is_broken) expect_same(found, g, expected, g, "beside broken ones");
        if (!is_broken) continue;
        for (const StepReport& report : found.reports[g]) EXPECT_EQ(report.status, StepStatus::non_finite);
        simulation.reset({g});
        EXPECT_FALSE(simulation.frozen(g));
      }
    }
  });
}

TEST(ImpulseBatch, GroupsAreOfOneKindOfSprings) {
  Scene scene = impulse_batch("bender_iterative", ImpulseMode::substeps, {0, 1, 2, 3, 4, 5});
  scene.garments[1].fabric.shear_spring = {};
  scene.garments[2].fabric.bend_spring = {};
  scene.garments[3].fabric.shear_diagonals = 2;
  scene.garments[4].fabric.shear_spring = {.stiffness = 9, .damping = 1};
  const Device device({.threads = 1});
  const GarmentSolvers solvers = make_garment_solvers(device, Precision::float64, scene);
  EXPECT_EQ(solvers.solvers.size(), 4u);
  std::vector<std::size_t> groups;
  for (const auto& member : solvers.members) groups.push_back(member.solver);
  EXPECT_EQ(groups, (std::vector<std::size_t>{0, 1, 2, 3, 0, 0}));
}

template <class Exception>
std::string refusal(const Scene& scene, const ExecutionOptions& options) {
  try {
    const Simulation simulation(scene, options);
  } catch (const Exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ImpulseBatch, SaysWhatDoesNotFit) {
  Scene scene = impulse_batch("bender_iterative", ImpulseMode::substeps, {0});
  for (const StepSolver solver : {StepSolver::mixed, StepSolver::iterative}) {
    const std::string text = refusal<DeviceError>(scene, {.solver = solver, .threads = 1});
    const std::string found =
        std::string("solver: found \"") + to_string(solver) + "\": recipe: found bender_iterative";
    EXPECT_EQ(text.find(found), 0u) << text;
  }
  scene.garments[0].fabric.shear_spring.stiffness = 1e6;
  scene.impulse.substeps = 3;
  const std::string text = refusal<SceneError>(scene, {.threads = 1});
  EXPECT_EQ(
      text.find(
          "garment \"cloth 0\": impulse.substeps: found 3 parts of a step of 0.01 s, expected at least "),
      0u)
      << text;
  scene.impulse.substeps = 0;
  EXPECT_EQ(refusal<SceneError>(scene, {.threads = 1}), "accepted");
}

}  // namespace
}  // namespace isocloth
