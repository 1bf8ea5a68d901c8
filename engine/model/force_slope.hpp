// How a force on a node goes with the node's place and velocity.
#pragma once

#include <array>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// A symmetric 3x3 matrix: xx, xy, xz, yy, yz, zz.
using SymmetricTensor = std::array<double, 6>;

inline SymmetricTensor isotropic_tensor(double value) { return {value, 0, 0, value, 0, value}; }

/// Whether no eigenvalue is below 0, but for a rounding of 1e-12 of their sum, and all are finite.
bool is_positive_semidefinite(const SymmetricTensor& tensor);

/// F(x, v) = F - K (x - position) - D (v - velocity).
struct ForceSlope {
  SymmetricTensor stiffness{};  ///< K [N/m], positive semidefinite
  SymmetricTensor damping{};    ///< D [N s/m], positive semidefinite
  Vec3d position, velocity;     ///< where F is the force [m], [m/s]
  /// It lets go, K and D become 0, where a step begins with more than this for |K (x - position)| [N], >= 0;
  /// 0: never.
  double strength = 0;
};

}  // namespace isocloth
