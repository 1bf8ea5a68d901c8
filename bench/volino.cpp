// Elements per second on the sheet of Volino, Magnenat-Thalmann, Faure 2009, section 4.3 and Fig. 11.
#include <algorithm>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth::bench {
namespace {

/// A recipe and what its sheet is made of; published: elements per second on a Pentium 4 of 3 GHz, 0: none.
struct Model {
  const char *name, *recipe;
  bool has_curves;
  double published;
};
constexpr Model models[] = {{"StVK", "membrane", false, 17500},
                            {"corotational", "corotational", false, 17500.0 / 2},
                            {"springs along edges", "elastic_edges", false, 20000},
                            {"StVK, nonlinear curves", "membrane", true, 17500 / 1.1}};

/// 1 m x 1 m of 1,000 N/m without Poisson coupling, horizontal, held along one edge.
Scene sheet(const Model& model, int side, double tolerance) {
  Scene scene;
  scene.recipe = model.recipe;
  scene.gravity = 9.81;
  scene.step = 0.01;
  scene.projection.tolerance = tolerance;
  scene.projection.on_violation = OnViolation::go_on;
  Garment cloth;
  cloth.name = "sheet";
  cloth.mesh = triangle_grid(side, side, 1, 1, Diagonals::alternating);
  Fabric& fabric = cloth.fabric;
  fabric.density = fabric.gravity_density = 0.2;
  fabric.bending_stiffness = 1e-5;
  fabric.stretch_stiffness = 1000;
  fabric.shear_stiffness = 500;  // alike in all directions
  // The same slope at first, three times as steep from 2 % on.
  if (model.has_curves) fabric.curves.warp.points = {{0.01, 10}, {0.02, 22}, {0.05, 110}, {0.2, 560}};
  Pin edge{"edge", {}, FixedMotion{}};
  for (Index j = 0; j < side; ++j) edge.nodes.push_back(j * side);
  cloth.pins = {edge};
  scene.garments.push_back(std::move(cloth));
  return scene;
}

}  // namespace

std::vector<Table> measure_volino(const VolinoRequest& request) {
  constexpr int steps = 100;
  Table table{
      .title = text("The sheet of Volino, Magnenat-Thalmann, Faure 2009, Fig. 11: ", steps,
                    " steps of 10 ms, one thread, tolerance ", short_number(request.tolerance)),
      .columns = {"elements", "model", "iterations per step", "elements, 95 % [%]", "CPU [s]",
                  "elements per second", "time over StVK's",
                  "published elements per second (Pentium 4, 3 GHz)", "published time over StVK's"},
      .rows = {},
      .notes = {"Elements per second: elements x steps over processor time of the steps, the least of "
                "several rounds in which all models take turns. Published times are per iteration of a step "
                "with 10 to 15 iterations of conjugate gradients, their residual is not stated; what is "
                "solved here is within the tolerance of strain."}};
  for (const int side : request.sides) {
    const int elements = 2 * (side - 1) * (side - 1);
    struct Figures {
      double seconds = 1e300, iterations = 0, strain = 0;
    };
    std::vector<Figures> found(std::size(models));
    for (int round = 0; round < request.repetitions; ++round)
      for (std::size_t m = 0; m < std::size(models); ++m) {
        Simulation simulation(sheet(models[m], side, request.tolerance), one_thread());
        const RunFigures run = run_until(simulation, steps * 0.01);
        found[m].seconds = std::min(found[m].seconds, run.cpu_seconds);
        found[m].iterations = run.iterations_mean;
        found[m].strain = simulation.strains()[0].stretch_p95;
      }
    for (std::size_t m = 0; m < std::size(models); ++m) {
      const double per_second = elements * steps / found[m].seconds;
      say(text(elements, " elements, ", models[m].name, ": ", per_second, " per second"));
      table.rows.push_back({elements, models[m].name, found[m].iterations, 100 * found[m].strain,
                            found[m].seconds, per_second, found[m].seconds / found[0].seconds,
                            models[m].published, models[0].published / models[m].published});
    }
  }
  return {table};
}

}  // namespace isocloth::bench
