// Sheets thrown at random obstacles.
#include <cstdio>

#include "tests/host/contact_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

enum class Solid { sphere, capsule, cylinder, box, plane };

struct Drop {
  Solid solid;
  Scene scene;
  double thinnest = 0;  ///< least half thickness of the solid [m]
};

/// A sheet of 0.3 to 1 m, thrown down at 0.5 to 10 m/s from above anything that the obstacle may reach; every
/// third obstacle moves.
Drop random_drop(int number) {
  Random random(1000 + static_cast<std::uint64_t>(number));
  Drop drop{.solid = static_cast<Solid>(number % 5), .scene = {}, .thinnest = 1};
  const double size = random.uniform(0.3, 1);
  Garment sheet = square_sheet(number % 2 ? 6 : 9, size, random.uniform(0, 3));
  const auto length = [&] { return random.uniform(0.05, 0.4); };
  const bool is_sharp = number % 3 != 0;
  ObstacleShape shape;
  double reach = 0.6 * size;  // a tilted plane rises under the sheet
  if (drop.solid == Solid::sphere) {
    const double radius = length();
    shape = SphereShape{radius};
    drop.thinnest = reach = radius;
  } else if (drop.solid == Solid::capsule) {
    const double radius = length(), straight = length();
    shape = CapsuleShape{radius, straight};
    drop.thinnest = radius;
    reach = radius + straight / 2;
  } else if (drop.solid == Solid::cylinder) {
    const double radius = length(), height = length();
    drop.thinnest = std::min(radius, height / 2);
    shape = CylinderShape{radius, height, is_sharp ? 0 : 0.3 * drop.thinnest};
    reach = std::hypot(radius, height / 2);
  } else if (drop.solid == Solid::box) {
    Vec3d sides;
    for (double* side : {&sides.x, &sides.y, &sides.z}) *side = length();
    drop.thinnest = std::min({sides.x, sides.y, sides.z}) / 2;
    shape = BoxShape{sides, is_sharp ? 0 : 0.3 * drop.thinnest};
    reach = norm(sides) / 2;
  } else {
    shape = PlaneShape{};
  }
  const double mu = number % 4 == 0 ? 0 : random.uniform(0, 1), tilt = drop.solid == Solid::plane ? 0.4 : 3;
  Vec3d position, rotation, amplitude;
  for (double* x : {&position.x, &position.y}) *x = random.uniform(-0.2, 0.2) * size;
  for (double* x : {&rotation.x, &rotation.y, &rotation.z}) *x = random.uniform(-tilt, tilt);
  for (double* x : {&amplitude.x, &amplitude.y, &amplitude.z}) *x = random.uniform(-0.05, 0.05);
  Obstacle solid = obstacle(shape, position, mu, rotation);
  const double frequency = random.uniform(0.3, 2), speed = random.uniform(0.5, 10);
  if (number % 3 == 1) {
    solid.motion =
        OscillationMotion{.amplitude = amplitude, .frequency = frequency, .start = 0, .duration = 100};
    reach += 0.2;
  }
  for (Vec3d& p : sheet.initial_positions) p.z += reach + 0.01 + 1e-3 * random.uniform(-1, 1);
  sheet.initial_velocities.assign(sheet.initial_positions.size(), Vec3d{0, 0, -speed});
  drop.scene = contact_scene(sheet, solid, 0.01);
  return drop;
}

bool is_finite(const std::vector<Vec3d>& vectors) {
  return std::all_of(vectors.begin(), vectors.end(), [](const Vec3d& v) {
    return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z);
  });
}

/// Of the nodes alone.
double deepest_node(const std::vector<Vec3d>& positions, const reference::ObstacleDistance& distance,
                    double t) {
  double deepest = 0;
  for (const Vec3d& p : positions) deepest = std::max(deepest, -distance.at(p, t).value);
  return deepest;
}

// In steps that converge no node is deeper than the tolerance and half of what was beyond it before. Points
// of faces may be deeper: the search for the deepest one is not exact.
TEST(ContactDrop, NothingPassesThrough) {
  int stalled = 0, steps = 0;
  double deepest[5] = {};
  for (int number = 0; number < 60; number += unless_sanitized(1, 7)) {
    const Drop drop = random_drop(number);
    Simulation simulation(drop.scene, one_thread());
    const reference::ObstacleDistance distance(drop.scene.obstacles[0]);
    const Mesh& mesh = drop.scene.garments[0].mesh;
    const double tolerance = drop.scene.contact.tolerance;
    double before = 0;
    int own_stalled = 0;
    for (int step = 1; step <= unless_sanitized(60, 25); ++step, ++steps) {
      const StepReport report = simulation.step()[0];
      ASSERT_NE(report.status, StepStatus::non_finite) << number;
      const std::vector<Vec3d> positions = simulation.positions(0);
      ASSERT_TRUE(is_finite(positions)) << number;
      const double time = step * drop.scene.step, nodes = deepest_node(positions, distance, time);
      if (report.status == StepStatus::converged) {
        EXPECT_LE(report.penetration, tolerance) << number << ", step " << step;
        EXPECT_LE(nodes, tolerance + 0.5 * std::max(0.0, before - tolerance) + 1e-12)
            << number << ", step " << step;
      } else {
        ++own_stalled;
      }
      before = nodes;
      if (step % 5 != 0) continue;
      const double depth = reference::deepest_penetration(mesh, positions, distance, time, 0);
      deepest[number % 5] = std::max(deepest[number % 5], depth);
      EXPECT_LT(depth, drop.thinnest) << number << ", step " << step;
      if (drop.solid == Solid::plane) {
        EXPECT_LE(depth, tolerance + 1e-12) << number << ", step " << step;
      }
      if (drop.solid == Solid::sphere || drop.solid == Solid::capsule) {
        EXPECT_LT(depth, 5e-3) << number << ", step " << step;
      }
    }
    stalled += own_stalled;
    if (own_stalled > 0) std::printf("drop %d: %d steps stalled\n", number, own_stalled);
  }
  std::printf(
      "%d of %d steps stalled; deepest of faces: sphere %.1e, capsule %.1e, cylinder %.1e, box %.1e, plane "
      "%.1e m\n",
      stalled, steps, deepest[0], deepest[1], deepest[2], deepest[3], deepest[4]);
}

}  // namespace
}  // namespace isocloth
