// A fit as a least-squares problem: unknowns within bounds, and residuals of experiments.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

#include "host/fit/experiment.hpp"

namespace isocloth {

/// One number that is looked for, as a part of the way t in [0, 1] between its bounds.
struct Unknown {
  enum class Kind { number, tilt_x, tilt_y, delay };
  Kind kind = Kind::number;
  std::string label;  ///< path of the number; with the experiment where it has one of its own
  std::string path, unit;
  double from = 0, to = 0;
  Scale scale = Scale::linear;
  std::optional<double> value;  ///< where the search begins
  std::size_t experiment = every_experiment;
  static constexpr std::size_t every_experiment = static_cast<std::size_t>(-1);

  double at(double t) const;           ///< the value at a part of the way
  double part_of(double value) const;  ///< the other way
  /// d value / d t where it has that value; on a log scale of its logarithm.
  double slope() const;
};

/// What is measured of an experiment in a window.
struct FitErrors {
  double mean_distance = 0, rms_distance = 0, max_distance = 0;  ///< of points [m]
  double rms_force = 0, max_force = 0;                           ///< of forces [N]
  std::size_t positions = 0, forces = 0;                         ///< samples compared
};

class FitProblem {
 public:
  /// Called while trials are simulated, with how much of this evaluation is done, of how much.
  using Watch = std::function<void(std::int64_t done, std::int64_t total)>;

  /// Throws as Experiment does, and SceneError for a parameter that a scene does not know, or that with its
  /// bounds no scene takes, and fewer samples than unknowns.
  FitProblem(const FitSpec& spec, const ExecutionOptions& options, Experiment::Source source, Watch watch);

  const FitSpec& spec() const { return spec_; }
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  std::vector<Experiment>& experiments() { return experiments_; }
  const std::vector<Experiment>& experiments() const { return experiments_; }
  std::vector<double> values(const Eigen::VectorXd& point) const;
  /// What the point says of an experiment.
  Trial trial(std::size_t experiment, const Eigen::VectorXd& point) const;

  /// Of each point, each experiment that is trained on, to the end of its training window or, `to_the_end`,
  /// all experiments with their tests. An experiment that is not compared has no positions and forces.
  std::vector<std::vector<Comparison>> compare(const std::vector<Eigen::VectorXd>& points, double share,
                                               bool to_the_end);
  /// Distances over noise of all training samples in the first `share` of the windows, weighted, each set of
  /// three with the square root of its loss; infinite, all of them, where a cloth is lost.
  std::vector<Eigen::VectorXd> residuals(const std::vector<Eigen::VectorXd>& points, double share);
  FitErrors errors(std::size_t experiment, const Comparison& comparison,
                   const std::vector<double>& window) const;
  std::int64_t simulations() const { return simulations_; }
  std::int64_t missed_steps() const { return missed_steps_; }

 private:
  void add_unknowns();
  void check_bounds();
  void check_samples() const;
  std::vector<double> training(std::size_t experiment, double share) const;
  /// Calls take(error, noise) for every sample of a window that is compared.
  template <class Positions, class Forces>
  void visit(std::size_t experiment, const Comparison& comparison, const std::vector<double>& window,
             const Positions& positions, const Forces& forces) const;
  Eigen::VectorXd residuals_of(const std::vector<Comparison>& comparisons, double share) const;

  const FitSpec& spec_;
  const ExecutionOptions& options_;
  const Watch watch_;
  std::vector<Experiment> experiments_;
  std::vector<Unknown> unknowns_;
  std::size_t batch_ = 1;  ///< trials simulated together
  std::int64_t simulations_ = 0, missed_steps_ = 0;
};

}  // namespace isocloth
