// Cloths among obstacles, grippers and wind on the GPU: the same as on the CPU.
#include "tests/host/batch_case.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using GpuContact = GpuCase;

struct Case {
  const char* what;
  Scene scene;
};
/// `count` garments among obstacles, and five that grippers drag over a plane in the wind.
std::vector<Case> cases(int count) {
  Scene held = contact_scene(square_sheet(6, 0.3, 1), obstacle(PlaneShape{}, {}), 0.01);
  return {{"obstacles", mixed_scene(count)}, {"grippers and wind", many_grippers(held)}};
}

double contacts_in(const BatchRun& run) {
  double count = 0;
  for (const GarmentState& state : run.states) count += isocloth::contacts_in(state);
  return count;
}

void expect_same_bits(const BatchRun& found, const BatchRun& expected, const std::string& what) {
  for (std::size_t g = 0; g < expected.states.size(); ++g) {
    const std::string garment = what + ", garment " + std::to_string(g);
    expect_same(found, g, expected, g, garment);
    EXPECT_EQ(found.states[g].contacts, expected.states[g].contacts) << garment;
    EXPECT_EQ(found.states[g].holds, expected.states[g].holds) << garment;
  }
}

// Products are fused in the same places on both.
TEST_F(GpuContact, BatchesGiveTheBitsOfTheCpu) {
  if (widest_simd() == Simd::baseline) GTEST_SKIP() << "this CPU rounds products before it adds them";
  for (const Precision precision : both_precisions)
    for (const Case& c : cases(5)) {
      const std::string what = std::string(c.what) + ", " + to_string(precision);
      const ExecutionOptions on_gpu{.backend = "cuda", .precision = precision, .solver = StepSolver::batched};
      ExecutionOptions on_cpu = on_gpu;
      on_cpu.backend = "cpu";
      const int steps = unless_sanitized(40, 14);
      const BatchRun expected = run_batch(c.scene, on_cpu, steps);
      expect_same_bits(run_batch(c.scene, on_gpu, steps), expected, what);
      EXPECT_GT(contacts_in(expected), 0) << what;
    }
}

TEST_F(GpuContact, LaunchesAndBlocksDoNotShow) {
  for (const Case& c : cases(5)) {
    ExecutionOptions options{.backend = "cuda", .solver = StepSolver::batched};
    const int steps = unless_sanitized(20, 8);
    const BatchRun whole = run_batch(c.scene, options, steps);
    options.block_threads = 64;
    expect_same_bits(run_batch(c.scene, options, steps), whole, std::string(c.what) + ", 64 threads");
    Simulation at_once(c.scene, options);
    at_once.advance(steps);
    for (std::size_t g = 0; g < whole.states.size(); ++g) {
      expect_same_state(at_once.state(g), whole.states[g], c.what);
      EXPECT_EQ(at_once.state(g).contacts, whole.states[g].contacts) << c.what;
    }
  }
}

/// Who touches what, and how.
std::vector<ContactState> modes_of(const GarmentState& state) {
  std::vector<ContactState> modes = state.contacts;
  for (ContactState& contact : modes) contact.force = {}, contact.uv = {};
  return modes;
}

// Kernel by kernel from the CPU's state. Rounding may decide whether a point touches or sticks: steps are
// compared where the same contacts end alike after as many iterations. Solutions then differ by what the
// matrix's condition makes of rounding: at most 1 / eps, rows get no stiffer than eps = 1e-9, and nodes move
// by less than 0.1 m.
TEST_F(GpuContact, DirectStepsEqualCpu) {
  const double bound = 1e9 * std::numeric_limits<double>::epsilon() / 2 * 0.1;
  for (const Case& c : cases(1)) {
    ExecutionOptions options{.backend = "cpu", .solver = StepSolver::direct};
    Simulation cpu(c.scene, options);
    options.backend = "cuda";
    Simulation gpu(c.scene, options);
    int compared = 0;
    for (int step = 0; step < unless_sanitized(60, 20); ++step) {
      for (std::size_t g = 0; g < cpu.garment_count(); ++g) gpu.set_state(g, cpu.state(g));
      const std::vector<StepReport> expected = cpu.step(), found = gpu.step();
      for (std::size_t g = 0; g < cpu.garment_count(); ++g) {
        if (expected[g].status != StepStatus::converged || expected[g].iterations != found[g].iterations ||
            modes_of(cpu.state(g)) != modes_of(gpu.state(g)))
          continue;
        compared += isocloth::contacts_in(cpu.state(g)) > 0;
        EXPECT_LE(distance(cpu, gpu, g), bound) << c.what << ", step " << step << ", garment " << g;
      }
    }
    EXPECT_GT(compared, unless_sanitized(30, 3)) << c.what;
  }
}

// The sweeps of a block, and those of kernels over the whole cloth; both in the order of the colours.
TEST_F(GpuContact, ImpulsesOfOneSolverEqualThoseOfTheOtherAndOfTheCpu) {
  for (Case& c : cases(1)) {
    c.scene.recipe = "bender_iterative";
    c.scene.garments.resize(1);
    const auto run = [&](const std::string& backend, StepSolver solver) {
      const ExecutionOptions options{.backend = backend, .solver = solver};
      return run_batch(c.scene, options, unless_sanitized(30, 20));
    };
    const BatchRun whole = run("cuda", StepSolver::batched);
    expect_same_bits(run("cuda", StepSolver::direct), whole, std::string(c.what) + ", direct");
    if (widest_simd() != Simd::baseline)
      expect_same_bits(run("cpu", StepSolver::batched), whole, std::string(c.what) + ", CPU");
    EXPECT_GT(contacts_in(whole), 0) << c.what;
  }
}

}  // namespace
}  // namespace isocloth
