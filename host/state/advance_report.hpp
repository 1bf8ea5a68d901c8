// What several steps of a garment did.
#pragma once

#include <vector>

#include "host/state/step_report.hpp"

namespace isocloth {

/// What several steps did: sums, and the worst status and residual.
struct AdvanceReport {
  StepReport total;
  int steps = 0;                             ///< number of steps done; none follows a lost one
  int iterations_max = 0, substeps_max = 0;  ///< most of a step, where steps are told apart
  /// Reports of all steps, shape [steps asked for], where one of them did not converge; empty: all did, or
  /// steps are not told apart.
  std::vector<StepReport> each = {};
};

inline std::vector<StepReport> totals_of(const std::vector<AdvanceReport>& reports) {
  std::vector<StepReport> totals;
  for (const AdvanceReport& report : reports) totals.push_back(report.total);
  return totals;
}

}  // namespace isocloth
