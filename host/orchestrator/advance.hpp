// Steps of all solvers of a scene, side by side.
#pragma once

#include <memory>
#include <vector>

#include "engine/model/taut_pins.hpp"
#include "host/solver/garment_solver.hpp"

namespace isocloth {

/// Whether steps end with a measure of strain.
struct StrainCheck {
  bool measures = false;
  /// What tears each member, shape [solver, member], where strain is measured.
  std::vector<std::vector<Tearing>> tearing;
};

/// Most steps at once whose strains all solvers measure on the way; 0: some do so between steps alone.
int most_measured_steps(const std::vector<std::unique_ptr<GarmentSolver>>& solvers);

/// `steps` steps of all solvers, each begun before any is waited for; those that cannot fill the threads of
/// the device share them; clocks and reports have the shape [solver, member]; AdvanceReport::each is of the
/// last most_measured_steps() alone. When an error is thrown, what was begun is finished, and the reports
/// tell what was done. Where strain is measured, and a solver does not do so within its steps, one step is
/// done after the other; see ExecutionOptions::measure_strain. Throws Interrupted when the device's monitor
/// says stop: `done` steps have then been taken, and nothing else has happened.
void advance_together(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                      const std::vector<std::vector<Clock>>& clocks, double h, int steps,
                      const Device& device, const StrainCheck& check,
                      std::vector<std::vector<AdvanceReport>>& reports, int& done);

}  // namespace isocloth
