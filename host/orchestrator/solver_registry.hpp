// Which solver steps garments of a recipe, by the recipe's family.
#pragma once

#include <memory>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/impulse/coupled_impulses.hpp"
#include "host/memory/device.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/execution_options.hpp"
#include "host/surroundings/obstacle_table.hpp"

namespace isocloth {

/// What a solver is made of; all must outlive it.
template <class Real>
struct SolverRequest {
  const Device& device;
  const std::vector<const Garment*>& garments;  ///< of one kind; one where solvers are not shared
  const ResolvedScene& scene;
  StepSolver choice;
  const std::shared_ptr<const ObstacleShapes<Real>>& obstacles;  ///< of the scene, null: none
};

template <class Real>
struct SolverEntry {
  SolverFamily family;
  /// Throws DeviceError for a choice that the solver does not know, SceneError as the solvers do.
  std::unique_ptr<GarmentSolver> (*make)(const SolverRequest<Real>& request);
  /// Whether garments of one kind share a solver; null: none do. Throws DeviceError as make().
  bool (*is_shared)(const Device& device, const Garment& garment, const ResolvedScene& scene,
                    StepSolver choice);
  /// Of a garment that steps with others, because cloth meets cloth; null: not by impulses.
  ImpulseSolverFactory<Real> make_coupled;
};

/// Entries of models beside the core: of host/models/lists, or none (host/without_models).
template <class Real>
std::vector<SolverEntry<Real>> model_solvers();

/// Throws DeviceError unless the choice is one of a solver that factors one cloth at a time.
template <class Real>
void require_direct(const SolverRequest<Real>& request) {
  if (request.choice != StepSolver::automatic && request.choice != StepSolver::direct)
    throw DeviceError(text("solver: found \"", to_string(request.choice), "\" with the recipe ",
                           request.scene.recipe.name,
                           ", expected \"automatic\" or \"direct\": one cloth at a time is factored"));
}

}  // namespace isocloth
