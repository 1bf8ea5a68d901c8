// Which solver steps which garments of a scene.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Analyses the mesh, builds tensors and bending on the device. `garment` must outlive the solver.
std::unique_ptr<GarmentSolver> make_garment_solver(const Device& device, Precision precision,
                                                   const Garment& garment, const ResolvedScene& scene,
                                                   StepSolver choice = StepSolver::automatic);

struct HostShapes;

/// Solvers of all garments of a scene, and where each garment went.
struct GarmentSolvers {
  struct Member {
    std::size_t solver = 0, member = 0;
  };
  std::vector<std::unique_ptr<GarmentSolver>> solvers;
  std::vector<Member> members;  ///< shape [garment count]
  std::vector<double>
      start_depths;  ///< in obstacles and bodies [m], shape [garment count]; empty: there are none
  std::vector<std::string> obstacle_notes;  ///< ObstacleShapes::notes
  std::function<void()>
      refresh_obstacles;  ///< some that rested move now, or the other way, or rub otherwise; null: none
  /// Their shapes, and those of bodies; null: there are none.
  std::function<std::shared_ptr<const HostShapes>()> obstacle_shapes;
};
/// Groups garments whose rows and matrices have one pattern. `scene` must outlive the solvers.
GarmentSolvers make_garment_solvers(const Device& device, Precision precision, const ResolvedScene& resolved,
                                    StepSolver choice = StepSolver::automatic);

}  // namespace isocloth
