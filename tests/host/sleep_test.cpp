// Garments that rest, sleep and wake (SleepSettings).
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "tests/host/cloth_sheets.hpp"

namespace isocloth {
namespace {

/// Sheets that lie on a floor, damped so that they come to rest soon.
Scene sheets_on_floor(std::vector<Garment> sheets, bool cloth = true) {
  Scene scene = cloth_scene(std::move(sheets));
  for (Garment& garment : scene.garments) garment.fabric.mass_damping = 2;
  scene.contact.cloth = cloth;
  scene.obstacles = {floor_obstacle()};
  scene.projection.sleep.after = 0.1;
  return scene;
}
Garment lying(const std::string& name, Vec3d center = {}) {
  center.z += 0.001;
  return sheet(name, 7, 0.2, center);
}
bool sleeps(const StepReport& report) { return report.asleep == 1; }

/// Steps until all sleep.
void go_to_sleep(Simulation& simulation) {
  for (int n = 0; n < 600; ++n)
    if (std::ranges::all_of(simulation.step(), sleeps)) return;
  FAIL() << "nothing came to rest";
}

TEST(Sleep, LeavesWhatRestsAsItIsAndAsksForNothing) {
  for (const bool cloth : {false, true}) {
    Simulation simulation(sheets_on_floor({lying("sheet")}, cloth));
    EXPECT_FALSE(sleeps(simulation.step().front()));
    go_to_sleep(simulation);
    GarmentState before = simulation.state(0);
    EXPECT_GE(before.rest_time, 0.1 - 1e-9);
    const StepReport report = simulation.step().front();
    EXPECT_TRUE(sleeps(report));
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(report.status, StepStatus::converged);
    EXPECT_GT(report.strain.max, 0);
    ++before.step_index;
    EXPECT_EQ(simulation.state(0), before);
  }
}

TEST(Sleep, IsOffUnlessAskedFor) {
  Scene scene = sheets_on_floor({lying("sheet")});
  scene.projection.sleep.after = 0;
  Simulation simulation(scene);
  for (int n = 0; n < 200; ++n) EXPECT_FALSE(sleeps(simulation.step().front()));
}

TEST(Sleep, GoesOnFromAStateBitForBit) {
  const Scene scene = sheets_on_floor({lying("one"), lying("other", {1, 0, 0})});
  Simulation one(scene);
  go_to_sleep(one);
  Simulation other(scene);
  other.restore(one.snapshot());
  EXPECT_TRUE(sleeps(other.step().front()));
  one.step();
  for (std::size_t g = 0; g < 2; ++g) EXPECT_EQ(one.state(g), other.state(g));
}

TEST(Sleep, EndsWhereAnObstacleComesNear) {
  Scene scene = sheets_on_floor({lying("near"), lying("far", {3, 0, 0})});
  Obstacle ball = floor_obstacle();
  ball.name = "ball";
  ball.shape = SphereShape{0.05};
  ball.position = {0, 0, 1};
  ball.motion = KeyframeMotion{
      .times = {0, 2, 3}, .translations = {{}, {}, {0, 0, -0.94}}, .rotations = {}, .center = {0, 0, 1}};
  scene.obstacles.push_back(ball);
  Simulation simulation(scene);
  go_to_sleep(simulation);
  ASSERT_LT(simulation.time(), 2);
  bool has_woken = false;
  while (simulation.time() < 3) {
    const std::vector<StepReport> reports = simulation.step();
    has_woken = has_woken || !sleeps(reports[0]);
    EXPECT_TRUE(sleeps(reports[1]));
    if (simulation.time() < 2.5) {
      EXPECT_TRUE(sleeps(reports[0]));
    }
    EXPECT_LE(reports[0].penetration, scene.contact.tolerance);
  }
  EXPECT_TRUE(has_woken);
}

TEST(Sleep, EndsWherePinsMove) {
  Scene scene = cloth_scene({sheet("hung", 7, 0.2, {0, 0, 0})});
  scene.projection.sleep.after = 0.1;
  scene.garments[0].fabric.mass_damping = 2;
  scene.garments[0].pins = {
      {"edge",
       {0, 1, 2, 3, 4, 5, 6},
       KeyframeMotion{
           .times = {0, 5, 5.2}, .translations = {{}, {}, {0, 0, 0.1}}, .rotations = {}, .center = {}}}};
  Simulation simulation(scene);
  go_to_sleep(simulation);
  ASSERT_LT(simulation.time(), 5 - scene.step);
  while (simulation.time() < 5 - scene.step / 2) EXPECT_TRUE(sleeps(simulation.step().front()));
  EXPECT_FALSE(sleeps(simulation.step().front()));
}

/// The sheet that falls wakes the one below before they touch; then both rest on each other, and forces
/// between them are those of before they slept.
TEST(Sleep, EndsWhereClothComesNearAndKeepsForcesOfContacts) {
  Scene scene =
      sheets_on_floor({lying("lower"), sheet("upper", 5, 0.1, {0, 0, 1.2}), lying("far", {3, 0, 0})});
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  bool has_slept = false, has_woken = false;
  for (int n = 0; n < 800; ++n) {
    const std::vector<StepReport> reports = simulation.step();
    ASSERT_EQ(crossings(search, simulation), 0) << n;
    has_slept = has_slept || sleeps(reports[0]);
    has_woken = has_woken || (has_slept && !sleeps(reports[0]));
    if (has_woken && std::ranges::all_of(reports, sleeps)) break;
  }
  EXPECT_TRUE(has_woken);
  const GarmentState before = simulation.state(0);
  EXPECT_FALSE(before.cloth_contacts.empty());
  simulation.advance(5);
  EXPECT_EQ(simulation.state(0).cloth_contacts, before.cloth_contacts);
  EXPECT_EQ(simulation.state(0).positions, before.positions);
}

TEST(Sleep, EndsByCommands) {
  const auto wakes = [](const auto& command) {
    Simulation simulation(sheets_on_floor({lying("sheet")}));
    go_to_sleep(simulation);
    EXPECT_TRUE(sleeps(simulation.step().front()));
    command(simulation);
    return !sleeps(simulation.step().front());
  };
  EXPECT_FALSE(wakes([](Simulation&) {}));
  EXPECT_TRUE(wakes([](Simulation& s) { s.set_gravity(0, 1); }));
  EXPECT_TRUE(wakes([](Simulation& s) { s.set_forces(0, std::vector<Vec3d>(49, {0, 0, 1})); }));
  EXPECT_TRUE(wakes([](Simulation& s) { s.set_friction(0, {0}, {.static_ = 0, .dynamic = 0}); }));
  EXPECT_TRUE(wakes([](Simulation& s) { s.set_cloth_friction({.static_ = 0, .dynamic = 0}); }));
  EXPECT_TRUE(wakes([](Simulation& s) {
    GarmentState state = s.state(0);
    state.velocities[2] = 1;
    state.rest_time = 0;
    s.set_state(0, state);
  }));
}

}  // namespace
}  // namespace isocloth
