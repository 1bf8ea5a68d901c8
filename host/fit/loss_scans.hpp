// The loss around what was found.
#pragma once

#include <string>
#include <vector>

#include "host/fit/fit_problem.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// Root mean square of residuals.
double loss_of(const Eigen::VectorXd& residuals);

/// The loss along each unknown, and over the first two numbers together, as Coltraro 2022, figure 16.
std::vector<SweepTable> scan_loss(FitProblem& problem, const Eigen::VectorXd& best);

/// A search that ended in a neighbouring minimum may be seen to have done so: where, or nothing.
std::string lower_elsewhere(const SweepTable& table, double loss);

}  // namespace isocloth
