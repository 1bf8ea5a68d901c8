// Several steps as one.
#pragma once

#include <functional>
#include <vector>

#include "host/state/step_report.hpp"

namespace isocloth {

/// Throws ShapeError for less than none.
void require_step_count(int steps);

/// Calls step() so often; the sums of its reports, shape [garments], as Simulation::advance() has them.
std::vector<StepReport> add_up_steps(int steps, std::size_t garments,
                                     const std::function<std::vector<StepReport>()>& step);

}  // namespace isocloth
