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
  if (metric[0].empty()) return most;
  // Threads stretched to s times their length: s^2 K is explicit and (s^2 - 1) / 2 K of tension implicit,
  // stable for h^2 K (1 + s^2) / 2 <= 4.
  constexpr double longest = 1.5;
  const double strained = std::sqrt((1 + longest * longest) / 2);
  const double stiffness[3] = {fabric.stretch_stiffness, fabric.weft_stiffness(), fabric.shear_stiffness};
  for (std::size_t row = 0; row < metric[0].size(); ++row) {
    double k = 0;
    for (std::size_t c = 0; c < 3; ++c) k += stiffness[c] * metric[c][row];
    most = std::max(most, strained * std::sqrt(k * inverse_masses[row / 2] / fabric.density) / 2);
  }
  return most;
}

}  // namespace isocloth
