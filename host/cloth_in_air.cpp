// Steps of garments in potential flow: the flow first, whose loads are forces on the nodes for the step.
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "host/simulation_members.hpp"

namespace isocloth {
namespace {

/// Adds loads to a garment's forces for its lifetime.
class Loaded {
 public:
  Loaded(Garment& garment, const AirState& air) : garment_(garment), before_(garment.forces) {
    std::vector<Vec3d> forces = as_vectors(air.loads);
    for (std::size_t i = 0; i < before_.size(); ++i) forces[i] += before_[i];
    garment.forces = std::move(forces);
  }
  ~Loaded() { garment_.forces = std::move(before_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;

 private:
  Garment& garment_;
  std::vector<Vec3d> before_;
};

}  // namespace

void Simulation::Members::make_sheets() {
  sheets.resize(scene.garments.size());
  air.resize(scene.garments.size());
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (is_sheet_in_air(scene.garments[g], scene))
      sheets[g] = std::make_unique<SheetInAir>(scene.garments[g], scene.wind, text("garments[", g, "].mesh"));
}

std::vector<StepReport> Simulation::Members::step_in_air() {
  std::vector<AirState> next(sheets.size());
  std::vector<std::unique_ptr<Loaded>> loaded;
  for (std::size_t g = 0; g < sheets.size(); ++g) {
    if (!sheets[g] || frozen[g] != 0) continue;
    const auto of_garment = [&](const auto& use) {
      const GarmentSolvers::Member member = solvers.members[g];
      return use(*solvers.solvers[member.solver], member.member);
    };
    GarmentState now = of_garment([](GarmentSolver& solver, std::size_t i) { return solver.state(i); });
    const double end = scene.garments[g].time_offset + static_cast<double>(clocks[g] + 1) * scene.step;
    try {
      next[g] = sheets[g]->advance(now.positions, now.velocities, wind_velocity(scene.wind, scene.seed, end),
                                   scene.step, air[g]);
    } catch (const NumericalError&) {
      // As any step that is not finite: the garment keeps its state and is frozen, others go on.
      set_lost(StepStatus::non_finite, now);
      of_garment([&](GarmentSolver& solver, std::size_t i) { solver.set_state(i, now); });
      frozen[g] = 1;
      continue;
    }
    loaded.push_back(std::make_unique<Loaded>(scene.garments[g], next[g]));
  }
  std::vector<StepReport> reports = advance_solvers(1);
  for (std::size_t g = 0; g < sheets.size(); ++g)
    if (sheets[g] && frozen[g] == 0) air[g] = std::move(next[g]);
  return reports;
}

}  // namespace isocloth
