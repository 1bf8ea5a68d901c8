// What a fit found: fit.json and fit.csv.
#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "host/fit/fit_problem.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// How well the recordings say what a number is.
enum class Verdict {
  found,         ///< within a tenth of its value (tilts and delays: of the way between their bounds)
  weak,          ///< within half
  not_found,     ///< the recordings hardly depend on it, or cannot tell it from others
  at_its_bound,  ///< as far as it may go: the best is beyond
};
const char* to_string(Verdict verdict);

struct FittedNumber {
  Unknown unknown;
  double start = 0, value = 0;
  double low = 0, high = 0;  ///< 95 % interval, see Confidence; NaN before it is known
  Verdict verdict = Verdict::not_found;
};

/// One look at how far the search is.
struct FitStep {
  std::string stage;  ///< start, or level and iteration
  std::vector<double> values;
  double loss = 0;  ///< root mean square of the residuals: of distances over noise
  std::int64_t simulations = 0;
  double seconds = 0;
};

struct ExperimentRecord {
  FitErrors start_train, start_test, train, test;
  Comparison start, fitted;
  Recording recorded;  ///< as the fitted trial has it placed
};

struct FitRecord {
  std::string status = "interrupted";  ///< completed, stopped (too few iterations) or interrupted
  std::vector<std::string> notes;      ///< what a reader should know, a line each
  std::vector<FitStep> history;
  std::vector<FittedNumber> numbers;  ///< of each unknown
  Eigen::MatrixXd correlation;        ///< of the unknowns; empty before it is known
  double noise_factor = 0;            ///< root of the residuals' variance: 1 where noise is all that is left
  std::vector<ExperimentRecord> experiments;
  std::vector<SweepTable> scans;  ///< loss over each unknown, and over the first two together
  std::int64_t simulations = 0, missed_steps = 0;
  double wall_seconds = 0;
};

std::string fit_json(const FitProblem& problem, const FitRecord& record);
std::string fit_csv(const FitProblem& problem, const FitRecord& record);
/// "fabric.alpha = 2.49 (2.41 to 2.57) kg/(m^2 s): found".
std::string describe(const FittedNumber& number);

}  // namespace isocloth
