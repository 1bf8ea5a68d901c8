#include "engine/model/gripper.hpp"

#include <algorithm>

#include "engine/core/checks.hpp"

namespace isocloth {

Pose gripper_pose(const Gripper& gripper, double t) {
  return frame_pose(gripper.position, gripper.rotation, gripper.motion, t);
}

bool is_closed(const Gripper& gripper, double t) {
  return std::any_of(gripper.holds.begin(), gripper.holds.end(),
                     [t](const Hold& hold) { return hold.from <= t && t < hold.to; });
}

void validate_gripper(const Gripper& gripper, const std::string& key) {
  if (gripper.name.empty()) refuse(key + ".name", "an empty text", "a name");
  std::visit([&](const auto& region) { validate_shape(region, key + ".region"); }, gripper.region);
  require_finite(key + ".position", gripper.position);
  require_position(key + ".position", gripper.position);
  require_finite(key + ".rotation", gripper.rotation);
  std::visit([&](const auto& motion) { check_bounded_motion(key + ".motion", motion); }, gripper.motion);
  require_not_negative(key + ".stiffness", gripper.stiffness);
  for (std::size_t i = 0; i < gripper.holds.size(); ++i) {
    const std::string hold_key = text(key, ".holds[", i, "]");
    const Hold& hold = gripper.holds[i];
    require_finite(hold_key + ".from", hold.from);
    require_finite(hold_key + ".to", hold.to);
    if (!(hold.to > hold.from)) refuse(hold_key + ".to", hold.to, text("more than from, ", hold.from));
    if (i > 0 && !(hold.from > gripper.holds[i - 1].to)) {
      refuse(hold_key + ".from", hold.from,
             text("more than ", gripper.holds[i - 1].to, ", when the span before it ends"));
    }
  }
}

}  // namespace isocloth
