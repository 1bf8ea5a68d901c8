// Worlds of small garments, in lanes while nothing touches, kernel by kernel while something does.
#include <gtest/gtest.h>

#include <string>

#include "tests/host/cloth_sheets.hpp"

namespace isocloth {
namespace {

void expect_same(const GarmentState& one, const GarmentState& other, const std::string& where) {
  EXPECT_EQ(one.positions, other.positions) << where;
  EXPECT_EQ(one.velocities, other.velocities) << where;
  EXPECT_EQ(one.multipliers, other.multipliers) << where;
  EXPECT_EQ(one.cloth_contacts.size(), other.cloth_contacts.size()) << where;
}

/// Whatever else steps, on any number of threads, in requests of any length, and whoever looks meanwhile.
TEST(BatchedWorlds, HaveBitsOfTheirOwn) {
  constexpr Index count = 6;
  constexpr int steps = 12;
  const Scene scene = worlds_of_two(count);
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    Simulation watched(scene, {.precision = precision, .threads = 1}),
        all(scene, {.precision = precision, .threads = 3});
    std::vector<Index> most(2 * count, 0);
    for (int n = 0; n < steps; ++n) {
      const std::vector<StepReport> reports = watched.step();
      for (std::size_t g = 0; g < reports.size(); ++g) {
        EXPECT_EQ(reports[g].status, StepStatus::converged);
        most[g] = std::max(most[g], reports[g].cloth_loaded);
      }
      watched.view(GarmentField::positions);
      EXPECT_EQ(watched.cloth_loads().size(), reports.size());
    }
    all.advance(steps);
    for (Index world = 0; world < count; ++world) {
      const auto first = static_cast<std::size_t>(2 * world);
      EXPECT_EQ(most[first] > 0, world % 2 == 1) << world;
      Scene alone = scene;
      alone.garments = {scene.garments[first], scene.garments[first + 1]};
      Simulation simulation(alone, {.precision = precision});
      simulation.advance(steps / 2);
      Simulation resumed(alone, {.precision = precision});
      resumed.restore(simulation.snapshot());
      resumed.advance(steps - steps / 2);
      for (const std::size_t g : {0, 1}) {
        const std::string where = "world " + std::to_string(world);
        expect_same(all.state(first + g), watched.state(first + g), where + " on threads");
        expect_same(resumed.state(g), watched.state(first + g), where + " alone");
      }
    }
  }
}

/// What a step remembers of the last one goes to lanes and back when somebody looks.
TEST(BatchedWorlds, AreNotChangedByThoseWhoLook) {
  Scene scene = worlds_of_two(4);
  scene.projection.integrator = Integrator::bdf2;
  scene.step = 0.0051;  // single precision rounds it by enough for a bit to change
  scene.duration = 100 * scene.step;
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    Simulation watched(scene, {.precision = precision}), alone(scene, {.precision = precision});
    Index contacts = 0;
    for (int n = 0; n < 20; ++n) {
      watched.step();
      watched.view(GarmentField::positions);
      for (const StepReport& report : alone.step()) contacts += report.cloth_loaded;
    }
    for (std::size_t g = 0; g < scene.garments.size(); ++g)
      expect_same(watched.state(g), alone.state(g), scene.garments[g].name);
    EXPECT_GT(contacts, 0);
  }
}

/// Kernel by kernel throughout: the same but for rounding and what tolerances leave.
TEST(BatchedWorlds, FollowTheSolverOfLargeOnes) {
  const Scene scene = worlds_of_two(2);
  Simulation lanes(scene), direct(scene, {.solver = StepSolver::direct});
  EXPECT_NE(lanes.info(0).solver.find("batched"), std::string::npos);
  EXPECT_EQ(direct.info(0).solver.find("batched"), std::string::npos);
  for (int n = 0; n < 20; ++n) {
    lanes.step();
    direct.step();
  }
  IntersectionSearch search = search_of(scene);
  for (std::size_t g = 0; g < 4; ++g) {
    double most = 0;
    const std::vector<Vec3d> one = lanes.positions(g), other = direct.positions(g);
    for (std::size_t i = 0; i < one.size(); ++i) most = std::max(most, norm(one[i] - other[i]));
    EXPECT_LT(most, g < 2 ? 1e-5 : 1e-3) << g;
  }
}

/// What a program writes into a view is where the next step begins, whichever way the world went before.
TEST(BatchedWorlds, BeginWhereViewsWereWritten) {
  const Scene scene = worlds_of_two(2);
  Simulation written(scene), set(scene);
  written.advance(10);
  set.advance(10);
  const Vec3d aside{0.5, 0, 0};
  std::vector<std::vector<Vec3d>> moved;
  for (std::size_t g = 0; g < 4; ++g) {
    moved.push_back(written.positions(g));
    for (Vec3d& x : moved.back()) x += aside;
    GarmentState state = set.state(g);
    for (std::size_t i = 0; i < moved[g].size(); ++i) state.positions[3 * i] = moved[g][i].x;
    state.previous_step = 0;  // what is written has no step before
    state.previous_positions.clear();
    state.previous_velocities.clear();
    set.set_state(g, state);
  }
  std::vector<Vec3d> all;
  for (const std::vector<Vec3d>& own : moved) all.insert(all.end(), own.begin(), own.end());
  written.write(GarmentField::positions, {all.data(), all.size()});
  written.advance(3);
  set.advance(3);
  for (std::size_t g = 0; g < 4; ++g) expect_same(written.state(g), set.state(g), std::to_string(g));
}

/// As where every step is kernel by kernel: what is lost freezes, and other worlds go on.
TEST(BatchedWorlds, FreezeWhatIsLost) {
  Scene scene = worlds_of_two(2);
  scene.projection.on_violation = OnViolation::go_on;
  Simulation simulation(scene), direct(scene, {.solver = StepSolver::direct}), undisturbed(scene);
  GarmentState state = simulation.state(2);
  for (double& v : state.velocities) v = 1e30;
  simulation.set_state(2, state);
  direct.set_state(2, state);
  for (int n = 0; n < 5; ++n) {
    const std::vector<StepReport> found = simulation.step(), expected = direct.step();
    for (std::size_t g = 0; g < found.size(); ++g) EXPECT_EQ(found[g].status, expected[g].status) << g;
  }
  undisturbed.advance(5);
  EXPECT_TRUE(simulation.frozen(2));
  EXPECT_EQ(simulation.state(2).positions, state.positions);
  for (const std::size_t g : {0, 1}) expect_same(simulation.state(g), undisturbed.state(g), "other world");
}

}  // namespace
}  // namespace isocloth
