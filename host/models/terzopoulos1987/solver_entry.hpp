// The solver of the recipes terzopoulos1987 and terzopoulos1987_implicit, as the registry has it.
#pragma once

#include "host/models/terzopoulos1987/tensor_grid_solver.hpp"
#include "host/orchestrator/solver_registry.hpp"

namespace isocloth {

template <class Real>
SolverEntry<Real> terzopoulos1987_solver() {
  return {.family = SolverFamily::semi_implicit,
          .make = [](const SolverRequest<Real>& request) -> std::unique_ptr<GarmentSolver> {
            require_direct(request);
            return std::make_unique<TensorGridSolver<Real>>(request.device, *request.garments.front(),
                                                            request.scene, request.obstacles);
          },
          .is_shared = nullptr,
          .make_coupled = nullptr};
}

}  // namespace isocloth
