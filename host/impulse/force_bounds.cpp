#include "host/impulse/force_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

double ForceBounds::rate(const Fabric& fabric) const {
  double most = 0;
  for (std::size_t i = 0; i < inverse_masses.size(); ++i) {
    const double of_bending = bending.empty() ? 0 : bending[i], w = inverse_masses[i] / fabric.density;
    const double k =
        w * (2 * fabric.structural_spring.stiffness * structural_springs[i] +
             2 * fabric.shear_spring.stiffness * shear_springs[i] +
             2 * fabric.bend_spring.stiffness * bend_springs[i] + fabric.bending_stiffness * of_bending);
    const double c =
        w * (2 * fabric.structural_spring.damping * structural_springs[i] +
             2 * fabric.shear_spring.damping * shear_springs[i] +
             2 * fabric.bend_spring.damping * bend_springs[i] + fabric.stiffness_damping * of_bending);
    most = std::max(most, c / 4 + std::sqrt(c * c / 16 + k / 4));
  }
  return most;
}

}  // namespace isocloth
