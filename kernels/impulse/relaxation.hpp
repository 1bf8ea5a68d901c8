// How far each sweep goes beyond the impulse that a constraint alone asks for.
#pragma once

#include "engine/core/platform.hpp"

namespace isocloth {

/// Successive over-relaxation with a factor that is chosen and watched. Sweeps go in windows; the last sweep
/// of a window tells its error. A window that did not lower it halves what the factor has above one: the
/// error then comes from too large a factor, or nothing will lower it.
struct Relaxation {
  static constexpr int window = 16;
  static constexpr double first = 1.8;

  double factor = first;
  double error = 0;  ///< of the last window, 0: there was none

  /// fixed: 0 to choose
  static ISOCLOTH_HD Relaxation start(double fixed) {
    return {.factor = fixed > 0 ? fixed : first, .error = 0};
  }
  /// At the end of a window.
  ISOCLOTH_HD void watch(double found, double fixed) {
    if (fixed <= 0 && error > 0 && !(found < error)) factor = 1 + (factor - 1) / 2;
    error = found;
  }
};

}  // namespace isocloth
