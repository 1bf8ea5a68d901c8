// Time and memory of the 9 x 9 shake.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>

#include "bench/commands.hpp"
#include "bench/runner.hpp"

namespace isocloth::bench {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
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
    const auto begin = std::chrono::steady_clock::now();
    Simulation simulation(scene, one_thread(precision));
    simulation.step();
    first = std::min(first, seconds_since(begin));
    simulation.reset();
    figures = run_until(simulation, scene.duration);
    wall = std::min(wall, figures.wall_seconds);
    cpu = std::min(cpu, figures.cpu_seconds);
    info = simulation.info(0);
    simulation.reset();
    run_until(simulation, scene.duration, [&](const Simulation& s, const StepReport&) {
      strain = std::max(strain, s.measure(0).strain_max);
    });
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

}  // namespace

std::vector<Table> measure_speed(double eps, int repetitions) {
  Table table{
      .title = "14 s of the 9 x 9 shake, h = 10 ms, one thread, best of " + std::to_string(repetitions),
      .columns = {"method", "precision", "tolerance", "real-time factor (CPU time)", "(wall time)",
                  "CPU per step [ms]", "iterations per step", "violated [%]", "largest strain",
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
  return {table};
}

}  // namespace isocloth::bench
