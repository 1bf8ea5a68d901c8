// What is done to cloth that would start nearer to cloth than its thickness.
#pragma once

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Cloth that was parted before the first step.
struct Separation {
  Index nodes = 0;      ///< number of nodes that were moved
  double farthest = 0;  ///< longest way of a moved node [m]
  /// Number of pairs nearer than their thickness, by more than half of contact.tolerance.
  Index pairs_left = 0;
};

}  // namespace isocloth
