// Potential flow around garments: its loads on a step.
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/air_checks.hpp"
#include "host/simulation/simulation_members.hpp"
#include "kernels/launch/side_by_side.hpp"

namespace isocloth {

void Simulation::Members::make_sheets() {
  sheets.resize(scene.garments.size());
  air.resize(scene.garments.size());
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (is_sheet_in_air(scene.garments[g], scene))
      sheets[g] = panel_flow_factory()(scene.garments[g], scene.wind, text("garments[", g, "].mesh"));
}

std::vector<AirState> Simulation::Members::find_flow(std::vector<NodeLoad>& loads) {
  std::vector<AirState> next(sheets.size());
  std::vector<std::size_t> in_air;
  std::vector<GarmentState> states;
  for (std::size_t g = 0; g < sheets.size(); ++g) {
    if (!sheets[g] || frozen[g] != 0) continue;
    in_air.push_back(g);
    states.push_back(at(g, [](GarmentSolver& solver, std::size_t i) { return solver.state(i); }));
  }
  std::vector<char> has_flow(in_air.size(), 1);
  side_by_side(device.queue().pool, std::vector<std::size_t>(in_air.size(), 1), [&](std::size_t s) {
    device.monitor().check();
    const std::size_t g = in_air[s];
    const double end = scene.garments[g].time_offset + static_cast<double>(clocks[g] + 1) * scene.step;
    try {
      next[g] = sheets[g]->advance(states[s].positions, states[s].velocities,
                                   wind_velocity(scene.wind, scene.seed, end), scene.step, air[g]);
    } catch (const NumericalError&) {
      has_flow[s] = 0;
    }
  });
  for (std::size_t s = 0; s < in_air.size(); ++s) {
    const std::size_t g = in_air[s];
    if (has_flow[s] == 0) {
      // As any step that is not finite: the garment keeps its state and is frozen, others go on.
      set_lost(StepStatus::non_finite, states[s]);
      at(g, [&](GarmentSolver& solver, std::size_t i) { solver.set_state(i, states[s]); });
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
