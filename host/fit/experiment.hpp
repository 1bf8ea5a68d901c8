// A recorded motion beside what simulations make of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/fit/fit_file.hpp"
#include "host/fit/instruments.hpp"
#include "host/fit/rest_cases.hpp"
#include "host/fit/stiffness_spline.hpp"
#include "host/results/recording.hpp"
#include "host/scene/scene_template.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// A stiffness of the fabric in the place of a measured curve.
struct CurveValue {
  /// The stiffness that the spline gives: RowLaw::warp, weft or shear.
  Index law = RowLaw::warp;
  StiffnessSpline spline;
};

/// One way in which an experiment may have been.
struct Trial {
  std::vector<NumberValue> numbers;  ///< numbers of the garment
  std::vector<CurveValue> curves;    ///< stiffnesses of the garment's fabric
  Vec2d tilt;                        ///< rotation of the recording about x and y of the scene [degrees]
  double delay = 0;  ///< delay of the recording's clock: its time t is t + delay of the scene's [s]
};

/// What the cloth of a trial did, minus what was recorded; NaN where nothing was seen, before the scene
/// begins and beyond the end of the comparison.
struct Comparison {
  std::vector<Vec3d> positions;            ///< errors of positions [m], shape [sample, point]
  std::vector<std::vector<Vec3d>> forces;  ///< errors of forces [N], shape [force recording][sample]
  std::vector<double> figures;             ///< errors of figures in their units, shape [figure]
  Reading reading;          ///< what the instruments read, from which the errors of figures come
  double speed = 0;         ///< speed of the fastest node while figures are read [m/s]
  bool has_failed = false;  ///< the cloth of the trial left the finite numbers or diverged
  std::int64_t steps = 0, missed_steps = 0;  ///< steps done, and those of them that missed their tolerance
};

/// Told after every step: steps done of how many, of all trials together.
using TrialProgress = std::function<void(std::int64_t done, std::int64_t total)>;

class Experiment {
 public:
  /// Where the times of samples come from, and what was seen at them.
  enum class Source {
    recordings,  ///< the files
    frames,  ///< nothing was seen yet: the frames of the scene are the samples to come, and no pin follows
  };

  /// Reads scene and recordings. Throws SceneError, MeshError and FileError beginning with the file that is
  /// wrong: nodes that the mesh lacks, unknown pins and grippers, windows without samples, and recordings
  /// that cannot be of this cloth: lengths along its edges in another unit, nodes that are far from all their
  /// neighbours (swapped numbers).
  Experiment(const ExperimentSpec& spec, const FitSpec& fit, Source source = Source::recordings);

  const ExperimentSpec& spec() const { return spec_; }
  const SceneTemplate& scene() const { return scene_; }
  /// The recording of positions in the scene's coordinates.
  const Recording& positions() const { return positions_; }
  const Recording& force(std::size_t i) const { return forces_[i]; }
  /// What figures are read with; none: there are none.
  const std::optional<Instruments>& instruments() const { return instruments_; }
  /// Node of each recorded point; empty: a cloud of points, which are none.
  const std::vector<Index>& nodes() const { return nodes_; }
  /// Whether sample i of a recording lies in a window of the spec.
  static bool is_inside(const Recording& recording, std::size_t sample, const std::vector<double>& window) {
    return window.size() == 2 && recording.times[sample] >= window[0] - 1e-9 &&
           recording.times[sample] <= window[1] + 1e-9;
  }
  double training_end() const { return spec_.train.empty() ? 0 : spec_.train[1]; }
  /// When the windows of training and test end [s].
  double end() const { return std::max(training_end(), spec_.test.empty() ? 0 : spec_.test[1]); }

  /// The cloths of all trials side by side, up to the recording's time `until`. Results do not depend on what
  /// lies beside. Throws Interrupted.
  std::vector<Comparison> compare(const std::vector<Trial>& trials, double until,
                                  const ExecutionOptions& options, const TrialProgress& progress);
  /// For cloth at_rest, what compare() would change by for a change of 1 in an unknown, of each unknown by
  /// the two trials beside `trial` and the width between them, shape [unknown]. Empty where no rest was
  /// found.
  std::vector<Comparison> derivatives(const Trial& trial, const std::vector<std::array<Trial, 2>>& sides,
                                      const std::vector<double>& widths, double until);
  /// Quantiles of the strains of a law at rest, see RestCases.
  std::array<double, 2> strain_range(const Trial& trial, Index law, double until);
  /// The scene's file with the numbers and curves of a trial.
  Json json_with(const Trial& trial) const;
  /// Whether trials can be compared with a sample, whatever the delay.
  bool is_comparable(double time) const { return time - spec_.most_delay >= begin_ - 1e-9; }
  /// Why the scene refused the numbers of a trial last; empty: it never did.
  const std::string& refusal() const { return refusal_; }
  /// What the trial's cloth is seen to do.
  struct Simulated {
    std::vector<Recording> recordings;  ///< recordings at the times of the samples: positions, then forces
    /// Positions of all nodes when figures are read [m]; empty without figures.
    std::vector<Vec3d> figure_positions;
  };
  Simulated simulate(const Trial& trial, const ExecutionOptions& options, const TrialProgress& progress);
  /// The garment of a trial as it is simulated, and the scene to simulate it in, up to the time `until`.
  Scene scene_of(const std::vector<Trial>& trials, double until);
  /// The recording in the coordinates of a trial's scene.
  Recording placed_positions(const Trial& trial) const;

 private:
  /// What the cloth of a trial did at the times of the samples.
  struct Seen {
    std::vector<Vec3d> positions;
    std::vector<std::vector<Vec3d>> forces;
    std::vector<Vec3d> figure_positions;  ///< positions of all nodes when figures are read [m]; empty before
    double speed = 0;
    std::size_t next_position = 0;
    std::vector<std::size_t> next_forces;
    std::int64_t missed = 0;
    bool has_failed = false;
  };
  class Run;

  void make_samples();
  void read_positions(const FitSpec& fit);
  void find_grippers();
  void find_nodes();
  void check_windows() const;
  void check_lengths() const;
  void check_pins() const;
  Garment garment(const Trial& trial);
  std::vector<bool> accepted_trials(const std::vector<Trial>& trials);
  Comparison compared(const Trial& trial, Seen seen) const;
  const RestCases& rest_cases();
  std::vector<Seen> seen_at_rest(const std::vector<Trial>& trials, double until,
                                 const ExecutionOptions& options, const TrialProgress& progress);
  Comparison at_samples(const std::vector<RestCases::Case>& cases) const;
  RecordedMotion followed(const Garment& garment, const Pin& pin, bool is_rigid,
                          const Recording& placed) const;
  Vec3d smoothed(const Recording& placed, std::size_t point, std::size_t sample) const;

  ExperimentSpec spec_;
  SceneTemplate scene_;
  Recording positions_;
  std::vector<Recording> forces_;
  std::optional<Instruments> instruments_;
  std::vector<std::size_t> grippers_;  ///< gripper of each force recording
  std::vector<Index> nodes_;
  bool is_cloud_ = false;
  std::string refusal_;
  double begin_ = 0;                             ///< time of the recording at which the scene begins [s]
  std::shared_ptr<const RestCases> rest_cases_;  ///< load cases of cloth at_rest, once they are asked for
};

/// Adds to every position error the displacement or rotation that makes the sum of their squares in the
/// window least (Kabsch 1976; Umeyama 1991), and returns how far it moves a point on the average [m].
/// `recorded`: in the same coordinates.
double align(const Recording& recorded, Alignment alignment, const std::vector<double>& window,
             Comparison& comparison);

}  // namespace isocloth
