// How fast the explicit forces of a garment may be.
#pragma once

#include <array>
#include <vector>

#include "engine/material/fabric.hpp"

namespace isocloth {

/// Largest rate r [1/s] of the explicit forces of a garment: parts of a step with h r <= 1 are stable, that
/// is, h^2 K
/// + 2 h C <= 4 for x'' = -K x - C x' in symplectic Euler steps, with Gershgorin's bounds K_i = (sum of 2 k
/// over the springs at node i + kappa sum_j |K_ij|) / (rho m_i) and C_i alike. Arrays: shape [node_count].
struct ForceBounds {
  std::vector<double> structural_springs, shear_springs, bend_springs;  ///< number of springs at each node
  std::vector<double> bending;                                          ///< sum_j |K_ij| [1/m^2], or empty
  std::vector<double> inverse_masses;                                   ///< 1 / m_i [1/m^2], 0: pinned
  /// Bounds of the metric's stiffness, TensorGrid::metric_rows(), shape [component][2 node_count], for
  /// semi-implicit steps; else empty. Stretching of these steps is explicit: with the metric of the beginning
  /// of a step, central differences of x'' = -K x are stable for h^2 K <= 4, damped or not, and the rate is
  /// that of threads which are stretched by half of their length.
  std::array<std::vector<double>, 3> metric;
  double rate(const Fabric& fabric) const;
};

}  // namespace isocloth
