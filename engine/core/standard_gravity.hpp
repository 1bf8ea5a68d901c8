// What forces are measured by where nothing weighs.
#pragma once

namespace isocloth {

inline constexpr double standard_gravity = 9.81;  ///< [m/s^2]

}  // namespace isocloth
