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

/// `steps` steps of all solvers, each begun before any is waited for; those that cannot fill the threads of
/// the device share them; clocks and reports have the shape [solver, member]. When an error is thrown, what
/// was begun is finished, and the reports tell what was done. Where strain is measured, one step is done
/// after the other; see ExecutionOptions::measure_strain. Throws Interrupted when the device's monitor says
/// stop: `done` steps have then been taken, and nothing else has happened.
void advance_together(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                      const std::vector<std::vector<Clock>>& clocks, double h, int steps,
                      const Device& device, const StrainCheck& check,
                      std::vector<std::vector<AdvanceReport>>& reports, int& done);

}  // namespace isocloth
