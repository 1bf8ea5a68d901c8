// How far each sweep goes beyond the impulse that a constraint alone asks for.
#pragma once

#include "engine/core/platform.hpp"

namespace isocloth {

/// Successive over-relaxation with a factor that is chosen and watched. The best factor depends on how many
/// sweeps an error takes to cross the cloth, 2 - O(1/n) on n x n nodes: it starts at one and rises with the
/// number of sweeps that turned out to be needed, 2 - 4 / (k + 3) in sweep k. Sweeps go in windows; where the
/// last of a window finds the error far above the least so far, the factor was too large: it starts again
/// from one and stays farther from two.
struct Relaxation {
  static constexpr int window = 16;

  double fixed = 0;        ///< 0: to choose
  double most = 1.99;      ///< bound on a chosen factor
  double least_error = 0;  ///< least error of the windows since the last start, 0: there was none
  int first_sweep = 1;     ///< first sweep since the last start

  ISOCLOTH_HD double factor(int sweep) const {
    if (fixed > 0) return fixed;
    const double chosen = 2 - 4.0 / (sweep - first_sweep + 4);
    return chosen < most ? chosen : most;
  }
  /// At the end of a window; error: the largest that its last sweep found.
  ISOCLOTH_HD void watch(int sweep, double error) {
    constexpr double far_above = 4;
    if (fixed > 0) return;
    if (least_error > 0 && error > far_above * least_error) {
      most = 2 - 2 * (2 - most);
      if (most < 1) most = 1;
      least_error = 0;
      first_sweep = sweep + 1;
    } else if (!(least_error > 0) || error < least_error) {
      least_error = error;
    }
  }
};

}  // namespace isocloth
