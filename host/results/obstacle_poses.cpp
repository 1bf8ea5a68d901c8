#include "host/results/obstacle_poses.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

PackedPose packed_pose(const Pose& pose) {
  const auto [w, x, y, z] = quaternion_of(pose.axes);
  const Vec3d& c = pose.center;
  PackedPose packed;
  std::ranges::transform(std::array{c.x, c.y, c.z, x, y, z, w}, packed.begin(),
                         [](double value) { return static_cast<float>(value); });
  return packed;
}

std::vector<float> obstacle_poses(const Scene& scene, const std::vector<double>& clock_offsets, double time,
                                  const std::vector<BodyState>& bodies) {
  std::vector<float> all;
  for (const double offset : clock_offsets) {
    for (const Obstacle& obstacle : scene.obstacles) {
      const PackedPose packed = packed_pose(obstacle_pose(
          obstacle, Garment::every_world, {.of_garment = time + offset, .of_simulation = time}));
      all.insert(all.end(), packed.begin(), packed.end());
    }
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const PackedPose packed =
          packed_pose(shape_pose(bodies[b].pose, mass_properties(scene.bodies[b].shape)));
      all.insert(all.end(), packed.begin(), packed.end());
    }
  }
  return all;
}

}  // namespace isocloth
