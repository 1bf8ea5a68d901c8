// Finds the numbers of scenes with which they move as was recorded.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "host/fit/fit_record.hpp"
#include "host/results/result_options.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

struct FitRequest {
  std::filesystem::path file, output;
  IfExists if_exists = IfExists::refuse;
  ExecutionOptions execution;  ///< options of the simulations; their monitor interrupts the fit
  FileAccess access{};         ///< access to files that the fit and its scenes name
};

/// Hears of a fit, in the thread that runs it.
class FitObserver {
 public:
  virtual ~FitObserver() = default;
  /// Files are read; from here on the monitor is listened to. `message`: what is looked for.
  virtual void on_set_up([[maybe_unused]] const FitProblem& problem) {}
  virtual void on_step([[maybe_unused]] const FitProblem& problem, [[maybe_unused]] const FitStep& step) {}
  /// Within the simulations of a step.
  virtual void on_work([[maybe_unused]] const std::string& stage, [[maybe_unused]] std::int64_t done,
                       [[maybe_unused]] std::int64_t total) {}
};

/// Starts, then levels of least_squares, then the errors of the best point on all samples, its confidence and
/// scans of the loss around it. Writes into the output folder fit.json, fit.csv and fit.html, and of every
/// experiment fitted/NAME.json, its scene with the numbers that were found, and NAME.fabric.json, their
/// fabric as a file for fabric.file. fit.json and fit.csv are written after every step; interrupted, the best
/// so far is in them, and a resumed fit begins there. Results depend on file, recordings and scenes alone,
/// not on threads or batches. Throws SceneError, MeshError, FileError, DeviceError before anything is
/// simulated, leaving nothing; NumericalError where every start is lost.
FitRecord run_fit(const FitRequest& request, FitObserver* observer = nullptr);

/// Writes the recordings that the file names, as its scenes would have them with `value` of every parameter,
/// with Gaussian noise: to see what a recording would tell before there is one. Returns the files. Throws
/// FileError for one that exists, SceneError for a parameter without a value and for a recording that is no
/// .csv (of figures: .json) or has a transform.
std::vector<std::filesystem::path> simulate_recordings(const FitRequest& request,
                                                       FitObserver* observer = nullptr);

}  // namespace isocloth
