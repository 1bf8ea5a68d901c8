// What is done to cloth that would start nearer to cloth than its thickness.
#pragma once

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Cloth that was parted before the first step.
struct Separation {
  Index nodes = 0;       ///< that were moved
  double farthest = 0;   ///< of their ways [m]
  Index pairs_left = 0;  ///< nearer than their thickness, by more than half of contact.tolerance
};

}  // namespace isocloth
