// What continuous collision detection (CCD) leaves of the displacements of a part of a step.
#pragma once

#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

struct CcdLimits {
  /// The part of each node's displacement that keeps every pair apart (max_step_fractions()), in [0, 1],
  /// shape [node_count]; 0 where everything is near everything.
  std::vector<double> shares;
  /// Nodes that meet on their predicted ways (apply_inelastic_impulses()), ascending.
  std::vector<Index> met;
};

/// Numbers of nodes of each garment that were stopped in a step, shape [garment].
struct StoppedNodes {
  explicit StoppedNodes(std::size_t garments) : held_back(garments, 0), blocked(garments, 0) {}
  void clear() { *this = StoppedNodes(held_back.size()); }

  std::vector<Index> held_back;  ///< all that would have passed through cloth
  std::vector<Index> blocked;    ///< of these those of pins, grippers and driven garments
};

}  // namespace isocloth
