// Potential flow around garments: its loads on a step.
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "host/simulation_members.hpp"

namespace isocloth {

void Simulation::Members::make_sheets() {
  sheets.resize(scene.garments.size());
  air.resize(scene.garments.size());
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (is_sheet_in_air(scene.garments[g], scene))
      sheets[g] = std::make_unique<SheetInAir>(scene.garments[g], scene.wind, text("garments[", g, "].mesh"));
}

std::vector<AirState> Simulation::Members::find_flow(std::vector<NodeLoad>& loads) {
  std::vector<AirState> next(sheets.size());
  for (std::size_t g = 0; g < sheets.size(); ++g) {
    if (!sheets[g] || frozen[g] != 0) continue;
    GarmentState now = at(g, [](GarmentSolver& solver, std::size_t i) { return solver.state(i); });
    const double end = scene.garments[g].time_offset + static_cast<double>(clocks[g] + 1) * scene.step;
    try {
      next[g] = sheets[g]->advance(now.positions, now.velocities, wind_velocity(scene.wind, scene.seed, end),
                                   scene.step, air[g]);
    } catch (const NumericalError&) {
      // As any step that is not finite: the garment keeps its state and is frozen, others go on.
      set_lost(StepStatus::non_finite, now);
      at(g, [&](GarmentSolver& solver, std::size_t i) { solver.set_state(i, now); });
      frozen[g] = 1;
      continue;
    }
    const std::vector<Vec3d> own = as_vectors(next[g].loads);
    loads[g].forces.resize(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) loads[g].forces[i] += own[i];
  }
  return next;
}

}  // namespace isocloth
