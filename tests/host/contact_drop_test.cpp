// Sheets thrown at random obstacles.
#include <cstdio>

#include "tests/host/drop_case.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

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
  for (int number = 0; number < 200; number += unless_sanitized(1, 23)) {
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
