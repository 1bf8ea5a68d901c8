// Grippers: what takes hold of cloth, moves it and lets it go.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// What a gripper reaches, in its own frame.
using GripRegion = std::variant<SphereShape, CylinderShape, BoxShape>;

/// A time span, its end excluded.
struct Hold {
  double from = 0;  ///< [s]
  double to = 0;    ///< [s], > from
};

/// When it closes it takes hold of the nodes that are in its region, wherever the cloth has got to by then;
/// until it opens they keep their places in its frame. A node that a pin or another gripper holds is not
/// taken. Grippers meet nothing: they are no obstacles.
struct Gripper {
  std::string name;  ///< for messages and results
  GripRegion region;
  Vec3d position;  ///< place of the region's origin at time 0 [m]
  Vec3d rotation;  ///< rotation vector of the region's axes at time 0 [rad]
  ObstacleMotion motion;
  /// Ascending, apart from each other; a step belongs to the span that its middle lies in. None: only a
  /// command closes it.
  std::vector<Hold> holds;
  /// Force per area of held cloth and distance from where the gripper wants it [N/m^3], >= 0; 0: rigid.
  double stiffness = 0;
};

/// The gripper's frame at time t [s].
Pose gripper_pose(const Gripper& gripper, double t);

/// Whether the gripper is closed at time t [s].
bool is_closed(const Gripper& gripper, double t);

/// Checks everything that the members promise, and that it ever closes; throws SceneError, messages begin
/// with `key`.
void validate_gripper(const Gripper& gripper, const std::string& key);

}  // namespace isocloth
