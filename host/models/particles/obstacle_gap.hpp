// What particles must not enter.
#pragma once

#include <functional>
#include <vector>

#include "engine/models/particles/particle_energy.hpp"
#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// The least distance from any of the obstacles at time t [s], less `offset` [m], by their exact shapes
/// (host/reference/obstacle_distance.hpp); none where there are no obstacles.
std::function<Gap(Vec3d)> obstacle_gap(const std::vector<Obstacle>& obstacles, double t, double offset);

}  // namespace isocloth
