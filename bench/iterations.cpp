// Iterations per step on the fast shake of Coltraro 2022, section 9.
#include <cmath>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

struct Case {
  std::string mesh, method;
  double step_ms = 0, tolerance = 0, eps = 0, seconds = 0;
};

double default_seconds(Index nodes) {
  if (nodes <= 81) return 14;
  if (nodes <= 289) return 6;
  return nodes <= 1089 ? 2.5 : 1.8;
}

Scene shake_scene(const Case& c, const Mesh& mesh) {
  Scene scene = shaken_sheet(mesh);
  scene.step = c.step_ms == 33 ? 1.0 / 30 : c.step_ms / 1000;
  scene.duration = scene.step * std::round(c.seconds / scene.step);
  const bool newton = c.method == "proximal_newton";
  scene.projection.method = newton ? ProjectionMethod::proximal_newton : ProjectionMethod::fast_projection;
  scene.projection.metric = newton ? Metric::implicit_b : Metric::mass;
  scene.projection.tolerance = c.tolerance;
  scene.projection.eps = c.eps;
  return scene;
}

}  // namespace

std::vector<Table> measure_iterations(const IterationRequest& request) {
  std::vector<Case> cases;
  for (const std::string& mesh : request.meshes) {
    const double seconds =
        request.seconds > 0 ? request.seconds : default_seconds(sheet_mesh(mesh).node_count());
    for (const double tolerance : request.tolerances)
      for (const std::string& method : request.methods)
        for (const double eps : method == "proximal_newton" ? request.eps : std::vector<double>{0})
          for (const double step_ms : request.steps_ms)
            cases.push_back({mesh, method, step_ms, tolerance, eps, seconds});
  }
  std::vector<std::vector<Json>> rows(cases.size());
  for_each_case(cases.size(), request.workers, [&](std::size_t i) {
    const Case& c = cases[i];
    const Mesh mesh = sheet_mesh(c.mesh);
    Simulation simulation(shake_scene(c, mesh), one_thread());
    double strain = 0;
    const RunFigures f = run_until(simulation, c.seconds, [&](const Simulation& s, const StepReport&) {
      if (s.step_index() % 10 == 0) strain = std::max(strain, s.strains()[0].max);
    });
    rows[i] = {c.mesh,
               mesh.node_count(),
               c.method,
               c.eps > 0 ? Json(c.eps) : Json("default"),
               c.tolerance,
               c.step_ms,
               c.seconds,
               f.iterations_mean,
               f.iterations_max,
               f.violated_percent,
               f.finite ? Json(f.residual_max) : Json("not finite"),
               strain,
               1000 * f.cpu_seconds / static_cast<double>(f.steps)};
    say(text(c.mesh, " ", c.method, " eps ", c.eps, " tolerance ", c.tolerance, " h ", c.step_ms,
             " ms: ", f.iterations_mean, " (", f.iterations_max, "), violated ", f.violated_percent, " %, ",
             f.cpu_seconds, " s"));
  });
  return {
      {.title = "Iterations per step, A3 sheet shaken fast (double precision)",
       .columns = {"mesh", "nodes", "method", "eps", "tolerance", "step [ms]", "simulated [s]",
                   "iterations mean", "max", "violated [%]", "largest row", "largest strain of an edge",
                   "CPU per step [ms]"},
       .rows = rows,
       .notes = {
           "proximal_newton projects in the metric B, fast_projection in M (Coltraro 2022). 33 ms is 1/30 s. "
           "The shake "
           "starts after 1 s; runs of larger meshes are shorter, see simulated. Strain every tenth step."}}};
}

}  // namespace isocloth::bench
