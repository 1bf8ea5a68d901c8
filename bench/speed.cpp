// Time and memory of the 9 x 9 shake.
#include <sys/resource.h>

#include <algorithm>
#include <optional>

#include "bench/commands.hpp"
#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "bench/timing.hpp"

namespace isocloth::bench {
namespace {

/// Coltraro 2022, table 4: 14 s of the same shake, 9 x 9 nodes, on a Core i7-8700K at 3.70 GHz.
struct Published {
  const char* model;
  double seconds;  ///< of computing
  Json iterations;
};

/// Many sheets in lanes of one thread: processor time of the whole motion per cloth, iterations per step.
std::pair<double, double> run_batch(Precision precision, double eps, std::size_t count) {
  Scene scene = bench_scene("shake_fast_9x9");
  scene.projection.eps = eps;
  repeat_garment(scene, count);
  const int steps = static_cast<int>(step_count(scene));
  Simulation simulation(std::move(scene), one_thread(precision));
  std::vector<StepReport> reports;
  const double seconds = thread_cpu_seconds([&] { reports = simulation.advance(steps); });
  double iterations = 0;
  for (const StepReport& r : reports) iterations += r.iterations;
  return {seconds / static_cast<double>(count), iterations / static_cast<double>(count) / steps};
}

std::vector<Json> run_case(ProjectionMethod method, Precision precision, double eps, int repetitions) {
  const bool newton = method == ProjectionMethod::proximal_newton;
  double wall = 1e9, cpu = 1e9, first = 1e9, strain = 0;
  RunFigures figures;
  GarmentInfo info;
  Scene scene = bench_scene("shake_fast_9x9");
  scene.projection.method = method;
  scene.projection.metric = newton ? Metric::implicit_b : Metric::mass;
  if (newton) scene.projection.eps = eps;
  for (int i = 0; i < repetitions; ++i) {
    std::optional<Simulation> simulation;
    const Seconds start = time_of([&] { simulation.emplace(scene, one_thread(precision)).step(); });
    first = std::min(first, start.wall);
    simulation->reset();
    figures = run_until(*simulation, scene.duration);
    wall = std::min(wall, figures.wall_seconds);
    cpu = std::min(cpu, figures.cpu_seconds);
    info = simulation->info(0);
    simulation->reset();
    run_until(*simulation, scene.duration,
              [&](const Simulation& s, const StepReport&) { strain = std::max(strain, s.strains()[0].max); });
  }
  const std::vector<Json> name{newton ? "proximal_newton (B)" : "fast_projection (M)", to_string(precision),
                               scene.projection.tolerance};
  std::vector<Json> figures_of_run;
  if (figures.finite) {
    figures_of_run = {
        scene.duration / cpu,    scene.duration / wall,    1000 * cpu / static_cast<double>(figures.steps),
        figures.iterations_mean, figures.violated_percent, strain};
  } else {
    figures_of_run.assign(6, Json());
    figures_of_run[0] =
        "not finite at " + short_number(static_cast<double>(figures.steps) * scene.step) + " s";
  }
  std::vector<Json> row = name;
  row.insert(row.end(), figures_of_run.begin(), figures_of_run.end());
  row.push_back(1000 * first);
  row.push_back(static_cast<double>(info.memory_bytes) / 1e6);
  return row;
}

/// The models of the paper's table 4, and what holds elements, on one machine: the same sheet and motion.
Table models_on_the_shake() {
  struct Model {
    const char* name;
    const char* recipe;
    ProjectionMethod method;
    double tolerance, stiffness;  ///< stiffness along threads [N/m], 0: rigid; a tenth of it in shear
  };
  constexpr auto newton = ProjectionMethod::proximal_newton, fast = ProjectionMethod::fast_projection;
  const Model models[] = {
      {"inextensible (Coltraro 2022): coltraro2022", "coltraro2022", fast, 1e-3, 0},
      {"the same by proximal Newton", "coltraro2022", newton, 1e-3, 0},
      {"quasi-inextensible (Goldenthal 2007): inextensible_edges", "inextensible_edges", fast, 1e-3, 0},
      {"the same by proximal Newton", "inextensible_edges", newton, 1e-3, 0},
      {"continuum-elastic (Baraff and Witkin 1998): soft_constraints", "soft_constraints", newton, 5e-3,
       1000},
      {"mass-spring, implicit (Provot 1995): springs", "springs", newton, 5e-3, 1000},
      {"StVK (Volino 2009), 1,000 N/m: membrane", "membrane", newton, 5e-3, 1000},
      {"corotational (Etzmuss 2003), 1,000 N/m: corotational", "corotational", newton, 5e-3, 1000},
      {"StVK, 10,000 N/m", "membrane", newton, 5e-3, 10000},
      {"the same, 100,000 N/m", "membrane", newton, 5e-3, 100000},
  };
  Table table{
      .title = "14 s of the 9 x 9 shake by the models of table 4, h = 10 ms, one thread, double",
      .columns = {"model", "tolerance", "computing time [s]", "iterations per step", "missed [%]",
                  "edges, most [%]", "elements: 95 %, worst step [%]", "stretched, most [%]",
                  "compressed, most [%]"},
      .rows = {},
      .notes = {"Strain is measured from positions after every step and is not timed. Goldenthal's model "
                "here: every edge along warp and weft keeps its length, projected in the metric of the "
                "mass; shear is free."}};
  for (const Model& model : models) {
    Scene scene = bench_scene("shake_fast_9x9");
    scene.recipe = model.recipe;
    scene.projection.method = model.method;
    scene.projection.metric = model.method == fast ? Metric::mass : Metric::implicit_b;
    scene.projection.tolerance = model.tolerance;
    if (model.stiffness > 0) {
      Fabric& fabric = scene.garments[0].fabric;
      fabric.stretch_stiffness = model.stiffness;
      fabric.shear_stiffness = model.stiffness / 10;
    }
    Simulation simulation(scene, one_thread());
    Strain worst;
    const RunFigures figures =
        run_until(simulation, scene.duration, [&](const Simulation& s, const StepReport&) {
          const Strain now = s.strains()[0];
          worst.max = std::max(worst.max, now.max);
          worst.stretch_p95 = std::max(worst.stretch_p95, now.stretch_p95);
          worst.stretch_max = std::max(worst.stretch_max, now.stretch_max);
          worst.compression_max = std::max(worst.compression_max, now.compression_max);
        });
    table.rows.push_back({model.name, model.tolerance,
                          figures.finite ? Json(figures.cpu_seconds) : Json("not finite"),
                          figures.iterations_mean, figures.violated_percent, 100 * worst.max,
                          100 * worst.stretch_p95, 100 * worst.stretch_max, 100 * worst.compression_max});
  }
  return table;
}

/// All of 14 s, ours from the rows of `single` and from a batch.
Table beside_published(const Table& single, double eps) {
  constexpr double duration = 14;
  constexpr std::size_t batch = 64;
  const Published published[] = {{"inextensible (Coltraro 2022)", 2.10, 1.60},
                                 {"quasi-inextensible (Goldenthal 2007)", 2.20, 4.51},
                                 {"continuum-elastic (Baraff and Witkin 1998)", 1.16, Json()},
                                 {"mass-spring (Provot 1995)", 1.30, Json()}};
  Table table{
      .title = "14 s of the 9 x 9 shake beside the published times",
      .columns = {"method", "computing time [s]", "x real time", "iterations per step",
                  "x as fast as the published inextensible model"},
      .rows = {},
      .notes = {"Published: table 4, on a Core i7-8700K at 3.70 GHz, another machine than this one. Ours: "
                "processor time of one thread, per cloth, tolerance 1e-3."}};
  const auto add = [&](const std::string& method, double seconds, const Json& iterations) {
    table.rows.push_back({method, seconds, duration / seconds, iterations, published[0].seconds / seconds});
  };
  for (const Published& p : published) add(std::string("published: ") + p.model, p.seconds, p.iterations);
  for (const std::vector<Json>& row : single.rows)
    if (row[3].is_number())
      add("one cloth, " + row[0].get<std::string>() + ", " + row[1].get<std::string>(),
          duration / row[3].get<double>(), row[6]);
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const auto [seconds, iterations] = run_batch(precision, eps, batch);
    add(std::to_string(batch) + " cloths, proximal_newton (B), " + to_string(precision), seconds, iterations);
  }
  return table;
}

}  // namespace

std::vector<Table> measure_speed(double eps, int repetitions) {
  Table table{
      .title = "14 s of the 9 x 9 shake, h = 10 ms, one thread, best of " + std::to_string(repetitions),
      .columns = {"method", "precision", "tolerance", "real-time factor (CPU time)", "(wall time)",
                  "CPU per step [ms]", "iterations per step", "violated [%]", "largest strain of an edge",
                  "construct + first step [ms]", "memory [MB]"},
      .rows = {},
      .notes = {}};
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const ProjectionMethod method :
         {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection})
      table.rows.push_back(run_case(method, precision, eps, repetitions));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  table.notes.push_back("Memory is that of the garment's arrays and factor; the whole process peaked at " +
                        short_number(static_cast<double>(usage.ru_maxrss) / 1e3) + " MB.");
  return {table, beside_published(table, eps), models_on_the_shake()};
}

}  // namespace isocloth::bench
