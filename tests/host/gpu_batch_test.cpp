// Whole steps of many small cloths on the GPU: the same as on the CPU, whatever the batch and the launch.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/mesh/generators.hpp"
#include "host/memory/device.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using GpuBatch = GpuCase;

/// A sheet that hangs from two corners, which swing; fabric, weight and motion differ with `variant`. Its
/// first waves stretch it by less than the tolerance and no pin jumps by more than 5 mm, so that steps take
/// few iterations and amplify rounding no further than these do.
Garment sheet(Index nodes, int variant) {
  Garment garment;
  garment.name = "sheet " + std::to_string(variant);
  garment.mesh = quad_grid(nodes, nodes, 0.3, 0.3);
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_positions.push_back({p.x, 0.0015 * std::sin(20 * p.x + 15 * p.y), p.y});
  const double v = variant;
  garment.fabric = {.density = 0.1 + 0.01 * v,
                    .gravity_density = 0.1 + 0.01 * v,
                    .bending_stiffness = 1e-5 * (1 + v),
                    .mass_damping = 0.5,
                    .stiffness_damping = 0};
  garment.pins.push_back({.name = "corners",
                          .nodes = {nodes * (nodes - 1), nodes * nodes - 1},
                          .motion = OscillationMotion{{0, 0.02 + 0.001 * v, 0}, 0.6, 0, 10}});
  garment.time_offset = 0.001 * (variant % 20);
  return garment;
}

Scene batch(Index nodes, int count) {
  Scene scene;
  scene.recipe = "coltraro2022";
  for (int i = 0; i < count; ++i) scene.garments.push_back(sheet(nodes, i));
  return scene;
}

struct Case {
  Index nodes;  ///< 9: work arrays (75 kB in float) in shared memory, where it is large; 17 (440 kB): in the
                ///< workspace
  Precision precision;
};
const std::vector<Case> cases = is_sanitized
                                    ? std::vector<Case>{{5, Precision::float32}, {17, Precision::float64}}
                                    : std::vector<Case>{{9, Precision::float32},
                                                        {9, Precision::float64},
                                                        {17, Precision::float32},
                                                        {17, Precision::float64}};

ExecutionOptions on(const std::string& backend, Precision precision) {
  return {.backend = backend, .precision = precision, .solver = StepSolver::batched};
}

using Bits = std::vector<std::vector<double>>;
Bits states(const Simulation& simulation) {
  Bits result;
  for (std::size_t g = 0; g < simulation.garment_count(); ++g) {
    const GarmentState state = simulation.state(g);
    for (const auto* part : {&state.positions, &state.velocities, &state.multipliers})
      result.push_back(*part);
  }
  return result;
}

TEST_F(GpuBatch, StepsEqualCpu) {
  for (const Case& c : cases)
    expect_steps_equal_cpu(
        batch(c.nodes, unless_sanitized(40, 4)), on("cuda", c.precision), unless_sanitized(20, 2),
        std::to_string(c.nodes) + " x " + std::to_string(c.nodes) + ", " + to_string(c.precision));
}

TEST_F(GpuBatch, IntegratorsAndFactorsOfRowsEqualCpu) {
  for (const Precision precision : {Precision::float32, Precision::float64})
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
      for (const bool coupled : {false, true}) {
        Scene scene = batch(9, unless_sanitized(5, 2));
        scene.projection.integrator = Integrator::bdf2;
        if (coupled) {
          scene.recipe = "inextensible_edges";
          scene.projection.factorization = FactorPattern::rows;
          scene.projection.cg_tolerance = precision == Precision::float32 ? 1e-5 : 1e-12;
        }
        ExecutionOptions options = on("cuda", precision);
        options.solver = solver;
        expect_steps_equal_cpu(
            scene, options, unless_sanitized(10, 2),
            std::string(to_string(solver)) + (coupled ? ", rows, " : ", ") + to_string(precision));
      }
}

/// The same with pins that go straight from one place of their oscillation to the next, each 20 ms, whose
/// cosine a GPU may round otherwise.
Scene along_keys(Scene scene) {
  for (Garment& garment : scene.garments) {
    const Motion oscillation = garment.pins[0].motion;
    KeyframeMotion keys;
    for (int i = 0; i < 20; ++i) {
      keys.times.push_back(0.02 * i);
      keys.translations.push_back(evaluate_motion(oscillation, {}, 0, keys.times.back()));
    }
    garment.pins[0].motion = std::move(keys);
  }
  return scene;
}

// Products are fused in the same places on both (lanes.hpp), every other operation is rounded once.
TEST_F(GpuBatch, RunsGiveTheBitsOfACpuWithFusedProducts) {
  if (widest_simd() == Simd::baseline) GTEST_SKIP() << "this CPU rounds products before it adds them";
  for (const Case& c : cases) {
    const Scene scene = along_keys(batch(c.nodes, 8));
    Simulation cpu(scene, on("cpu", c.precision)), gpu(scene, on("cuda", c.precision));
    cpu.advance(20);
    gpu.advance(20);
    EXPECT_EQ(states(cpu), states(gpu))
        << c.nodes << (c.precision == Precision::float32 ? ", float" : ", double");
  }
}

TEST_F(GpuBatch, ManyStepsAtOnceGiveTheSameBits) {
  for (const Case& c : cases) {
    if (is_sanitized && c.nodes > 9) continue;
    Simulation at_once(batch(c.nodes, 5), on("cuda", c.precision)),
        singly(batch(c.nodes, 5), on("cuda", c.precision));
    at_once.advance(70);  // more than one launch
    for (int n = 0; n < 70; ++n) singly.step();
    EXPECT_EQ(states(at_once), states(singly)) << c.nodes;
  }
}

TEST_F(GpuBatch, BlockSizeDoesNotShow) {
  for (const Case& c : cases) {
    Bits first;
    for (const int threads : {64, 128, 256}) {
      ExecutionOptions options = on("cuda", c.precision);
      options.block_threads = threads;
      Simulation simulation(batch(c.nodes, 5), options);
      simulation.advance(unless_sanitized(5, 1));
      if (first.empty())
        first = states(simulation);
      else
        EXPECT_EQ(states(simulation), first) << c.nodes << ", " << threads << " threads";
    }
  }
}

// More cloths than blocks that run at once, of which there are at most four per multiprocessor
// (WorkQueue::reserve): a block takes one after another and keeps its piece of the workspace.
TEST_F(GpuBatch, BatchesLargerThanTheWorkspaceGiveTheBitsOfSmallOnes) {
  const int multiprocessors = Device({.backend = "cuda"}).queue().multiprocessors;
  ASSERT_GT(multiprocessors, 0);
  const std::size_t count = 9 * static_cast<std::size_t>(multiprocessors);
  const Scene small = batch(17, 3);
  Scene large = small;
  large.garments.clear();
  for (std::size_t i = 0; i < count; ++i) {
    large.garments.push_back(small.garments[i % 3]);
    large.garments.back().name += ", copy " + std::to_string(i);
  }
  Simulation few(small, on("cuda", Precision::float64)), many(large, on("cuda", Precision::float64));
  few.advance(unless_sanitized(2, 1));
  many.advance(unless_sanitized(2, 1));
  for (std::size_t g = 0; g < count; ++g) {
    const GarmentState a = few.state(g % 3), b = many.state(g);
    ASSERT_EQ(a.positions, b.positions) << "cloth " << g;
    ASSERT_EQ(a.multipliers, b.multipliers) << "cloth " << g;
  }
}

TEST_F(GpuBatch, AClothThatBreaksIsFrozenAndTheRestGoesOn) {
  Scene broken = batch(9, 9);
  broken.garments[4].pins[0].motion = OscillationMotion{{0, 1e200, 0}, 0.6, 0, 10};
  Simulation sound(batch(9, 9), on("cuda", Precision::float64)),
      simulation(broken, on("cuda", Precision::float64));
  sound.advance(5);
  const auto reports = simulation.advance(5);
  for (std::size_t g = 0; g < 9; ++g) {
    EXPECT_EQ(simulation.frozen(g), g == 4);
    const GarmentState state = simulation.state(g);
    EXPECT_EQ(state.frozen, g == 4);
    for (const double x : state.positions) ASSERT_TRUE(std::isfinite(x)) << "cloth " << g;
    if (g != 4) {
      EXPECT_EQ(state.positions, sound.state(g).positions) << "cloth " << g;
    }
  }
  EXPECT_EQ(reports[4].status, StepStatus::non_finite);
  EXPECT_EQ(simulation.step()[4].status, StepStatus::non_finite);
}

TEST_F(GpuBatch, ResetOfSomeStartsThoseAgainAndNoOthers) {
  Simulation simulation(batch(9, 6), on("cuda", Precision::float64));
  simulation.advance(7);
  const Bits first = states(simulation);
  simulation.reset({1, 4});
  const GarmentState untouched = simulation.state(2);
  EXPECT_EQ(untouched.positions, first[3 * 2]);
  EXPECT_EQ(untouched.step_index, 7);
  EXPECT_EQ(simulation.state(4).step_index, 0);
  simulation.advance(7);
  for (const std::size_t g : {1, 4}) {
    EXPECT_EQ(simulation.state(g).positions, first[3 * g]) << "cloth " << g;
    EXPECT_EQ(simulation.state(g).multipliers, first[3 * g + 2]) << "cloth " << g;
  }
  EXPECT_NE(simulation.state(2).positions, first[3 * 2]);
}

TEST_F(GpuBatch, GroupsThatRunAtOnceGiveTheBitsOfEachAlone) {
  Scene all;
  const Index sizes[] = {5, 9, 17};
  for (int i = 0; i < 12; ++i) all.garments.push_back(sheet(sizes[i % 3], i));
  Simulation together(all, on("cuda", Precision::float64));
  together.advance(10);
  for (std::size_t g = 0; g < 12; ++g) {
    Scene one;
    one.garments.push_back(all.garments[g]);
    Simulation alone(one, on("cuda", Precision::float64));
    alone.advance(10);
    EXPECT_EQ(together.state(g).positions, alone.state(0).positions) << "cloth " << g;
  }
}

}  // namespace
}  // namespace isocloth
