// Rigid bodies and cloth: exchange of momentum, rest, light and heavy bodies, contacts among bodies.
#include <cstdio>

#include "engine/core/errors.hpp"
#include "engine/geometry/intersection_search.hpp"
#include "kernels/contact/contact_law.hpp"
#include "tests/host/body_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

/// What the cloth gains the body loses: every linear solve is exact, whatever its contacts.
TEST(RigidBody, MomentumIsKept) {
  for (const double mass : {0.01, 0.5, 50.0}) {
    for (const double mu : {0.0, 0.5}) {
      Garment sheet = square_sheet(9, 0.5, 0);
      sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
      RigidBody box = body(BoxShape{{0.1, 0.12, 0.08}, 0.02}, mass, {0.03, -0.02, 0.12}, mu);
      box.velocity = {0.3, 0.1, -2};
      box.angular_velocity = {3, -2, 4};
      Scene scene = body_scene(sheet, {box}, 0.005);
      scene.gravity = 0;
      Simulation simulation(scene, one_thread());
      const auto momentum = [&] {
        return simulation.measure(0).linear_momentum + mass * simulation.bodies()[0].velocity;
      };
      Vec3d before = momentum();
      const Vec3d start = before;
      int contacts = 0;
      for (int step = 0; step < 60; ++step) {
        const StepReport report = simulation.step()[0];
        ASSERT_NE(report.status, StepStatus::non_finite);
        const Vec3d now = momentum();
        // The factor's rounding: eps times the condition of H, some 1e6 with rows of softness 1e-6.
        EXPECT_LE(norm(now - before), 2e-9 * norm(start)) << mass << ", " << mu << ", step " << step;
        before = now;
        contacts += simulation.contacts(0).count;
      }
      EXPECT_GT(contacts, 0);
      EXPECT_GT(norm(simulation.measure(0).linear_momentum), 0);
    }
  }
}

/// A box that falls on two sheets which lie on each other: what they and it have of momentum is kept, though
/// the three are solved as one by conjugate gradients; and no cloth passes through cloth.
TEST(RigidBody, MomentumIsKeptAmongClothsThatTouch) {
  constexpr double thickness = 0.004;
  std::vector<Garment> sheets{square_sheet(9, 0.5, 0), square_sheet(7, 0.4, 0)};
  for (Vec3d& p : sheets[1].initial_positions) p.z += 0.006;
  sheets[0].name = "lower";
  sheets[1].name = "upper";
  for (Garment& sheet : sheets) {
    sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
    sheet.fabric.thickness = thickness;
    sheet.fabric.stretch_stiffness = 2000;
    sheet.fabric.shear_stiffness = 100;
  }
  constexpr double mass = 0.1;
  RigidBody box = body(BoxShape{{0.1, 0.12, 0.08}, 0.02}, mass, {0.03, -0.02, 0.12}, 0.5);
  box.velocity = {0.3, 0.1, -2};
  box.angular_velocity = {3, -2, 4};
  Scene scene = body_scene(sheets[0], {box}, 0.005);
  scene.garments = sheets;
  scene.recipe = "membrane";
  scene.gravity = 0;
  scene.contact.cloth = true;
  scene.contact.tolerance = thickness / 4;
  scene.contact.cloth_friction = {.static_ = 0.3, .dynamic = 0.3};
  Simulation simulation(scene, one_thread());
  IntersectionSearch search({&scene.garments[0].mesh, &scene.garments[1].mesh});
  const auto total = [&] {
    const BodyState state = simulation.bodies()[0];
    Vec3d linear = mass * state.velocity,
          angular = state.angular_momentum + mass * cross(state.pose.center, state.velocity);
    for (const Measures& m : simulation.measure()) {
      linear += m.linear_momentum;
      angular += m.angular_momentum;
    }
    return std::pair{linear, angular};
  };
  const auto start = total();
  auto before = start;
  Index most_cloth = 0;
  int of_body = 0;
  for (int step = 0; step < 60; ++step) {
    for (const StepReport& report : simulation.step()) {
      EXPECT_EQ(report.status, StepStatus::converged) << step;
      EXPECT_EQ(report.held_back, 0) << step;
      most_cloth = std::max(most_cloth, report.cloth_contacts);
    }
    of_body += simulation.contacts(1).count;
    const auto now = total();
    EXPECT_LE(norm(now.first - before.first), 1e-9 * norm(start.first)) << step;
    before = now;
    EXPECT_EQ(search.find(simulation.positions()).crossing.count, 0) << step;
  }
  std::printf("angular momentum %.3e of %.3e lost\n", norm(before.second - start.second), norm(start.second));
  EXPECT_GT(most_cloth, 20);
  EXPECT_GT(of_body, 0);
  // Both sheets have been taken along, the lower one by the upper alone.
  for (const Measures& m : simulation.measure()) EXPECT_LT(m.linear_momentum.z, -1e-3);
}

/// Where no cloth touches cloth, that it could changes nothing, to the last bit.
TEST(RigidBody, ClothThatTouchesNoneMovesWithBodiesAsBefore) {
  Garment sheet = square_sheet(9, 0.5, 0);
  sheet.fabric.thickness = 0.004;
  sheet.fabric.stretch_stiffness = 2000;
  sheet.fabric.shear_stiffness = 100;
  RigidBody ball = body(SphereShape{0.1}, 0.1, {0.03, -0.02, 0.12}, 0.5);
  ball.velocity = {0, 0, -1};
  Scene scene = body_scene(sheet, {ball}, 0.005);
  scene.recipe = "membrane";
  scene.contact.tolerance = 0.001;
  scene.projection.max_iterations = 20;
  scene.projection.max_substeps = 4;
  std::vector<std::vector<Vec3d>> found;
  for (const bool cloth : {false, true}) {
    scene.contact.cloth = cloth;
    Simulation simulation(scene, one_thread());
    int contacts = 0;
    for (int step = 0; step < 40; ++step) {
      simulation.step();
      EXPECT_EQ(simulation.state(0).cloth_contacts.size(), 0u);
      contacts += simulation.contacts(0).count;
    }
    EXPECT_GT(contacts, 0);
    found.push_back(simulation.positions(0));
  }
  EXPECT_EQ(found[0], found[1]);
}

TEST(RigidBody, NetCarriesTheWeightOfABall) {
  if (is_sanitized) GTEST_SKIP() << "a figure that takes seconds of simulated time";
  constexpr double radius = 0.12;
  for (const double mass : {0.0025, 0.25, 25.0}) {  // 0.01, 1 and 100 times that of the cloth
    const Scene scene =
        body_scene(hanging_net(), {body(SphereShape{radius}, mass, {0.01, 0.02, radius + 0.05}, 0.3)}, 0.01);
    Simulation simulation(scene, one_thread());
    int stalled = 0;
    for (int step = 0; step < 800; ++step) {
      const StepReport report = simulation.step()[0];
      ASSERT_NE(report.status, StepStatus::non_finite) << mass << ", step " << step;
      stalled += report.status == StepStatus::stalled;
    }
    const BodyState state = simulation.bodies()[0];
    const double weight = mass * scene.gravity;
    // The mean over half a second: what is left of swinging is not weight.
    Vec3d force;
    for (int step = 0; step < 50; ++step) {
      simulation.step();
      force += 0.02 * simulation.contacts(0).forces[0];
    }
    std::printf("mass %g: %d of 800 steps stalled, force %.5g of %.5g N, speed %.1e m/s, z %.3f m\n", mass,
                stalled, -force.z, weight, norm(state.velocity), state.pose.center.z);
    EXPECT_NEAR(-force.z, weight, 0.01 * weight) << mass;
    EXPECT_LT(norm(state.velocity), 0.05) << mass;
    EXPECT_LT(stalled, 40) << mass;
    EXPECT_LE(simulation.measure(0).residual, scene.projection.tolerance) << mass;
    Obstacle ball = obstacle(SphereShape{radius}, simulation.bodies()[0].pose.center);
    const reference::ObstacleDistance distance(ball);
    // The search on faces is as good as in contacts with obstacles.
    EXPECT_LT(reference::deepest_penetration(scene.garments[0].mesh, simulation.positions(0), distance, 0, 0),
              1e-3)
        << mass;
  }
}

TEST(RigidBody, BodiesLieOnEachOtherAndOnObstacles) {
  std::vector<RigidBody> stack{body(BoxShape{{0.4, 0.4, 0.2}, 0.01}, 2, {0, 0, 0.101}, 0.5),
                               body(CylinderShape{0.1, 0.2, 0.01}, 1, {0.02, 0.01, 0.303}, 0.5),
                               body(SphereShape{0.1}, 3, {0.6, 0, 0.12}, 0.5),
                               body(CapsuleShape{0.1, 0.3}, 1, {-0.6, 0, 0.12}, 0.5)};
  stack[3].rotation = {1.5707963267948966, 0, 0};
  Scene scene = body_scene(far_sheet(), stack, 0.01);
  scene.obstacles = {obstacle(PlaneShape{}, {}, 0.5)};
  Simulation simulation(scene, one_thread());
  for (int step = 0; step < 100; ++step)
    ASSERT_EQ(simulation.step()[0].status, StepStatus::converged) << step;
  const double heights[] = {0.1, 0.3, 0.1, 0.1}, tolerance = scene.contact.tolerance;
  for (std::size_t b = 0; b < 4; ++b) {
    const BodyState state = simulation.bodies()[b];
    EXPECT_NEAR(state.pose.center.z, heights[b], 2 * tolerance) << b;
    EXPECT_LT(norm(state.velocity), 1e-3) << b;
  }
}

// A block on a slope of tan 0.3 stays where mu = 0.4, and slides with g (sin - mu cos) where mu = 0.2.
TEST(RigidBody, BlocksStickOrSlideOnASlope) {
  const double angle = std::atan(0.3);
  for (const double mu : {0.4, 0.2}) {
    RigidBody block =
        body(BoxShape{{0.2, 0.2, 0.1}, 0.01}, 1, {-0.05 * std::sin(-angle), 0, 0.05 * std::cos(angle)}, mu);
    block.rotation = {0, angle, 0};
    block.position = {0.05 * std::sin(angle), 0, 0.05 * std::cos(angle)};
    Scene scene = body_scene(far_sheet(), {block}, 0.01);
    scene.obstacles = {obstacle(PlaneShape{}, {}, mu, {0, angle, 0})};
    Simulation simulation(scene, one_thread());
    for (int step = 0; step < 50; ++step) simulation.step();
    const double speed = norm(simulation.bodies()[0].velocity);
    if (mu == 0.4) {
      EXPECT_LT(speed, 2e-3);
    } else {
      const double expected = 0.5 * scene.gravity * (std::sin(angle) - mu * std::cos(angle));
      EXPECT_NEAR(speed, expected, 0.03 * expected);
    }
  }
}

TEST(RigidBody, ScenesThatCannotBeAreRefused) {
  const auto expect = [](const Scene& scene, const ExecutionOptions& options, const std::string& part) {
    try {
      Simulation simulation(scene, options);
      ADD_FAILURE() << "accepted, expected " << part;
    } catch (const std::exception& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
  };
  const RigidBody ball = body(SphereShape{0.1}, 1, {0, 0, 0.2});
  const Scene scene = body_scene(square_sheet(5, 0.4, 0), {ball}, 0.01);
  Simulation accepted(scene, one_thread());
  expect(scene, one_thread(StepSolver::batched), "solver: found \"batched\": bodies: found 1, expected none");
  expect(scene, {.precision = Precision::float32, .threads = 1}, "precision: found float32");
  Scene other = scene;
  other.recipe = "bender_iterative";
  expect(other, one_thread(), "bodies: found 1");
  other = scene;
  other.bodies.push_back(body(SphereShape{0.1}, 1, {0.05, 0, 0.3}));
  other.bodies.back().name = "second";
  expect(other, one_thread(), "inside of body");
  other.bodies.back().name = "body 0";
  expect(other, one_thread(), "bodies[1].name: found \"body 0\"");
  other = scene;
  other.obstacles = {obstacle(PlaneShape{}, {0, 0, 0.15})};
  other.garments[0].initial_positions = {};
  for (Vec3d& p : other.garments[0].mesh.positions) p.z += 1;
  expect(other, one_thread(), "body \"body 0\": found 0.05 m inside of obstacle \"obstacle\" at the start");
  other = scene;
  other.bodies[0].position.z = 0.05;
  expect(other, one_thread(), "m inside of body \"body 0\" at the start");
  other = scene;
  other.projection.metric = Metric::mass;
  expect(other, one_thread(),
         "bodies: found 1, expected none with projection.metric \"mass\": use \"implicit\"");
}

TEST(RigidBody, StatesAreKeptBitForBit) {
  const Scene scene =
      body_scene(hanging_net(), {body(BoxShape{{0.2, 0.1, 0.1}, 0.01}, 0.5, {0.01, 0.02, 0.2}, 0.3)}, 0.01);
  Simulation whole(scene, one_thread()), parts(scene, one_thread());
  for (int step = 0; step < 40; ++step) whole.step();
  for (int step = 0; step < 20; ++step) parts.step();
  const GarmentState cloth = parts.state(0);
  const std::vector<BodyState> bodies = parts.bodies();
  parts.reset();
  EXPECT_EQ(parts.bodies()[0].pose.center,
            start_state(scene.bodies[0], mass_properties(scene.bodies[0].shape)).pose.center);
  parts.set_state(0, cloth);
  parts.set_bodies(bodies);
  parts.set_step_index(20);
  parts.advance(20);
  EXPECT_EQ(parts.positions(0), whole.positions(0));
  EXPECT_EQ(parts.bodies()[0].pose.center, whole.bodies()[0].pose.center);
  EXPECT_EQ(parts.bodies()[0].pose.axes, whole.bodies()[0].pose.axes);
  EXPECT_EQ(parts.bodies()[0].angular_momentum, whole.bodies()[0].angular_momentum);
  EXPECT_THROW(parts.set_bodies({}), ShapeError);
}

}  // namespace
}  // namespace isocloth
