// Fits to all recordings but one.
#pragma once

#include <string>
#include <vector>

#include "host/fit/fit_record.hpp"

namespace isocloth {

/// Leave-one-out cross-validation (Stone 1974) over the experiments with a window of training, where there
/// are three or more: the search begun at `best` with all experiments but one (Levenberg and Marquardt's
/// method), and how well what it finds foretells the one that was left out. Unknowns that the others do not
/// say, whose half width by them alone is more than half of their value, stay as they are. `residuals` and
/// `jacobian` are those at `best`, `experiments` what is known of start and best. The problem trains on all
/// again at the end, and where Interrupted is thrown.
std::vector<LeftOut> leave_one_out(FitProblem& problem, const Eigen::VectorXd& best,
                                   const Eigen::VectorXd& residuals, const Eigen::MatrixXd& jacobian,
                                   const std::vector<ExperimentRecord>& experiments);

/// What a reader should know of them, a line each: recordings that the others foretell worse than the start
/// does, and numbers that leave their interval with one of them.
std::vector<std::string> left_out_notes(const FitProblem& problem, const FitRecord& record);

/// How wide +-half of an unknown at t is, as a part of its value; of tilts and delays, and where the value is
/// 0, of the way between its bounds. Infinite where half is.
double relative_half_width(const Unknown& unknown, double t, double half);

}  // namespace isocloth
