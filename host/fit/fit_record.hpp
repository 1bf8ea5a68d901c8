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
  weak,            ///< within half of its value (tilts and delays: of the way between their bounds)
  not_found,       ///< the recordings hardly depend on it, or cannot tell it from others
  at_its_bound,    ///< the number is as far as it may go: the best is beyond
  model_rejected,  ///< it would be found or weak, but no value of it explains the recordings
};
const char* to_string(Verdict verdict);

struct FittedNumber {
  Unknown unknown;
  double start = 0, value = 0;
  /// Lower end of the 95 % interval, see BlockInterval; NaN before it is known.
  double low = std::numeric_limits<double>::quiet_NaN();
  double high = low;     ///< upper end of the 95 % interval; NaN before it is known
  double inflation = 1;  ///< width of the interval beside that of independent residuals
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
  Recording recorded;  ///< the recording as the fitted trial has it placed
};

/// What is left of one kind of measurement of an experiment, in its window of training or of test.
struct ChannelRecord {
  RecordedChannel channel;
  bool is_test = false;
  ResidualTests tests;  ///< tests of the residuals that are left; of test nothing is rejected by them
  /// Root mean square of the residuals at the start, over the stated noise; infinite: lost.
  double start_rms = 0;
  bool is_worse = false;  ///< whether a test leaves more than noise, and more than at the start
};

/// A fit to all recordings but one, begun at the numbers of all, and how well it foretells that one.
struct LeftOut {
  std::size_t experiment = 0;
  std::vector<double> values;     ///< value of each unknown, shape [unknown]
  std::vector<std::size_t> kept;  ///< unknowns that the other recordings do not say: as all say them
  FitErrors errors;               ///< errors in the training window of the experiment that was left out
  double noise_factor = 0;        ///< root mean square of the residuals in that window, over the stated noise
  /// Root mean square of the residuals there over the stated noise, for the fit to all recordings, and for
  /// the start.
  double fitted_factor = 0, start_factor = 0;
};

struct FitRecord {
  /// completed, model rejected (see reject_model), stopped (too few iterations) or interrupted.
  std::string status = "interrupted";
  std::string rejection;           ///< why the recordings reject the model; empty: they do not
  std::vector<std::string> notes;  ///< what a reader should know, a line each
  std::vector<FitStep> history;
  std::vector<FittedNumber> numbers;  ///< what was found for each unknown, shape [unknown]
  /// Correlations between unknowns, shape [unknown, unknown]; empty before known.
  Eigen::MatrixXd correlation;
  double noise_factor = 0;  ///< root of the residuals' variance: 1 where noise is all that is left
  std::vector<ExperimentRecord> experiments;
  std::vector<ChannelRecord> channels;  ///< channels in their windows of training, then of test
  std::vector<LeftOut> left_out;        ///< cross-validation by each recording, where there are three or more
  std::vector<SweepTable> scans;        ///< loss over each unknown, and over the first two together
  std::int64_t simulations = 0, missed_steps = 0;
  double wall_seconds = 0;
};

std::string fit_json(const FitProblem& problem, const FitRecord& record);
std::string fit_csv(const FitProblem& problem, const FitRecord& record);
/// "fabric.mass_damping = 2.49 (2.41 to 2.57) kg/(m^2 s): found".
std::string describe(const FittedNumber& number);

}  // namespace isocloth
