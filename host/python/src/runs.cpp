// Runs into result folders, and what they left there.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdio>
#include <optional>

#include "engine/model/fabric_numbers.hpp"
#include "host/files/renamed_keys.hpp"
#include "host/fit/run_fit.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/interruptible.hpp"
#include "host/results/summary_file.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/run/progress.hpp"
#include "host/run/run_scene.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

class RunProgress : public RunObserver {
 public:
  RunProgress(const Monitor& monitor, bool quiet) : monitor_(monitor), quiet_(quiet) {}
  void on_sewing(const SewingProgress& sewing) override {
    if (!progress_) progress_.emplace("sewing, steps", sewing.most_steps, 0, quiet_, &monitor_);
    progress_->update(sewing.step, note_of(sewing));
  }
  void on_sewn(const SewnScene&) override { progress_.reset(); }
  void on_start(const RunStart& start) override {
    progress_.emplace("steps", start.step_count, start.step_index, quiet_, &monitor_);
  }
  void on_step(std::int64_t done, double realtime_factor) override {
    progress_->update(done, realtime_factor);
  }
  void on_last_step() override { progress_.reset(); }

 private:
  const Monitor& monitor_;
  const bool quiet_;
  std::optional<Progress> progress_;
};

std::string run(const std::string& scene, const FileAccess& access, const std::string& output,
                const ExecutionOptions& options, const ResultOptions& result, bool certify, bool quiet) {
  Monitor monitor;
  RunRequest request{.scene = scene, .output = output, .execution = options, .result = result};
  request.certify = certify;
  request.access = access;
  request.execution.monitor = &monitor;
  RunSummary summary;
  run_interruptible(monitor, [&] {
    RunProgress progress(monitor, quiet);
    summary = run_scene(request, &progress);
  });
  return summary_json(summary);
}

class FitProgress : public FitObserver {
 public:
  explicit FitProgress(bool quiet) : quiet_(quiet) {}
  void on_step(const FitProblem&, const FitStep& step) override {
    if (!quiet_) std::fprintf(stderr, "isocloth: %s: %.4g x noise\n", step.stage.c_str(), step.loss);
  }

 private:
  const bool quiet_;
};

void fit(const std::string& file, const FileAccess& access, const std::string& output,
         const ExecutionOptions& options, IfExists if_exists, bool simulate, bool quiet) {
  Monitor monitor;
  FitRequest request{
      .file = file, .output = output, .if_exists = if_exists, .execution = options, .access = access};
  request.execution.monitor = &monitor;
  run_interruptible(monitor, [&] {
    FitProgress progress(quiet);
    if (simulate)
      simulate_recordings(request, &progress);
    else
      run_fit(request, &progress);
  });
}

IfExists if_exists_of(const std::string& word) {
  return word == "resume" ? IfExists::resume : word == "overwrite" ? IfExists::overwrite : IfExists::refuse;
}

Array<std::int32_t> faces_of(const TrajectoryFile& file) {
  std::vector<std::array<Index, 4>> faces = file.layout().faces;
  const std::size_t count = faces.size();
  static_assert(sizeof(Index) == sizeof(std::int32_t));
  return to_array<std::int32_t>(std::move(faces), {count, 4});
}

}  // namespace

void bind_runs(nb::module_& module) {
  module.def("version", &version);
  module.def("schema", &scene_schema);
  module.def(
      "present_path", [](const std::string& path) { return present_path(path); }, "path"_a);
  module.def("fabric_numbers", [] {
    nb::dict docs;
    for (const FabricNumber& number : fabric_numbers())
      if (number.may_change) docs[number.name] = number.doc;
    return docs;
  });
  module.def(
      "run",
      [](const std::string& scene, const std::vector<std::string>& allow, const std::string& output,
         const std::string& backend, int device, const std::string& precision, const std::string& solver,
         const std::string& simd, int threads, const std::string& if_exists,
         std::optional<std::size_t> frames_of, bool certify, bool energies, bool quiet) {
        ResultOptions result;
        result.if_exists = if_exists_of(if_exists);
        result.frames_of = frames_of;
        result.has_energies = energies;
        return run(scene, file_access(allow), output,
                   execution_options(backend, device, precision, solver, simd, threads), result, certify,
                   quiet);
      },
      "scene"_a, "allow"_a, "output"_a, "backend"_a, "device"_a, "precision"_a, "solver"_a, "simd"_a,
      "threads"_a, "if_exists"_a, "frames_of"_a.none(), "certify"_a, "energy_balance"_a, "quiet"_a);
  module.def(
      "fit",
      [](const std::string& file, const std::vector<std::string>& allow, const std::string& output,
         const std::string& backend, int device, const std::string& precision, const std::string& solver,
         const std::string& simd, int threads, const std::string& if_exists, bool simulate, bool quiet) {
        fit(file, file_access(allow), output,
            execution_options(backend, device, precision, solver, simd, threads), if_exists_of(if_exists),
            simulate, quiet);
      },
      "file"_a, "allow"_a, "output"_a, "backend"_a, "device"_a, "precision"_a, "solver"_a, "simd"_a,
      "threads"_a, "if_exists"_a, "simulate"_a, "quiet"_a);

  nb::class_<TrajectoryFile>(module, "Trajectory", "The trajectory of a result folder.")
      .def(nb::init<const std::string&>(), "path"_a)
      .def_prop_ro(
          "times", [](const TrajectoryFile& t) { return to_array<double>(t.times(), {t.frame_count()}); },
          nb::rv_policy::automatic)
      .def_prop_ro(
          "steps",
          [](const TrajectoryFile& t) { return to_array<std::int64_t>(t.steps(), {t.frame_count()}); },
          nb::rv_policy::automatic)
      .def_prop_ro("faces", &faces_of, nb::rv_policy::automatic)
      .def_prop_ro(
          "rest_positions", [](const TrajectoryFile& t) { return to_array(t.layout().rest_positions); },
          nb::rv_policy::automatic)
      .def_prop_ro("garments",
                   [](const TrajectoryFile& t) {
                     nb::list all;
                     for (const TrajectoryGarment& g : t.layout().garments)
                       all.append(nb::make_tuple(g.name, g.node_begin, g.node_count));
                     return all;
                   })
      .def(
          "positions",
          [](const TrajectoryFile& t, std::size_t frame) {
            if (frame >= t.frame_count())
              throw ShapeError(text("frame: found ", frame, ", expected 0 to ", t.frame_count() - 1));
            std::vector<double> values = t.positions(frame);
            const std::size_t count = values.size() / 3;
            return to_array<double>(std::move(values), {count, 3});
          },
          "frame"_a)
      .def(
          "contact_loads",
          [](const TrajectoryFile& t, std::size_t frame) {
            if (frame >= t.frame_count())
              throw ShapeError(text("frame: found ", frame, ", expected 0 to ", t.frame_count() - 1));
            const std::vector<float> values = t.contact_loads(frame);
            const std::size_t count = values.size();
            return to_array<float>(values, {count});
          },
          "frame"_a);
}

}  // namespace isocloth::python
