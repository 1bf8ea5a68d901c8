// isocloth-bench: figures of the engine beside those that are known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>

#include "bench/commands.hpp"
#include "engine/material/fabric_presets.hpp"

namespace {

using namespace isocloth;
using namespace isocloth::bench;

/// Options before a benchmark's name.
struct Shared {
  std::string json;
  int workers = 1;
  std::vector<double> eps{0};
};

using Run = std::function<std::vector<Table>()>;

/// A subcommand: `add` gives it its options and tells what it does once they are known. `shared` outlives it.
struct Benchmark {
  const char* name;
  const char* description;
  Run (*add)(CLI::App& command, const Shared& shared);
};

template <class Request>
std::shared_ptr<Request> keep(Request request) {
  return std::make_shared<Request>(std::move(request));
}

/// Measures as requested, with the shared options that the request knows.
template <class Request>
Run measure_later(std::vector<Table> (*measure)(const Request&), const std::shared_ptr<Request>& request,
                  const Shared& shared) {
  return [measure, request, &shared] {
    if constexpr (requires { request->workers; }) request->workers = shared.workers;
    if constexpr (requires { request->eps.size(); })
      request->eps = shared.eps;
    else if constexpr (requires { request->eps; })
      request->eps = shared.eps[0];
    return measure(*request);
  };
}

template <class Value>
void add_checked(CLI::App& command, const std::string& name, Value& value, const std::string& help,
                 const CLI::Validator& check) {
  command.add_option(name, value, help)->check(check)->capture_default_str();
}

template <class Value>
void add_positive(CLI::App& command, const std::string& name, Value& value, const std::string& help = "") {
  add_checked(command, name, value, help, CLI::PositiveNumber);
}

/// Of one precision or of several.
template <class Value>
void add_precision(CLI::App& command, Value& value, const std::string& help) {
  static const std::map<std::string, Precision> precisions{{"float32", Precision::float32},
                                                           {"float64", Precision::float64}};
  command.add_option("--precision", value, help)->transform(CLI::CheckedTransformer(precisions));
}

void add_recipe(CLI::App& command, std::string& recipe) {
  command.add_option("--recipe", recipe, "that of the sheets")->capture_default_str();
}

/// Options of commands that run simulations of one kind.
void add_execution(CLI::App& command, ExecutionOptions& execution) {
  add_checked(command, "--backend", execution.backend, "where kernels run", CLI::IsMember({"cpu", "cuda"}));
  add_checked(command, "--device", execution.device, "cuda: number of the GPU", CLI::Range(0, 1023));
  add_checked(command, "--threads", execution.threads, "CPU threads, 0: all cores", CLI::Range(0, 1024));
  command.add_option_function<std::string>(
      "--solver", [&execution](const std::string& name) { execution.solver = step_solver(name); },
      "how steps are solved: automatic, batched, direct, mixed, iterative");
}

Run add_iterations(CLI::App& command, const Shared& shared) {
  const auto request =
      keep<IterationRequest>({.meshes = {"quads_9", "quads_17", "quads_33", "quads_65", "alternating_17",
                                         "alternating_33", "irregular_17", "irregular_33"},
                              .methods = {"proximal_newton", "fast_projection"},
                              .steps_ms = {2.5, 5, 10, 20, 33},
                              .tolerances = {1e-2, 1e-3, 1e-4, 1e-6}});
  command.add_option("--mesh", request->meshes, "KIND_N: quads, alternating, irregular; N nodes a side")
      ->capture_default_str();
  add_checked(command, "--method", request->methods, "methods",
              CLI::IsMember({"proximal_newton", "fast_projection"}));
  add_positive(command, "--step-ms", request->steps_ms, "steps [ms]; 33 is 1/30 s");
  add_positive(command, "--tolerance", request->tolerances, "tolerances");
  command.add_option("--seconds", request->seconds, "simulated time; 0: 14 (9 x 9) down to 1.8 (65 x 65)")
      ->check(CLI::NonNegativeNumber);
  return measure_later(measure_iterations, request, shared);
}

Run add_speed(CLI::App& command, const Shared& shared) {
  const auto repetitions = keep(3);
  add_checked(command, "--repetitions", *repetitions, "the best counts", CLI::Range(1, 1000));
  return [repetitions, &shared] { return measure_speed(shared.eps[0], *repetitions); };
}

Run add_batch(CLI::App& command, const Shared& shared) {
  const auto request = keep<BatchRequest>({.meshes = {"quads_9", "quads_17"},
                                           .counts = {1, 4, 16, 64, 256, 1024, 4096, 16384},
                                           .precisions = {Precision::float64, Precision::float32},
                                           .simds = {},
                                           .execution = {.threads = 1},
                                           .svg = {}});
  command.add_option("--mesh", request->meshes, "as in iterations")->capture_default_str();
  add_checked(command, "--counts", request->counts, "cloths at once", CLI::Range(1, 1 << 20));
  add_precision(command, request->precisions, "float32, float64; default both");
  command.add_option("--simd", request->simds, "CPU: instruction sets; default the widest")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
  add_recipe(command, request->recipe);
  add_execution(command, request->execution);
  add_positive(command, "--tolerance", request->tolerance);
  add_positive(command, "--seconds", request->seconds, "wall time of the timed steps of a case");
  command.add_option("--svg", request->svg, "draw the curves into this file");
  return measure_later(measure_batch, request, shared);
}

Run add_mesh(CLI::App& command, const Shared& shared) {
  const auto request = keep<MeshRequest>({.sides = {9, 17, 33, 65, 129}, .execution = {}});
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 4097));
  command.add_flag_callback(
      "--large",
      [request] {
        request->sides.insert(request->sides.end(), {257, 513});
      },
      "257 and 513 nodes a side, too");
  add_recipe(command, request->recipe);
  add_execution(command, request->execution);
  add_precision(command, request->execution.precision, "float32 or float64");
  add_positive(command, "--tolerance", request->tolerance);
  command.add_option("--seconds", request->seconds, "simulated time; 0: as the budget allows")
      ->check(CLI::NonNegativeNumber);
  add_positive(command, "--budget", request->budget, "wall time of a mesh's steps [s]");
  return measure_later(measure_meshes, request, shared);
}

Run add_factor(CLI::App& command, const Shared& shared) {
  const auto request = keep<FactorRequest>(
      {.sides = {9, 17, 33, 65, 129}, .threads = {1, 2}, .lane_sides = {9, 17}, .svg = {}});
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_checked(command, "--lanes", request->lane_sides, "nodes a side of systems in lanes", CLI::Range(3, 33));
  command.add_flag_callback(
      "--large", [request] { request->sides.push_back(257); }, "257 nodes a side, too");
  add_checked(command, "--threads", request->threads, "threads", CLI::Range(1, 1024));
  add_positive(command, "--budget", request->budget, "wall time of each solver's repetitions [s]");
  command.add_option("--svg", request->svg, "draw the curves into this file");
  return measure_later(measure_factors, request, shared);
}

Run add_iterative(CLI::App& command, const Shared& shared) {
  const auto request = keep<IterativeRequest>({.sides = {33, 65, 129}, .rtols = {0.1, 1e-3, 1e-6}});
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_positive(command, "--rtol", request->rtols, "relative residuals");
  add_positive(command, "--most", request->max_iterations, "iterations");
  return measure_later(measure_iterative, request, shared);
}

Run add_libraries(CLI::App& command, const Shared& shared) {
  const auto request = keep<LibrariesRequest>({.parts = {},
                                               .sides = {9, 17, 33, 65, 129},
                                               .batch_sides = {9, 17},
                                               .counts = {1, 64, 1024},
                                               .lengths = {1000, 10'000, 100'000, 1'000'000}});
  command.add_option("--only", request->parts, "these parts only")->check(CLI::IsMember(library_parts()));
  add_checked(command, "--backend", request->backend, "cpu: Eigen and the standard library stand in",
              CLI::IsMember({"cpu", "cuda"}));
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_checked(command, "--batch-mesh", request->batch_sides, "those of them solved in batches, too",
              CLI::Range(3, 33));
  add_checked(command, "--counts", request->counts, "systems at once, ascending", CLI::Range(1, 1 << 16));
  add_checked(command, "--lengths", request->lengths, "arrays that are reduced, scanned, sorted",
              CLI::Range(1, 1 << 26));
  add_positive(command, "--budget", request->budget, "wall time of each way's repetitions [s]");
  return measure_later(measure_libraries, request, shared);
}

Run add_scenes(CLI::App& command, const Shared& shared) {
  const auto groups = keep<std::vector<std::string>>({});
  command.add_option("--only", *groups, "these groups only")->check(CLI::IsMember(scene_groups()));
  return [groups, &shared] { return compare_scenes(*groups, shared.eps[0], shared.workers); };
}

Run add_drape(CLI::App& command, const Shared& shared) {
  const auto request = keep<DrapeRequest>(
      {.circles = {6, 7, 9, 11, 13}, .kappas = {7e-5, 1.5e-4, 2.5e-4}, .csv = {}, .svg = {}});
  command.add_flag(
      "--membrane", request->membrane,
      "a disc of the recipe membrane, clamped in its middle; circles 5 k have nodes at its edge");
  add_checked(command, "--circles", request->circles,
              "circles of nodes; 8 (circles - 1) nodes on each; 3.2 circles on those of discs",
              CLI::Range(3, 200));
  add_checked(command, "--kappa", request->kappas, "bending stiffness [N m] at 1 kg/m^2",
              CLI::NonNegativeNumber);
  add_checked(command, "--seeds", request->seeds, "runs per mesh and stiffness", CLI::Range(1, 100));
  command.add_option("--csv", request->csv, "write every run to this file");
  command.add_option("--svg", request->svg, "draw the curves into this file");
  return measure_later(measure_drape, request, shared);
}

Run add_cusick(CLI::App& command, const Shared& shared) {
  const auto request = keep<CusickRequest>({});
  command.add_option("--fabric", request->fabrics, "presets");
  command.add_option("--scene", request->scenes, "scene files, the fabrics of whose garments are measured");
  add_positive(command, "--disc", request->disc, "radius of the disc [m]");
  add_positive(command, "--radius", request->radius, "radius of the specimen [m]");
  command
      .add_option(
          "--edge", request->edge,
          "of the mesh [m]; 0: a quarter of (kappa / rho g)^(1/3), between 1/16 and 1/8 of what hangs")
      ->check(CLI::NonNegativeNumber);
  add_checked(command, "--folds", request->folds, "at the starts", CLI::Range(1, 40));
  return measure_later(measure_cusick, request, shared);
}

Run add_impulse(CLI::App& command, const Shared& shared) {
  const auto request = keep<ImpulseRequest>(
      {.parts = {}, .sides = {10, 20, 30, 40, 50}, .tolerances = {0.1, 0.01, 0.001, 0.0001}});
  command.add_option("--only", request->parts, "these parts only")->check(CLI::IsMember(impulse_parts()));
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_positive(command, "--tolerance", request->tolerances, "tolerances");
  add_checked(command, "--steps", request->steps, "steps of 1/30 s", CLI::Range(1, 1'000'000));
  add_positive(command, "--budget", request->budget, "processor time of a run [s]");
  command.add_flag_callback(
      "--quick",
      [request] {
        request->steps = std::min(request->steps, 60);
        request->budget = std::min(request->budget, 5.0);
      },
      "60 steps, 5 s a run");
  return measure_later(measure_impulses, request, shared);
}

Run add_frames(CLI::App& command, const Shared& shared) {
  const auto request = keep<FramesRequest>({.sheets = {"100:1", "20:1024"},
                                            .precisions = {Precision::float64, Precision::float32},
                                            .execution = {.threads = 1}});
  command.add_option("--sheets", request->sheets, "SIDE:COUNT: nodes a side, cloths at once")
      ->capture_default_str();
  add_precision(command, request->precisions, "float32, float64; default both");
  add_execution(command, request->execution);
  add_positive(command, "--strain", request->strain, "largest relative error of an edge to reach");
  add_checked(command, "--frames", request->frames, "frames of a run", CLI::Range(1, 1'000'000));
  add_positive(command, "--budget", request->budget, "wall time of a run [s]");
  return measure_later(measure_frames, request, shared);
}

Run add_pareto(CLI::App& command, const Shared& shared) {
  const auto request = keep<ParetoRequest>({.sides = {9, 20, 50, 100}, .svg = {}});
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_checked(command, "--fine", request->fine_side,
              "nodes a side of the mesh that all are compared with, about a minute for 129; 0: none",
              CLI::Range(0, 1025));
  add_positive(command, "--budget", request->budget, "processor time of a run [s]");
  command.add_flag("--quick", request->quick, "shorter runs, fewer settings");
  command.add_option("--svg", request->svg, "draw the curves into this file");
  return measure_later(measure_pareto, request, shared);
}

void add_numbers(CLI::App& command, const std::string& name, std::vector<double>& numbers,
                 const std::string& doc) {
  command.add_option(name, numbers, doc)->check(CLI::NonNegativeNumber)->capture_default_str();
}

Run add_strain(CLI::App& command, const Shared& shared) {
  const auto request = keep<StrainRequest>(
      {.scenes = {"shake_fast_9x9", "tank_top", "locking_quad_529", "locking_tri_472", "catenary", "flag",
                  "sheet_on_sphere", "sheet_on_box", "sheet_on_torus", "table_cloth", "a3_slap",
                  "towel_over_edge", "cloth_on_terrain", "two_grippers", "tank_top_on_torso", "wardrobe",
                  "impulse_sheet_on_sphere"},
       .recipe = {},
       .preset = {}});
  command.add_option("--scenes", request->scenes, "names of scenes")->capture_default_str();
  command.add_option("--recipe", request->recipe, "in the place of those of the scenes");
  std::vector<std::string> presets;
  for (const FabricPreset& preset : fabric_presets()) presets.emplace_back(preset.name);
  command.add_option("--preset", request->preset, "fabric in the place of those of the scenes")
      ->check(CLI::IsMember(presets));
  add_numbers(command, "--step-ms", request->steps_ms, "steps [ms], 0: that of the scene");
  add_numbers(command, "--stiffness", request->stiffnesses,
              "of warp, weft in proportion [N/m], 0: the fabric's");
  add_numbers(command, "--limit", request->limits, "strain limits of edges, 0: the fabric's");
  command.add_option("--tolerance", request->tolerance, "of projections, 0: that of the scene")
      ->check(CLI::NonNegativeNumber);
  return measure_later(measure_strains, request, shared);
}

Run add_defaults(CLI::App& command, const Shared& shared) {
  const auto request = keep<DefaultsRequest>({});
  command.add_option("--cases", request->cases, "those whose names contain one of these");
  return measure_later(measure_defaults, request, shared);
}

Run add_contact(CLI::App& command, const Shared& shared) {
  const auto request = keep<ContactRequest>({.sides = {9, 33}, .execution = {.threads = 1}});
  add_checked(command, "--mesh", request->sides, "nodes a side of the sheets on a sphere",
              CLI::Range(3, 1025));
  add_checked(command, "--far", request->far, "obstacles out of reach", CLI::Range(0, 100'000));
  add_checked(command, "--towels", request->towels, "towels on a table, up to 1024", CLI::Range(0, 1024));
  add_checked(command, "--steps", request->steps, "steps of 5 ms", CLI::Range(1, 1'000'000));
  add_checked(command, "--repetitions", request->repetitions, "of the sheets, the fastest steps count",
              CLI::Range(1, 1000));
  add_precision(command, request->precision, "float32 or float64");
  add_execution(command, request->execution);
  return measure_later(measure_contact, request, shared);
}

Run add_rigs(CLI::App& command, const Shared& shared) {
  const auto svg = keep<std::string>({});
  command.add_option("--svg", *svg, "draw the curves into this file");
  return [svg, &shared] { return measure_rigs(*svg, shared.workers); };
}

Run add_volino(CLI::App& command, const Shared& shared) {
  const auto request = keep<VolinoRequest>({.sides = {11, 23, 46, 72}});
  add_checked(command, "--mesh", request->sides, "nodes a side", CLI::Range(3, 1025));
  add_positive(command, "--tolerance", request->tolerance);
  add_checked(command, "--repetitions", request->repetitions, "the least time counts", CLI::Range(1, 1000));
  return measure_later(measure_volino, request, shared);
}

Run add_figure4(CLI::App& command, const Shared& shared) {
  const auto svg = keep<std::string>({});
  command.add_option("--svg", *svg, "draw the four states into this file");
  return [svg, &shared] { return draw_figure4(*svg, shared.workers); };
}

constexpr Benchmark benchmarks[] = {
    {"iterations", "iterations per step on the fast shake", add_iterations},
    {"speed", "the 9 x 9 shake on one thread, beside published times", add_speed},
    {"batch", "many shaken sheets at once", add_batch},
    {"mesh", "one shaken sheet, finer and finer", add_mesh},
    {"factor", "factorisation and solve of nodal systems, beside other libraries", add_factor},
    {"iterative", "conjugate gradients on nodal systems, beside the direct solver", add_iterative},
    {"libraries", "the kernels beside cuSPARSE, cuSOLVER and CUB", add_libraries},
    {"scenes", "scenes with a known answer", add_scenes},
    {"drape", "drape coefficient of a ring against mesh and stiffness", add_drape},
    {"cusick", "drape coefficient of fabrics, with its spread and what the mesh leaves open", add_cusick},
    {"impulse", "impulse solvers beside the figures of Bender and Bayer", add_impulse},
    {"frames", "sheets held by impulses against real time at 60 frames/s", add_frames},
    {"pareto", "time per simulated second against reached strain, every solver", add_pareto},
    {"defaults", "default runs beside closed forms and their own refinements", add_defaults},
    {"strain", "strain of edges and elements beside that of the rows", add_strain},
    {"contact", "sheets among obstacles, near and far", add_contact},
    {"rigs", "a tensile tester, a picture frame, a bias test and a disc beside their closed forms", add_rigs},
    {"volino", "elements per second beside those of Volino 2009", add_volino},
    {"figure4", "Bender and Bayer, Figure 4: a sheet at four tolerances", add_figure4}};

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{"Measures isocloth: prints Markdown tables, writes JSON"};
  app.require_subcommand(1);
  Shared shared;
  app.add_option("--json", shared.json, "write the tables to this file, too");
  app.add_option("--workers", shared.workers, "cases at once, one thread each")->check(CLI::Range(1, 256));
  app.add_option(
         "--eps", shared.eps,
         "first row softness of the proximal Newton, 0: the default; iterations and iterative take several")
      ->check(CLI::NonNegativeNumber);
  app.fallthrough();
  std::vector<std::pair<CLI::App*, Run>> runs;
  for (const Benchmark& benchmark : benchmarks) {
    CLI::App* command = app.add_subcommand(benchmark.name, benchmark.description);
    runs.emplace_back(command, benchmark.add(*command, shared));
  }
  app.add_subcommand("machine", "what every result says of commit, load and machine, as JSON")->callback([] {
    std::printf("%s\n", run_record().dump(1).c_str());
  });

  CLI11_PARSE(app, count, arguments);
  try {
    for (const auto& [command, run] : runs)
      if (*command) publish(command->get_name(), run(), shared.json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isocloth-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
