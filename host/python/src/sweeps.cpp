// What the cases of a sweep are measured by, while their simulation runs.
#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"
#include "host/python/src/arrays.hpp"
#include "host/python/src/bindings.hpp"
#include "host/python/src/runner.hpp"
#include "host/scene/scene_file.hpp"
#include "host/sweep/sweep_measures.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth::python {

using namespace nb::literals;

namespace {

/// The cases of one simulation: some of its garments.
class CaseRecorders {
 public:
  CaseRecorders(Runner& runner, std::vector<std::size_t> garments, const std::vector<std::string>& measures,
                const ReferencePath* reference, double from, double to)
      : runner_(runner), garments_(std::move(garments)), losses_(garments_.size()) {
    const Simulation& simulation = runner.idle();
    for (const std::size_t g : garments_) {
      if (g >= simulation.garment_count())
        throw ShapeError(text("garment: found ", g, ", expected 0 to ", simulation.garment_count() - 1));
      const Garment& garment = simulation.scene().garments[g];
      measures_ = sweep_measures(measures, garment.mesh.node_count(), reference != nullptr);
      recorders_.emplace_back(garment, reference, SweepWindow{from, to});
    }
  }

  void advance(int steps) {
    Simulation& simulation = runner_.idle();
    runner_.work(steps, [&] {
      for (int k = 0; k < steps; ++k) {
        // One by one, as `run` and the command do it: a row is what a run of that case gives, to the last
        // bit.
        const std::vector<StepReport> reports = simulation.step();
        for (std::size_t i = 0; i < garments_.size(); ++i) {
          const StepReport& report = reports[garments_[i]];
          recorders_[i].add_step(simulation.time(), report);
          if (has_failed(report.status) && losses_[i].empty())
            losses_[i] = text("the step to ", simulation.time(), " s was lost: ", to_string(report.status));
        }
      }
    });
  }

  void frame() {
    Simulation& simulation = runner_.idle();
    const std::vector<Measures> measures = simulation.measure();
    const std::vector<std::vector<Vec3d>> positions = simulation.positions();
    for (std::size_t i = 0; i < garments_.size(); ++i)
      recorders_[i].add_frame(simulation.time(), measures[garments_[i]], positions[garments_[i]]);
  }

  /// Of each case: whether a step missed its tolerance, how it was lost (empty: not), a number per column.
  std::vector<std::tuple<bool, std::string, std::vector<double>>> rows() const {
    std::vector<std::tuple<bool, std::string, std::vector<double>>> all;
    for (std::size_t i = 0; i < recorders_.size(); ++i)
      all.emplace_back(recorders_[i].missed_tolerance(), losses_[i], recorders_[i].values(measures_));
    return all;
  }

 private:
  Runner& runner_;
  std::vector<std::size_t> garments_;
  std::vector<SweepMeasure> measures_;
  std::vector<SweepRecorder> recorders_;
  std::vector<std::string> losses_;
};

nb::dict scene_sizes(const std::string& path, const std::vector<std::string>& allow) {
  const Scene scene = read_scene(path, file_access(allow));
  nb::list names, nodes;
  for (const Garment& garment : scene.garments) {
    names.append(garment.name);
    nodes.append(garment.mesh.node_count());
  }
  nb::dict sizes;
  sizes["garments"] = names;
  sizes["nodes"] = nodes;
  sizes["method"] = ResolvedScene(scene).projects ? "projection" : "impulse";  // whose settings count
  sizes["steps"] = step_count(scene);
  sizes["steps_per_frame"] = steps_per_frame(scene);
  return sizes;
}

}  // namespace

void bind_sweeps(nb::module_& module) {
  module.def(
      "rest_positions",
      [](Runner& runner, std::size_t garment) {
        const std::vector<Garment>& garments = runner.idle().scene().garments;
        if (garment >= garments.size())
          throw ShapeError(text("garment: found ", garment, ", expected less than ", garments.size()));
        return to_array(garments[garment].mesh.positions);
      },
      "simulation"_a, "garment"_a);
  module.def("widest_simd", [] { return to_string(widest_simd()); });
  module.def("scene_sizes", &scene_sizes, "path"_a, "allow"_a);
  module.def(
      "portable_scene_text",
      [](const std::string& path, const std::vector<std::string>& allow) {
        return portable_scene_text(path, file_access(allow));
      },
      "path"_a, "allow"_a);
  module.def(
      "sweep_measures",
      [](const std::vector<std::string>& words, Index node_count, bool has_reference) {
        std::vector<std::tuple<std::string, std::string, std::string>> columns;
        for (const SweepMeasure& m : sweep_measures(words, node_count, has_reference))
          columns.emplace_back(m.name, m.unit, m.doc);
        return columns;
      },
      "words"_a, "node_count"_a, "has_reference"_a);
  nb::class_<ReferencePath>(module, "ReferencePath")
      .def(
          "__init__",
          [](ReferencePath* self, const std::vector<double>& times, const ArrayLike& positions,
             const ArrayLike& rest) {
            new (self) ReferencePath(times, to_rows(positions, "positions"), to_rows(rest, "rest"));
          },
          "times"_a, "positions"_a, "rest"_a)
      .def_static(
          "read", [](const std::string& path, Index nodes) { return ReferencePath::read(path, nodes); },
          "path"_a, "node_count"_a)
      .def_prop_ro("digest", &ReferencePath::digest);
  nb::class_<CaseRecorders>(module, "CaseRecorders")
      .def(nb::init<Runner&, std::vector<std::size_t>, const std::vector<std::string>&, const ReferencePath*,
                    double, double>(),
           "simulation"_a, "garments"_a, "measures"_a, "reference"_a.none(), "from_time"_a, "to_time"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 5>())
      .def("advance", &CaseRecorders::advance, "steps"_a)
      .def("frame", &CaseRecorders::frame)
      .def("rows", &CaseRecorders::rows);
}

}  // namespace isocloth::python
