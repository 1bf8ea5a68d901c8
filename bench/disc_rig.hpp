// Cloth clamped on a round frame, pressed in its middle by a disc (Volino, Magnenat-Thalmann, Faure 2009,
// section 4.2 and Fig. 10).
#pragma once

#include <array>
#include <vector>

#include "engine/material/fabric.hpp"

namespace isocloth::bench {

constexpr double disc_radius = 0.03, disc_frame_radius = 0.15;  ///< [m]
constexpr double disc_depth = 0.05;                             ///< to which the disc is pressed [m]

struct DiscTest {
  int nodes = 0;
  std::vector<std::array<double, 2>> curve;  ///< depth [m], force on the disc [N]
  double iterations = 0;                     ///< per step
};
/// On quads between disc and frame: so many circles, of six times as many nodes each. The disc goes down
/// evenly to disc_depth; force on it from the gripper that holds the inner circle.
DiscTest press_disc(const Fabric& fabric, int circles);

/// Force on the disc at each depth [N] of a membrane without bending that is alike in all directions: warp
/// and weft of stiffness k [N/m], shear k / 2, no Poisson coupling. Then nothing depends on the angle, and
/// radial and vertical displacement u, w are the minimum of
///   2 pi int k (e_r^2 + e_t^2) / 2 r dr,  e_r = ((1 + u')^2 + w'^2 - 1) / 2,  e_t = ((1 + u / r)^2 - 1) / 2
/// between the disc and the frame, found on `count` linear elements by Newton's method.
std::vector<double> disc_forces(double stiffness, const std::vector<double>& depths, int count);

}  // namespace isocloth::bench
