// Many small sheets at once: time, memory and accuracy against their number.
#include <algorithm>
#include <optional>
#include <thread>

#include "bench/commands.hpp"
#include "bench/plot.hpp"
#include "bench/runner.hpp"
#include "bench/sheets.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth::bench {
namespace {

struct Case {
  std::string mesh;
  Precision precision{};
  std::string simd;
  std::size_t count = 0;
};

/// `count` sheets shaken alike, each of a fabric of its own: alpha within 25 %, delta within 20 % of the
/// published ones.
Scene batch_scene(const Mesh& mesh, std::size_t count, const std::string& recipe) {
  Scene scene = shaken_sheet_at_once(mesh);
  take_recipe(scene, recipe);
  repeat_garment(scene, count, [](Fabric& fabric, double part) {
    fabric.mass_damping *= 1 + 0.5 * part;
    fabric.gravity_density *= 1 - 0.4 * part;
  });
  return scene;
}

/// What the timed steps did.
struct Progress {
  Seconds best{1e9, 1e9};  ///< of one chunk, per step
  std::int64_t steps = 0, iterations = 0, unconverged = 0;
  double residual = 0;
};

/// Advances by chunks until `seconds` have passed, three chunks at least.
Progress advance_for(Simulation& simulation, double seconds) {
  constexpr int most_steps = 700;  // the shake lasts 10 s
  const double first = time_of([&] { simulation.advance(2); }).wall / 2;
  const int chunk = static_cast<int>(std::clamp(seconds / 8 / first, 1.0, 50.0));
  Progress progress;
  const double begin = now().wall;
  for (int i = 0; (i < 3 || now().wall - begin < seconds) && progress.steps + chunk <= most_steps; ++i) {
    std::vector<StepReport> reports;
    const Seconds spent = time_of([&] { reports = simulation.advance(chunk); });
    progress.best = least(progress.best, {spent.wall / chunk, spent.cpu / chunk});
    progress.steps += chunk;
    for (const StepReport& r : reports) {
      progress.iterations += r.iterations;
      progress.unconverged += r.status != StepStatus::converged;
      progress.residual = std::max(progress.residual, r.residual);
    }
  }
  return progress;
}

Strain worst_strain(const Simulation& simulation) {
  Strain worst;
  for (const Strain& each : simulation.strains()) keep_worst(each, worst);
  return worst;
}

struct Outcome {
  std::vector<Json> row;
  double microseconds = 0;  ///< per cloth and step, processor time, wall time of a device
};

Outcome run_case(const Case& c, const BatchRequest& request) {
  const Mesh mesh = sheet_mesh(c.mesh);
  Scene scene = batch_scene(mesh, c.count, request.recipe);
  scene.projection.eps = request.eps;
  scene.projection.tolerance = request.tolerance;
  ExecutionOptions options = request.execution;
  options.precision = c.precision;
  options.measure_strain = false;
  options.simd = c.simd;
  const double step = scene.step, count = static_cast<double>(c.count);
  const std::size_t resident = resident_bytes();
  std::optional<Simulation> simulation;
  Seconds construct{1e9, 1e9};
  const double begin = now().wall;
  for (int i = 0; i == 0 || (i < 10 && now().wall - begin < request.seconds / 4); ++i) {
    Scene copy = scene;
    simulation.reset();
    construct = least(construct, time_of([&] { simulation.emplace(std::move(copy), options); }));
  }
  const Progress progress = advance_for(*simulation, request.seconds);
  const double grown = static_cast<double>(resident_bytes()) - static_cast<double>(resident);
  const Strain strain = worst_strain(*simulation);

  std::vector<std::size_t> half;
  for (std::size_t i = 0; i < c.count; i += 2) half.push_back(i);
  Seconds reset{1e9, 1e9};
  for (int i = 0; i < 3; ++i) reset = least(reset, time_of([&] { simulation->reset(half); }));

  const bool cpu = options.backend == "cpu";
  const GarmentInfo info = simulation->info(0);
  const auto spent = [&](Seconds s) { return cpu ? s.cpu : s.wall; };
  const double wall_us = 1e6 * progress.best.wall / count, cpu_us = 1e6 * progress.best.cpu / count;
  const double per_core = cpu ? cpu_us : wall_us, cloth_steps = static_cast<double>(progress.steps) * count;
  say(text(c.mesh, ' ', to_string(c.precision), ' ', c.simd, ' ', c.count, " cloths: ", per_core,
           " us per cloth-step"));
  return {{c.mesh,
           c.count,
           to_string(c.precision),
           info.solver,
           cpu ? Json(c.simd) : Json(),
           progress.steps,
           cpu ? Json(cpu_us) : Json(),
           wall_us,
           1e6 * step / per_core,
           1e6 * step / wall_us,
           1e6 * mesh.node_count() / per_core,
           static_cast<double>(progress.iterations) / cloth_steps,
           progress.unconverged,
           progress.residual,
           strain.max,
           strain.stretch_p95,
           strain.stretch_max,
           static_cast<double>(info.memory_bytes) / 1e3,
           grown > 0 ? Json(grown / 1e3 / count) : Json(),
           1e6 * spent(construct) / count,
           100 * spent(reset) / spent(progress.best)},
          per_core};
}

}  // namespace

std::vector<Table> measure_batch(const BatchRequest& request) {
  const bool cpu = request.execution.backend == "cpu";
  const std::vector<std::string> simds = !cpu ? std::vector<std::string>{""}
                                         : request.simds.empty()
                                             ? std::vector<std::string>{to_string(widest_simd())}
                                             : request.simds;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int threads = request.execution.threads > 0 ? request.execution.threads : cores;
  Table table{
      .title = "Shaken sheets of " + request.recipe + " side by side, " + request.execution.backend +
               (cpu ? text(", threads: ", threads) : std::string()) + ", h = 10 ms, tolerance " +
               short_number(request.tolerance),
      .columns = {"mesh",
                  "cloths",
                  "precision",
                  "solver",
                  "simd",
                  "steps",
                  "CPU per cloth-step [us]",
                  "wall per cloth-step [us]",
                  cpu ? "x real time per core" : "x real time of the device",
                  "x real time, all",
                  cpu ? "vertex-steps/s per core" : "vertex-steps/s",
                  "iterations per step",
                  "unconverged",
                  "largest residual",
                  "largest strain of an edge",
                  "elements, 95 %",
                  "elements, most",
                  "memory per cloth [kB]",
                  "process per cloth [kB]",
                  "construct per cloth [us]",
                  "reset of half / step [%]"},
      .rows = {},
      .notes = {
          "Times are of the fastest of several runs of steps in one call; CPU: processor time of all "
          "threads, which other programs hardly touch. Each cloth has a fabric of its own. Strain: of up "
          "to 32 cloths at the end. Unconverged: cloths whose steps missed the tolerance, summed over the "
          "calls. Memory: arrays, plan and factor over the number of cloths; process: growth of resident "
          "memory, scene and freed memory included. Construction, and reset of every other cloth in per "
          "cent of one step of all: processor time, of a device wall time."}};
  std::vector<Curve> curves;
  for (const std::string& mesh : request.meshes)
    for (const Precision precision : request.precisions)
      for (const std::string& simd : simds) {
        curves.push_back({text(mesh.substr(mesh.find('_') + 1), "x", mesh.substr(mesh.find('_') + 1), ' ',
                               to_string(precision), ' ', simd),
                          {}});
        for (const int count : request.counts) {
          Outcome outcome = run_case({mesh, precision, simd, static_cast<std::size_t>(count)}, request);
          curves.back().points.emplace_back(count, outcome.microseconds);
          table.rows.push_back(std::move(outcome.row));
        }
      }
  if (!request.svg.empty())
    write_text(
        request.svg,
        log_plot("cloths", cpu ? "CPU time per cloth and step [us]" : "wall time per cloth and step [us]",
                 curves));
  return {table};
}

}  // namespace isocloth::bench
