// A force that a program computes before each step: what it is told, what it says.
#pragma once

#include <functional>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/errors.hpp"
#include "engine/model/force_slope.hpp"

namespace isocloth {

/// What a force threw or said that is no force. What it threw is nested in it (std::rethrow_if_nested).
struct ForceError : Error {
  using Error::Error;
};

/// Garments before a step. They have the same faces; arrays of nodes hold one garment after another, in the
/// order of `garments`, shape [garments.size() * node_count], and are valid during the call.
struct ForceInput {
  const std::vector<std::size_t>& garments;  ///< numbers of the garments in the scene
  /// Times of the garments' clocks when the step begins [s], shape [garments.size()].
  const std::vector<double>& times;
  double step = 0;                    ///< duration of the step [s]
  ArrayView<const Vec3d> positions;   ///< positions of the nodes when the step begins [m]
  ArrayView<const Vec3d> velocities;  ///< velocities of the nodes when the step begins [m/s]
  ArrayView<const double> masses;     ///< masses of the nodes rho m_i, m_i the lumped area [kg]
};

/// What the force says; arrays of the shape of positions.
struct ForceOutput {
  /// F at positions and velocities of the input [N]; zeros when the force is asked.
  std::vector<Vec3d> forces;
  /// K = -dF/dx [N/m] and D = -dF/dv [N s/m] of each node, or what of them is positive semidefinite; empty:
  /// none. With them the force is implicit: F - K (x - x_n) - D (v - v_n) acts, x and v at the end of the
  /// step.
  std::vector<SymmetricTensor> stiffness, damping;
};

using ForceFunction = std::function<void(const ForceInput&, ForceOutput&)>;

}  // namespace isocloth
