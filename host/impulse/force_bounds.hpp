// How fast the explicit forces of a garment may be.
#pragma once

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
  double rate(const Fabric& fabric) const;
};

}  // namespace isocloth
