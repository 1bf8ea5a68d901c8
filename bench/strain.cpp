// What a user measures on the cloth, beside what the rows of a recipe bound.
#include <algorithm>
#include <cmath>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "engine/core/text.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth::bench {
namespace {

std::vector<Json> strains_of(const std::string& name) {
  const Scene scene = bench_scene(name);
  Simulation simulation(scene, {.threads = 1});
  Strain worst;
  std::int64_t iterations = 0, missed = 0, count = 0;
  double residual = 0;
  for (const Strain& strain : simulation.strains()) keep_worst(strain, worst);
  for (std::int64_t n = step_count(scene); n > 0; --n) {
    for (const StepReport& report : simulation.step()) {
      ++count;
      iterations += report.iterations;
      missed += report.status != StepStatus::converged;
      if (std::isfinite(report.residual)) residual = std::max(residual, report.residual);
      keep_worst(report.strain, worst);
    }
  }
  Index nodes = 0;
  for (std::size_t g = 0; g < simulation.garment_count(); ++g) nodes += simulation.info(g).node_count;
  const double steps = static_cast<double>(count);
  say(text(name, ": edges ", 100 * worst.max, " %, rows ", 100 * ResolvedScene(scene).row_strain(residual),
           " %"));
  return {text('`', name, '`'),
          scene.recipe,
          nodes,
          static_cast<double>(iterations) / steps,
          100 * static_cast<double>(missed) / steps,
          100 * ResolvedScene(scene).row_strain(residual),
          100 * worst.max,
          100 * worst.p95,
          100 * worst.stretch_max,
          100 * worst.compression_max,
          100 * worst.stretch_p95};
}

}  // namespace

std::vector<Table> measure_strains(const std::vector<std::string>& scenes, int workers) {
  Table table{
      .title = "Strain of edges and elements, worst of all steps",
      .columns = {"scene", "recipe", "nodes", "iterations per step", "missed [%]", "rows [%]", "edges [%]",
                  "95 % of edges [%]", "elements stretched [%]", "compressed [%]",
                  "95 % of elements, either way [%]"},
      .rows = std::vector<std::vector<Json>>(scenes.size()),
      .notes = {"Rows: what the recipe bounds. Edges: |l / l0 - 1| of all. Elements: principal stretches "
                "at the 2 x 2 Gauss points of quads and the centres of triangles."}};
  for_each_case(scenes.size(), workers, [&](std::size_t i) { table.rows[i] = strains_of(scenes[i]); });
  return {table};
}

}  // namespace isocloth::bench
