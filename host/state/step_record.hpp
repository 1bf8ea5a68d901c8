// What a step leaves for those that measure its forces (Simulation::keep_step_records()).
#pragma once

#include <vector>

#include "engine/model/force_slope.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// The end of a part of a step.
struct SubstepRecord {
  double step = 0;  ///< duration of the part [s]
  /// State at the end of the part; multipliers, forces of contacts and of holds are times step^2.
  GarmentState state;
  /// Forces of other cloth on the nodes [N], shape [node_count]; empty: none.
  std::vector<Vec3d> cloth_forces;
  std::vector<Index> ccd_stopped_nodes;  ///< nodes that cloth stopped or slowed down
  bool forgets = false;  ///< whether the part was an impact: by backward Euler, whatever was before
};

/// Forces on the nodes of a garment throughout a step; see Garment::forces. Empty: none.
struct NodeLoad {
  std::vector<Vec3d> forces;
  std::vector<ForceSlope> slopes;
};

/// What a step of one garment left behind.
struct StepRecord {
  std::vector<SubstepRecord> parts;  ///< parts of the step; none of a garment that is frozen
  NodeLoad asked;                    ///< what forces of the program said (Simulation::add_force())
};

}  // namespace isocloth
