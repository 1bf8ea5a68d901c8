// What a running scene is told between its steps: the bits are those of a scene that says so by itself.
#include <functional>

#include "engine/core/errors.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/body_case.hpp"
#include "tests/host/gpu_case.hpp"
#include "tests/host/gripper_case.hpp"

namespace isocloth {
namespace {

constexpr double step = 0.005;

/// Three sheets in wind above a table that can move; one corner of each is pinned, a gripper may take
/// another.
Scene told_scene(const std::string& recipe) {
  Scene scene;
  scene.recipe = recipe;
  scene.step = step;
  scene.duration = 10;
  scene.projection.max_substeps = 4;
  scene.projection.on_violation = OnViolation::go_on;
  scene.wind = {.velocity = {0, 1, 0}, .gusts = 0.2, .gust_period = 0.5};
  scene.obstacles.push_back(
      {.name = "table",
       .shape = PlaneShape{},
       .position = {0, 0, -0.4},
       .rotation = {},
       .motion = KeyframeMotion{.times = {0}, .translations = {{}}, .rotations = {}, .center = {}},
       .friction = {0.3, 0.2}});
  for (int i = 0; i < 3; ++i) {
    Garment sheet = square_sheet(7, 0.3, i);
    sheet.name = "sheet " + std::to_string(i);
    sheet.fabric.bending_stiffness = 1e-5;
    sheet.fabric.drag = {.normal = 0.4, .tangential = 0.01};
    sheet.pins = {{.name = "corner", .nodes = {0}, .motion = FixedMotion{}}};
    sheet.grippers = {gripper({0.15, -0.15, 0}, 0.06, {{5, 6}})};
    scene.garments.push_back(sheet);
  }
  return scene;
}

struct Way {
  std::string name, recipe;
  ExecutionOptions options;
};
std::vector<Way> ways(const std::string& backend) {
  std::vector<Way> all;
  for (const Precision precision : both_precisions) {
    const std::string suffix = precision == Precision::float32 ? ", float32" : ", float64";
    for (const char* recipe : {"coltraro2022", "bender_iterative"})
      all.push_back({recipe + suffix, recipe, {.backend = backend, .precision = precision}});
    all.push_back({"direct" + suffix,
                   "coltraro2022",
                   {.backend = backend, .precision = precision, .solver = StepSolver::direct}});
  }
  return all;
}

/// A new simulation of the scene as it is now, in the state of now.
Simulation restarted(const Simulation& simulation) {
  Simulation other(simulation.scene(), simulation.options());
  other.restore(simulation.snapshot());
  return other;
}

void expect_same_states(const Simulation& a, const Simulation& b, const std::string& what) {
  for (std::size_t g = 0; g < a.garment_count(); ++g)
    expect_same_state(a.state(g), b.state(g), what + ", garment " + std::to_string(g));
}

bool differ(const Simulation& a, const Simulation& b) {
  bool any = false;
  for (std::size_t g = 0; g < a.garment_count(); ++g)
    any = any || a.state(g).positions != b.state(g).positions;
  return any;
}

using Command = std::function<void(Simulation&)>;
const std::vector<std::pair<const char*, Command>>& commands() {
  static const std::vector<Vec3d> target{{-0.1, -0.2, 0.05}};
  static const std::vector<std::pair<const char*, Command>> all{
      {"close_gripper", [](Simulation& s) { s.close_gripper(2, 0); }},
      {"set_pin_motion",
       [](Simulation& s) {
         s.set_pin_motion(1, 0, OscillationMotion{{0, 0.01, 0}, 2, s.time(1), 5});
       }},
      {"move_pin",
       [](Simulation& s) {
         s.move_pin(0, 0, {target.data(), target.size()}, 10 * step);
       }},
      {"set_gripper_motion",
       [](Simulation& s) {
         s.set_gripper_motion(2, 0, OscillationMotion{{0.01, 0, 0}, 2, s.time(2), 5});
       }},
      {"set_obstacle_motion",
       [](Simulation& s) {
         s.set_obstacle_motion(0, OscillationMotion{{0, 0, -0.05}, 1, s.time(), 5});
       }},
      {"set_wind",
       [](Simulation& s) {
         s.set_wind({.velocity = {2, 0, 0}, .gusts = 0, .gust_period = 1});
       }},
      {"set_gravity", [](Simulation& s) { s.set_gravity(1, 3); }},
      {"set_forces",
       [](Simulation& s) {
         std::vector<Vec3d> forces(49);
         for (std::size_t i = 0; i < forces.size(); ++i)
           forces[i] = {0, 1e-4 * static_cast<double>(i), 0.002};
         s.set_forces(1, forces);
       }},
      {"set_fabric",
       [](Simulation& s) {
         Fabric fabric = s.scene().garments[0].fabric;
         fabric.density *= 2;
         fabric.bending_stiffness *= 3;
         fabric.mass_damping += 0.5;
         fabric.drag.normal *= 2;
         s.set_fabric(0, fabric);
       }},
      {"open_gripper", [](Simulation& s) { s.open_gripper(2, 0); }}};
  return all;
}

void expect_commands_are_those_of_the_scene(const std::string& backend) {
  for (const Way& way : ways(backend)) {
    Simulation told(told_scene(way.recipe), way.options);
    told.advance(12);
    for (const auto& [name, command] : commands()) {
      Simulation untold = restarted(told);
      command(told);
      Simulation anew = restarted(told);
      for (Simulation* each : {&told, &anew, &untold}) each->advance(12);
      expect_same_states(told, anew, way.name + ", " + name);
      EXPECT_TRUE(differ(told, untold)) << way.name << ", " << name << " does nothing";
    }
  }
}

TEST(Commands, HaveTheBitsOfASceneThatSaysSo) { expect_commands_are_those_of_the_scene("cpu"); }

using GpuCommands = GpuCase;
TEST_F(GpuCommands, HaveTheBitsOfASceneThatSaysSo) { expect_commands_are_those_of_the_scene("cuda"); }

// Steered step by step, a sheet goes the way of one whose motions were written down before.
TEST(Commands, SteerAsAScriptDoes) {
  for (const Way& way : ways("cpu")) {
    const KeyframeMotion along{
        .times = {0.1, 0.2}, .translations = {{}, {0.02, 0, 0.03}}, .rotations = {}, .center = {}};
    Scene scripted = told_scene(way.recipe);
    scripted.garments[0].pins[0].motion = along;
    scripted.garments[1].grippers[0].holds = {{0.1, 0.15}};
    Scene told = told_scene(way.recipe);
    told.garments[1].grippers[0].holds.clear();  // waits for commands
    Simulation script(scripted, way.options), steered(told, way.options);
    steered.advance(20);
    steered.set_pin_motion(0, 0, along);
    steered.close_gripper(1, 0);
    steered.advance(10);
    EXPECT_EQ(held_nodes(steered, 1).empty(), false) << way.name;
    steered.open_gripper(1, 0);
    steered.advance(10);
    script.advance(40);
    EXPECT_TRUE(held_nodes(steered, 1).empty()) << way.name;
    expect_same_states(steered, script, way.name);
  }
}

TEST(Commands, PinsGetThereInTime) {
  Simulation simulation(told_scene("coltraro2022"));
  simulation.advance(10);
  const std::vector<Vec3d> target{simulation.positions(0)[0] + Vec3d{0.01, 0.02, 0.03}};
  simulation.move_pin(0, 0, {target.data(), 1}, 5 * step);
  simulation.advance(5);
  EXPECT_LT(norm(simulation.positions(0)[0] - target[0]), 1e-15);
  simulation.advance(5);
  EXPECT_LT(norm(simulation.positions(0)[0] - target[0]), 1e-15);
}

TEST(Commands, SnapshotsComeBackBitForBit) {
  Simulation simulation(told_scene("coltraro2022"));
  simulation.advance(10);
  const Snapshot before = simulation.snapshot();
  simulation.advance(10);
  const Snapshot after = simulation.snapshot();
  simulation.restore(before);
  EXPECT_EQ(simulation.step_index(), 10);
  simulation.advance(10);
  for (std::size_t g = 0; g < 3; ++g)
    expect_same_state(simulation.state(g), after.garments[g], "garment " + std::to_string(g));
}

TEST(Commands, ASnapshotThatDoesNotFitChangesNothing) {
  for (const char* recipe : {"coltraro2022", "bender_iterative"}) {
    Simulation simulation(told_scene(recipe));
    Snapshot foreign = simulation.snapshot();
    foreign.garments.back().positions.pop_back();
    simulation.advance(5);
    const Snapshot now = simulation.snapshot();
    EXPECT_THROW(simulation.restore(foreign), ShapeError);
    EXPECT_EQ(simulation.step_index(), 5);
    for (std::size_t g = 0; g < now.garments.size(); ++g)
      expect_same_state(simulation.state(g), now.garments[g], recipe);
  }
}

template <class Error>
void expect_refused(Simulation& simulation, const Command& command, const std::string& part) {
  const Scene before = simulation.scene();
  try {
    command(simulation);
    ADD_FAILURE() << "not refused: " << part;
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
  EXPECT_EQ(simulation.scene().garments[0].fabric.density, before.garments[0].fabric.density);
}

TEST(Commands, BadOnesAreRefusedAndChangeNothing) {
  Simulation s(told_scene("coltraro2022"));
  const std::vector<Vec3d> two(2);
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.set_pin_motion(3, 0, FixedMotion{}); }, "garment");
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.set_pin_motion(0, 1, FixedMotion{}); }, "pin");
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.close_gripper(0, 1); }, "gripper");
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.set_obstacle_motion(1, FixedMotion{}); }, "obstacle");
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.restore({}); }, "snapshot");
  expect_refused<SceneError>(
      s,
      [&](Simulation& x) {
        x.move_pin(0, 0, {two.data(), 2}, 1);
      },
      "targets");
  expect_refused<SceneError>(
      s,
      [&](Simulation& x) {
        x.move_pin(0, 0, {two.data(), 1}, 0);
      },
      "duration");
  const Vec3d nowhere{0, std::nan(""), 0};
  expect_refused<SceneError>(
      s,
      [&](Simulation& x) {
        x.move_pin(0, 0, {&nowhere, 1}, 1);
      },
      "pins[0].targets[0]");
  expect_refused<SceneError>(
      s, [](Simulation& x) { x.set_gravity(0, std::nan("")); }, "gravity");
  for (const auto& [change, part] : std::vector<std::pair<std::function<void(Fabric&)>, std::string>>{
           {[](Fabric& f) { f.density = 0; }, "density"},
           {[](Fabric& f) { f.bending_stiffness = 0, f.stiffness_damping = 0; }, "bending_stiffness"},
           {[](Fabric& f) { f.thickness = 0.1; }, "thickness"},
           {[](Fabric& f) { f.drag = {}; }, "drag"},
           {[](Fabric& f) { f.weft_bending_stiffness = f.bending_stiffness; },
            "weft_bending_stiffness: found"}}) {  // the recipe knows none
    Fabric fabric = s.scene().garments[0].fabric;
    change(fabric);
    expect_refused<SceneError>(
        s, [&](Simulation& x) { x.set_fabric(0, fabric); }, part);
  }
  expect_refused<SceneError>(
      s,
      [](Simulation& x) {
        x.set_obstacle_motion(0, OscillationMotion{{0, 0, std::nan("")}, 1, 0, 5});
      },
      "obstacles[0].motion");
  expect_refused<ShapeError>(
      s, [](Simulation& x) { x.set_body_velocity(0, {}, {}); }, "body");
}

// What rests in the scene may be moved, and rest again.
void expect_obstacles_set_out(const std::string& backend) {
  for (const Way& way : ways(backend)) {
    Scene scene = told_scene(way.recipe);
    scene.obstacles[0].motion = FixedMotion{};
    scene.obstacles.push_back({.name = "ball",
                               .shape = SphereShape{0.05},
                               .position = {-0.1, -0.1, -0.1},
                               .rotation = {},
                               .motion = {},
                               .friction = {}});
    Simulation told(scene, way.options);
    told.advance(50);
    Simulation untold = restarted(told);
    for (const ObstacleMotion& motion :
         std::vector<ObstacleMotion>{OscillationMotion{{0.01, 0, 0.03}, 1, told.time(), 5}, FixedMotion{}}) {
      told.set_obstacle_motion(1, motion);
      Simulation anew = restarted(told);
      for (Simulation* each : {&told, &anew, &untold}) each->advance(12);
      expect_same_states(told, anew, way.name);
      EXPECT_TRUE(differ(told, untold)) << way.name;
    }
  }
}

TEST(Commands, ObstaclesThatRestMaySetOut) { expect_obstacles_set_out("cpu"); }
TEST_F(GpuCommands, ObstaclesThatRestMaySetOut) { expect_obstacles_set_out("cuda"); }

/// A box above a floor, and a sheet between.
Scene boxed_scene() {
  Scene scene = body_scene(square_sheet(7, 0.3, 0.5),
                           {body(BoxShape{{0.1, 0.08, 0.06}, 0.01}, 0.2, {0, 0, 0.05}, 0.3)}, step);
  scene.obstacles = {obstacle(PlaneShape{}, {0, 0, -0.001}, 0.3)};
  return scene;
}

void expect_same_bodies(const Simulation& a, const Simulation& b) {
  const BodyState x = a.bodies()[0], y = b.bodies()[0];
  EXPECT_EQ(x.pose.center, y.pose.center);
  EXPECT_EQ(x.pose.axes, y.pose.axes);
  EXPECT_EQ(x.velocity, y.velocity);
  EXPECT_EQ(x.angular_momentum, y.angular_momentum);
  expect_same_states(a, b, "with a body");
}

// With a body among what moves: its number changes with the obstacles'.
TEST(Commands, FloorsUnderBodiesMaySetOut) {
  Simulation told(boxed_scene());
  const std::vector<Vec3d> forces(49, {0.04, 0, 0});
  told.set_forces(0, forces);
  told.advance(20);
  EXPECT_GT(told.velocities(0)[24].x, 1);  // the sheet slides out from under the box
  for (const ObstacleMotion& motion :
       std::vector<ObstacleMotion>{OscillationMotion{{0.01, 0, 0.02}, 1, told.time(), 5}, FixedMotion{}}) {
    told.set_obstacle_motion(0, motion);
    Simulation anew = restarted(told);
    for (Simulation* each : {&told, &anew}) each->advance(12);
    expect_same_bodies(told, anew);
  }
}

TEST(Commands, BodiesGoAsTheyAreTold) {
  const Vec3d v{0.3, -0.2, 0.5}, w{4, -3, 2};
  Scene scene = boxed_scene();
  scene.bodies[0].rotation = {0.3, 0.2, 0.1};
  Simulation told(scene);
  scene.bodies[0].velocity = v;
  scene.bodies[0].angular_velocity = w;
  Simulation scripted(scene);
  told.set_body_velocity(0, v, w);
  for (Simulation* each : {&told, &scripted}) each->advance(20);
  expect_same_bodies(told, scripted);
  told.set_body_velocity(0, v, w);
  Simulation anew = restarted(told);
  const BodyState before = told.bodies()[0];
  EXPECT_EQ(before.velocity, v);
  for (Simulation* each : {&told, &anew}) each->advance(10);
  expect_same_bodies(told, anew);
  EXPECT_THROW(told.set_body_velocity(1, v, w), ShapeError);
  EXPECT_THROW(told.set_body_velocity(0, {std::nan(""), 0, 0}, w), SceneError);
  EXPECT_THROW(told.set_body_velocity(0, v, {0, HUGE_VAL, 0}), SceneError);
  expect_same_bodies(told, anew);
}

// A ball in free flight: v + n h g, and turned by n h w.
TEST(Commands, BallsFlyAsTheyAreTold) {
  Simulation simulation(body_scene(far_sheet(), {body(SphereShape{0.1}, 0.4, {0, 0, 1})}, step));
  simulation.advance(5);
  const BodyState before = simulation.bodies()[0];
  const Vec3d v{1, 2, 3}, w{0, 0, 6};
  simulation.set_body_velocity(0, v, w);
  constexpr int steps = 8;
  simulation.advance(steps);
  const BodyState after = simulation.bodies()[0];
  const double h = step, g = simulation.scene().gravity, angle = steps * h * 6;
  const Vec3d way = steps * h * v - Vec3d{0, 0, h * h * g * steps * (steps + 1) / 2};
  EXPECT_LT(norm(after.velocity - v + Vec3d{0, 0, steps * h * g}), 1e-13);
  EXPECT_LT(norm(after.pose.center - before.pose.center - way), 1e-14);
  EXPECT_LT(norm(after.pose.axes[0] - Vec3d{std::cos(angle), std::sin(angle), 0}), 1e-14);
}

// Springs too stiff for the parts of a step: refused when they are set, and the old ones stay.
TEST(Commands, FabricsTooStiffForImpulsesAreRefused) {
  Scene scene = told_scene("bender_iterative");
  scene.impulse.substeps = 4;
  for (Garment& garment : scene.garments) garment.fabric.bending_stiffness = 1e-9;
  Simulation simulation(scene), other(scene);
  Fabric stiff = scene.garments[0].fabric;
  stiff.bending_stiffness = 1;
  expect_refused<SceneError>(
      simulation, [&](Simulation& s) { s.set_fabric(0, stiff); }, "substeps");
  simulation.advance(3);
  other.advance(3);
  expect_same_states(simulation, other, "after a refusal");
}

}  // namespace
}  // namespace isocloth
