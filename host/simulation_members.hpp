// What a running scene is made of.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/errors.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/air/sheet_in_air.hpp"
#include "host/memory/device.hpp"
#include "host/orchestrator/garment_solvers.hpp"
#include "host/simulation.hpp"

namespace isocloth {

/// Throws ShapeError unless index < count; what: "garment".
inline void check_index(std::size_t index, std::size_t count, const char* what = "garment") {
  if (index >= count)
    throw ShapeError(std::string(what) + ": found index " + std::to_string(index) + ", expected less than " +
                     std::to_string(count));
}

struct Simulation::Members {
  Scene scene;
  ResolvedScene resolved;
  ExecutionOptions options;
  Device device;
  GarmentSolvers solvers;
  std::vector<GarmentState> start;
  std::vector<BodyState> start_bodies;
  std::vector<char> frozen;
  std::vector<std::int64_t> clocks;                 ///< steps of each garment since its last reset
  std::vector<std::unique_ptr<SheetInAir>> sheets;  ///< of garments in potential flow; null: of others
  std::vector<AirState> air;                        ///< of every garment
  std::int64_t step_index = 0;

  Members(Scene s, ExecutionOptions o)
      : scene(std::move(s)), resolved(scene), options(std::move(o)), device(options) {}
  /// Calls use(solver, member) of a garment.
  template <class Use>
  decltype(auto) at(std::size_t garment, const Use& use) const {
    check_index(garment, solvers.members.size());
    const GarmentSolvers::Member member = solvers.members[garment];
    return use(*solvers.solvers[member.solver], member.member);
  }
  /// Of the scene's garments, in wind that flows around panels.
  void make_sheets();
  /// Steps of the solvers, as Simulation::advance(), with the forces that the scene has.
  std::vector<StepReport> advance_solvers(int steps);
  /// One step of flow and cloth.
  std::vector<StepReport> step_in_air();
  /// Of all solvers, with the numbers of the garments in the scene.
  std::vector<FieldView> views(GarmentField field) const;
  /// Between the nodes of garments and arrays, shape [garments.size()][node_count]; Vector const: to the
  /// nodes.
  template <class Vector>
  void transfer_nodes(GarmentField field, const std::vector<std::size_t>& garments,
                      const std::vector<Vector*>& nodes) const;
  /// What each(solver) says of its members, garment by garment.
  template <class Each>
  auto of_all(const Each& each) const {
    std::vector<decltype(each(*solvers.solvers.front()))> found;
    for (const auto& solver : solvers.solvers) found.push_back(each(*solver));
    typename decltype(found)::value_type all;
    for (const GarmentSolvers::Member& member : solvers.members)
      all.push_back(std::move(found[member.solver][member.member]));
    return all;
  }
};

}  // namespace isocloth
