// Where obstacles are at a frame, as results keep it.
#pragma once

#include <array>
#include <vector>

#include "engine/model/scene.hpp"

namespace isocloth {

/// Centre x, y, z [m] and the unit quaternion x, y, z, w of the axes (w >= 0).
using PackedPose = std::array<float, 7>;
PackedPose packed_pose(const Pose& pose);

/// Packed poses of all obstacles at `time` of the run [s] as the garments of each clock see them, and of the
/// bodies' shapes, shape [clock, obstacle and body, 7]; `clock_offsets`: times of the garments' clocks at
/// time 0 [s].
std::vector<float> obstacle_poses(const Scene& scene, const std::vector<double>& clock_offsets, double time,
                                  const std::vector<BodyState>& bodies = {});

}  // namespace isocloth
