// One sheet, finer and finer.
#include <algorithm>
#include <optional>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth::bench {
namespace {

std::vector<Json> run_case(Index side, const MeshRequest& request) {
  const Mesh mesh = sheet_mesh(text("quads_", side));
  Scene scene = shaken_sheet_at_once(mesh);
  take_recipe(scene, request.recipe);
  scene.projection.eps = request.eps;
  scene.projection.tolerance = request.tolerance;
  const double h = scene.step;
  std::optional<Simulation> simulation;
  const Seconds construct = time_of([&] { simulation.emplace(std::move(scene), request.execution); });
  StepReport first_report;
  const Seconds first = time_of([&] { first_report = simulation->step()[0]; });
  Seconds total;
  int steps = 0, iterations = 0, violated = 0, most = 0;
  double residual = 0;
  Strain strain;
  const auto goes_on = [&] {
    if (request.seconds > 0) return (steps + 1) * h < request.seconds + h / 2;
    return steps < 5 || (total.wall < request.budget && steps < 300);
  };
  while (goes_on()) {
    StepReport report;
    total = total + time_of([&] { report = simulation->step()[0]; });
    ++steps;
    iterations += report.iterations;
    most = std::max(most, report.iterations);
    violated += report.status != StepStatus::converged;
    residual = std::max(residual, report.residual);
    if (has_failed(report.status)) break;
    if (steps % 10 == 0) keep_worst(simulation->strains()[0], strain);
  }
  keep_worst(simulation->strains()[0], strain);
  const GarmentInfo info = simulation->info(0);
  const double n = std::max(1, steps);
  say(text(side, 'x', side, ": ", 1000 * total.wall / n, " ms per step"));
  return {grid_name(side),
          mesh.node_count(),
          info.solver,
          steps,
          1000 * total.wall / n,
          1000 * total.cpu / n,
          h * n / total.wall,
          iterations / n,
          most,
          100 * violated / n,
          residual,
          strain.max,
          strain.stretch_p95,
          strain.stretch_max,
          1000 * construct.wall,
          1000 * construct.cpu,
          1000 * first.wall,
          1000 * first.cpu,
          first_report.iterations,
          static_cast<double>(info.memory_bytes) / 1e6};
}

}  // namespace

std::vector<Table> measure_meshes(const MeshRequest& request) {
  Table table{
      .title = "One shaken sheet of " + request.recipe + ", " +
               std::string(to_string(request.execution.precision)) + ", threads: " +
               (request.execution.threads > 0 ? text(request.execution.threads) : "all cores") +
               ", h = 10 ms, tolerance " + short_number(request.tolerance),
      .columns = {"mesh",
                  "nodes",
                  "solver",
                  "steps",
                  "wall per step [ms]",
                  "CPU per step [ms]",
                  "x real time",
                  "iterations per step",
                  "most",
                  "violated [%]",
                  "largest residual",
                  "largest strain of an edge",
                  "elements, 95 %",
                  "elements, most",
                  "construct, wall [ms]",
                  "construct, CPU [ms]",
                  "first step, wall [ms]",
                  "first step, CPU [ms]",
                  "iterations of the first step",
                  "memory [MB]"},
      .rows = {},
      .notes = {"Means over the steps after the first; the shake begins at once. Time to the first result: "
                "construct + first step. CPU: processor time of all threads. Memory: arrays and factor."}};
  for (const int side : request.sides) table.rows.push_back(run_case(side, request));
  return {table};
}

}  // namespace isocloth::bench
