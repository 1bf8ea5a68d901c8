// Cloth on cloth in cases whose answers are known.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "engine/core/errors.hpp"
#include "tests/host/cloth_sheets.hpp"

namespace isocloth {
namespace {

Pin all_nodes(const Garment& garment, Motion motion) {
  Pin pin{"all", {}, std::move(motion)};
  for (Index i = 0; i < garment.mesh.node_count(); ++i) pin.nodes.push_back(i);
  return pin;
}

/// A sheet on a body of the same cloth, both flat and tilted about y.
Scene slope(double degrees) {
  const double angle = degrees * std::numbers::pi / 180, c = std::cos(angle), s = std::sin(angle);
  std::vector<Garment> garments{sheet("sliding", 7, 0.2, {0, 0, thickness}), sheet("held", 9, 0.4, {})};
  for (Garment& garment : garments)
    for (std::size_t i = 0; i < garment.initial_positions.size(); ++i) {
      const double size = garment.name == "held" ? 0.4 : 0.2, up = garment.name == "held" ? 0 : thickness;
      const Vec3d p = garment.mesh.positions[i] - Vec3d{size / 2, size / 2, 0};
      garment.initial_positions[i] = {c * p.x + s * up, p.y, c * up - s * p.x};
    }
  garments[1].pins = {all_nodes(garments[1], FixedMotion{})};
  return cloth_scene(garments);
}

/// Coulomb: it stays below atan(0.3) = 16.7 degrees, and gains g (sin - 0.3 cos) t above. At 18 degrees that
/// is 8 % of its weight along the slope: forces on nodes that balance to a thousandth of their weight leave 2
/// % of it, those of a step that only meets rows and gaps a quarter.
TEST(ClothCases, ASheetSlidesOnASlopeAsCoulombSays) {
  for (const double degrees : {14.0, 18.0, 25.0}) {
    Scene scene = slope(degrees);
    scene.projection.force_tolerance = 1e-3;
    scene.projection.on_violation = OnViolation::go_on;
    Simulation simulation(scene);
    constexpr int steps = 20;
    simulation.advance(steps);
    const Vec3d momentum = simulation.measure(0).linear_momentum;
    const double angle = degrees * std::numbers::pi / 180,
                 gain = scene.gravity * (std::sin(angle) - 0.3 * std::cos(angle)) * steps * scene.step,
                 speed = std::hypot(momentum.x, momentum.z) / (0.2 * 0.2 * 0.2);
    if (gain > 0) {
      EXPECT_NEAR(speed, gain, 0.05 * gain) << degrees;
    } else {
      EXPECT_LT(speed, 2e-3) << degrees;
    }
  }
}

/// Two layers and a fold that falls shut: 1.000 of its weight on the floor, and what does not creep in 2 s by
/// more than 0.01 mm does not by 0.05 in 10.
TEST(ClothCases, AFoldAtRestDoesNotCreep) {
  Garment strip = sheet("strip", 3, 1, {});
  strip.mesh = quad_grid(14, 4, 0.26, 0.06);
  strip.initial_velocities.clear();
  strip.initial_positions.clear();
  strip.fabric.mass_damping = 2;
  for (const Vec3d& p : strip.mesh.positions) {
    const double x = p.x < 0.13 ? p.x : 0.26 - p.x;  // a column of elements stands between the layers
    strip.initial_positions.push_back({x, p.y, p.x < 0.13 ? 0.002 : 0.022});
  }
  Scene scene = cloth_scene({strip});
  scene.obstacles = {floor_obstacle()};
  Simulation simulation(scene);
  simulation.advance(400);
  IntersectionSearch search = search_of(scene);
  EXPECT_EQ(crossings(search, simulation), 0);
  const std::vector<Vec3d> before = simulation.positions(0);
  const StepReport report = simulation.advance(400).front();
  EXPECT_EQ(report.status, StepStatus::converged);
  EXPECT_LE(report.iterations, 404);
  EXPECT_GT(report.cloth_loaded, 0);
  const std::vector<Vec3d> after = simulation.positions(0);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LT(norm(after[i] - before[i]), 1e-5) << i;
  const double weight = 0.2 * 0.26 * 0.06 * scene.gravity;
  EXPECT_NEAR(simulation.contacts(0).force.z, weight, 1e-3 * weight);
}

/// A turn and back of both ends, nearer to each other by what helices of radius 5 cm take up: nothing is held
/// back, and nothing stays.
TEST(ClothCases, ATwistWithinItsLimitComesBack) {
  constexpr double length = 0.4, width = 0.1, radius = 0.05, angle = 2 * std::numbers::pi;
  Garment strip = sheet("strip", 3, 1, {});
  strip.mesh = quad_grid(17, 5, length, width);
  strip.initial_velocities.clear();
  strip.initial_positions.clear();
  Random random(5);
  for (const Vec3d& p : strip.mesh.positions)
    strip.initial_positions.push_back({p.x - length / 2, p.y - width / 2, 1e-4 * random.uniform(-1, 1)});
  for (const double side : {-1.0, 1.0}) {
    KeyframeMotion motion;
    for (int k = 0; k <= 24; ++k) {
      const double share = 1 - std::fabs(k / 12.0 - 1), turn = share * angle;
      motion.times.push_back(0.05 * k);
      motion.rotations.push_back({side * turn / 2, 0, 0});
      motion.translations.push_back(
          {-side * (length - std::sqrt(length * length - std::pow(radius * turn, 2)) + 0.01 * share) / 2, 0,
           0});
    }
    Pin pin{side < 0 ? "left" : "right", {}, motion};
    for (Index i = 0; i < strip.mesh.node_count(); ++i)
      if (std::fabs(strip.initial_positions[static_cast<std::size_t>(i)].x - side * length / 2) < 1e-6)
        pin.nodes.push_back(i);
    strip.pins.push_back(pin);
  }
  Scene scene = cloth_scene({strip});
  scene.gravity = 0;
  scene.garments[0].fabric.mass_damping = 1;
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  for (int n = 0; n < 260; ++n) {
    const StepReport report = simulation.step().front();
    ASSERT_EQ(report.status, StepStatus::converged) << n;
    ASSERT_EQ(report.held_back, 0) << n;
    EXPECT_GE(report.cloth_gap, 0.75) << n;
    ASSERT_EQ(crossings(search, simulation), 0) << n;
  }
  EXPECT_LT(simulation.strains().front().stretch_max, 0.01);
}

/// The moves of one step, where conjugate gradients end at 1e-10 and far beyond.
TEST(ClothCases, ConjugateGradientsComeToTheSolution) {
  std::vector<Vec3d> moves[2];
  for (const bool is_exact : {false, true}) {
    Scene scene = cloth_scene(
        {sheet("lower", 9, 0.3, {0, 0, 0}), sheet("upper", 7, 0.2, {0.01, 0.02, thickness}, {0, 0, -1})});
    scene.projection.cg_tolerance = is_exact ? 1e-14 : 1e-10;
    Simulation simulation(scene);
    EXPECT_GT(simulation.step().front().cg_iterations, 5);
    for (std::size_t g : {0, 1})
      for (std::size_t i = 0; i < scene.garments[g].initial_positions.size(); ++i)
        moves[is_exact].push_back(simulation.positions(g)[i] - scene.garments[g].initial_positions[i]);
  }
  double most = 0, worst = 0;
  for (std::size_t i = 0; i < moves[0].size(); ++i) {
    most = std::max(most, norm(moves[1][i]));
    worst = std::max(worst, norm(moves[0][i] - moves[1][i]));
  }
  EXPECT_LT(worst, 1e-6 * most);
}

/// A pinned patch of a sheet goes down through a plate that nothing moves, and back: it stops before it, in
/// few solves, says so, and is free again when it comes back.
TEST(ClothCases, PinsStopBeforeWhatCannotGiveWay) {
  Garment plate = sheet("plate", 9, 0.3, {}), above = sheet("above", 9, 0.2, {0.003, 0.002, 0.01});
  plate.pins = {all_nodes(plate, FixedMotion{})};
  KeyframeMotion down{
      .times = {0, 0.1, 0.2}, .translations = {{}, {0, 0, -0.04}, {}}, .rotations = {}, .center = {}};
  Pin patch{"patch", {}, down};
  for (const Index row : {3, 4, 5})
    for (const Index column : {3, 4, 5}) patch.nodes.push_back(9 * row + column);
  above.pins = {patch};
  Scene scene = cloth_scene({above, plate});
  scene.projection.on_violation = OnViolation::go_on;
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  std::int64_t blocked = 0;
  for (int n = 0; n < 50; ++n) {
    const StepReport report = simulation.step().front();
    EXPECT_LE(report.iterations, 100) << n;
    EXPECT_EQ(report.status, report.blocked > 0 ? StepStatus::stalled : StepStatus::converged) << n;
    if (n > 38) {
      EXPECT_EQ(report.blocked, 0) << n;
    }
    blocked += report.blocked;
    ASSERT_EQ(crossings(search, simulation), 0) << n;
  }
  EXPECT_GT(blocked, 9 * 10);
  for (const Index node : patch.nodes) {
    const auto i = static_cast<std::size_t>(node);
    EXPECT_LT(norm(simulation.positions(0)[i] - above.initial_positions[i]), 1e-9);
  }
}

/// Three sheets that start at a fifth of their thickness.
TEST(ClothCases, WhatStartsTooNearIsPartedBeforeItMoves) {
  Scene scene = cloth_scene({});
  for (int i = 0; i < 3; ++i) {
    Garment& own = scene.garments.emplace_back(sheet("sheet", 7, 0.2, {0.01 * i, 0.003 * i, 0}));
    for (Vec3d& p : own.initial_positions) p.z = thickness / 5 * i;
  }
  scene.gravity = 0;
  scene.projection.on_violation = OnViolation::go_on;
  const auto speed = [](const Scene& of) {
    Simulation simulation(of);
    double most = 0;
    for (int n = 0; n < 5; ++n) {
      simulation.step();
      for (std::size_t g = 0; g < of.garments.size(); ++g)
        for (const Vec3d& v : simulation.velocities(g)) most = std::max(most, norm(v));
    }
    return most;
  };
  EXPECT_EQ(Simulation(scene).separation().nodes, 0);
  EXPECT_GT(speed(scene), 0.05);
  scene.contact.initial = ClothStart::separate;
  const Simulation parted(scene);
  EXPECT_GT(parted.separation().nodes, 60);
  EXPECT_EQ(parted.separation().pairs_left, 0);
  EXPECT_LT(parted.separation().farthest, thickness);
  EXPECT_LT(speed(scene), 0.005);
  // What is parted stays where it is.
  EXPECT_EQ(Simulation(parted.scene()).separation().nodes, 0);
  EXPECT_EQ(Simulation(parted.scene()).positions(), parted.positions());
}

/// Grippers that fold a towel onto itself, told as it goes: the bits of the scene that said so before.
TEST(ClothCases, CommandsHaveTheBitsOfTheScript) {
  Garment towel = sheet("towel", 9, 0.2, {0, 0, 0.001});
  const KeyframeMotion over{.times = {0.05, 0.15, 0.25},
                            .translations = {{}, {0, 0.06, 0.06}, {0, 0.13, 0.004}},
                            .rotations = {},
                            .center = {}};
  for (const double side : {-1.0, 1.0}) {
    Gripper& gripper = towel.grippers.emplace_back();
    gripper.name = side < 0 ? "left" : "right";
    gripper.region = SphereShape{0.02};
    gripper.position = {0.1 * side, -0.1, 0.001};
  }
  Scene scripted = cloth_scene({towel});
  scripted.obstacles = {floor_obstacle()};
  scripted.projection.on_violation = OnViolation::go_on;
  Simulation steered(scripted);
  for (Gripper& gripper : scripted.garments[0].grippers) {
    gripper.motion = over;
    gripper.holds = {{0.05, 0.3}};
  }
  std::vector<Vec3d> forces(81);
  forces[80] = {0, 0, 1e-3};
  Simulation script(scripted);
  steered.advance(10);
  for (const std::size_t g : {0, 1}) {
    steered.set_gripper_motion(0, g, over);
    steered.close_gripper(0, g);
  }
  steered.advance(30);
  script.advance(40);
  for (Simulation* each : {&steered, &script}) each->set_forces(0, forces);
  steered.advance(20);
  script.advance(20);
  for (const std::size_t g : {0, 1}) steered.open_gripper(0, g);
  EXPECT_GT(steered.step().front().cloth_contacts, 3);
  steered.advance(9);
  script.advance(10);
  EXPECT_EQ(steered.state(0), script.state(0));
}

/// The garment that leaves all places in a step is named, not that which it meets on its way.
TEST(ClothCases, SpeedsOutOfAllPlacesAreRefusedByName) {
  Scene scene = cloth_scene({sheet("below", 5, 0.2, {}), sheet("above", 5, 0.2, {0, 0, 0.1})});
  scene.garments[1].initial_velocities.assign(scene.garments[1].mesh.positions.size(), {0, 0, -1e30});
  try {
    const Simulation simulation(scene);
    ADD_FAILURE() << "not refused";
  } catch (const SceneError& error) {
    EXPECT_NE(std::string(error.what()).find("garments[1].initial_velocities[0]: found 1e+30"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace isocloth
