// Which of several devices a simulation is on. The software device (tests/device) has two.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/memory/buffer.hpp"
#include "host/memory/device.hpp"
#include "host/simulation/simulation.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

class GpuDevices : public GpuCase {
 protected:
  /// Skips where there is one device.
  void SetUp() override {
    GpuCase::SetUp();
    if (!IsSkipped() && !HasFatalFailure() && cuda_status().device_count < 2)
      GTEST_SKIP() << "one device: " << cuda_status().message;
  }
};

std::string refusal(const ExecutionOptions& options) {
  try {
    const Device device(options);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "none";
}

TEST(Device, RefusesANumberOnTheCpu) {
  EXPECT_EQ(refusal({.backend = "cpu", .device = 1}),
            "device: found 1, expected 0 where the backend is \"cpu\"; devices are those of \"cuda\"");
}

TEST_F(GpuDevices, RefusesOneThatThereIsNot) {
  const int count = cuda_status().device_count;
  for (const int device : {-1, count, 1000})
    EXPECT_EQ(refusal({.backend = "cuda", .device = device}),
              "device: found " + std::to_string(device) + ", expected 0 to " + std::to_string(count - 1) +
                  "; this machine has " + std::to_string(count) + " (isocloth info)");
}

TEST_F(GpuDevices, HaveMemoryOfTheirOwn) {
  const Device first({.backend = "cuda", .device = 0}), second({.backend = "cuda", .device = 1});
  Buffer<double> a(first, std::vector<double>{1, 2, 3}), b(second, std::vector<double>{4, 5, 6});
  for (const auto& [device, values] : {std::pair(&first, &a), std::pair(&second, &b)})
    step_kernels<double>(device->backend())
        .scale_values(device->queue(), {.from = values->view(), .factor = 2, .to = values->view()});
  EXPECT_EQ(a.download(), (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(b.download(), (std::vector<double>{8, 10, 12}));
}

/// Scenes of each way to step: whole steps in one launch, in shared memory and in the workspace; kernel by
/// kernel with a recorded factorisation; cloth on cloth, with selections by a library.
std::vector<Scene> scenes() {
  std::vector<Scene> all(2);
  for (const Index nodes : {5, 17}) {
    Garment sheet;
    sheet.name = "sheet of " + std::to_string(nodes);
    sheet.mesh = quad_grid(nodes, nodes, 0.3, 0.3);
    sheet.pins.push_back(
        {.name = "corner", .nodes = {0}, .motion = OscillationMotion{{0.05, 0, 0}, 0.6, 0, 10}});
    all[0].garments.push_back(sheet);
    all[0].garments.push_back(sheet);
  }
  Garment large = all[0].garments[0];
  large.mesh = quad_grid(19, 19, 0.3, 0.3);
  all[1].garments = {large};
  all.push_back(cloth_scene(
      {sheet("lower", 7, 0.3, {0, 0, 0.002}), sheet("upper", 5, 0.2, {0.01, 0.02, 0.006}, {0.3, 0, -1})}));
  for (Scene& scene : all) scene.recipe = "membrane";
  return all;
}

/// Positions of all garments after some steps.
std::vector<std::vector<Vec3d>> positions_after(Simulation& simulation, int steps) {
  for (int n = 0; n < steps; ++n) simulation.step();
  return simulation.positions();
}

TEST_F(GpuDevices, StepAlikeSideBySide) {
  constexpr int steps = 5;
  for (const Scene& scene : scenes()) {
    SCOPED_TRACE(scene.garments[0].name);
    Simulation alone(scene, {.backend = "cuda", .device = 0});
    const auto expected = positions_after(alone, steps);
    Simulation first(scene, {.backend = "cuda", .device = 0}),
        second(scene, {.backend = "cuda", .device = 1});
    std::vector<std::vector<Vec3d>> on_first, on_second;
    std::thread other([&] { on_second = positions_after(second, steps); });
    on_first = positions_after(first, steps);
    other.join();
    EXPECT_EQ(on_first, expected);
    EXPECT_EQ(on_second, expected);
  }
}

TEST_F(GpuDevices, TakeTurnsInOneThread) {
  const Scene scene = scenes()[1];
  Simulation alone(scene, {.backend = "cuda", .device = 0}), first(scene, {.backend = "cuda", .device = 0}),
      second(scene, {.backend = "cuda", .device = 1});
  for (int n = 0; n < 4; ++n) {
    alone.step();
    second.step();
    first.step();
    EXPECT_EQ(first.positions(), alone.positions());
    EXPECT_EQ(second.positions(), alone.positions());
  }
}

/// Nothing is asked of the first device: a context there would take memory for nobody. A new process, in
/// which nobody has used it before; threads of it have chosen none.
TEST(Device, LeavesOthersAlone) {
  const char* const plugin = std::getenv("ISOCLOTH_CUDA_PLUGIN");
  if (plugin == nullptr || std::string(plugin) != ISOCLOTH_SOFTWARE_DEVICE)
    GTEST_SKIP() << "runs as device.random_0, with ISOCLOTH_CUDA_PLUGIN=" << ISOCLOTH_SOFTWARE_DEVICE;
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto use_second = [] {
    for (const Scene& scene : scenes()) {
      std::optional<Simulation> simulation;
      std::thread([&] {
        simulation.emplace(scene, ExecutionOptions{.backend = "cuda", .device = 1});
      }).join();
      for (int n = 0; n < 3; ++n) std::thread([&] { simulation->step(); }).join();
      std::thread([&] { simulation->positions(); }).join();
      std::thread([&] { simulation.reset(); }).join();
    }
    void* const runtime = dlopen(ISOCLOTH_SOFTWARE_DEVICE, RTLD_NOW | RTLD_NOLOAD);
    const auto is_used = reinterpret_cast<bool (*)(int)>(dlsym(runtime, "isocloth_test_device_is_used"));
    std::exit(is_used(1) && !is_used(0) ? 0 : 1);
  };
  EXPECT_EXIT(use_second(), testing::ExitedWithCode(0), "");
}

TEST_F(GpuDevices, AreNamedByViews) {
  for (const int device : {0, 1}) {
    Simulation simulation(scenes()[0], {.backend = "cuda", .device = device});
    for (const GarmentField field : {GarmentField::positions, GarmentField::strains})
      for (const FieldView& view : simulation.view(field)) EXPECT_EQ(view.device, device);
  }
}

}  // namespace
}  // namespace isocloth
