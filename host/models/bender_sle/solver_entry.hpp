// The solver of bender_sle, as the registry has it.
#pragma once

#include "host/models/bender_sle/impulse_system.hpp"
#include "host/orchestrator/solver_registry.hpp"

namespace isocloth {

template <class Real>
SolverEntry<Real> bender_sle_solver() {
  return {.family = SolverFamily::impulse_system,
          .make = [](const SolverRequest<Real>& request) -> std::unique_ptr<GarmentSolver> {
            require_direct(request);
            return std::make_unique<ImpulseSystem<Real>>(request.device, *request.garments.front(),
                                                         request.scene, request.obstacles);
          },
          .is_shared = nullptr,
          .make_coupled = make_impulse_solver<ImpulseSystem<Real>, Real>};
}

}  // namespace isocloth
