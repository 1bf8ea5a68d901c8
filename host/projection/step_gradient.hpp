// What a loss of the state after a step says of what the step began with.
#pragma once

#include <vector>

#include "host/state/garment_state.hpp"

namespace isocloth {

/// A step of a garment that has been taken, whole.
struct FinishedStep {
  const GarmentState &before, &after;
  double time = 0;  ///< time of the garment's clock when the step began [s]
  double step = 0;  ///< h [s]
};

/// Derivatives of a loss by the places [1/m] and velocities [s/m] of a state, shape [node_count] each.
struct StateGradient {
  std::vector<Vec3d> positions, velocities;
};

struct StepGradient {
  StateGradient before;  ///< derivatives by the state before the step
  /// Derivatives by the state before that, which BDF2 remembers; empty: it had no part.
  StateGradient previous;
  /// Derivatives by where pinned nodes are after the step [1/m], shape [node_count].
  std::vector<Vec3d> targets;
  // By numbers of B and phi~, under their names in Fabric; by the weight per area, delta g.
  double rho = 0, alpha = 0, beta = 0, kappa = 0, weight = 0;
  /// Whether the cloth is about to buckle, see StepAdjoint::gradient().
  bool buckles = false;
  std::vector<Vec3d> adjoint;  ///< w, see StepAdjoint::gradient() [1/(kg m)], shape [node_count]
};

}  // namespace isocloth
