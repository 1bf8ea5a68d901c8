#include "host/app/run_scene.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/app/interrupt.hpp"
#include "host/app/prepare_scene.hpp"
#include "host/app/progress.hpp"
#include "host/app/run_tally.hpp"
#include "host/report/from_trajectory.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

ExecutionOptions watched(ExecutionOptions options, Monitor& monitor) {
  options.monitor = &monitor;
  return options;
}

/// A run in progress: the simulation, what it has shown so far, and where it goes.
class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request),
        scene_(read_scene(request.scene, warnings_)),
        folder_(request.output, scene_, portable_scene_text(request.scene), request.result),
        simulation_(start_simulation(scene_, request.scene, watched(request.execution, monitor_))),
        tally_(scene_, request.scene.stem().string(), simulation_) {
    for (const std::string& line : scene_warnings(scene_)) warnings_.push_back(line);
    for (const std::string& line : warnings_) std::fprintf(stderr, "isocloth: warning: %s\n", line.c_str());
    tally_.summary.warnings = warnings_;
    if (const auto& checkpoint = folder_.resumed_from()) {
      for (std::size_t g = 0; g < checkpoint->garments.size(); ++g)
        simulation_.set_state(g, checkpoint->garments[g]);
      simulation_.set_bodies(checkpoint->bodies);
      simulation_.set_step_index(checkpoint->step_index);
      tally_.resume(*checkpoint);
    } else if (tally_.measure_start(); !add_frame()) {
      throw SceneError(text(request.scene.string(), ": ", tally_.summary.message));
    }
    snapshot_ = take_snapshot();
    tally_.summary.setup_seconds += seconds_since(begin_);
    // A run that is killed before its first whole checkpoint can be resumed, too.
    if (!folder_.resumed_from()) save_checkpoint(checkpoint());
    tell_places();
  }

  RunSummary finish() {
    std::string unreported;
    try {
      simulate();
      interrupt_.let_finish();
      if (!last_good_) tally_.count_garments(worst_statuses());
      if (tally_.summary.status == "completed") tally_.warn_of_idle_grippers();
      tally_.summary.realtime_factor = tally_.summary.wall_seconds > 0
                                           ? tally_.summary.simulated_seconds / tally_.summary.wall_seconds
                                           : 0;
      save_checkpoint(last_good_ ? *last_good_ : checkpoint());
      snapshot_ = {};  // no better than that one
      tally_.summary.frame_count = folder_.frame_count();
      tally_.summary.frames_of = static_cast<std::int64_t>(folder_.frames_of());
      folder_.close(tally_.summary);
      try {
        write_folder_report(folder_.working_path(), scene_, tally_.summary);
      } catch (const std::exception& error) {
        unreported = of_target(error.what());
      }
      folder_.publish();
    } catch (const std::exception& error) {
      throw FileError(of_target(error.what()) + rescue());
    }
    if (!unreported.empty())
      throw FileError(text(unreported, "; all other results are there, and \"isocloth report ",
                           request_.output.string(), "\" writes it when that is mended"));
    return tally_.summary;
  }

 private:
  /// A message about a file under the name that the user gave.
  std::string of_target(std::string message) const {
    const std::string working = folder_.working_path().string() + "/";
    for (std::size_t at = 0; (at = message.find(working, at)) != std::string::npos;)
      message.replace(at, working.size(), (request_.output / "").string());
    return message;
  }

  /// After an error: saves the latest state that is in memory, where that can be, and says what is left.
  std::string rescue() {
    try {
      if (!snapshot_.states.empty()) folder_.save_checkpoint(checkpoint_of(snapshot_));
    } catch (const std::exception&) {
      // The last checkpoint that was saved stays.
    }
    return folder_.remains();
  }

  /// What a user would not expect of the places of files.
  void tell_places() const {
    if (request_.quiet) return;
    if (!folder_.created_parents().empty())
      std::fprintf(stderr, "isocloth: made the folder %s\n", folder_.created_parents().back().c_str());
    const std::filesystem::path& from = folder_.resumed_folder();
    if (const auto& checkpoint = folder_.resumed_from(); checkpoint && from != folder_.path())
      std::fprintf(stderr, "isocloth: goes on from %s at t = %g s\n", from.c_str(),
                   static_cast<double>(checkpoint->step_index) * scene_.step);
  }

  void save_checkpoint(const Checkpoint& checkpoint) {
    const auto start = Clock::now();
    folder_.save_checkpoint(checkpoint);
    // Often at first, and never so often that a run is much slower.
    checkpoint_pause_ = std::min(request_.checkpoint_every, std::max(1., 50 * seconds_since(start)));
  }

  void simulate() {
    const std::int64_t total = step_count(scene_), per_frame = steps_per_frame(scene_);
    Progress progress("steps", total, simulation_.step_index(), request_.quiet, &monitor_);
    const double wall_before = tally_.summary.wall_seconds;
    const auto start = Clock::now();
    auto last_checkpoint = start;
    tally_.summary.status = "completed";
    tally_.summary.step_count = simulation_.step_index();
    tally_.summary.simulated_seconds = simulation_.time();
    while (simulation_.step_index() < total && tally_.summary.status == "completed") {
      if (simulation_.step_index() - snapshot_.step_index >= snapshot_interval ||
          seconds_since(snapshot_.taken) > snapshot_pause)
        snapshot_ = take_snapshot();
      std::vector<FrameMetrics> since_frame_before = tally_.since_frame;
      RunSummary summary_before = tally_.summary;
      std::vector<StepReport> reports;
      try {
        reports = simulation_.step();
      } catch (const Interrupted&) {
        tally_.summary.status = "interrupted";
        tally_.summary.message =
            text("interrupted at t = ", simulation_.time(), " s; continue with --resume");
        break;
      }
      tally_.count(reports);
      const std::int64_t done = simulation_.step_index();
      if (done % per_frame == 0 || done == total || tally_.summary.status != "completed") add_frame();
      tally_.summary.wall_seconds = wall_before + seconds_since(start);
      tally_.summary.step_count = done;
      tally_.summary.simulated_seconds = simulation_.time();
      if (tally_.summary.status != "completed") {
        interrupt_.let_finish();                  // the steps that are repeated are short, or few
        tally_.count_garments(worst_statuses());  // before the state goes back
        last_good_ = checkpoint_before(done, std::move(since_frame_before), std::move(summary_before));
      }
      if (seconds_since(last_checkpoint) > checkpoint_pause_) {
        save_checkpoint(checkpoint());
        last_checkpoint = Clock::now();
      }
      progress.update(done, simulation_.time() / std::max(1e-9, tally_.summary.wall_seconds));
    }
  }

  /// False: the run has failed, because the state left the numbers of a frame; nothing is added.
  bool add_frame() {
    std::vector<std::vector<Vec3d>> positions = simulation_.positions();
    const std::vector<Measures> measures = simulation_.measure();
    bool has_frozen = false;
    for (std::size_t g = 0; g < tally_.since_frame.size(); ++g) {
      tally_.since_frame[g].measures = measures[g];
      if (fits_a_frame(positions[g], tally_.since_frame[g])) continue;
      if (freeze(g)) {
        has_frozen = true;
        positions[g] = simulation_.positions(g);
        tally_.since_frame[g].measures = simulation_.measure(g);
        if (fits_a_frame(positions[g], tally_.since_frame[g])) continue;
      }
      tally_.end(
          "failed", g,
          text("positions or measures at t = ", simulation_.time(),
               " s are too large for a frame; earlier frames are kept; check where the motion of its pins "
               "leads, or use on_violation \"stop\" or a smaller step"));
      return false;
    }
    tally_.measure_frame();
    folder_.add_frame(simulation_.step_index(), simulation_.time(), positions, tally_.since_frame,
                      simulation_.bodies());
    tally_.since_frame.assign(tally_.since_frame.size(), {});
    if (has_frozen) snapshot_ = take_snapshot();  // what was before does not repeat itself
    return true;
  }

  /// Stops a garment whose state no frame can hold, where the others may go on: at the latest snapshot, or at
  /// its start if that is no better.
  bool freeze(std::size_t g) {
    if (on_violation(scene_) != OnViolation::go_on || tally_.since_frame.size() < 2 || simulation_.frozen(g))
      return false;
    simulation_.reset({g});
    GarmentState kept = simulation_.state(g);
    if (!snapshot_.states.empty()) {
      simulation_.set_state(g, snapshot_.states[g]);
      FrameMetrics metrics;
      metrics.measures = simulation_.measure(g);
      if (fits_a_frame(simulation_.positions(g), metrics)) kept = snapshot_.states[g];
    }
    kept.frozen = true;
    simulation_.set_state(g, kept);
    tally_.since_frame[g].status = StepStatus::non_finite;
    tally_.note_lost(g, "its numbers are too large for a frame");
    return true;
  }

  /// Of each garment up to the last frame.
  std::vector<StepStatus> worst_statuses() const {
    std::vector<StepStatus> worst;
    for (std::size_t g = 0; g < scene_.garments.size(); ++g) worst.push_back(folder_.worst_status(g));
    return worst;
  }

  struct Snapshot {
    Clock::time_point taken = Clock::now();
    std::int64_t step_index = 0;
    std::vector<GarmentState> states;
    std::vector<BodyState> bodies;
    std::vector<FrameMetrics> since_frame;
    RunSummary summary;
  };

  Snapshot take_snapshot() const {
    Snapshot snapshot{.step_index = simulation_.step_index(),
                      .states = {},
                      .bodies = simulation_.bodies(),
                      .since_frame = tally_.since_frame,
                      .summary = tally_.summary};
    for (std::size_t g = 0; g < tally_.since_frame.size(); ++g)
      snapshot.states.push_back(simulation_.state(g));
    return snapshot;
  }

  /// The checkpoint of the step before `step_index`: a run repeats itself bit for bit, so the steps since the
  /// latest snapshot are done again instead of a copy being made before each of them.
  Checkpoint checkpoint_before(std::int64_t step_index, std::vector<FrameMetrics> since_frame,
                               RunSummary summary) {
    for (std::size_t g = 0; g < since_frame.size(); ++g) simulation_.set_state(g, snapshot_.states[g]);
    simulation_.set_bodies(snapshot_.bodies);
    simulation_.set_step_index(snapshot_.step_index);
    while (simulation_.step_index() < step_index - 1) simulation_.step();
    Checkpoint before = checkpoint();
    before.since_frame = std::move(since_frame);
    before.summary = std::move(summary);
    return before;
  }

  Checkpoint checkpoint() const { return checkpoint_of(take_snapshot()); }

  Checkpoint checkpoint_of(Snapshot snapshot) const {
    return {.step_index = snapshot.step_index,
            .precision = simulation_.options().precision,
            .garments = std::move(snapshot.states),
            .bodies = std::move(snapshot.bodies),
            .since_frame = std::move(snapshot.since_frame),
            .summary = std::move(snapshot.summary)};
  }

  const RunRequest& request_;
  const Clock::time_point begin_ = Clock::now();
  std::vector<std::string> warnings_;  // before scene_, which adds to them
  Scene scene_;
  Monitor monitor_;
  InterruptGuard interrupt_{monitor_};  // from where there is a folder to clean up
  ResultFolder folder_;
  Simulation simulation_;
  RunTally tally_;
  double checkpoint_pause_ = 0;  ///< between checkpoints [s] of wall time
  /// Steps after which a run that ends badly would rather have copied its state than repeat them.
  static constexpr std::int64_t snapshot_interval = 32;
  static constexpr double snapshot_pause = 0.5;  ///< the same where steps take long [s]
  Snapshot snapshot_;                            ///< of the last steps but a few
  std::optional<Checkpoint> last_good_;          ///< state before the step that ended the run
};

}  // namespace

RunSummary run_scene(const RunRequest& request) {
  try {
    return Run(request).finish();
  } catch (const Interrupted&) {
    throw Interrupted("interrupted during set-up: nothing was done");
  }
}

void write_folder_report(const std::filesystem::path& folder, const Scene& scene, const RunSummary& summary) {
  const TrajectoryFile trajectory = read_trajectory(folder / "trajectory.h5");
  write_report(folder / "report.html", report_from(trajectory, summary, scene.garments));
}

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace isocloth
