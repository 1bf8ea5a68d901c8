#include "host/sweep/run_sweep.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/core/checks.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/files/in_file.hpp"
#include "host/files/names.hpp"
#include "host/files/text_file.hpp"
#include "host/results/scene_digest.hpp"
#include "host/run/fabric_warnings.hpp"
#include "host/run/lost_step.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/scene_template.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/sweep/sweep_folder.hpp"
#include "host/sweep/watchdog.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t usual_batch = 128;
constexpr std::size_t batch_memory_bytes = std::size_t{1} << 30;

class Sweep {
 public:
  Sweep(const SweepRequest& request, const SweepProgress& progress)
      : request_(request),
        progress_(progress),
        scene_(request.scene, request.access),
        resolved_(scene_.base()),
        folder_(request.output, request.if_exists),
        step_count_(step_count(scene_.base())),
        per_frame_(steps_per_frame(scene_.base())),
        window_(request.window.value_or(SweepWindow{0, scene_.base().duration})) {
    require_not_negative("case_seconds", request.case_seconds);
    check_window();
    table_.plan = make_sweep_plan(request.vary, request.samples, request.seed, scene_.numbers());
    const Index node_count = scene_.base().garments[0].mesh.node_count();
    table_.measures = sweep_measures(request.measures, node_count, !request.against.empty());
    if (!request.against.empty() && request.against != "base")
      reference_.emplace(ReferencePath::read(request.against, node_count));
    check_cases();
    fill_plan();
  }

  SweepOutcome run() {
    if (request_.if_exists == IfExists::resume)
      folder_.resume(table_, plan_);
    else
      folder_.create(portable_scene_text(request_.scene, request_.access));
    total_ = static_cast<std::int64_t>(table_.plan.case_count) * step_count_;
    try {
      run_cases();
    } catch (const Interrupted&) {  // amid a step or the set-up of a batch
    } catch (...) {
      save_news();
      throw;
    }
    const bool is_complete = table_.rows.size() == table_.plan.case_count;
    // Of an interrupted sweep too there is a table, if only an empty one.
    folder_.save(table_, plan_, execution());
    folder_.write_pictures(table_, scene_.base().name);
    return {table_, is_complete, losses_, warnings_};
  }

 private:
  void check_window() const {
    for (std::int64_t step = 0; step < step_count_ + per_frame_; step += per_frame_) {
      const double time = static_cast<double>(std::min(step, step_count_)) * scene_.base().step;
      if (time >= window_.from - 1e-9 && time <= window_.to + 1e-9) return;
    }
    throw SceneError(text("--window: found ", window_.from, " to ", window_.to,
                          " s, expected a time with at least one frame of the run, which ends at ",
                          scene_.base().duration, " s"));
  }

  /// What work() returns; what it throws ends with the case.
  template <class Work>
  auto in_case(std::size_t i, const Work& work) const {
    return retold(work, [&](const Error& error) {
      return text(error.what(), "; in case ", i, with_values(table_.plan.values(i)));
    });
  }

  /// Every case is read before the first is run; meshes that are alike are made once.
  void check_cases() {
    std::optional<ReferencePath> base;
    if (request_.against == "base")
      base.emplace(std::vector<double>(), std::vector<Vec3d>(), scene_.base().garments[0].mesh.positions);
    const ReferencePath* reference = base ? &*base : reference_ ? &*reference_ : nullptr;
    Index most_nodes = -1;
    std::size_t few_shared = 0;
    for (std::size_t i = 0; i < table_.plan.case_count; ++i) {
      const std::vector<NumberValue> values = table_.plan.values(i);
      const Garment garment = retold([&] { return scene_.garment(values); },  // which says the values
                                     [&](const Error& error) { return text(error.what(), "; in case ", i); });
      in_case(i, [&] {
        in_file(request_.scene, [&] { require_thin_plate(resolved_.recipe, garment, "garments[0]"); });
      });
      const Index node_count = garment.mesh.node_count();
      for (const SweepMeasure& measure : table_.measures) {
        if (measure.node >= node_count)
          throw SceneError(text("--measure: found \"", printable(measure.word),
                                "\", expected a node of every case; case ", i, " has ", node_count, " nodes",
                                with_values(values)));
      }
      if (reference) {
        const std::size_t shared = in_case(i, [&] { return reference->shared_nodes(garment.mesh).size(); });
        const Index fewer = std::min(node_count, reference->node_count());
        if (2 * shared < static_cast<std::size_t>(fewer) && few_shared++ == 0)
          warnings_.push_back(text("distances of case ", i, " are of ", shared, " nodes, of ", node_count,
                                   " there are: those that lie where the reference has one",
                                   with_values(values)));
      }
      if (node_count > most_nodes) largest_case_ = i;
      most_nodes = std::max(most_nodes, node_count);
    }
    if (few_shared > 1) warnings_.back() += text("; as few in ", few_shared - 1, " other cases");
  }

  /// Keeps the batches that are done when a later one fails, which is the error to report.
  void save_news() {
    try {
      if (folder_.saved_rows() < table_.rows.size()) folder_.save(table_, plan_, execution());
    } catch (const FileError&) {
    }
  }

  void run_cases() {
    if (table_.rows.size() == table_.plan.case_count) return;
    if (request_.against == "base") run_base();
    batch_ = batch_size();
    while (table_.rows.size() < table_.plan.case_count) {
      run_batch();
      folder_.save_often(table_, plan_, execution());
    }
  }

  void fill_plan() {
    const Scene& scene = scene_.base();
    char digest[32];
    std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(scene_digest(scene)));
    plan_ = Json{{"scene", scene.name}, {"scene_digest", digest}, {"duration", scene.duration}};
    plan_.update(sweep_plan_json(table_));
    plan_["against"] = request_.against.empty() ? "none" : request_.against;
    if (reference_) {
      std::snprintf(digest, sizeof digest, "%016llx", static_cast<unsigned long long>(reference_->digest()));
      plan_["reference_digest"] = digest;
    }
    plan_["window"] = {window_.from, window_.to};
    plan_["precision"] = to_string(request_.execution.precision);
    // The last digits of a case depend on these.
    const ExecutionOptions& options = request_.execution;
    plan_["backend"] = options.backend;
    plan_["solver"] = to_string(options.solver);
    if (options.backend == "cpu")
      plan_["simd"] = options.simd.empty() ? to_string(widest_simd()) : options.simd;
  }

  Json execution() const {
    return {{"machine", machine_name()},
            {"version", version()},
            {"threads", threads_},
            {"case_seconds", request_.case_seconds}};
  }

  Simulation simulation(std::vector<Garment> garments) const {
    ExecutionOptions options = request_.execution;
    options.monitor = monitor_;
    return in_file(request_.scene,
                   [&] { return Simulation(scene_.side_by_side(std::move(garments)), options); });
  }

  /// Calls frame() at every frame, steps(reports) after every step.
  template <class Steps, class Frame>
  void simulate(Simulation& simulation, std::int64_t done, const Steps& steps, const Frame& frame) {
    threads_ = simulation.options().threads;
    const auto count = static_cast<std::int64_t>(simulation.garment_count());
    frame();
    while (simulation.step_index() < step_count_) {
      // One by one, as `run` does it: a row is what a run of that case gives, to the last bit.
      steps(simulation.step());
      const std::int64_t at = simulation.step_index();
      if (at % per_frame_ == 0 || at == step_count_) frame();
      const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
      const auto simulated = static_cast<double>(simulated_ + at * count) * scene_.base().step;
      progress_(done + at * count, total_, simulated / std::max(1e-9, seconds));
    }
    simulated_ += step_count_ * count;
  }

  void run_base() {
    Simulation base = simulation({scene_.base().garments[0]});
    std::vector<double> times;
    std::vector<Vec3d> positions;
    bool is_sound = true;
    simulate(
        base, -step_count_,
        [&](const std::vector<StepReport>& reports) {
          is_sound = is_sound && reports[0].status <= StepStatus::cut;
        },
        [&] {
          times.push_back(base.time());
          const std::vector<Vec3d> now = base.positions(0);
          positions.insert(positions.end(), now.begin(), now.end());
        });
    if (!is_sound)
      throw NumericalError(
          "--against base: the scene as it stands missed its tolerance, expected a sound reference; use a "
          "smaller step or max_substeps");
    reference_.emplace(std::move(times), std::move(positions), scene_.base().garments[0].mesh.positions);
  }

  /// Number of cases that fit into the memory if all of them were as large as the largest.
  std::size_t batch_size() {
    if (request_.batch > 0) return request_.batch;
    const Simulation largest = in_case(
        largest_case_, [&] { return simulation({scene_.garment(table_.plan.values(largest_case_))}); });
    return cases_at_once(largest.info(0).memory_bytes);
  }

  void run_batch() {
    const auto started = Clock::now();
    const std::size_t first = table_.rows.size();
    const std::size_t count = std::min(batch_, table_.plan.case_count - first);
    if (!run_in_time(first, count)) {
      // Which of them it was is found by giving each its own time.
      for (std::size_t i = first; i < first + count; ++i) {
        if (count > 1 && run_in_time(i, 1)) continue;
        losses_.push_back(text("case ", i, ": took longer than ", request_.case_seconds,
                               " s (--case-seconds)", with_values(table_.plan.values(i))));
        table_.rows.push_back({CaseStatus::timed_out, {}});
      }
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
    folder_.add({first, count, seconds, static_cast<double>(count) * scene_.base().duration / seconds});
  }

  /// Adds the rows of some cases; false where they take longer than is allowed: nothing is added.
  bool run_in_time(std::size_t first, std::size_t count) {
    Watchdog watchdog(*monitor_, request_.case_seconds * static_cast<double>(count));
    try {
      run_together(first, count);
    } catch (const Interrupted&) {
      if (!watchdog.has_expired()) throw;
      return false;
    }
    return true;
  }

  void run_together(std::size_t first, std::size_t count) {
    std::vector<Garment> garments;
    std::vector<SweepRecorder> recorders;
    for (std::size_t i = 0; i < count; ++i) {
      garments.push_back(scene_.garment(table_.plan.values(first + i)));
      garments.back().name = text("case ", first + i);
      recorders.emplace_back(garments.back(), reference_ ? &*reference_ : nullptr, window_);
    }
    std::vector<std::string> whys(count), stops(count);
    Simulation batch = [&] {
      try {
        return simulation(garments);
      } catch (const SceneError&) {
        for (std::size_t i = 0; i < count; ++i)  // of which case it is, and under its own name
          in_case(first + i, [&] { return simulation({std::move(garments[i])}); });
        throw;
      }
    }();
    simulate(
        batch, static_cast<std::int64_t>(first) * step_count_,
        [&](const std::vector<StepReport>& reports) {
          for (std::size_t i = 0; i < count; ++i) {
            if (!stops[i].empty()) continue;
            recorders[i].add_step(batch.time(), reports[i]);
            if (reports[i].status == StepStatus::stalled && resolved_.on_violation == OnViolation::stop) {
              stops[i] = text("a step missed its tolerance at t = ", batch.time(),
                              " s, where a run stops, too (on_violation \"continue\" goes on)");
              GarmentState kept = batch.state(i);
              kept.frozen = true;
              batch.set_state(i, kept);
            }
            if (has_failed(reports[i].status) && whys[i].empty())
              whys[i] = text("the step to t = ", batch.time(), " s ", lost_because(reports[i], resolved_));
          }
        },
        [&] {
          const std::vector<Measures> measures = batch.measure();
          const std::vector<std::vector<Vec3d>> positions = batch.positions();
          for (std::size_t i = 0; i < count; ++i)
            recorders[i].add_frame(batch.time(), measures[i], positions[i]);
        });
    for (std::size_t i = 0; i < count; ++i) {
      SweepRow row{CaseStatus::completed, recorders[i].values(table_.measures)};
      const bool is_finite =
          std::all_of(row.values.begin(), row.values.end(), [](double x) { return std::isfinite(x); });
      if (recorders[i].missed_tolerance()) row.status = CaseStatus::stalled;
      if (!stops[i].empty()) {
        row = {CaseStatus::stopped, {}};
        losses_.push_back(
            text("case ", first + i, ": ", stops[i], with_values(table_.plan.values(first + i))));
      } else if (batch.frozen(i) || !is_finite) {
        row = {CaseStatus::failed, {}};
        losses_.push_back(text("case ", first + i, ": ",
                               whys[i].empty() ? "measures are not finite" : whys[i],
                               with_values(table_.plan.values(first + i))));
      }
      if (!batch.frozen(i) && recorders[i].has_open_seams())
        warnings_.push_back(text("case ", first + i, ": seams did not close, by up to ",
                                 recorders[i].seam_opening(), " m",
                                 with_values(table_.plan.values(first + i))));
      table_.rows.push_back(std::move(row));
    }
  }

  const SweepRequest& request_;
  Monitor own_monitor_;  // where nobody else has one
  Monitor* const monitor_ =
      request_.execution.monitor != nullptr ? request_.execution.monitor : &own_monitor_;
  const SweepProgress& progress_;
  SceneTemplate scene_;
  const ResolvedScene resolved_;
  SweepFolder folder_;
  const std::int64_t step_count_, per_frame_;
  const SweepWindow window_;
  SweepTable table_;
  std::vector<std::string> losses_, warnings_;
  Json plan_;
  std::optional<ReferencePath> reference_;
  std::size_t largest_case_ = 0;  // the first with the most nodes
  std::size_t batch_ = 0;         // cases simulated together
  std::int64_t total_ = 0;        // case steps
  std::int64_t simulated_ = 0;    // case steps of whole batches in this run
  int threads_ = 0;
  const Clock::time_point start_ = Clock::now();
};

}  // namespace

std::size_t cases_at_once(std::size_t bytes_each) {
  return std::clamp<std::size_t>(batch_memory_bytes / std::max<std::size_t>(1, bytes_each), 1, usual_batch);
}

SweepOutcome run_sweep(const SweepRequest& request, const SweepProgress& progress) {
  return Sweep(request, progress).run();
}

}  // namespace isocloth
