#include "host/app/run_command.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/model/recipe.hpp"
#include "host/app/interrupt.hpp"
#include "host/results/summary_file.hpp"
#include "host/run/certificate.hpp"
#include "host/run/progress.hpp"

namespace isocloth {
namespace {

/// Ctrl-C, warnings and progress of a run.
class RunWatch : public RunObserver {
 public:
  explicit RunWatch(bool quiet) : quiet_(quiet) {}

  void on_set_up() override { interrupt_.emplace(monitor); }  // from where there is a folder to clean up

  void on_warning(const std::string& line) override {
    std::fprintf(stderr, "isocloth: warning: %s\n", line.c_str());
  }

  void on_sewing(const SewingProgress& sewing) override {
    if (!progress_) progress_.emplace("sewing, steps", sewing.most_steps, 0, quiet_, &monitor);
    progress_->update(sewing.step, note_of(sewing));
  }

  void on_sewn(const SewnScene& sewn) override {
    progress_.reset();
    if (!quiet_)
      std::fprintf(stderr, "isocloth: sewn in %d steps, seams open by %.2g m at most\n", sewn.steps,
                   sewn.opening);
  }

  void on_start(const RunStart& start) override {
    if (!quiet_ && !start.created_folders.empty())
      std::fprintf(stderr, "isocloth: made the folder %s\n", start.created_folders.back().c_str());
    if (!quiet_ && !start.resumed_folder.empty())
      std::fprintf(stderr, "isocloth: goes on from %s at t = %g s\n", start.resumed_folder.c_str(),
                   start.time);
    meets_cloth = start.meets_cloth;
    progress_.emplace("steps", start.step_count, start.step_index, quiet_, &monitor);
  }

  void on_step(std::int64_t done, double realtime_factor) override {
    progress_->update(done, realtime_factor);
  }

  void on_last_step() override { progress_.reset(); }

  Monitor monitor;
  bool meets_cloth = false;  ///< whether cloth meets cloth, as RunStart

 private:
  const bool quiet_;
  std::optional<InterruptGuard> interrupt_;
  std::optional<Progress> progress_;
};

template <class Pairs, class Line>
void print_first(const Pairs& pairs, const Line& line) {
  constexpr std::size_t most = 3;
  for (std::size_t i = 0; i < std::min(most, pairs.size()); ++i)
    std::printf("  %s\n", line(pairs[i]).c_str());
}

void print_certificate(const RunSummary& s, bool meets_cloth) {
  const auto count = [](std::int64_t number) { return static_cast<long long>(number); };
  const char* const advice = meets_cloth ? "" : " (contact.cloth keeps them apart)";
  if (s.steps_intersecting == 0) {
    std::printf("cloth against cloth: no intersection at the end of any of %lld certified steps",
                count(s.steps_certified));
    if (s.steps_touching > 0)
      std::printf("; in %lld of them some of it touches to the last bit", count(s.steps_touching));
    std::printf("\n");
  } else {
    const std::vector<IntersectingPair>& pairs = s.first_intersections;
    std::printf(
        "CLOTH PASSES THROUGH CLOTH at the end of %lld of %lld certified steps, first at t = %g s; up to "
        "%lld pairs of an edge and a face%s\n",
        count(s.steps_intersecting), count(s.steps_certified), pairs.empty() ? 0 : pairs.front().time,
        count(s.intersections_max), advice);
    print_first(pairs, [](const IntersectingPair& pair) { return describe(pair); });
  }
  if (s.steps_overlapping > 0) {
    std::printf(
        "CLOTH LIES IN CLOTH, in one plane to the last bit, at the end of %lld of %lld certified steps; up "
        "to "
        "%lld pairs of triangles that overlap%s\n",
        count(s.steps_overlapping), count(s.steps_certified), count(s.overlaps_max), advice);
    print_first(s.first_overlaps, [](const std::string& line) { return line; });
  }
  if (s.steps_passing_within > 0) {
    std::printf("CLOTH PASSES THROUGH CLOTH within %lld %s it does not, of %lld tested within%s\n",
                count(s.steps_passing_within),
                s.steps_passing_within == 1 ? "step at whose end" : "steps at whose ends",
                count(s.steps_certified_within), advice);
    print_first(s.first_passages, [](const std::string& line) { return line; });
  } else {
    std::printf("  within steps: none passes through on the straight ways of %lld of them",
                count(s.steps_certified_within));
    if (const std::int64_t left = s.steps_certified - s.steps_intersecting - s.steps_certified_within;
        left > 0)
      std::printf("; %lld were taken in parts that the solver does not tell of", count(left));
    std::printf("\n");
  }
}

void print_summary(const RunSummary& s, const std::filesystem::path& output, bool meets_cloth) {
  std::printf(
      "%s: %s, %lld steps (%.6g s) in %.3g s, %.3gx real time; %.3g iterations per step, residual <= "
      "%.2e\n",
      s.scene.c_str(), s.status.c_str(), static_cast<long long>(s.step_count), s.simulated_seconds,
      s.wall_seconds, s.realtime_factor, s.iterations_per_step_mean, s.overall.steps.residual);
  const Strain& strain = s.overall.steps.strain;
  std::printf(
      "strain of all steps: cloth along threads <= %.2g %% (95 %% of it <= %.2g %%), edges <= %.2g %% "
      "(95 %%: %.2g %%), elements sheared by <= %.2g %% (95 %%: %.2g %%), in any direction stretched <= %.2g "
      "%%, compressed <= %.2g %%",
      100 * strain.thread_max, 100 * strain.thread_p95, 100 * strain.max, 100 * strain.p95,
      100 * strain.shear_max, 100 * strain.shear_p95, 100 * strain.stretch_max, 100 * strain.compression_max);
  const bool holds_rows = s.overall.row_strain > 0 || !find_recipe(s.recipe).limits_edges();
  if (holds_rows)
    std::printf("; the rows of %s hold theirs to %.2g %%", s.recipe.c_str(), 100 * s.overall.row_strain);
  std::puts("");
  if (s.steps_violated > 0)
    std::printf("tolerance %g missed in %lld of %lld steps\n", s.tolerance,
                static_cast<long long>(s.steps_violated),
                static_cast<long long>(s.step_count * s.garment_count));
  if (s.steps_certified > 0) print_certificate(s, meets_cloth);
  if (s.status == "completed" && !s.message.empty()) std::printf("%s\n", s.message.c_str());
  if (s.frames_of < s.garment_count)
    std::printf("frames of the first %lld of %lld garments (--frames-of N keeps others, 0 all)\n",
                static_cast<long long>(s.frames_of), static_cast<long long>(s.garment_count));
  std::printf("result: %s (report.html, summary.json, metrics.csv, trajectory.h5)\n", output.c_str());
}

}  // namespace

RunSummary run_scene_file(RunRequest request, bool json, bool quiet) {
  RunWatch watch(quiet);
  request.execution.monitor = &watch.monitor;
  const RunSummary summary = run_scene(request, &watch);
  if (json)
    std::fputs(summary_json(summary).c_str(), stdout);
  else
    print_summary(summary, request.output, watch.meets_cloth);
  return summary;
}

}  // namespace isocloth
