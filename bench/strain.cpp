// What a user measures on the cloth, beside what the rows of a recipe bound.
#include <algorithm>
#include <cmath>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "engine/material/fabric_presets.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth::bench {
namespace {

struct Case {
  std::string scene;
  double step_ms;       ///< 0: that of the scene
  double stiffness;     ///< of threads [N/m], 0: that of the fabric
  double strain_limit;  ///< 0: none
};

/// A scene as it is, or with another recipe and fabric; a preset leaves the damping of the scene.
Scene scene_of(const Case& own, const StrainRequest& request) {
  Scene scene = bench_scene(own.scene);
  scene.frame_interval = 0;
  if (own.step_ms > 0) scene.step = own.step_ms / 1000;
  if (request.tolerance > 0) scene.projection.tolerance = request.tolerance;
  if (!request.recipe.empty()) scene.recipe = find_recipe(request.recipe).name;
  const auto preset =
      std::ranges::find(fabric_presets(), std::string_view(request.preset), &FabricPreset::name);
  for (Garment& garment : scene.garments) {
    if (preset != fabric_presets().end()) {
      const Fabric before = garment.fabric;
      garment.fabric = preset->fabric;
      garment.fabric.mass_damping = before.mass_damping;
      garment.fabric.stiffness_damping = before.stiffness_damping;
    }
    Fabric& fabric = garment.fabric;
    if (own.stiffness > 0) {
      fabric.weft_stretch_stiffness *= own.stiffness / fabric.stretch_stiffness;
      fabric.stretch_stiffness = own.stiffness;
    }
    if (own.strain_limit > 0) fabric.strain_limit = own.strain_limit;
  }
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

std::vector<Json> strains_of(const Case& own, const StrainRequest& request) {
  const Scene scene = scene_of(own, request);
  Simulation simulation(scene, {.threads = 1});
  Strain worst;
  std::int64_t iterations = 0, missed = 0, count = 0;
  int most = 0;
  double residual = 0, seconds = 0;
  for (const Strain& strain : simulation.strains()) keep_worst(strain, worst);
  const std::int64_t steps = step_count(scene);
  for (std::int64_t n = steps; n > 0; --n) {
    std::vector<StepReport> reports;
    seconds += thread_cpu_seconds([&] { reports = simulation.step(); });
    for (const StepReport& report : reports) {
      ++count;
      iterations += report.iterations;
      most = std::max(most, report.iterations);
      missed += report.status != StepStatus::converged;
      if (std::isfinite(report.residual)) residual = std::max(residual, report.residual);
      keep_worst(report.strain, worst);
    }
  }
  Index nodes = 0;
  for (std::size_t g = 0; g < simulation.garment_count(); ++g) nodes += simulation.info(g).node_count;
  const double all = static_cast<double>(count), rows = 100 * ResolvedScene(scene).row_strain(residual);
  say(text(own.scene, ": edges ", 100 * worst.max, " %, rows ", rows, " %"));
  const Fabric& fabric = scene.garments.front().fabric;
  return {text('`', own.scene, '`'),
          scene.recipe,
          nodes,
          1000 * scene.step,
          find_recipe(scene.recipe).is_elastic() ? Json(fabric.stretch_stiffness) : Json("-"),
          fabric.strain_limit > 0 ? Json(100 * fabric.strain_limit) : Json("-"),
          static_cast<double>(iterations) / all,
          most,
          100 * static_cast<double>(missed) / all,
          static_cast<double>(steps) * scene.step / seconds,
          rows,
          100 * worst.max,
          100 * worst.p95,
          100 * worst.thread_p95,
          100 * worst.thread_max,
          100 * worst.shear_p95,
          100 * worst.shear_max,
          100 * worst.stretch_p95,
          100 * worst.stretch_max,
          100 * worst.compression_max};
}

}  // namespace

std::vector<Table> measure_strains(const StrainRequest& request) {
  std::vector<Case> cases;
  for (const std::string& scene : request.scenes)
    for (const double step : request.steps_ms)
      for (const double stiffness : request.stiffnesses)
        for (const double limit : request.limits) cases.push_back({scene, step, stiffness, limit});
  Table table{
      .title = "Strain of edges and elements, worst of all steps" +
               (request.preset.empty() ? std::string() : ", fabric: " + request.preset),
      .columns = {"scene",
                  "recipe",
                  "nodes",
                  "step [ms]",
                  "stretch stiffness [N/m]",
                  "strain limit [%]",
                  "iterations per step",
                  "most",
                  "missed [%]",
                  "x real time",
                  "rows [%]",
                  "edges [%]",
                  "95 % of edges [%]",
                  "95 % of pairs, along threads [%]",
                  "most [%]",
                  "shear: 95 % [%]",
                  "shear: most [%]",
                  "95 % of elements, any direction [%]",
                  "stretched [%]",
                  "compressed [%]"},
      .rows = std::vector<std::vector<Json>>(cases.size()),
      .notes = {
          "Rows: what the recipe bounds. Edges: |l / l0 - 1| of all. Elements at the 2 x 2 Gauss points "
          "of quads and the centres of triangles: along warp and weft, the sine of the angle by which "
          "these are off a right one, and principal stretches, which count shear. x real time: "
          "processor time of one thread, strains of every step included."}};
  for_each_case(cases.size(), request.workers,
                [&](std::size_t i) { table.rows[i] = strains_of(cases[i], request); });
  return {table};
}

}  // namespace isocloth::bench
