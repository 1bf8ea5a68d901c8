// Rigid bodies, and gradients of runs, where the memory of the steps is a device's.
#include "host/gradients/tape.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/gpu_case.hpp"

namespace isocloth {
namespace {

using GpuBodies = GpuCase;

/// The columns of a body's motions are solved for, multiplied and added by kernels one after the other: one
/// that did not see what the one before it wrote would give momentum away.
TEST_F(GpuBodies, KeepTheMomentumOfWhatTheyHit) {
  Garment sheet = square_sheet(9, 0.5, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  constexpr double mass = 0.5;
  RigidBody box = body(BoxShape{{0.1, 0.12, 0.08}, 0.02}, mass, {0.03, -0.02, 0.12}, 0.5);
  box.velocity = {0.3, 0.1, -2};
  box.angular_velocity = {3, -2, 4};
  Scene scene = body_scene(sheet, {box}, 0.005);
  scene.gravity = 0;
  Simulation simulation(scene, {.backend = "cuda"});
  const auto momentum = [&] {
    return simulation.measure(0).linear_momentum + mass * simulation.bodies()[0].velocity;
  };
  const Vec3d start = momentum();
  Vec3d before = start;
  int contacts = 0;
  for (int step = 0; step < 40; ++step) {
    ASSERT_NE(simulation.step()[0].status, StepStatus::non_finite);
    const Vec3d now = momentum();
    EXPECT_LE(norm(now - before), 1e-9 * norm(start)) << step;  // as RigidBody.MomentumIsKept
    before = now;
    contacts += simulation.contacts(0).count;
  }
  EXPECT_GT(contacts, 0);
  EXPECT_GT(norm(simulation.measure(0).linear_momentum), 0);
}

/// A tape of a run on the device goes back through its steps on the CPU, from the states alone.
TEST_F(GpuBodies, TapesOfTheirRunsHaveTheGradientsOfTheCpu) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.01;
  Garment sheet = square_sheet(6, 0.3, 1);
  sheet.pins = {{"corners", {0, 5}, FixedMotion{}}};
  scene.garments = {sheet};
  const auto gradient = [&](const std::string& backend) {
    Simulation simulation(scene, {.backend = backend});
    Tape tape(simulation);
    for (int step = 0; step < 5; ++step) tape.step();
    std::vector<StateGradient> loss(6);
    loss.back().positions.assign(36, Vec3d{0, 0, 1});
    return tape.gradient(0, loss);
  };
  const RunGradient expected = gradient("cpu"), found = gradient("cuda");
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < 36; ++i) {
    largest = std::max(largest, norm(expected.positions[i]));
    difference = std::max(difference, norm(found.positions[i] - expected.positions[i]));
  }
  EXPECT_GT(largest, 0.1);
  // Steps of both end within the tolerance of their rows, 1e-6 of a length.
  EXPECT_LE(difference, 1e-3 * largest);
}

}  // namespace
}  // namespace isocloth
