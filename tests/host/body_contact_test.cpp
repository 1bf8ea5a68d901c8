// Rigid bodies among each other: many in one net, fast ones, friction of pairs.
#include <cstdio>

#include "engine/core/text.hpp"
#include "kernels/contact/contact_law.hpp"
#include "tests/host/body_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

Vec3d momentum_of(const Simulation& simulation) {
  Vec3d sum = simulation.measure(0).linear_momentum;
  for (std::size_t b = 0; b < simulation.scene().bodies.size(); ++b)
    sum += simulation.scene().bodies[b].mass * simulation.bodies()[b].velocity;
  return sum;
}

/// How high the sheet lies over (x, y), and -infinity beside it.
double height_of(const Mesh& mesh, const std::vector<Vec3d>& at, double x, double y) {
  double height = -HUGE_VAL;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    for (std::size_t k = 2; k < face.size(); ++k) {
      const Vec3d &a = at[face[0]], &b = at[face[k - 1]], &c = at[face[k]];
      const double area = (b.x - a.x) * (c.y - a.y) - (c.x - a.x) * (b.y - a.y);
      const double v = ((x - a.x) * (c.y - a.y) - (c.x - a.x) * (y - a.y)) / area,
                   w = ((b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y)) / area;
      if (v >= 0 && w >= 0 && v + w <= 1) height = std::max(height, a.z + v * (b.z - a.z) + w * (c.z - a.z));
    }
  }
  return height;
}

// Faces of 12 cm carry more than one body each: every one needs a contact of its own.
TEST(BodyContacts, NetCarriesSeveralBodies) {
  if (is_sanitized) GTEST_SKIP() << "a figure that takes seconds of simulated time";
  const Garment net = hanging_net(9);
  std::vector<RigidBody> bodies{body(SphereShape{0.05}, 0.2, {0.02, 0.01, 0.1}, 0.4),
                                body(SphereShape{0.05}, 0.1, {-0.1, 0.02, 0.15}, 0.4),
                                body(CapsuleShape{0.05, 0.06}, 0.3, {0.03, -0.03, 0.3}, 0.4),
                                body(CapsuleShape{0.04, 0.1}, 0.2, {-0.03, 0.02, 0.45}, 0.4)};
  bodies[2].rotation = {0.3, 0.5, 0};
  bodies[3].rotation = {0, 1, 0.4};
  Scene scene = body_scene(net, bodies, 0.01);
  scene.contact.tolerance = 1e-3;
  scene.projection.max_substeps = 8;
  Simulation simulation(scene, one_thread());
  const Index nodes = net.mesh.node_count(), per_node = std::min<Index>(4, most_contacts_per_node);
  int iterations = 0, stalled = 0, shared = 0;
  constexpr int steps = 400;
  Vec3d force;
  for (int step = 0; step < steps; ++step) {
    const StepReport report = simulation.step()[0];
    ASSERT_NE(report.status, StepStatus::non_finite) << step;
    iterations += report.iterations;
    stalled += report.status == StepStatus::stalled;
    if (step < steps / 2) continue;
    for (const Vec3d& f : simulation.contacts(0).forces) force += 2.0 / steps * f;
    const std::vector<ContactState> kept = simulation.state(0).contacts;
    const std::size_t first = static_cast<std::size_t>(nodes * per_node),
                      elements = (kept.size() - first) / most_contacts_per_element;
    for (std::size_t e = 0; e < elements; ++e)
      shared += kept[first + e].obstacle >= 0 && kept[first + elements + e].obstacle >= 0;
  }
  std::printf(
      "%.2f iterations per step, %d of %d steps stalled, force %.4g N, two bodies on an element %d times\n",
      double(iterations) / steps, stalled, steps, -force.z, shared);
  const double weight = 0.8 * scene.gravity;
  EXPECT_NEAR(-force.z, weight, 0.01 * weight);
  EXPECT_LE(iterations, 8 * steps);
  EXPECT_LE(stalled, steps / 100);
  EXPECT_GT(shared, 0);
  for (const BodyState& state : simulation.bodies()) EXPECT_LT(norm(state.velocity), 0.1);
}

// Collisions of bodies with each other and with a free sheet: forces are equal and opposite.
TEST(BodyContacts, MomentumIsKeptAmongBodies) {
  Garment sheet = square_sheet(9, 0.5, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  std::vector<RigidBody> bodies{body(BoxShape{{0.1, 0.12, 0.08}, 0.02}, 0.5, {0.03, -0.02, 0.12}, 0.5),
                                body(SphereShape{0.05}, 2, {0.05, 0, 0.4}, 0.5)};
  bodies[0].velocity = {0.3, 0.1, -2};
  bodies[0].angular_velocity = {3, -2, 4};
  bodies[1].velocity = {0, 0, -6};
  Scene scene = body_scene(sheet, bodies, 0.005);
  scene.gravity = 0;
  Simulation simulation(scene, one_thread());
  Vec3d before = momentum_of(simulation);
  const Vec3d start = before;
  double gained = 0;
  for (int step = 0; step < 60; ++step) {
    const StepReport report = simulation.step()[0];
    ASSERT_NE(report.status, StepStatus::non_finite);
    const Vec3d now = momentum_of(simulation);
    // As in RigidBody.MomentumIsKept.
    EXPECT_LE(norm(now - before), 1e-9 * norm(start)) << step;
    before = now;
    gained = std::max(gained, simulation.bodies()[1].velocity.z + 6);
  }
  EXPECT_GT(gained, 0.5);
}

// A ball moves by its own radius within a step, and by several where it is a bullet: impacts of more than
// 20 m/s take substeps.
TEST(BodyContacts, ThrownBallDoesNotPassThroughASheet) {
  for (const double speed : {10.0, 25.0, 40.0, 50.0}) {
    for (const double mass : {0.02, 0.5}) {
      Garment sheet = square_sheet(11, 0.8, 0.5);
      sheet.fabric.density = sheet.fabric.gravity_density = 0.3;
      sheet.pins = {{"corners", {0, 10, 110, 120}, FixedMotion{}}};
      RigidBody ball = body(SphereShape{0.05}, mass, {0.02, 0.03, 0.33}, 0.3);
      ball.velocity = {0.5, 0, -speed};
      const Scene scene = body_scene(sheet, {ball}, 0.005);
      Simulation simulation(scene, one_thread());
      double least = HUGE_VAL;
      for (int step = 0; step < 40; ++step) {
        ASSERT_EQ(simulation.step()[0].status, StepStatus::converged) << speed << ", " << step;
        const Vec3d at = simulation.bodies()[0].pose.center;
        const double height = height_of(sheet.mesh, simulation.positions(0), at.x, at.y);
        least = std::min(least, at.z - height);
        EXPECT_GT(at.z, height) << speed << " m/s, " << mass << " kg, step " << step;
      }
      // It came down to the sheet, and the sheet stopped it.
      EXPECT_LT(least, 0.06) << speed;
      EXPECT_GT(simulation.bodies()[0].velocity.z, -speed / 2) << speed;
    }
  }
}

// In the step in which they meet, or a wall. Two that are not round and meet at 120 m/s turn by half a radian
// or more in what is left of the step, which is beyond what tangent planes tell.
TEST(BodyContacts, FastBodiesDoNotPassThroughEachOtherOrThinWalls) {
  constexpr double wall = 0.105;
  int met = 0;
  for (const double speed : {15.0, 60.0, 200.0}) {
    if (is_sanitized && speed > 15) continue;
    // Shapes and the radii of balls inside of them.
    for (const auto& [shape, radius] : {std::pair<ObstacleShape, double>{SphereShape{0.04}, 0.04},
                                        {BoxShape{{0.06, 0.08, 0.05}, 0}, 0.025},
                                        {CapsuleShape{0.03, 0.1}, 0.03},
                                        {CylinderShape{0.03, 0.1, 0.002}, 0.03}}) {
      // One flies at a wall of 1 cm, two at each other.
      std::vector<RigidBody> bodies{body(shape, 0.3, {-0.3, 0, 0}, 0.2), body(shape, 0.3, {-0.4, 3, 0}, 0.2),
                                    body(shape, 0.5, {0.4, 3.01, 0.01}, 0.2)};
      bodies[0].velocity = bodies[1].velocity = {speed, 0, 0};
      bodies[2].velocity = {-speed, 0, 0};
      bodies[0].rotation = bodies[1].rotation = {0.2, 0.3, 0.8};
      bodies[2].rotation = {0.9, 0.1, 0.3};
      Scene scene = body_scene(far_sheet(), bodies, 0.005);
      scene.obstacles = {obstacle(BoxShape{{0.01, 1, 1}, 0}, {wall + 0.005, 0, 0})};
      scene.gravity = 0;
      Simulation simulation(scene, one_thread());
      bool have_met = false;
      for (int step = 0; step < 20; ++step) {
        const Vec3d before = momentum_of(simulation);
        const StepReport report = simulation.step()[0];
        ASSERT_NE(report.status, StepStatus::non_finite);
        const std::vector<BodyState> states = simulation.bodies();
        const std::string where = text(speed, " m/s, shape ", shape.index(), ", step ", step);
        ASSERT_LT(states[0].pose.center.x, wall - radius + scene.contact.tolerance) << where;
        if (have_met || (speed > 15 && !std::holds_alternative<SphereShape>(shape))) continue;
        const Vec3d apart = states[2].pose.center - states[1].pose.center;
        ASSERT_GT(apart.x, 0) << where;
        ASSERT_GT(norm(apart), 2 * radius - scene.contact.tolerance) << where;
        have_met = states[1].velocity.x != speed;
        met += have_met;
        if (!have_met) continue;
        EXPECT_EQ(report.status, StepStatus::converged) << where;
        // The wall takes from the first body alone.
        const Vec3d lost = momentum_of(simulation) - before - 0.3 * (states[0].velocity - bodies[0].velocity);
        EXPECT_LE(norm(lost), 1e-12 * speed) << where;
      }
      EXPECT_LT(simulation.bodies()[0].velocity.x, 0.1 * speed) << shape.index();
    }
  }
  EXPECT_EQ(met, unless_sanitized(4 + 2, 4));
}

// A block of its own friction 0.4 on a slope of tan 0.3: pairs decide.
TEST(BodyContacts, PairsHaveFrictionOfTheirOwn) {
  const double angle = std::atan(0.3);
  const auto speed = [&](double body_mu, double obstacle_mu, const std::vector<BodyFrictionPair>& pairs) {
    RigidBody block = body(BoxShape{{0.2, 0.2, 0.1}, 0.01}, 1,
                           {0.05 * std::sin(angle), 0, 0.05 * std::cos(angle)}, body_mu);
    block.rotation = {0, angle, 0};
    Scene scene = body_scene(far_sheet(), {block}, 0.01);
    scene.obstacles = {obstacle(PlaneShape{}, {}, obstacle_mu, {0, angle, 0})};
    scene.contact.body_pairs = pairs;
    Simulation simulation(scene, one_thread());
    for (int step = 0; step < 50; ++step) simulation.step();
    return norm(simulation.bodies()[0].velocity);
  };
  const double g = 9.8;
  const auto sliding = [&](double mu) { return 0.5 * g * (std::sin(angle) - mu * std::cos(angle)); };
  // Steps of a constant force are exact; the face is there from the first one on, at a gap of rounding, which
  // leaves by a tenth per step.
  constexpr double known = 1e-6;
  EXPECT_NEAR(speed(0.4, 0.1, {}), sliding(0.2), known * sliding(0.2));
  EXPECT_LT(speed(0.4, 0.4, {}), 1e-6);
  EXPECT_LT(speed(0, 0, {{.body = 0, .other = 0, .friction = {.static_ = 0.35, .dynamic = 0.1}}}), 1e-6);
  const double pair =
      speed(0.4, 0.4, {{.body = 0, .other = 0, .friction = {.static_ = 0.25, .dynamic = 0.1}}});
  EXPECT_NEAR(pair, sliding(0.1), known * sliding(0.1));
}

}  // namespace
}  // namespace isocloth
