// Grippers that take hold of sheets, move them and let them go.
#include "engine/core/errors.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/gripper_case.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;

Scene scene_of(const Garment& garment, double step = 0.01) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {garment};
  scene.gravity = gravity;
  scene.step = step;
  scene.duration = 1000 * step;
  return scene;
}

class GripperTest : public ::testing::TestWithParam<StepSolver> {
 protected:
  ExecutionOptions options() const { return one_thread(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(Solvers, GripperTest, ::testing::Values(StepSolver::batched, StepSolver::direct),
                         [](const auto& which) { return std::string(to_string(which.param)); });

// A sheet falls, is caught at a corner where that has got to, carried along a turning way, and dropped.
TEST_P(GripperTest, HeldNodesKeepTheirPlacesInTheFrame) {
  Garment sheet = square_sheet(9, 0.4, 0);
  const double caught = 0.1, dropped = 0.5, depth = 0.5 * gravity * caught * (caught + 0.01);
  const Vec3d corner{-0.2, -0.2, -depth};
  sheet.grippers = {gripper(corner, 0.06, {{caught, dropped}},
                            KeyframeMotion{.times = {caught, dropped},
                                           .translations = {{}, {0.1, 0.05, 0.2}},
                                           .rotations = {{}, {0.3, -0.2, 0.9}},
                                           .center = corner})};
  Simulation simulation(scene_of(sheet), options());
  simulation.advance(10);
  EXPECT_TRUE(held_nodes(simulation).empty());
  EXPECT_NEAR(simulation.positions(0)[0].z, -depth, 1e-9);
  std::vector<Vec3d> places;
  for (int n = 10; n < 50; ++n) {
    const std::vector<Vec3d> before = simulation.positions(0);
    const StepReport report = simulation.step()[0];
    EXPECT_EQ(report.status, StepStatus::converged);
    const std::vector<std::size_t> held = held_nodes(simulation);
    ASSERT_EQ(held, (std::vector<std::size_t>{0, 1, 9}));
    const auto local = [&](const Vec3d& x, double t) {
      const Pose pose = gripper_pose(sheet.grippers[0], t);
      const Vec3d r = x - pose.center;
      return Vec3d{dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
    };
    if (n == 10)
      for (const std::size_t i : held) places.push_back(local(before[i], caught));
    for (std::size_t i = 0; i < held.size(); ++i)
      EXPECT_LT(norm(local(simulation.positions(0)[held[i]], 0.01 * (n + 1)) - places[i]), 1e-7);
  }
  const Vec3d velocity = mean(simulation.velocities(0));
  simulation.step();
  EXPECT_TRUE(held_nodes(simulation).empty());
  EXPECT_EQ(norm(simulation.holds(0).force), 0);
  EXPECT_LT(std::abs(mean(simulation.velocities(0)).z - velocity.z), 3 * gravity * 0.01);
}

// What hangs at rest is carried by its grippers.
TEST_P(GripperTest, ForcesAtRestAreTheWeight) {
  Garment sheet = square_sheet(7, 0.3, 8);
  sheet.grippers = {gripper({-0.15, -0.15, 0}, 0.06, {{0, 100}}),
                    gripper({0.12, -0.15, 0}, 0.06, {{0, 100}})};
  sheet.grippers[1].name = "other";
  Simulation simulation(scene_of(sheet), options());
  simulation.advance(400);
  ASSERT_LT(fastest(simulation), 1e-3);
  const HoldMeasures found = simulation.holds(0);
  const double weight = gravity * 0.3 * 0.3;
  EXPECT_EQ(found.count, 7);
  EXPECT_NEAR(found.force.z, weight, 5e-3 * weight);
  EXPECT_NEAR(found.force.x, 0, 5e-3 * weight);
  EXPECT_NEAR(found.force.y, 0, 5e-3 * weight);
  EXPECT_NEAR(norm(found.forces[0] + found.forces[1] - found.force), 0, 1e-12);
}

// A rigid hold from the start is a pin with the same motion, up to rounding.
TEST_P(GripperTest, HoldsFromTheStartAreWorthPins) {
  const OscillationMotion motion{.amplitude = {0.05, 0, 0.02}, .frequency = 1, .start = 0, .duration = 100};
  Garment held = square_sheet(7, 0.3, 2), pinned = held;
  held.grippers = {gripper({-0.15, -0.15, 0}, 0.06, {{0, 100}}, motion)};
  pinned.pins = {{.name = "pin", .nodes = {0, 1, 7}, .motion = motion}};
  Simulation first(scene_of(held), options()), second(scene_of(pinned), options());
  first.advance(20);
  second.advance(20);
  // Steps amplify rounding by the stiffness of the rows at most, 1 / eps.
  EXPECT_LT(largest_move(first.positions(0), second.positions(0)), 20 * 1e-16 / 1e-6);
}

// A sheet all of whose nodes a spring holds sinks by delta g / k, flat.
TEST_P(GripperTest, SoftHoldsAreSprings) {
  Garment sheet = square_sheet(5, 0.2, 30);
  sheet.fabric.gravity_density = 0.7;
  sheet.grippers = {gripper({}, 1, {{0, 100}})};
  sheet.grippers[0].stiffness = 400;
  Simulation simulation(scene_of(sheet), options());
  simulation.advance(600);
  const double sag = 0.7 * gravity / 400;
  for (const Vec3d& p : simulation.positions(0)) EXPECT_NEAR(p.z, -sag, 1e-6 * sag);
  const double weight = 0.7 * gravity * 0.2 * 0.2;
  EXPECT_NEAR(simulation.holds(0).force.z, weight, 1e-6 * weight);
}

TEST_P(GripperTest, FastProjectionHoldsToo) {
  Garment sheet = square_sheet(7, 0.3, 8);
  sheet.fabric.bending_stiffness = 1e-4;
  sheet.grippers = {gripper({-0.15, -0.15, 0}, 0.06, {{0, 100}}),
                    gripper({0.15, -0.15, 0}, 0.03, {{0, 100}})};
  sheet.grippers[1].name = "soft";
  sheet.grippers[1].stiffness = 1e5;
  Scene scene = scene_of(sheet);
  scene.projection.method = ProjectionMethod::fast_projection;
  Simulation simulation(scene, options());
  simulation.advance(400);
  EXPECT_LT(largest_move({simulation.positions(0)[0]}, {sheet.initial_positions[0]}), 1e-6);
  const double weight = gravity * 0.3 * 0.3;
  EXPECT_NEAR(simulation.holds(0).force.z, weight, 5e-3 * weight);
}

// Two grippers pull the cloth apart by a tenth: the strain that cannot be met is reported, the hold stays,
// and when they come back so does the cloth.
TEST_P(GripperTest, TornClothIsReportedAndRecovers) {
  Garment sheet = square_sheet(9, 0.4, 2);
  const KeyframeMotion motion{.times = {0.1, 0.3, 0.4, 0.6},
                              .translations = {{}, {0.04, 0, 0}, {0.04, 0, 0}, {-0.02, 0, 0}},
                              .rotations = {},
                              .center = {}};
  sheet.grippers = {gripper({-0.2, 0, 0}, 0.06, {{0, 100}}), gripper({0.2, 0, 0}, 0.06, {{0, 100}}, motion)};
  sheet.grippers[1].name = "pulls";
  Scene scene = scene_of(sheet);
  scene.projection.on_violation = OnViolation::go_on;
  Simulation simulation(scene, options());
  simulation.advance(35);
  const StepReport torn = simulation.step()[0];
  EXPECT_EQ(torn.status, StepStatus::stalled);
  EXPECT_GT(torn.residual, 0.05);  // a tenth of the length between them
  EXPECT_NEAR(simulation.positions(0)[44].x, 0.24, 1e-4);
  EXPECT_EQ(held_nodes(simulation).size(), 8u);
  simulation.advance(44);
  for (int n = 0; n < 20; ++n) EXPECT_EQ(simulation.step()[0].status, StepStatus::converged);
  EXPECT_LT(fastest(simulation), 3);
}

// Pulled for a second by less than tenfold the tolerance more than it gives, then let go while taut: what the
// multipliers were asked for in vain has not piled up.
TEST_P(GripperTest, ClothLetGoWhileTautGoesOn) {
  Garment sheet = square_sheet(9, 0.4, 2);
  const KeyframeMotion motion{
      .times = {0.1, 0.2}, .translations = {{}, {0.0012, 0, 0}}, .rotations = {}, .center = {}};
  sheet.grippers = {gripper({-0.2, 0, 0}, 0.06, {{0, 1.2}}), gripper({0.2, 0, 0}, 0.06, {{0, 1.2}}, motion)};
  sheet.grippers[1].name = "pulls";
  Scene scene = scene_of(sheet);
  scene.projection.tolerance = 1e-3;
  scene.projection.on_violation = OnViolation::go_on;
  Simulation simulation(scene, options());
  simulation.advance(119);
  const StepReport taut = simulation.step()[0];
  EXPECT_EQ(taut.status, StepStatus::stalled);
  EXPECT_GT(taut.residual, 2e-3);
  EXPECT_LT(taut.residual, 1e-2);
  for (int n = 0; n < 20; ++n) EXPECT_EQ(simulation.step()[0].status, StepStatus::converged) << n;
  EXPECT_LT(fastest(simulation), 3);
}

Scene many_grippers() {
  Scene scene = many_grippers(scene_of(square_sheet(6, 0.3, 1)));
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

TEST(Gripper, BatchesHaveTheBitsOfSinglesOnAnyThreads) {
  const Scene scene = many_grippers();
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    Simulation batch(scene, {.precision = precision, .solver = StepSolver::batched, .threads = 2});
    batch.advance(40);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      Scene one = scene;
      one.garments = {scene.garments[g]};
      Simulation single(one, {.precision = precision, .solver = StepSolver::batched, .threads = 1});
      single.advance(40);
      expect_same_state(batch.state(g), single.state(0), scene.garments[g].name);
      EXPECT_EQ(batch.state(g).holds, single.state(0).holds);
      EXPECT_EQ(batch.state(g).contacts, single.state(0).contacts);
    }
  }
}

// The batched and the direct solver are two ways through the same kernels' formulas.
TEST(Gripper, SolversAgree) {
  const Scene scene = many_grippers();
  Simulation batched(scene, one_thread(StepSolver::batched)), direct(scene, one_thread(StepSolver::direct));
  for (int n = 0; n < 6; ++n) {
    batched.advance(1);
    direct.advance(1);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      const GarmentState a = batched.state(g), b = direct.state(g);
      // A step amplifies rounding by the stiffness of the rows at most, 1 / eps.
      for (std::size_t i = 0; i < a.positions.size(); ++i)
        EXPECT_NEAR(a.positions[i], b.positions[i], 1e-15 / 1e-6 * 10 * (n + 1));
      for (std::size_t i = 0; i < a.holds.size(); ++i) EXPECT_EQ(a.holds[i].gripper, b.holds[i].gripper);
      direct.set_state(g, a);
    }
  }
}

TEST_P(GripperTest, StatesGoOnBitForBit) {
  Scene scene = many_grippers();
  scene.garments = {scene.garments[4]};
  Simulation whole(scene, options()), first(scene, options());
  whole.advance(30);
  first.advance(12);
  Simulation second(scene, options());
  second.set_state(0, first.state(0));
  second.set_step_index(12);
  second.advance(18);
  expect_same_state(second.state(0), whole.state(0), "resumed");
  EXPECT_EQ(second.state(0).holds, whole.state(0).holds);
}

TEST(Gripper, BadOnesAreRefusedWithTheirKeys) {
  const auto message = [](const std::function<void(Scene&)>& spoil) {
    Garment sheet = square_sheet(3, 0.3, 1);
    sheet.grippers = {gripper({}, 0.1, {{0, 1}, {2, 3}})};
    Scene scene = scene_of(sheet);
    spoil(scene);
    try {
      validate_scene(scene);
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const auto starts = [&](const std::string& expected, const std::function<void(Scene&)>& spoil) {
    const std::string found = message(spoil);
    EXPECT_EQ(found.substr(0, expected.size()), expected);
  };
  EXPECT_EQ(message([](Scene&) {}), "accepted");
  const auto own = [](Scene& s) -> Gripper& { return s.garments[0].grippers[0]; };
  const std::string key = "garments[0].grippers[0]";
  starts(key + ".holds[0].to: found -1", [&](Scene& s) { own(s).holds[0].to = -1; });
  starts(key + ".holds[1].from: found 0.5", [&](Scene& s) { own(s).holds[1].from = 0.5; });
  starts(key + ".stiffness: found -1", [&](Scene& s) { own(s).stiffness = -1; });
  starts(key + ".region.radius: found 0", [&](Scene& s) { own(s).region = SphereShape{0}; });
  starts(key + ".name: found an empty", [&](Scene& s) { own(s).name = ""; });
  starts("garments[0].grippers[1].name", [&](Scene& s) { s.garments[0].grippers.push_back(own(s)); });
  starts("garments[0].grippers: found some, expected none with projection.metric",
         [&](Scene& s) { s.projection.metric = Metric::mass; });
  starts("garments[0].fabric.drag.normal: found -2",
         [&](Scene& s) { s.garments[0].fabric.drag.normal = -2; });
  starts("wind.gust_period: found 0", [&](Scene& s) { s.wind.gust_period = 0; });
}

}  // namespace
}  // namespace isocloth
