#include "host/app/run_scene.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <optional>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/recipe.hpp"
#include "engine/model/taut_pins.hpp"
#include "host/app/interrupt.hpp"
#include "host/app/progress.hpp"
#include "host/io/metric_columns.hpp"
#include "host/io/names.hpp"
#include "host/io/obstacle_poses.hpp"
#include "host/io/scene_file.hpp"
#include "host/report/from_trajectory.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Whether a frame, whose positions are float32, can hold the numbers.
bool fits_a_frame(const std::vector<Vec3d>& positions, const FrameMetrics& metrics) {
  constexpr double largest = std::numeric_limits<float>::max();
  for (const Vec3d& p : positions)
    for (const double x : {p.x, p.y, p.z})
      if (!(std::fabs(x) <= largest)) return false;
  const auto& columns = metric_columns();
  return std::all_of(columns.begin(), columns.end(),
                     [&](const MetricColumn& column) { return std::isfinite(column.get(metrics)); });
}

/// A run in progress: the simulation, what it has shown so far, and where it goes.
class Run {
 public:
  explicit Run(const RunRequest& request)
      : request_(request),
        scene_(read_scene(request.scene)),
        projects_(find_recipe(scene_.recipe).solver == SolverFamily::projection),
        folder_(request.output, scene_, portable_scene_text(request.scene), request.result),
        simulation_(scene_, request.execution),
        since_frame_(scene_.garments.size()) {
    fill_constants();
    if (const auto& checkpoint = folder_.resumed_from()) {
      for (std::size_t g = 0; g < checkpoint->garments.size(); ++g)
        simulation_.set_state(g, checkpoint->garments[g]);
      simulation_.set_bodies(checkpoint->bodies);
      simulation_.set_step_index(checkpoint->step_index);
      if (!checkpoint->since_frame.empty()) since_frame_ = checkpoint->since_frame;
      resume_totals(checkpoint->summary);
    } else if (!add_frame()) {
      throw SceneError(text(request.scene.string(), ": ", summary_.message));
    }
    if (folder_.resumed_from()) snapshot_ = take_snapshot();
    summary_.setup_seconds += seconds_since(begin_);
  }

  RunSummary finish() {
    simulate();
    if (!last_good_) count_garments();
    summary_.realtime_factor =
        summary_.wall_seconds > 0 ? summary_.simulated_seconds / summary_.wall_seconds : 0;
    folder_.save_checkpoint(last_good_ ? *last_good_ : checkpoint());
    summary_.frame_count = folder_.frame_count();
    summary_.frames_of = static_cast<std::int64_t>(folder_.frames_of());
    folder_.close(summary_);
    write_folder_report(folder_.working_path(), scene_, summary_);
    folder_.publish();
    return summary_;
  }

 private:
  void fill_constants() {
    summary_.scene = scene_.name.empty() ? request_.scene.stem().string() : scene_.name;
    summary_.recipe = scene_.recipe;
    summary_.method = method_name(scene_);
    // Impulses are weighed by the masses alone.
    summary_.metric = to_string(projects_ ? scene_.projection.metric : Metric::mass);
    summary_.backend = simulation_.options().backend;
    summary_.precision = to_string(simulation_.options().precision);
    summary_.machine = machine_name();
    summary_.version = ISOCLOTH_VERSION;
    summary_.threads = simulation_.options().threads;
    summary_.garment_count = static_cast<std::int64_t>(scene_.garments.size());
    summary_.step = scene_.step;
    summary_.tolerance = step_tolerance(scene_);
    summary_.seed = scene_.seed;
    std::map<std::string, std::size_t> solvers;
    for (std::size_t g = 0; g < scene_.garments.size(); ++g) {
      const GarmentInfo info = simulation_.info(g);
      summary_.node_count += info.node_count;
      summary_.element_count += info.face_count;
      summary_.row_count += info.row_count;
      summary_.memory_bytes += info.memory_bytes;
      ++solvers[info.solver];
    }
    for (const auto& [solver, count] : solvers) {
      if (!summary_.solver.empty()) summary_.solver += "; ";
      summary_.solver += solvers.size() > 1 ? text(count, " x ", solver) : solver;
    }
  }

  void resume_totals(const RunSummary& before) {
    if (!before.solver.empty() && !before.solver.ends_with(summary_.solver))
      summary_.solver = before.solver + ", then " + summary_.solver;
    else
      summary_.solver = before.solver;
    summary_.wall_seconds = before.wall_seconds;
    summary_.setup_seconds = before.setup_seconds;
    summary_.iterations_per_step_mean = before.iterations_per_step_mean;
    summary_.iterations_per_step_max = before.iterations_per_step_max;
    summary_.steps_violated = before.steps_violated;
    summary_.fallbacks = before.fallbacks;
    summary_.residual_max = before.residual_max;
    summary_.penetration_max = before.penetration_max;
    summary_.contact_count_max = before.contact_count_max;
    summary_.contact_force_max = before.contact_force_max;
    summary_.contact_force = before.contact_force;
    summary_.friction_stick_fraction = before.friction_stick_fraction;
    summary_.held_count_max = before.held_count_max;
    summary_.gripper_force_max = before.gripper_force_max;
    summary_.body_poses = before.body_poses;
    summary_.strain_max = before.strain_max;
    summary_.strain_mean = before.strain_mean;
    summary_.area_error_total_max = before.area_error_total_max;
    summary_.area_error_element_mean_max = before.area_error_element_mean_max;
    summary_.area_error_element_max = before.area_error_element_max;
  }

  void simulate() {
    const std::int64_t total = step_count(scene_), per_frame = steps_per_frame(scene_);
    Progress progress("steps", total, simulation_.step_index(), request_.quiet);
    const double wall_before = summary_.wall_seconds;
    const auto start = Clock::now();
    auto last_checkpoint = start;
    summary_.status = "completed";
    summary_.step_count = simulation_.step_index();
    summary_.simulated_seconds = simulation_.time();
    while (simulation_.step_index() < total && summary_.status == "completed") {
      if (interrupt_.interrupted()) {
        summary_.status = "interrupted";
        summary_.message = text("interrupted at t = ", simulation_.time(), " s; continue with --resume");
        break;
      }
      if (simulation_.step_index() - snapshot_.step_index >= snapshot_interval) snapshot_ = take_snapshot();
      std::vector<FrameMetrics> since_frame_before = since_frame_;
      RunSummary summary_before = summary_;
      count(simulation_.step());
      const std::int64_t done = simulation_.step_index();
      if (done % per_frame == 0 || done == total || summary_.status != "completed") add_frame();
      summary_.wall_seconds = wall_before + seconds_since(start);
      summary_.step_count = done;
      summary_.simulated_seconds = simulation_.time();
      if (summary_.status != "completed") {
        count_garments();  // before the state goes back
        last_good_ = checkpoint_before(done, std::move(since_frame_before), std::move(summary_before));
      }
      if (seconds_since(last_checkpoint) > request_.checkpoint_every) {
        folder_.save_checkpoint(checkpoint());
        last_checkpoint = Clock::now();
      }
      char note[64];
      std::snprintf(note, sizeof note, "%.3gx real time",
                    simulation_.time() / std::max(1e-9, summary_.wall_seconds));
      progress.update(done, note);
    }
  }

  /// Adds up what a step reported and decides whether the run goes on.
  void count(const std::vector<StepReport>& reports) {
    const double before = static_cast<double>((simulation_.step_index() - 1) * summary_.garment_count);
    double iterations = summary_.iterations_per_step_mean * before;
    for (std::size_t g = 0; g < reports.size(); ++g) {
      const StepReport& r = reports[g];
      FrameMetrics& m = since_frame_[g];
      iterations += r.iterations;
      summary_.iterations_per_step_max = std::max(summary_.iterations_per_step_max, r.iterations);
      m.status = std::max(m.status, r.status);
      m.iterations += r.iterations;
      m.substeps += r.substeps;
      m.fallbacks += r.fallbacks;
      summary_.fallbacks += r.fallbacks;
      if (std::isfinite(r.residual)) {
        m.residual_worst = std::max(m.residual_worst, r.residual);
        summary_.residual_max = std::max(summary_.residual_max, r.residual);
      }
      m.penetration = std::max(m.penetration, r.penetration);  // 0 of a step that is not finite
      summary_.penetration_max = std::max(summary_.penetration_max, r.penetration);
      if (r.status == StepStatus::converged) continue;
      ++summary_.steps_violated;
      const bool go_on = on_violation(scene_) == OnViolation::go_on;
      if (r.status == StepStatus::stalled && !go_on)
        end("stopped", g,
            text(missed(r), " after ", r.iterations, " iterations in the step to t = ", simulation_.time(),
                 " s",
                 projects_ ? text("; use a smaller step, max_substeps > ", r.substeps)
                           : text("; use impulse.substeps > ", r.substeps, ", impulse.mode \"converge\""),
                 ", or on_violation \"continue\""));
      if (r.status == StepStatus::non_finite && !(go_on && summary_.garment_count > 1))
        end("failed", g,
            text("the step to t = ", simulation_.time(),
                 " s is not finite; its last finite state is kept; check the motion of its pins or use a "
                 "smaller step"));
    }
    const auto is_lost = [](const StepReport& r) { return r.status == StepStatus::non_finite; };
    if (summary_.status == "completed" && std::all_of(reports.begin(), reports.end(), is_lost))
      end("failed", 0,
          text("frozen, as are all ", reports.size(),
               " garments: none has a finite step left; check the motion of the pins or use a smaller step"));
    summary_.iterations_per_step_mean = iterations / (before + static_cast<double>(summary_.garment_count));
  }

  /// What a stalled step missed, and by how much.
  std::string missed(const StepReport& r) const {
    const std::string residual = text("residual ", r.residual, ", expected <= ", step_tolerance(scene_));
    if (!(r.penetration > scene_.contact.tolerance)) return residual;
    const std::string depth = text("penetration of obstacles by ", r.penetration,
                                   " m, expected <= ", scene_.contact.tolerance, " (contact.tolerance)");
    return r.residual > step_tolerance(scene_) ? text(residual, ", and ", depth) : depth;
  }

  /// The run ends for garment g; a failure outweighs a missed tolerance, else the first reason stays.
  void end(const char* status, std::size_t g, const std::string& why) {
    if (summary_.status == "failed" || summary_.status == status) return;
    summary_.status = status;
    summary_.message = text("garments[", g, "] \"", scene_.garments[g].name, "\": ", why);
  }

  /// False: the run has failed, because the state left the numbers of a frame; nothing is added.
  bool add_frame() {
    std::vector<std::vector<Vec3d>> positions;
    for (std::size_t g = 0; g < since_frame_.size(); ++g) {
      positions.push_back(simulation_.positions(g));
      since_frame_[g].measures = simulation_.measure(g);
      if (fits_a_frame(positions[g], since_frame_[g])) continue;
      if (freeze(g)) {
        positions[g] = simulation_.positions(g);
        since_frame_[g].measures = simulation_.measure(g);
        if (fits_a_frame(positions[g], since_frame_[g])) continue;
      }
      end("failed", g,
          text("positions or measures at t = ", simulation_.time(),
               " s are too large for a frame; earlier frames are kept; check where the motion of its pins "
               "leads, or use on_violation \"stop\" or a smaller step"));
      return false;
    }
    measure_contacts();
    measure_holds();
    double strain_mean = 0;
    for (const FrameMetrics& metrics : since_frame_) {
      const Measures& m = metrics.measures;
      strain_mean += m.strain_mean / static_cast<double>(since_frame_.size());
      summary_.strain_max = std::max(summary_.strain_max, m.strain_max);
      summary_.area_error_total_max = std::max(summary_.area_error_total_max, m.area_error_total);
      summary_.area_error_element_mean_max =
          std::max(summary_.area_error_element_mean_max, m.area_error_mean);
      summary_.area_error_element_max = std::max(summary_.area_error_element_max, m.area_error_element_max);
    }
    const double frames = static_cast<double>(folder_.frame_count());
    summary_.strain_mean = (summary_.strain_mean * frames + strain_mean) / (frames + 1);
    folder_.add_frame(simulation_.step_index(), simulation_.time(), positions, since_frame_,
                      simulation_.bodies());
    since_frame_.assign(since_frame_.size(), {});
    if (summary_.status.empty() || summary_.status == "completed") snapshot_ = take_snapshot();
    return true;
  }

  void measure_contacts() {
    std::vector<std::string> names;
    for (const Obstacle& obstacle : scene_.obstacles) names.push_back(obstacle.name);
    for (const RigidBody& body : scene_.bodies) names.push_back(body.name);
    if (names.empty()) return;
    std::vector<Vec3d> forces(names.size());
    Index rubbing = 0, sticking = 0;
    for (std::size_t g = 0; g < since_frame_.size(); ++g) {
      const ContactMeasures found = simulation_.contacts(g);
      since_frame_[g].contact_count = found.count;
      since_frame_[g].contact_force = found.force;
      since_frame_[g].rubbing_count = found.rubbing;
      since_frame_[g].sticking_count = found.sticking;
      rubbing += found.rubbing;
      sticking += found.sticking;
      summary_.contact_count_max = std::max(summary_.contact_count_max, found.count);
      summary_.contact_force_max = std::max(summary_.contact_force_max, norm(found.force));
      for (std::size_t o = 0; o < forces.size(); ++o) forces[o] += found.forces[o];
    }
    for (std::size_t o = 0; o < forces.size(); ++o) summary_.contact_force[names[o]] = norm(forces[o]);
    const std::vector<BodyState> bodies = simulation_.bodies();
    for (std::size_t b = 0; b < bodies.size(); ++b) {
      const RigidBody& body = scene_.bodies[b];
      const PackedPose packed = packed_pose(shape_pose(bodies[b].pose, mass_properties(body.shape)));
      summary_.body_poses[body.name] = {packed.begin(), packed.end()};
    }
    summary_.friction_stick_fraction =
        rubbing > 0 ? static_cast<double>(sticking) / static_cast<double>(rubbing) : 0;
  }

  void measure_holds() {
    for (std::size_t g = 0; g < since_frame_.size(); ++g) {
      const std::vector<Gripper>& grippers = scene_.garments[g].grippers;
      if (grippers.empty()) continue;
      const HoldMeasures found = simulation_.holds(g);
      since_frame_[g].held_count = found.count;
      since_frame_[g].gripper_force = found.force;
      summary_.held_count_max = std::max(summary_.held_count_max, found.count);
      for (std::size_t i = 0; i < grippers.size(); ++i) {
        double& most = summary_.gripper_force_max[grippers[i].name];
        most = std::max(most, norm(found.forces[i]));
      }
    }
  }

  /// Stops a garment whose state no frame can hold, where the others may go on: at the latest snapshot, or at
  /// its start if that is no better.
  bool freeze(std::size_t g) {
    if (on_violation(scene_) != OnViolation::go_on || since_frame_.size() < 2 || simulation_.frozen(g))
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
    since_frame_[g].status = StepStatus::non_finite;
    return true;
  }

  /// Counts the garments that froze or missed their tolerance, and names the first of them.
  void count_garments() {
    std::vector<std::string> frozen, stalled;
    for (std::size_t g = 0; g < since_frame_.size(); ++g) {
      const StepStatus worst = std::max(folder_.worst_status(g), since_frame_[g].status);
      if (simulation_.frozen(g))
        frozen.push_back(scene_.garments[g].name);
      else if (worst != StepStatus::converged)
        stalled.push_back(scene_.garments[g].name);
    }
    summary_.garments_frozen = static_cast<std::int64_t>(frozen.size());
    summary_.garments_stalled = static_cast<std::int64_t>(stalled.size());
    if (summary_.status != "completed") return;
    const auto list = [](const std::vector<std::string>& names, const char* what) {
      constexpr std::size_t most = 3;
      if (names.empty()) return std::string();
      std::string line = text(names.size(), what);
      for (std::size_t i = 0; i < std::min(most, names.size()); ++i) line += (i == 0 ? "" : ", ") + names[i];
      return line + (names.size() > most ? ", ..." : "");
    };
    const std::string of_frozen = list(frozen, " garments frozen at their last finite state: ");
    const std::string of_stalled = list(stalled, " garments missed their tolerance: ");
    const auto add = [this](const std::string& what) {
      if (!what.empty()) summary_.message += (summary_.message.empty() ? "" : "; ") + what;
    };
    summary_.message.clear();
    add(of_frozen);
    add(of_stalled);
    if (summary_.fallbacks > 0) add(text(summary_.fallbacks, " parts of steps fell back on sweeps"));
    for (const std::string& warning : solver_warnings(scene_)) add(warning);
  }

  struct Snapshot {
    std::int64_t step_index = 0;
    std::vector<GarmentState> states;
    std::vector<BodyState> bodies;
  };

  Snapshot take_snapshot() const {
    Snapshot snapshot{simulation_.step_index(), {}, simulation_.bodies()};
    for (std::size_t g = 0; g < since_frame_.size(); ++g) snapshot.states.push_back(simulation_.state(g));
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

  Checkpoint checkpoint() const {
    Checkpoint checkpoint{.step_index = simulation_.step_index(),
                          .precision = simulation_.options().precision,
                          .garments = {},
                          .bodies = simulation_.bodies(),
                          .since_frame = since_frame_,
                          .summary = summary_};
    for (std::size_t g = 0; g < since_frame_.size(); ++g) checkpoint.garments.push_back(simulation_.state(g));
    return checkpoint;
  }

  const RunRequest& request_;
  const Clock::time_point begin_ = Clock::now();
  const InterruptGuard interrupt_;  // of setup and report too: they are worth waiting for
  Scene scene_;
  const bool projects_;
  ResultFolder folder_;
  Simulation simulation_;
  std::vector<FrameMetrics> since_frame_;
  RunSummary summary_;
  /// Steps after which a run that ends badly would rather have copied its state than repeat them.
  static constexpr std::int64_t snapshot_interval = 32;
  Snapshot snapshot_;                    ///< of the latest frame, or a later step
  std::optional<Checkpoint> last_good_;  ///< state before the step that ended the run
};

}  // namespace

RunSummary run_scene(const RunRequest& request) { return Run(request).finish(); }

void write_folder_report(const std::filesystem::path& folder, const Scene& scene, const RunSummary& summary) {
  std::vector<std::vector<Index>> pinned(scene.garments.size());
  for (std::size_t g = 0; g < pinned.size(); ++g)
    for (const Pin& pin : scene.garments[g].pins)
      pinned[g].insert(pinned[g].end(), pin.nodes.begin(), pin.nodes.end());
  const TrajectoryFile trajectory = read_trajectory(folder / "trajectory.h5");
  write_report(folder / "report.html", report_from(trajectory, summary, pinned));
}

std::string machine_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown processor";
}

}  // namespace isocloth
