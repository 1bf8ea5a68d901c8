// What programs have steered of a garment.
#pragma once

#include <cstddef>
#include <set>

namespace isocloth {

/// Motions and holds by times of the simulation, which the arrays of a scene have by the garment's own clock,
/// ahead of that by `lead` [s]; numbers of pins and grippers.
struct Steering {
  double lead = 0;
  std::set<std::size_t> pins, gripper_motions, gripper_holds;
};

}  // namespace isocloth
