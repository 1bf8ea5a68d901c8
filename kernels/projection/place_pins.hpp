// Where pins hold the nodes of many cloths, in steps to come.
#pragma once

#include "engine/shapes/motion_view.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// A node that a pin holds.
struct PinnedNode {
  Vec3d start;    ///< where it starts [m]
  Index pin = 0;  ///< number of its pin among those of all cloths
  Index i = 0;    ///< its place in the pin
};

/// Time of a cloth, by counting steps.
struct StepClock {
  double offset = 0, steps = 0;  ///< offset [s], and whole steps since then, below 2^53
};

/// Tiles of `width` cloths, lane by lane innermost, as in StepCloths.
template <class Real>
struct PlacePins {
  int width = 1;
  Index tile_count = 0, step_count = 0;
  Index node_count = 0;               ///< nodes that pins hold, of each cloth
  double step = 0;                    ///< [s]
  ArrayView<const PinView> pins;      ///< of all cloths, one after another
  ArrayView<const PinnedNode> nodes;  ///< shape [tile width, node_count]
  ArrayView<const StepClock> clocks;  ///< when the steps begin, shape [tile width]
  ArrayView<Real> targets;  ///< at the ends of the steps [m], shape [step, tile, node_count, 3, width]
};

namespace ISOCLOTH_BACKEND {
/// In double whatever the precision of the targets.
template <class Real>
void place_pins(const Queue& queue, const PlacePins<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
