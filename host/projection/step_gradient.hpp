// What a loss of the state after a step says of what the step began with.
#pragma once

#include <array>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/shapes/obstacle.hpp"
#include "host/state/external_motion.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// Where a solid is when a step begins and ends.
using SolidMotion = std::array<Pose, 2>;

/// A step of a garment that has been taken, whole.
struct FinishedStep {
  const GarmentState &before, &after;
  double time = 0;  ///< time of the garment's clock when the step began [s]
  double step = 0;  ///< h [s]
  /// Where obstacles of the scene and grippers of the garment were, shape [count].
  ArrayView<const SolidMotion> obstacles = {}, grippers = {};
  bool with_contacts = true;  ///< whether anybody asks for its contacts
};

/// Derivatives of a loss by what a contact keeps from step to step.
struct ContactGradient {
  Vec3d force;      ///< by ContactState::force [1/(kg m)]
  double slip = 0;  ///< by ContactState::slip [1/m]
};

/// Derivatives of a loss by a state. What has no part in it may be empty.
struct StateGradient {
  std::vector<Vec3d> positions, velocities;    ///< by places [1/m] and velocities [s/m], shape [node_count]
  std::vector<ContactGradient> contacts = {};  ///< shape [contact_count]
  std::vector<Wrench> wrenches = {};           ///< by wrenches of obstacles on the garment, shape [obstacle]
  std::vector<Vec3d> holds = {};               ///< by HoldState::local_position [1/m], shape [node_count]
};

/// Derivatives of a loss by where a solid is: by a move [1/m] and a turn about its origin [1/rad], both along
/// the axes of the world.
struct PoseGradient {
  Vec3d translation, rotation;
};

struct StepGradient {
  StateGradient before;  ///< derivatives by the state before the step
  /// Derivatives by the state before that, which BDF2 remembers; empty: it had no part.
  StateGradient previous;
  /// Derivatives by where pinned nodes are after the step [1/m], shape [node_count].
  std::vector<Vec3d> targets;
  /// Derivatives by where solids are when the step begins and ends, shape [count].
  std::vector<std::array<PoseGradient, 2>> obstacles, grippers;
  /// Derivatives by the static and the dynamic coefficient of friction with each obstacle.
  std::vector<std::array<double, 2>> friction;
  /// Derivative by the dynamic coefficients of friction between cloths, all of them together, with the first
  /// garment of a step.
  double cloth_friction = 0;
  // By numbers of B and phi~, under their names in Fabric; by the weight per area, delta g.
  double rho = 0, alpha = 0, beta = 0, kappa = 0, weight = 0;
  /// Whether the cloth is about to buckle, see StepAdjoint::gradient().
  bool buckles = false;
  std::vector<Vec3d> adjoint;  ///< w, see StepAdjoint::gradient() [1/(kg m)], shape [node_count]
};

}  // namespace isocloth
