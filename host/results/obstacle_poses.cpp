#include "host/results/obstacle_poses.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

PackedPose packed_pose(const Pose& pose) {
  const auto& [x, y, z] = pose.axes;
  // Four times the square of each component; the largest is at least 1, so its root is safe to divide by.
  const std::array<double, 4> squares{1 + x.x - y.y - z.z, 1 - x.x + y.y - z.z, 1 - x.x - y.y + z.z,
                                      1 + x.x + y.y + z.z};
  const auto largest =
      static_cast<std::size_t>(std::max_element(squares.begin(), squares.end()) - squares.begin());
  // Four times the product of the largest component and each.
  const std::array<double, 4> products[] = {{squares[0], x.y + y.x, x.z + z.x, y.z - z.y},
                                            {x.y + y.x, squares[1], y.z + z.y, z.x - x.z},
                                            {x.z + z.x, y.z + z.y, squares[2], x.y - y.x},
                                            {y.z - z.y, z.x - x.z, x.y - y.x, squares[3]}};
  const std::array<double, 4>& q = products[largest];
  const double scale = std::copysign(0.5 / std::sqrt(squares[largest]), q[3]);
  return {static_cast<float>(pose.center.x), static_cast<float>(pose.center.y),
          static_cast<float>(pose.center.z), static_cast<float>(scale * q[0]),
          static_cast<float>(scale * q[1]),  static_cast<float>(scale * q[2]),
          static_cast<float>(scale * q[3])};
}

std::vector<float> obstacle_poses(const Scene& scene, const std::vector<double>& clock_offsets, double time,
                                  const std::vector<BodyState>& bodies) {
  std::vector<float> all;
  for (const double offset : clock_offsets) {
    for (const Obstacle& obstacle : scene.obstacles) {
      const PackedPose packed = packed_pose(obstacle_pose(obstacle, time + offset));
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
