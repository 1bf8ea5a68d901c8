#include "host/models/particles/obstacle_gap.hpp"

#include <limits>

#include "host/reference/obstacle_distance.hpp"

namespace isocloth {

std::function<Gap(Vec3d)> obstacle_gap(const std::vector<Obstacle>& obstacles, double t, double offset) {
  if (obstacles.empty()) return {};
  std::vector<reference::ObstacleDistance> distances(obstacles.begin(), obstacles.end());
  return [distances, t, offset](Vec3d x) {
    Gap least{std::numeric_limits<double>::infinity(), {}};
    for (const reference::ObstacleDistance& distance : distances)
      if (const reference::SignedDistance d = distance.at(x, t); d.value - offset < least.value)
        least = {d.value - offset, d.gradient};
    return least;
  };
}

}  // namespace isocloth
