// Names of what a simulation says.
#include <algorithm>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

const char* to_string(StepStatus status) {
  switch (status) {
    case StepStatus::converged:
      return "converged";
    case StepStatus::cut:
      return "cut";
    case StepStatus::stalled:
      return "stalled";
    case StepStatus::non_finite:
      return "non_finite";
    case StepStatus::diverged:
      break;
  }
  return "diverged";
}

const char* to_string(Precision precision) { return precision == Precision::float32 ? "float32" : "float64"; }

const char* to_string(StepSolver solver) {
  constexpr const char* names[] = {"automatic", "batched", "direct", "mixed", "iterative"};
  return enum_name(names, solver);
}

StepSolver step_solver(const std::string& name) {
  for (const StepSolver solver : {StepSolver::automatic, StepSolver::batched, StepSolver::direct,
                                  StepSolver::mixed, StepSolver::iterative})
    if (name == to_string(solver)) return solver;
  throw ShapeError("solver: found \"" + name +
                   "\", expected \"automatic\", \"batched\", \"direct\", \"mixed\" or \"iterative\"");
}

const char* to_string(Rule rule) {
  constexpr const char* names[] = {
      "", "largest", "smallest", "sum", "at the end, largest", "at the end, summed"};
  return enum_name(names, rule);
}

const char* to_string(GarmentField field) {
  constexpr const char* names[] = {"positions",         "velocities",     "strains",
                                   "contact_obstacles", "contact_forces", "hold_forces"};
  return enum_name(names, field);
}

}  // namespace isocloth
