// What a step leaves for those that measure its forces (Simulation::keep_step_records()).
#pragma once

#include <vector>

#include "engine/model/force_slope.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// The end of a part of a step.
struct SubstepRecord {
  double step = 0;  ///< its length [s]
  /// Multipliers, forces of contacts and of holds are times step^2.
  GarmentState state;
  std::vector<Vec3d> cloth_forces;  ///< of other cloth on nodes [N], shape [node_count]; empty: none
  std::vector<Index> held_back;     ///< nodes that cloth stopped or slowed down
  bool forgets = false;             ///< an impact: by backward Euler, whatever was before
};

/// On the nodes of a garment throughout a step; see Garment::forces. Empty: none.
struct NodeLoad {
  std::vector<Vec3d> forces;
  std::vector<ForceSlope> slopes;
};

/// Of one garment.
struct StepRecord {
  std::vector<SubstepRecord> parts;  ///< none of a garment that is frozen
  NodeLoad asked;                    ///< what forces of the program said (Simulation::add_force())
};

}  // namespace isocloth
