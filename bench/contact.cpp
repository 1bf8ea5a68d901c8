// What contact costs: obstacles that are far away, and many towels on a table.
#include <algorithm>
#include <cmath>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth::bench {
namespace {

/// A square metre dropped on a sphere of radius 0.3 m, beside `far` spheres 5 m and more away.
Scene sphere_scene(Index side, int far) {
  Scene scene;
  scene.recipe = "coltraro2022";
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(side, side, 1, 1);
  sheet.fabric.mass_damping = 3;
  for (const Vec3d& p : sheet.mesh.positions)
    sheet.initial_positions.push_back({p.x - 0.49, p.y - 0.487, 0.302});
  scene.garments = {sheet};
  const auto sphere = [](std::string name, Vec3d position) {
    return Obstacle{.name = std::move(name),
                    .shape = SphereShape{0.3},
                    .position = position,
                    .rotation = {},
                    .motion = {},
                    .friction = {.static_ = 0.3, .dynamic = 0.3}};
  };
  scene.obstacles = {sphere("sphere", {})};
  for (int i = 0; i < far; ++i)
    scene.obstacles.push_back(sphere(text("far ", i), {5.0 + i % 10, i / 10 % 10 - 5.0, i / 100 - 5.0}));
  scene.step = 0.005;
  scene.duration = 10;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

/// Both scenes side by side, step by step; of each step the fastest of the repetitions counts.
Table measure_far_obstacles(const ContactRequest& request) {
  Table table{.title = text("A sheet on a sphere, with and without ", request.far, " obstacles far away"),
              .columns = {"mesh", "precision", "solver", "steps", "iterations per step",
                          "CPU per step, one obstacle [ms]", text("with ", request.far, " more [ms]"),
                          "more [%]", "same positions"},
              .rows = {},
              .notes = {text("h = 5 ms, default tolerances, friction 0.3. Processor time of one thread; each "
                             "step is the fastest of ",
                             request.repetitions, " repetitions, the two scenes take turns.")}};
  for (const int side : request.sides) {
    const auto steps = static_cast<std::size_t>(request.steps);
    std::vector<double> best[2] = {std::vector<double>(steps, 1e9), std::vector<double>(steps, 1e9)};
    Simulation simulations[2] = {Simulation(sphere_scene(side, 0), one_thread(request.precision)),
                                 Simulation(sphere_scene(side, request.far), one_thread(request.precision))};
    std::int64_t iterations = 0;
    for (int repetition = 0; repetition < request.repetitions; ++repetition) {
      for (Simulation& simulation : simulations) simulation.reset();
      iterations = 0;
      for (std::size_t step = 0; step < steps; ++step)
        for (const std::size_t n : {step % 2, 1 - step % 2}) {
          StepReport report;
          best[n][step] =
              std::min(best[n][step], thread_cpu_seconds([&] { report = simulations[n].step()[0]; }));
          if (n == 0) iterations += report.iterations;
        }
    }
    double total[2] = {};
    for (int n : {0, 1})
      for (const double seconds : best[n]) total[n] += seconds;
    const double count = static_cast<double>(steps);
    table.rows.push_back({grid_name(side), to_string(request.precision), simulations[0].info(0).solver, steps,
                          static_cast<double>(iterations) / count, 1000 * total[0] / count,
                          1000 * total[1] / count, 100 * (total[1] / total[0] - 1),
                          simulations[0].positions(0) == simulations[1].positions(0)});
    say(text(grid_name(side), ": ", 1000 * total[0] / count, " and ", 1000 * total[1] / count,
             " ms per step"));
  }
  return table;
}

/// The towels of scenes/towels_on_table.json: each its own way of the grippers.
Table measure_towels(const ContactRequest& request) {
  Scene scene = bench_scene("towels_on_table");
  if (static_cast<std::size_t>(request.towels) < scene.garments.size())
    scene.garments.resize(static_cast<std::size_t>(request.towels));
  const auto count = static_cast<double>(scene.garments.size());
  ExecutionOptions options = request.execution;
  options.precision = request.precision;
  options.measure_strain = false;
  options.solver = StepSolver::batched;
  Simulation simulation(std::move(scene), options);
  std::int64_t iterations = 0, violated = 0, broken = 0, parts = 0;
  double deepest = 0;
  Seconds spent;
  for (int step = 0; step < request.steps; ++step) {
    std::vector<StepReport> reports;
    spent = spent + time_of([&] { reports = simulation.step(); });
    for (const StepReport& r : reports) {
      iterations += r.iterations;
      parts += r.substeps;
      violated += r.status == StepStatus::stalled;
      broken += has_failed(r.status);
      deepest = std::max(deepest, r.penetration);
    }
  }
  const double cloth_steps = count * request.steps, nodes = simulation.info(0).node_count;
  const bool cpu = options.backend == "cpu";
  return {
      .title = text("Towels on a table, each pulled by two corners in its own way, ", options.backend),
      .columns = {"towels", "nodes each", "precision", "steps", "iterations per step", "parts per step",
                  "steps over a tolerance", "not finite", "penetration [mm]", "wall [s]", "CPU [s]",
                  "cloth-steps/s", "node-steps/s", cpu ? "cloth-steps per CPU second" : "-"},
      .rows = {{count, nodes, to_string(request.precision), request.steps,
                static_cast<double>(iterations) / cloth_steps, static_cast<double>(parts) / cloth_steps,
                violated, broken, 1000 * deepest, spent.wall, spent.cpu, cloth_steps / spent.wall,
                nodes * cloth_steps / spent.wall, cpu ? Json(cloth_steps / spent.cpu) : Json()}},
      .notes = {"h = 5 ms, tolerance 1e-3 of the rows, 1 mm of penetration under a margin of 1 mm, at most "
                "8 parts of a step; batched solver. CPU: of all threads."}};
}

}  // namespace

std::vector<Table> measure_contact(const ContactRequest& request) {
  std::vector<Table> tables;
  if (!request.sides.empty()) tables.push_back(measure_far_obstacles(request));
  if (request.towels > 0) tables.push_back(measure_towels(request));
  return tables;
}

}  // namespace isocloth::bench
