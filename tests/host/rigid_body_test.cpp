// Rigid bodies and cloth: exchange of momentum, rest, stability.
#include <cstdio>

#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

RigidBody body(const ObstacleShape& shape, double mass, Vec3d position, double mu = 0) {
  return {.name = "body",
          .shape = shape,
          .mass = mass,
          .position = position,
          .rotation = {},
          .velocity = {},
          .angular_velocity = {},
          .friction = {.static_ = mu, .dynamic = mu}};
}

Scene body_scene(const Garment& garment, const RigidBody& body, double step) {
  Scene scene;
  scene.garments = {garment};
  scene.bodies = {body};
  scene.step = step;
  scene.duration = 1000 * step;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

/// A net of `size` m whose corners are held at `reach` times their distance from the middle.
Garment held_net(Index n, double size, double reach) {
  Garment net = square_sheet(n, size, 0.5);
  net.pins = {{"corners", {0, n - 1, n * (n - 1), n * n - 1}, FixedMotion{}}};
  (void)reach;
  return net;
}

// What the cloth gains the body loses.
TEST(RigidBody, MomentumIsKept) {
  for (const double mass : {0.01, 0.5, 50.0}) {
    for (const double mu : {0.0, 0.5}) {
      Garment sheet = square_sheet(9, 0.5, 0);
      sheet.fabric.rho = 0.2;
      sheet.fabric.delta = 0.2;
      RigidBody ball = body(BoxShape{{0.1, 0.12, 0.08}, 0.02}, mass, {0.03, -0.02, 0.12}, mu);
      ball.velocity = {0.3, 0.1, -2};
      ball.angular_velocity = {3, -2, 4};
      Scene scene = body_scene(sheet, ball, 0.005);
      scene.gravity = 0;
      Simulation simulation(scene, one_thread());
      const Vec3d momentum = mass * ball.velocity;
      const Vec3d angular =
          simulation.bodies()[0].angular_momentum + mass * cross(ball.position, ball.velocity);
      double worst = 0, worst_angular = 0;
      int contacts = 0, stalled = 0, iterations = 0;
      for (int step = 0; step < 60; ++step) {
        const StepReport report = simulation.step()[0];
        ASSERT_NE(report.status, StepStatus::non_finite);
        stalled += report.status == StepStatus::stalled;
        iterations += report.iterations;
        const Measures cloth = simulation.measure(0);
        const BodyState state = simulation.bodies()[0];
        worst = std::max(worst, norm(cloth.linear_momentum + mass * state.velocity - momentum));
        worst_angular =
            std::max(worst_angular, norm(cloth.angular_momentum + state.angular_momentum +
                                         mass * cross(state.pose.center, state.velocity) - angular));
        contacts += simulation.contacts(0).count;
      }
      std::printf(
          "mass %g mu %g: momentum %.1e of %.1e, angular %.1e of %.1e, %d contacts, %d stalled, %d "
          "iterations\n",
          mass, mu, worst, norm(momentum), worst_angular, norm(angular), contacts, stalled, iterations);
      EXPECT_GT(contacts, 0);
    }
  }
}

TEST(RigidBody, BallComesToRestInANet) {
  for (const double mass : {0.0025, 0.25, 25.0}) {
    Garment net = held_net(17, 1, 1);
    net.fabric.rho = 0.25;
    net.fabric.delta = 0.25;
    for (Vec3d& p : net.initial_positions) p = {0.9 * p.x, 0.9 * p.y, 0};
    net.initial_positions.clear();
    const double radius = 0.12;
    Scene scene = body_scene(net, body(SphereShape{radius}, mass, {0.01, 0.02, radius + 0.05}, 0.3), 0.01);
    Simulation simulation(scene, one_thread());
    int stalled = 0, iterations = 0;
    double deepest = 0;
    for (int step = 0; step < 300; ++step) {
      const StepReport report = simulation.step()[0];
      ASSERT_NE(report.status, StepStatus::non_finite) << mass << " " << step;
      stalled += report.status == StepStatus::stalled;
      iterations += report.iterations;
      deepest = std::max(deepest, report.penetration);
    }
    const ContactMeasures contacts = simulation.contacts(0);
    const BodyState state = simulation.bodies()[0];
    std::printf(
        "mass %g: %d stalled, %d iterations, deepest %.1e, force %.6g of %.6g, speed %.1e, z %.3f, strain "
        "%.1e\n",
        mass, stalled, iterations, deepest, -contacts.forces[0].z, mass * scene.gravity, norm(state.velocity),
        state.pose.center.z, simulation.measure(0).strain_max);
  }
}

}  // namespace
}  // namespace isocloth
