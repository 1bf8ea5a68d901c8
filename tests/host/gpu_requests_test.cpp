// Several steps of a batch in one request to the GPU: what is told of them is what single steps tell.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/mesh/generators.hpp"
#include "host/run/run_scene.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/run/result_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

using GpuRequests = GpuCase;

Garment sheet(const std::string& name, Motion motion, double ramp = 0) {
  Garment garment;
  garment.name = name;
  garment.mesh = quad_grid(4, 4, 0.3, 0.3);
  garment.fabric = {.density = 0.15, .gravity_density = 0.15, .bending_stiffness = 1e-5, .mass_damping = 0.5};
  garment.pins.push_back({.name = "corners", .nodes = {15, 12}, .motion = std::move(motion), .ramp = ramp});
  return garment;
}

/// A motion of each kind of the nodes 15 and 12, and a ramp.
std::vector<Garment> moved_sheets() {
  const KeyframeMotion turned{.times = {0, 0.1, 0.35},
                              .translations = {{}, {0.01, 0, 0}, {0, 0.02, 0.01}},
                              .rotations = {{}, {0, 0, 0.2}, {0.1, 0, 0.3}},
                              .center = {0.15, 0.3, 0}};
  const Vec3d right{0.3, 0.3, 0}, left{0, 0.3, 0}, way{0, 0.02, 0.01};
  const RecordedMotion recorded{
      .file = "", .times = {0, 0.2, 0.3}, .positions = {right, left, right + way, left + way, right, left}};
  return {sheet("fixed", FixedMotion{}),
          sheet("swung", OscillationMotion{{0, 0.02, 0}, 0.6, 0.05, 0.3}),
          sheet("turned", turned),
          sheet("recorded", recorded),
          sheet("its copy", recorded),
          sheet("eased", KeyframeMotion{.times = {0}, .translations = {way}, .rotations = {}, .center = {}},
                0.25)};
}

Scene scene_of(std::vector<Garment> garments) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = std::move(garments);
  return scene;
}

const ExecutionOptions on_gpu{.backend = "cuda", .solver = StepSolver::batched};

void expect_same(const StepReport& found, const StepReport& expected, const std::string& what) {
  for_each_field<StepReport>([&](const char* name, auto member) {
    if (std::string(name) == "wall_seconds") return;
    if constexpr (requires { found.*member == expected.*member; }) {
      EXPECT_EQ(found.*member, expected.*member) << what << ", " << name;
    }
  });
  for_each_field<Strain>([&](const char* name, auto member) {
    EXPECT_EQ(found.strain.*member, expected.strain.*member) << what << ", " << name;
  });
}

TEST_F(GpuRequests, SumUpWhatSingleStepsReport) {
  Simulation at_once(scene_of(moved_sheets()), on_gpu), singly(scene_of(moved_sheets()), on_gpu);
  ASSERT_EQ(at_once.most_steps_at_once(), 32);
  for (const int steps : {32, 5}) {
    const std::vector<AdvanceReport> found = at_once.advance_at_once(steps);
    std::vector<AdvanceReport> expected(found.size());
    for (AdvanceReport& report : expected) report.total.substeps = 0;
    for (int n = 0; n < steps; ++n) {
      const std::vector<StepReport> reports = singly.step();
      for (std::size_t g = 0; g < reports.size(); ++g) {
        add_by_rule(Further::step, reports[g], expected[g].total);
        expected[g].iterations_max = std::max(expected[g].iterations_max, reports[g].iterations);
        expected[g].substeps_max = std::max(expected[g].substeps_max, reports[g].substeps);
      }
    }
    for (std::size_t g = 0; g < found.size(); ++g) {
      const std::string what = at_once.scene().garments[g].name;
      expect_same(found[g].total, expected[g].total, what);
      EXPECT_EQ(found[g].steps, steps) << what;
      EXPECT_EQ(found[g].iterations_max, expected[g].iterations_max) << what;
      EXPECT_EQ(found[g].substeps_max, expected[g].substeps_max) << what;
      EXPECT_TRUE(found[g].each.empty()) << what;
      EXPECT_EQ(at_once.state(g), singly.state(g)) << what;
    }
  }
}

/// A GPU's cosine may round otherwise, hence a few roundings of positions below 1 m.
TEST_F(GpuRequests, PinsAreWhereTheirMotionsHaveThem) {
  Simulation gpu(scene_of(moved_sheets()), on_gpu);
  const auto expect_in_place = [&] {
    for (std::size_t g = 0; g < gpu.garment_count(); ++g) {
      const Garment& garment = gpu.scene().garments[g];
      const std::vector<Vec3d> x = gpu.positions(g);
      for (std::size_t i = 0; i < 2; ++i) {
        const Vec3d expected = pin_position(garment, garment.pins[0], i, gpu.time(g));
        EXPECT_LE(norm(x[garment.pins[0].nodes[i]] - expected), 1e-15) << garment.name << ", node " << i;
      }
    }
  };
  for (const int steps : {1, 7, 20}) {
    gpu.advance(steps);
    expect_in_place();
  }
  gpu.set_pin_motion(0, 0, OscillationMotion{{0, 0.01, 0}, 1, gpu.time(), 1});
  const std::vector<Vec3d> there{{0.29, 0.31, 0}, {0.01, 0.31, 0.01}};
  gpu.move_pin(3, 0, there, 0.05);
  gpu.advance(3);
  expect_in_place();
  gpu.reset({2, 4});
  gpu.advance(6);
  expect_in_place();
}

TEST_F(GpuRequests, TellTheStepsOfThoseThatMissTheirTolerance) {
  std::vector<Garment> garments = moved_sheets();
  // Out of bounds with the fourth step.
  garments[1].pins[0].motion = KeyframeMotion{
      .times = {0.035, 0.036}, .translations = {{}, {1e200, 0, 0}}, .rotations = {}, .center = {}};
  Scene scene = scene_of(garments);
  scene.projection.on_violation = OnViolation::go_on;
  Simulation at_once(scene, on_gpu), singly(scene, on_gpu);
  constexpr int steps = 8;
  for (int request = 0; request < 2; ++request) {
    const std::vector<AdvanceReport> found = at_once.advance_at_once(steps);
    ASSERT_EQ(found[1].each.size(), static_cast<std::size_t>(steps));
    for (int n = 0; n < steps; ++n)
      expect_same(found[1].each[static_cast<std::size_t>(n)], singly.step()[1], "step " + std::to_string(n));
    EXPECT_TRUE(has_failed(found[1].total.status));
    EXPECT_EQ(found[1].steps, request == 0 ? 3 : 0);
    for (const std::size_t g : {0, 2, 3, 4, 5}) EXPECT_TRUE(found[g].each.empty()) << "garment " << g;
    for (std::size_t g = 0; g < found.size(); ++g)
      EXPECT_EQ(at_once.state(g), singly.state(g)) << "garment " << g;
  }
}

TEST_F(GpuRequests, AreOfOneStepWhereSomebodyLooksBetween) {
  Scene scene = scene_of(moved_sheets());
  EXPECT_EQ(Simulation(scene, {.backend = "cpu"}).most_steps_at_once(), 1);
  Simulation simulation(scene, on_gpu);
  simulation.keep_step_records(true);
  EXPECT_EQ(simulation.most_steps_at_once(), 1);
  EXPECT_THROW(simulation.advance_at_once(2), ShapeError);
  EXPECT_EQ(simulation.advance_at_once(1)[0].steps, 1);
}

class GpuRuns : public ResultTest {
 protected:
  void SetUp() override {
    if (cuda_status().backend == nullptr) GTEST_SKIP() << "no GPU: " << cuda_status().message;
  }
  RunSummary run(const std::string& output, const std::string& backend) const {
    RunRequest request;
    request.scene = folder_ / "scene.json";
    request.output = folder_ / output;
    request.execution.backend = backend;
    return run_scene(request, nullptr);
  }
  /// Four sheets, a frame at each 20 of 70 steps and at the end.
  Json scene() const {
    Json scene = shaken_sheet(70);
    scene["garments"][0]["replicas"] = 4;
    scene["frame_interval"] = 0.2;
    return scene;
  }
};

TEST_F(GpuRuns, CountWhatThoseOnTheCpuCount) {
  write_scene("scene.json", scene());
  const RunSummary cpu = run("cpu", "cpu"), gpu = run("gpu", "cuda");
  EXPECT_EQ(gpu.status, "completed") << gpu.message;
  EXPECT_EQ(gpu.step_count, 70);
  EXPECT_EQ(gpu.frame_count, cpu.frame_count);
  EXPECT_EQ(gpu.steps_violated, cpu.steps_violated);
  // A product that is rounded before it is added may cost one iteration more or less.
  EXPECT_NEAR(gpu.iterations_per_step_mean, cpu.iterations_per_step_mean, 0.1);
  EXPECT_NEAR(gpu.overall.steps.strain.max, cpu.overall.steps.strain.max, 1e-6);
  EXPECT_NEAR(gpu.overall.steps.strain.mean, cpu.overall.steps.strain.mean, 1e-6);
  EXPECT_EQ(gpu.overall.substeps_max, cpu.overall.substeps_max);
  const Checkpoint end = checkpoint("gpu");
  EXPECT_EQ(end.step_index, 70);
  EXPECT_EQ(end.garments.size(), 4u);
}

// The pins of the second sheet are torn apart in a step between two frames.
TEST_F(GpuRuns, EndWithTheStepThatMissesItsTolerance) {
  Json torn = scene();
  Json second = torn["garments"][0];
  second["name"] = "torn";
  second.erase("replicas");
  second["pins"] = Json::parse(R"([
    {"select": {"nearest": [[0, 0, 0.42]]}, "motion": {"type": "fixed"}},
    {"select": {"nearest": [[0.297, 0, 0.42]]},
     "motion": {"type": "keyframes", "times": [0.305, 0.316], "translations": [[0, 0, 0], [0.2, 0, 0]]}}])");
  torn["garments"].push_back(second);
  write_scene("scene.json", torn);
  const RunSummary cpu = run("cpu", "cpu"), gpu = run("gpu", "cuda");
  EXPECT_EQ(cpu.status, "stopped") << cpu.message;
  EXPECT_EQ(gpu.status, cpu.status);
  EXPECT_EQ(gpu.step_count, cpu.step_count);
  EXPECT_EQ(gpu.frame_count, cpu.frame_count);
  EXPECT_EQ(gpu.steps_violated, cpu.steps_violated);
  EXPECT_EQ(checkpoint("gpu").step_index, checkpoint("cpu").step_index);
  EXPECT_EQ(gpu.message.substr(0, 40), cpu.message.substr(0, 40));
}

}  // namespace
}  // namespace isocloth
