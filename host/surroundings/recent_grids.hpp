// Grids of distances from surfaces that were asked for lately.
#pragma once

#include <string>

#include "engine/core/monitor.hpp"
#include "engine/geometry/distance_grid.hpp"

namespace isocloth {

/// build_distance_grid() of a rigid body's surface, build_obstacle_grid() of an obstacle's, which takes
/// seconds for a human body. The latest four of a process are kept, so that simulations of the same surfaces
/// that are made one after another (sewing, searches, resets) measure them once. Throws what those throw. Any
/// thread may call it.
DistanceGrid recent_grid(const MeshShape& shape, bool is_body, const std::string& key,
                         const MonitorView& monitor);

}  // namespace isocloth
