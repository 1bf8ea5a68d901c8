// What a loss of the state after a step says of what the step began with.
#pragma once

#include <vector>

#include "host/state/garment_state.hpp"

namespace isocloth {

/// A step of a garment that has been taken, whole.
struct FinishedStep {
  const GarmentState &before, &after;
  double time = 0;  ///< of the garment when it began [s]
  double step = 0;  ///< h [s]
};

/// Derivatives of a loss by the places [1/m] and velocities [s/m] of a state, shape [node_count] each.
struct StateGradient {
  std::vector<Vec3d> positions, velocities;
};

struct StepGradient {
  StateGradient before;        ///< by the state before the step
  StateGradient previous;      ///< by the one before that, which BDF2 remembers; empty: it had no part
  std::vector<Vec3d> targets;  ///< by where pinned nodes are after the step [1/m], shape [node_count]
  // By numbers of B and phi~, under their names in Fabric; by the weight per area, delta g.
  double rho = 0, alpha = 0, beta = 0, kappa = 0, weight = 0;
  bool buckles = false;        ///< see ProjectionSolver::gradient()
  std::vector<Vec3d> adjoint;  ///< w, see ProjectionSolver::gradient() [1/(kg m)], shape [node_count]
};

}  // namespace isocloth
