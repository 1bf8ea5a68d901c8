// Sheets thrown at random obstacles.
#include <cstdio>

#include "engine/model/contact_thickness.hpp"
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

// In steps that converge no node is deeper than what its thickness gives, the tolerance, and half of what was
// beyond these before: what leaves is damped. Points of faces may come deeper: the search for the deepest one
// is not exact. Of those a damper leaves an eleventh in a step of 10 ms.
TEST(ContactDrop, NothingPassesThrough) {
  int stalled = 0, steps = 0;
  double deepest[5] = {};
  for (int number = 0; number < 200; number += unless_sanitized(1, 23)) {
    const Drop drop = random_drop(number);
    Simulation simulation(drop.scene, one_thread());
    const reference::ObstacleDistance distance(drop.scene.obstacles[0]);
    const Mesh& mesh = drop.scene.garments[0].mesh;
    const double tolerance = drop.scene.contact.tolerance,
                 most = tolerance + compression_of(drop.scene.garments[0], drop.scene).give() / 2;
    std::vector<Vec3d> before = drop.scene.garments[0].initial_positions;
    int own_stalled = 0;
    for (int step = 1; step <= unless_sanitized(60, 25); ++step, ++steps) {
      const StepReport report = simulation.step()[0];
      ASSERT_NE(report.status, StepStatus::non_finite) << number;
      const std::vector<Vec3d> positions = simulation.positions(0);
      ASSERT_TRUE(is_finite(positions)) << number;
      SCOPED_TRACE(::testing::Message() << number << ", step " << step);
      const double time = step * drop.scene.step, time_before = time - drop.scene.step,
                   nodes = deepest_node(positions, distance, time);
      const double nodes_before = deepest_node(before, distance, time_before),
                   allowed = most + 0.5 * std::max(0.0, nodes_before - most) + 1e-12;
      if (report.status == StepStatus::converged) {
        EXPECT_LE(report.penetration, tolerance + drop.thinnest / 11);
        EXPECT_LE(nodes, allowed);
      } else {
        ++own_stalled;
      }
      if (step % 5 == 0) {
        const double depth = reference::deepest_penetration(mesh, positions, distance, time, 0);
        deepest[number % 5] = std::max(deepest[number % 5], depth);
        EXPECT_LT(depth, drop.thinnest);
        if (drop.solid == Solid::plane && report.status == StepStatus::converged) {
          EXPECT_LE(depth, allowed);
        }
        if (drop.solid == Solid::sphere || drop.solid == Solid::capsule) {
          EXPECT_LT(depth, 5e-3);
        }
      }
      before = positions;
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
