// A fit as a least-squares problem: unknowns within bounds, and residuals of experiments.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/fit/experiment.hpp"
#include "host/fit/intervals.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

enum class ChannelKind { positions, forces, figures, silhouette };

/// One kind of measurement of one experiment.
struct RecordedChannel {
  std::size_t experiment = 0;
  ChannelKind quantity = ChannelKind::positions;
  std::size_t force = 0;  ///< number among the experiment's recordings of forces
  std::string name;       ///< "positions", "force of moving clip", "figures", "silhouette"
  std::string unit;       ///< unit of the measurement; empty: figures, each of its own noise
  double noise = 1;       ///< stated standard deviation of the measurement
  std::string key;        ///< key of that noise in the fit's file
};

/// Residuals over their stated noise, without weight and loss, and where each stands.
struct MeasuredResiduals {
  std::vector<double> values;
  std::vector<ResidualSource> sources;
};

/// One number that is looked for, as a part of the way t in [0, 1] between its bounds.
struct Unknown {
  enum class Kind { number, tilt_x, tilt_y, delay };
  Kind kind = Kind::number;
  std::string label;  ///< path of the number; with the experiment where it has one of its own
  std::string path, unit;
  double from = 0, to = 0;
  Scale scale = Scale::linear;
  std::optional<double> value;  ///< value at which the search begins
  std::size_t experiment = every_experiment;
  std::size_t parameter = 0;  ///< number of the parameter in the file; tilts and delays have none
  int control = -1;           ///< place of a control point of a stiffness; -1: a number
  double strain = 0;          ///< strain of the control point of a stiffness
  static constexpr std::size_t every_experiment = static_cast<std::size_t>(-1);

  double at(double t) const;           ///< the value at a part of the way
  double part_of(double value) const;  ///< part of the way at which the unknown has a value
  /// d value / d t where it has that value; on a log scale of its logarithm.
  double slope() const;
};

/// What is measured of an experiment in a window.
struct FitErrors {
  double mean_distance = 0, rms_distance = 0, max_distance = 0;  ///< distances of points [m]
  double rms_force = 0, max_force = 0;                           ///< errors of forces [N]
  double rms_figures = 0;  ///< root mean square of the errors of figures, over their noise
  std::size_t positions = 0, forces = 0, figures = 0;  ///< samples compared
};

/// What trials at a point are worth.
struct Appraisal {
  /// Distances over noise of all training samples, weighted, each set of three, and each figure, with the
  /// square root of its loss; infinite, all of them, where a cloth is lost.
  Eigen::VectorXd residuals;
  /// Number of folds by which drapes are off those that were recorded; how many there are is no smooth
  /// function of numbers, and no residual.
  int wrong_folds = 0;
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

  /// Comparisons of each point, shape [point][experiment]: of each experiment that is trained on to the end
  /// of its training window or, `to_the_end`, of all experiments with their tests. An experiment that is not
  /// compared has no positions and forces.
  std::vector<std::vector<Comparison>> compare(const std::vector<Eigen::VectorXd>& points, double share,
                                               bool to_the_end);
  /// Appraisals of the points, shape [point], by the training samples in the first `share` of the windows.
  std::vector<Appraisal> appraise(const std::vector<Eigen::VectorXd>& points, double share);
  std::vector<Eigen::VectorXd> residuals(const std::vector<Eigen::VectorXd>& points, double share);
  /// d residuals / d t, shape [residual, unknown]: of experiments at rest by the derivatives of balance, else
  /// by central differences (jacobian_at).
  Eigen::MatrixXd jacobian(const Eigen::VectorXd& point, double share, double difference);
  /// Whether all that is trained on in this stage is at rest, and the loss one of squares.
  bool has_derivatives() const;
  /// Trains on the experiments of one stage; 0: on all.
  void set_stage(int stage) { stage_ = stage; }
  /// Whether an unknown is looked for in a stage.
  bool is_sought(std::size_t unknown, int stage) const;
  /// Gives a parameter with points other control points; unknowns change.
  void set_controls(std::size_t parameter, std::vector<double> strains);
  const std::vector<double>& controls(std::size_t parameter) const { return controls_[parameter]; }
  /// Values of these unknowns as values of others of the same fit: stiffness where the others have its
  /// control points.
  static std::vector<double> values_of(const std::vector<Unknown>& unknowns,
                                       const std::vector<double>& values, const std::vector<Unknown>& others);
  Eigen::VectorXd point_of(const std::vector<double>& values) const;
  /// Strains of the law of a parameter with points, over all experiments at rest of this stage.
  std::array<double, 2> strain_range(std::size_t parameter, const Eigen::VectorXd& point);
  /// What was recorded, experiment by experiment: positions, forces, figures.
  const std::vector<RecordedChannel>& channels() const { return channels_; }
  /// Residuals of what the objective of an experiment takes in, in its window of training, in the order of
  /// residuals(), or of test. `comparison`: to the end of the window.
  MeasuredResiduals measured(std::size_t experiment, const Comparison& comparison, bool is_test) const;
  /// Trains on all experiments but one; none: on all.
  void leave_out(std::optional<std::size_t> experiment) { left_out_ = experiment; }
  std::size_t trained_count() const;  ///< experiments that have a window of training
  /// What a point makes of one experiment, to the end of its training.
  Comparison compare_one(std::size_t experiment, const Eigen::VectorXd& point);
  FitErrors errors(std::size_t experiment, const Comparison& comparison,
                   const std::vector<double>& window) const;
  std::int64_t simulations() const { return simulations_; }
  std::int64_t missed_steps() const { return missed_steps_; }

 private:
  void add_channels();
  void add_unknowns();
  void add_controls(std::size_t parameter);
  void check_bounds();
  void check_samples() const;
  std::vector<double> training(std::size_t experiment, double share) const;
  /// Whether a window holds the time of an experiment's figures.
  bool holds_figures(std::size_t experiment, const std::vector<double>& window) const;
  int wrong_folds(const std::vector<Comparison>& comparisons, double share) const;
  /// One measurement beside what a trial has of it.
  struct Measured {
    ChannelKind quantity = ChannelKind::positions;
    std::size_t force = 0;   ///< number of the recording of forces
    std::size_t series = 0;  ///< point; of figures each its own
    double at = 0;           ///< time [s]; of figures: which one
    Vec3d error;
    double noise = 1;
    int components = 3;
  };
  /// Calls take(measured) for every sample of a window that is compared, and for every figure.
  template <class Take>
  void visit(std::size_t experiment, const Comparison& comparison, const std::vector<double>& window,
             const Take& take) const;
  /// visit() of what the objective of the experiment takes in; figures always.
  template <class Take>
  void visit_objective(std::size_t experiment, const Comparison& comparison,
                       const std::vector<double>& window, const Take& take) const {
    const Objective objective = spec_.experiments[experiment].objective;
    visit(experiment, comparison, window, [&](const Measured& measured) {
      if (measured.quantity == ChannelKind::positions && objective == Objective::forces) return;
      if (measured.quantity == ChannelKind::forces && objective == Objective::positions) return;
      take(measured);
    });
  }
  Eigen::VectorXd residuals_of(const std::vector<Comparison>& comparisons, double share) const;

  const FitSpec& spec_;
  const ExecutionOptions& options_;
  const Watch watch_;
  std::vector<Experiment> experiments_;
  std::vector<Unknown> unknowns_;
  std::vector<std::vector<double>> controls_;  ///< strains of control points of each parameter with points
  std::vector<RecordedChannel> channels_;
  std::optional<std::size_t> left_out_;
  int stage_ = 0;
  std::size_t batch_ = 1;  ///< trials simulated together
  std::int64_t simulations_ = 0, missed_steps_ = 0;
};

template <class Take>
void FitProblem::visit(std::size_t e, const Comparison& comparison, const std::vector<double>& window,
                       const Take& take) const {
  const Experiment& experiment = experiments_[e];
  const auto counts = [&](const Recording& recording, std::size_t sample) {
    return Experiment::is_inside(recording, sample, window) &&
           experiment.is_comparable(recording.times[sample]);
  };
  const Recording& recorded = experiment.positions();
  for (std::size_t sample = 0; sample < recorded.times.size(); ++sample) {
    if (!counts(recorded, sample)) continue;
    for (std::size_t point = 0; point < recorded.point_count; ++point)
      if (is_seen(recorded.at(sample, point)))
        take(Measured{ChannelKind::positions, 0, point, recorded.times[sample],
                      comparison.positions[sample * recorded.point_count + point],
                      spec_.experiments[e].positions->noise, 3});
  }
  for (std::size_t f = 0; f < comparison.forces.size(); ++f) {
    const Recording& force = experiment.force(f);
    const ForceData& data = spec_.experiments[e].forces[f];
    for (std::size_t sample = 0; sample < force.times.size(); ++sample)
      if (counts(force, sample) && is_seen(force.at(sample, 0))) {
        Measured measured{ChannelKind::forces,          f,          0, force.times[sample],
                          comparison.forces[f][sample], data.noise, 3};
        if (!(data.along == Vec3d{})) {
          measured.error = {dot(measured.error, normalized(data.along)), 0, 0};
          measured.components = 1;
        }
        take(measured);
      }
  }
  if (!holds_figures(e, window)) return;
  const std::vector<Figure>& all = experiment.instruments()->figures();
  for (std::size_t k = 0; k < all.size(); ++k) {
    const bool is_edge = all[k].name == "silhouette";
    take(Measured{is_edge ? ChannelKind::silhouette : ChannelKind::figures, 0, is_edge ? 0 : k,
                  static_cast<double>(k), Vec3d{comparison.figures[k], 0, 0}, all[k].noise, 1});
  }
}

}  // namespace isocloth
