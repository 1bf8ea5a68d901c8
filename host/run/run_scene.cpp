#include "host/run/run_scene.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/energy/energy_balance.hpp"
#include "host/files/error_text.hpp"
#include "host/files/in_file.hpp"
#include "host/report/from_trajectory.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/results/result_folder.hpp"
#include "host/results/trajectory_writer.hpp"
#include "host/results/working_folder.hpp"
#include "host/run/certificate.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/run/run_tally.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/sewn_file.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A run in progress: the simulation, what it has shown so far, and where it goes.
class Run {
 public:
  Run(const RunRequest& request, RunObserver& observer)
      : request_(request),
        observer_(observer),
        scene_(read()),
        resolved_(scene_),
        folder_(request.output, scene_, portable_scene_text(request.scene, request.access), request.result,
                request.execution.precision),
        simulation_(start_simulation(scene_, request.scene, request.execution)),
        tally_(resolved_, request.scene.stem().string(), simulation_, folder_.resumed_from()),
        certificate_(scene_) {
    tally_.name_seams(sewing_.seams);
    if (folder_.starts_anew())
      warn(text(
          request.output.string(),
          ": what is left of a run that was killed has no checkpoint to go on from: this one starts at the "
          "beginning"));
    for (const std::string& line : warnings_) warn(line);
    const IntersectionReport start = start_intersections(scene_, simulation_);
    const Separation& separation = simulation_.separation();
    for (const std::string& line :
         start_warnings(scene_, start, request_.scene, request.execution.precision, separation))
      warn(line);
    for (const std::string& line : simulation_.obstacle_notes()) warn(line);
    if (const auto& checkpoint = folder_.resumed_from()) go_to(*checkpoint);
    for (const std::string& line : tally_.eased_garments()) warn(line);
    begin_balance();
    if (sewn_) write_sewn();
    if (!sewn_in_.empty()) carry_sewn();
    if (request_.certify) simulation_.keep_step_records(true);
    if (!folder_.resumed_from()) {
      tally_.measure_start(separation.nodes > 0 ? Certificate(simulation_.scene()).of_start().near
                                                : start.near);
      if (!add_frame()) throw SceneError(text(request.scene.string(), ": ", tally_.summary.message));
    }
    take_snapshot();
    tally_.summary.setup_seconds += seconds_since(begin_);
    // A run that is killed before its first whole checkpoint can be resumed, too.
    if (!folder_.resumed_from()) save_checkpoint(checkpoint());
    observer_.on_start(
        {.step_index = simulation_.step_index(),
         .step_count = step_count(scene_),
         .time = simulation_.time(),
         .created_folders = folder_.created_parents(),
         .resumed_folder = folder_.resumed_folder() == folder_.path() ? "" : folder_.resumed_folder(),
         .meets_cloth = scene_.contact.cloth});
  }

  RunSummary finish() {
    std::string unreported;
    try {
      if (is_stopped_by_seams())
        refuse_open_seams();
      else if (request_.equilibrium)
        find_equilibrium();
      else
        simulate();
      observer_.on_last_step();
      if (!last_good_) tally_.count_garments(worst_statuses());
      if (tally_.summary.status == "completed" && request_.equilibrium)
        tally_.summary.message = text("at rest: forces on nodes balance to ", imbalance_, " of their weight");
      if (tally_.summary.status == "completed") {
        for (const std::string& line : tally_.idle_grippers()) warn(line);
        for (const std::string& line : tally_.coarse_garments()) warn(line);
        for (const std::string& line : tally_.energy_errors()) warn(line);
      }
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
        unreported = of_target(error_sentence(error));
      }
      folder_.publish();
    } catch (const Interrupted&) {
      throw;  // see spare_earlier
    } catch (const std::exception& error) {
      throw FileError(of_target(error_sentence(error)) + rescue());
    }
    if (!unreported.empty())
      throw FileError(text(unreported, "; all other results are there, and \"isocloth report ",
                           request_.output.string(), "\" writes it when that is mended"));
    return tally_.summary;
  }

 private:
  Scene read() {
    require_positive("checkpoint_every", request_.checkpoint_every);
    Scene scene = read_scene(request_.scene, warnings_, sewing_, request_.access,
                             MonitorView(request_.execution.monitor));
    if (request_.equilibrium) {
      if (request_.execution.precision == Precision::float32)
        throw DeviceError(
            "rest: found the precision float32, expected float64: forces of single precision do not balance");
      in_file(request_.scene, [&] { require_equilibrium(scene); });
      scene.projection.integrator = Integrator::backward_euler;
      scene.projection.max_substeps = 1;
      scene.projection.max_iterations = std::max(scene.projection.max_iterations, 100);
      scene.duration = static_cast<double>(request_.equilibrium->most_steps) * scene.step;
      scene.frame_interval = 0;
    }
    observer_.on_set_up();
    return sewing_.stage ? sewn(std::move(scene)) : scene;
  }

  Scene sewn(Scene scene) {
    // What has no place for its result is refused before the work, not after it.
    const WorkingFolder place(request_.output, request_.result.if_exists);
    if (request_.result.if_exists == IfExists::resume && finds_sewn(place.resumable(), scene)) return scene;
    return in_file(request_.scene, [&] {
      sewn_ = sew(std::move(scene), sewing_, request_.execution,
                  [this](const SewingProgress& progress) { observer_.on_sewing(progress); });
      return sewn_->scene;
    });
  }

  /// Whether one of the folders has the garments of the scene as they were sewn, which then start so.
  bool finds_sewn(const std::vector<std::filesystem::path>& folders, Scene& scene) {
    for (const std::filesystem::path& folder : folders) {
      try {
        start_as_sewn(folder / sewn_file, scene);
        sewn_in_ = folder;
        return true;
      } catch (const Error&) {
        // It has none, or others: that its checkpoint does not fit either is said where that is read.
      }
    }
    return false;
  }

  bool is_stopped_by_seams() const {
    if (!sewing_.stage || sewing_.stage->if_open != IfOpen::stop) return false;
    if (sewn_) return !sewn_->unclosed.empty();
    const std::optional<Checkpoint>& before = folder_.resumed_from();
    return before && before->step_index == 0 && before->summary.status == "stopped";
  }
  void refuse_open_seams() {
    tally_.summary.status = "stopped";
    tally_.summary.message = sewn_ ? text("time did not begin: ", describe(*sewn_),
                                          "; sewing.if_open \"continue\" goes on all the same")
                                   : folder_.resumed_from()->summary.message;
  }

  /// Keeps with this result what was sewn for the one that it goes on from.
  void carry_sewn() {
    for (const char* name : {sewn_file, sewing_file}) {
      std::error_code error;
      if (!std::filesystem::exists(sewn_in_ / name, error)) continue;
      std::filesystem::copy_file(sewn_in_ / name, folder_.working_path() / name, error);
      if (error)
        throw FileError(text((sewn_in_ / name).string(), ": cannot copy it to ",
                             folder_.working_path().string(), ": ", error.message()));
    }
  }

  /// What was sewn, beside the result of the run.
  void write_sewn() {
    write_sewn_garments(folder_.working_path() / sewn_file, scene_, sewing_);
    for (const UnclosedSeam& seam : sewn_->unclosed) warn("sewing: " + describe(seam, scene_));
    observer_.on_sewn(*sewn_);
    if (sewn_->frames.empty()) return;
    TrajectoryLayout layout = trajectory_layout(scene_);
    layout.has_contact_loads = false;
    TrajectoryWriter writer(folder_.working_path() / sewing_file, layout);
    for (std::size_t f = 0; f < sewn_->frames.size(); ++f) {
      TrajectoryFrame frame{.step = sewn_->frame_steps[f],
                            .time = scene_.step * sewn_->frame_steps[f],
                            .positions = {},
                            .metrics = std::vector<FrameMetrics>(scene_.garments.size()),
                            .obstacle_poses = obstacle_poses(scene_, layout.clock_offsets, 0)};
      for (const std::vector<Vec3d>& garment : sewn_->frames[f])
        for (const Vec3d& p : garment) frame.positions.insert(frame.positions.end(), {p.x, p.y, p.z});
      writer.append(frame);
    }
    writer.close();
    sewn_->frames.clear();
  }

  void warn(const std::string& line) {
    tally_.summary.warnings.push_back(line);
    observer_.on_warning(line);
  }

  /// A message about a file under the name that the user gave.
  std::string of_target(std::string message) const {
    const std::string working = folder_.working_path().string() + "/";
    for (std::size_t at = 0; (at = message.find(working, at)) != std::string::npos;)
      message.replace(at, working.size(), (request_.output / "").string());
    return message;
  }

  /// Saves the latest state that is in memory after an error, where that can be, and says what is left.
  std::string rescue() {
    try {
      if (!snapshot_.garments.empty()) folder_.save_checkpoint(snapshot_);
    } catch (const std::exception&) {
      // The last checkpoint that was saved stays.
    }
    return folder_.remains();
  }

  void save_checkpoint(const Checkpoint& checkpoint) {
    const auto start = Clock::now();
    folder_.save_checkpoint(checkpoint);
    // Often at first, and never so often that a run is much slower.
    checkpoint_pause_ = std::min(request_.checkpoint_every, std::max(1., 50 * seconds_since(start)));
  }

  void simulate() {
    const std::int64_t total = step_count(scene_), per_frame = steps_per_frame(scene_);
    const double wall_before = tally_.summary.wall_seconds;
    const auto start = Clock::now();
    auto last_checkpoint = start;
    tally_.summary.status = "completed";
    tally_.summary.step_count = simulation_.step_index();
    tally_.summary.simulated_seconds = simulation_.time();
    std::int64_t singly_until = 0;  // a step before this one ends the run
    while (simulation_.step_index() < total && tally_.summary.status == "completed") {
      const std::int64_t begin = simulation_.step_index();
      if (is_snapshot_due()) take_snapshot();
      std::vector<FrameMetrics> since_frame_before = tally_.since_frame;
      RunSummary summary_before = tally_.summary;
      std::vector<StepReport> reports;
      if (request_.certify) certificate_.begin_step(simulation_);
      const std::int64_t most = begin < singly_until ? 1 : most_steps_at_once();
      const auto steps = static_cast<int>(std::min({most, total - begin, per_frame - begin % per_frame}));
      try {
        if (steps > 1) {
          const std::vector<AdvanceReport> several = simulation_.advance_at_once(steps);
          if (tally_.steps_to_end(several, steps) < steps) {
            repeat_to(begin);
            singly_until = begin + steps;
            continue;
          }
          tally_.count(several, steps);
        } else {
          reports = balance_ ? balance_->step() : simulation_.step();
          tally_.count(reports);
        }
      } catch (const Interrupted&) {
        spare_earlier();
        tally_.summary.status = "interrupted";
        tally_.summary.message =
            text("interrupted at t = ", simulation_.time(), " s; continue with --resume");
        break;
      }
      note_energies();
      if (request_.certify)
        certificate_.count(simulation_, reports,
                           balance_ ? balance_->kept() : simulation_.take_step_records(), tally_.summary);
      const std::int64_t done = simulation_.step_index();
      if (done % per_frame == 0 || done == total || tally_.summary.status != "completed") add_frame();
      tally_.summary.wall_seconds = wall_before + seconds_since(start);
      tally_.summary.step_count = done;
      tally_.summary.simulated_seconds = simulation_.time();
      if (tally_.summary.status != "completed") {
        tally_.count_garments(worst_statuses());  // before the state goes back
        last_good_ = checkpoint_before(done, std::move(since_frame_before), std::move(summary_before));
      }
      if (seconds_since(last_checkpoint) > checkpoint_pause_) {
        save_checkpoint(checkpoint());
        last_checkpoint = Clock::now();
      }
      observer_.on_step(done, simulation_.time() / std::max(1e-9, tally_.summary.wall_seconds));
    }
  }

  /// Steps that nobody looks into.
  int most_steps_at_once() const {
    return balance_ || request_.certify ? 1 : simulation_.most_steps_at_once();
  }

  /// A copy of a batch on a device is worth more than 32 of its steps.
  bool is_snapshot_due() const {
    return seconds_since(snapshot_taken_) > snapshot_pause ||
           (most_steps_at_once() == 1 &&
            simulation_.step_index() - snapshot_.step_index >= snapshot_interval);
  }

  /// Throws Interrupted where no step was taken and an earlier result would make room for none.
  void spare_earlier() const {
    if (simulation_.step_index() == 0 && request_.result.if_exists == IfExists::overwrite &&
        std::filesystem::exists(folder_.path()))
      throw Interrupted("interrupted before the first step");
  }

  void begin_balance() {
    if (!request_.result.has_energies) return;
    in_file(request_.scene, [&] { balance_.emplace(simulation_); });
    for (std::size_t g = 0; folder_.resumed_from() && g < tally_.since_frame.size(); ++g)
      balance_->set_sums(g, tally_.since_frame[g].energy);
    note_energies();
  }
  void note_energies() {
    for (std::size_t g = 0; balance_ && g < tally_.since_frame.size(); ++g)
      tally_.since_frame[g].energy = balance_->sums(g);
  }

  void find_equilibrium() {
    EquilibriumSearch search(simulation_, *request_.equilibrium);
    const auto start = Clock::now();
    RunSummary& s = tally_.summary;
    s.status = "completed";
    while (!search.has_converged() && s.status == "completed") {
      if (s.step_count == request_.equilibrium->most_steps) {
        s.status = "stopped";
        s.message = text("no rest within ", s.step_count, " steps: a node is still pulled by ",
                         search.residual(), " of its weight; allow more steps, or damp by mass_damping");
        break;
      }
      try {
        const std::vector<StepReport> reports = search.step();
        s.overall.steps.strain = {};  // of the last step alone
        s.overall.steps.residual = s.overall.steps.penetration = 0;
        tally_.count(reports);
        for (std::size_t g = 0; g < reports.size(); ++g)
          if (has_failed(reports[g].status)) tally_.end("failed", g, "lost a step, and so finds no rest");
      } catch (const Interrupted&) {
        spare_earlier();
        s.status = "interrupted";
        s.message = text("interrupted after ", s.step_count, " steps, with ", search.residual(),
                         " of a node's weight not balanced");
        break;
      }
      s.wall_seconds = seconds_since(start);
      s.step_count = simulation_.step_index();
      if (search.has_converged() || s.step_count % 10 == 0 || s.status != "completed") add_frame();
      observer_.on_step(s.step_count, 0);
    }
    imbalance_ = search.residual();
  }

  /// Adds a frame; false: the run has failed, because the state left the numbers of a frame; nothing is
  /// added.
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
    const std::int64_t step = simulation_.step_index();
    folder_.add_frame(step, static_cast<double>(step) * scene_.step, positions, tally_.since_frame,
                      simulation_.bodies(),
                      folder_.has_contact_loads() ? simulation_.cloth_loads() : std::vector<ClothLoads>());
    tally_.since_frame.assign(tally_.since_frame.size(), {});
    note_energies();
    if (has_frozen) take_snapshot();  // what was before does not repeat itself
    return true;
  }

  /// CcdLimits a garment whose state no frame can hold, where the others may go on: at the latest snapshot,
  /// or at its start if that is no better.
  bool freeze(std::size_t g) {
    if (resolved_.on_violation != OnViolation::go_on || tally_.since_frame.size() < 2 ||
        simulation_.frozen(g))
      return false;
    simulation_.reset({g});
    GarmentState kept = simulation_.state(g);
    bool is_snapshot = false;
    if (!snapshot_.garments.empty()) {
      simulation_.set_state(g, snapshot_.garments[g]);
      FrameMetrics metrics;
      metrics.measures = simulation_.measure(g);
      is_snapshot = fits_a_frame(simulation_.positions(g), metrics);
      if (is_snapshot) kept = snapshot_.garments[g];
    }
    kept.frozen = true;
    simulation_.set_state(g, kept);
    if (balance_) {  // what the lost numbers came from is lost with them
      balance_->set_sums(g, is_snapshot ? snapshot_.since_frame[g].energy : EnergySums{});
      tally_.since_frame[g].energy = balance_->sums(g);
    }
    tally_.since_frame[g].steps.status = StepStatus::non_finite;
    tally_.note_lost(g, "its numbers are too large for a frame");
    return true;
  }

  /// Worst status of each garment up to the last frame, shape [garment].
  std::vector<StepStatus> worst_statuses() const {
    std::vector<StepStatus> worst;
    for (std::size_t g = 0; g < scene_.garments.size(); ++g) worst.push_back(folder_.worst_status(g));
    return worst;
  }

  void take_snapshot() {
    snapshot_taken_ = Clock::now();
    snapshot_ = checkpoint();
  }

  void go_to(const Checkpoint& checkpoint) {
    simulation_.restore({checkpoint.garments, checkpoint.bodies, checkpoint.step_index});
  }

  /// Goes back to the latest snapshot and does the steps since then again, up to this one.
  void repeat_to(std::int64_t step_index) {
    go_to(snapshot_);
    while (simulation_.step_index() < step_index) {
      const std::int64_t steps =
          std::min<std::int64_t>(most_steps_at_once(), step_index - simulation_.step_index());
      try {
        if (steps > 1)
          simulation_.advance_at_once(static_cast<int>(steps));
        else
          simulation_.step();
      } catch (const Interrupted&) {
        request_.execution.monitor->stop = false;  // these steps are short, or few
      }
    }
  }

  /// The checkpoint of the step before `step_index`: a run repeats itself bit for bit, so the steps since the
  /// latest snapshot are done again instead of a copy being made before each of them.
  Checkpoint checkpoint_before(std::int64_t step_index, std::vector<FrameMetrics> since_frame,
                               RunSummary summary) {
    repeat_to(step_index - 1);
    Checkpoint before = checkpoint();
    before.since_frame = std::move(since_frame);
    before.summary = std::move(summary);
    return before;
  }

  Checkpoint checkpoint() const {
    Snapshot now = simulation_.snapshot();
    return {.step_index = now.step_index,
            .precision = simulation_.options().precision,
            .garments = std::move(now.garments),
            .bodies = std::move(now.bodies),
            .since_frame = tally_.since_frame,
            .summary = tally_.summary};
  }

  const RunRequest& request_;
  RunObserver& observer_;
  const Clock::time_point begin_ = Clock::now();
  std::vector<std::string> warnings_;  // before scene_, which adds to them, as to the next
  SewingPlan sewing_;
  static constexpr const char *sewn_file = "sewn.h5", *sewing_file = "sewing.h5";
  std::optional<SewnScene> sewn_;  ///< what was sewn before time begins
  std::filesystem::path sewn_in_;  ///< folder of the result to go on from that has it; empty: none
  const Scene scene_;
  const ResolvedScene resolved_;
  ResultFolder folder_;
  Simulation simulation_;
  RunTally tally_;
  Certificate certificate_;
  std::optional<EnergyBalance> balance_;
  double checkpoint_pause_ = 0;  ///< pause between checkpoints in wall time [s]
  /// Steps after which a run that ends badly would rather have copied its state than repeat them.
  static constexpr std::int64_t snapshot_interval = 32;
  /// Time after which a run that ends badly would rather have copied its state than repeat it [s].
  static constexpr double snapshot_pause = 0.5;
  Checkpoint snapshot_;  ///< state from which the last steps of a run that ends badly are repeated
  Clock::time_point snapshot_taken_;
  double imbalance_ = 0;                 ///< imbalance where a rest is looked for, see EquilibriumSearch
  std::optional<Checkpoint> last_good_;  ///< state before the step that ended the run
};

}  // namespace

RunSummary run_scene(const RunRequest& request, RunObserver* observer) {
  RunObserver nobody;
  try {
    return Run(request, observer != nullptr ? *observer : nobody).finish();
  } catch (const Interrupted&) {
    throw Interrupted("interrupted before the first step: nothing was done");
  }
}

}  // namespace isocloth
