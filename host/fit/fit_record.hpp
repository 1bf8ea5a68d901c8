// What a fit found: fit.json and fit.csv.
#pragma once

#include <Eigen/Core>
#include <limits>
#include <string>
#include <vector>

#include "host/fit/fit_problem.hpp"
#include "host/fit/residual_tests.hpp"
#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// How well the recordings say what a number is.
enum class Verdict {
  found,           ///< within a tenth of its value (tilts and delays: of the way between their bounds)
  weak,            ///< within half
  not_found,       ///< the recordings hardly depend on it, or cannot tell it from others
  at_its_bound,    ///< as far as it may go: the best is beyond
  model_rejected,  ///< it would be found or weak, but no value of it explains the recordings
};
const char* to_string(Verdict verdict);

struct FittedNumber {
  Unknown unknown;
  double start = 0, value = 0;
  double low = std::numeric_limits<double>::quiet_NaN();  ///< 95 % interval, see BlockInterval
  double high = low;                                      ///< NaN before it is known
  double inflation = 1;                                   ///< its width beside that of independent residuals
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

/// What is left of one kind of measurement of an experiment, in its window of training or of test.
struct ChannelRecord {
  RecordedChannel channel;
  bool is_test = false;
  ResidualTests tests;    ///< of what is left; of test nothing is rejected by them
  double start_rms = 0;   ///< of the residuals at the start, over the stated noise; infinite: lost
  bool is_worse = false;  ///< of test: more than noise, and more than at the start
};

/// A fit to all recordings but one, begun at the numbers of all, and how well it foretells that one.
struct LeftOut {
  std::size_t experiment = 0;
  std::vector<double> values;     ///< of each unknown
  std::vector<std::size_t> kept;  ///< unknowns that the other recordings do not say: as all say them
  FitErrors errors;               ///< of its training window
  double noise_factor = 0;        ///< root mean square there, over the stated noise
  double fitted_factor = 0, start_factor = 0;  ///< the same of the fit to all, and of the start
};

struct FitRecord {
  /// completed, model rejected (see reject_model), stopped (too few iterations) or interrupted.
  std::string status = "interrupted";
  std::string rejection;           ///< why the recordings reject the model; empty: they do not
  std::vector<std::string> notes;  ///< what a reader should know, a line each
  std::vector<FitStep> history;
  std::vector<FittedNumber> numbers;  ///< of each unknown
  Eigen::MatrixXd correlation;        ///< of the unknowns; empty before it is known
  double noise_factor = 0;            ///< root of the residuals' variance: 1 where noise is all that is left
  std::vector<ExperimentRecord> experiments;
  std::vector<ChannelRecord> channels;  ///< of training, then of test
  std::vector<LeftOut> left_out;        ///< of each recording of three or more
  std::vector<SweepTable> scans;        ///< loss over each unknown, and over the first two together
  std::int64_t simulations = 0, missed_steps = 0;
  double wall_seconds = 0;
};

std::string fit_json(const FitProblem& problem, const FitRecord& record);
std::string fit_csv(const FitProblem& problem, const FitRecord& record);
/// "fabric.alpha = 2.49 (2.41 to 2.57) kg/(m^2 s): found".
std::string describe(const FittedNumber& number);

}  // namespace isocloth
