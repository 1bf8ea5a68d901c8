// isocloth-bench: figures of the engine beside those that are known.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <map>

#include "bench/commands.hpp"

namespace {

using namespace isocloth;
using namespace isocloth::bench;

/// Options of commands that run simulations of one kind.
void add_execution_options(CLI::App& command, ExecutionOptions& execution) {
  command.add_option("--backend", execution.backend, "where kernels run")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--threads", execution.threads, "CPU threads, 0: all cores")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  command.add_option_function<std::string>(
      "--solver", [&execution](const std::string& name) { execution.solver = step_solver(name); },
      "how steps are solved: automatic, batched, direct, mixed, iterative");
}

const std::map<std::string, Precision> precisions{{"float32", Precision::float32},
                                                  {"float64", Precision::float64}};

}  // namespace

int main(int count, char** arguments) {
  CLI::App app{"Measures isocloth: prints Markdown tables, writes JSON"};
  app.require_subcommand(1);
  std::string json;
  int workers = 1;
  app.add_option("--json", json, "write the tables to this file, too");
  app.add_option("--workers", workers, "cases at once, one thread each")->check(CLI::Range(1, 256));
  std::vector<double> eps{0};
  app.add_option("--eps", eps,
                 "first row softness of the proximal Newton, 0: the default; iterations takes several")
      ->check(CLI::NonNegativeNumber);
  app.fallthrough();

  IterationRequest iterations{.meshes = {"quads_9", "quads_17", "quads_33", "quads_65", "alternating_17",
                                         "alternating_33", "irregular_17", "irregular_33"},
                              .methods = {"proximal_newton", "fast_projection"},
                              .steps_ms = {2.5, 5, 10, 20, 33},
                              .tolerances = {1e-2, 1e-3, 1e-4, 1e-6}};
  CLI::App* iterations_command = app.add_subcommand("iterations", "iterations per step on the fast shake");
  iterations_command
      ->add_option("--mesh", iterations.meshes, "KIND_N: quads, alternating, irregular; N nodes a side")
      ->capture_default_str();
  iterations_command->add_option("--method", iterations.methods, "methods")
      ->check(CLI::IsMember({"proximal_newton", "fast_projection"}))
      ->capture_default_str();
  iterations_command->add_option("--step-ms", iterations.steps_ms, "steps [ms]; 33 is 1/30 s")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  iterations_command->add_option("--tolerance", iterations.tolerances, "tolerances")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  iterations_command
      ->add_option("--seconds", iterations.seconds, "simulated time; 0: 14 (9 x 9) down to 1.8 (65 x 65)")
      ->check(CLI::NonNegativeNumber);

  int repetitions = 3;
  CLI::App* speed_command =
      app.add_subcommand("speed", "the 9 x 9 shake on one thread, beside published times");
  speed_command->add_option("--repetitions", repetitions, "the best counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();

  BatchRequest batch{.meshes = {"quads_9", "quads_17"},
                     .counts = {1, 4, 16, 64, 256, 1024, 4096, 16384},
                     .precisions = {Precision::float64, Precision::float32},
                     .simds = {},
                     .execution = {.threads = 1},
                     .svg = {}};
  CLI::App* batch_command = app.add_subcommand("batch", "many shaken sheets at once");
  batch_command->add_option("--mesh", batch.meshes, "as in iterations")->capture_default_str();
  batch_command->add_option("--counts", batch.counts, "cloths at once")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str();
  batch_command->add_option("--precision", batch.precisions, "float32, float64; default both")
      ->transform(CLI::CheckedTransformer(precisions));
  batch_command->add_option("--simd", batch.simds, "CPU: instruction sets; default the widest")
      ->check(CLI::IsMember({"baseline", "avx2", "avx512"}));
  add_execution_options(*batch_command, batch.execution);
  batch_command->add_option("--tolerance", batch.tolerance)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  batch_command->add_option("--seconds", batch.seconds, "wall time of the timed steps of a case")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  batch_command->add_option("--svg", batch.svg, "draw the curves into this file");

  bool large = false;
  MeshRequest mesh{.sides = {9, 17, 33, 65, 129}, .execution = {}};
  CLI::App* mesh_command = app.add_subcommand("mesh", "one shaken sheet, finer and finer");
  mesh_command->add_option("--mesh", mesh.sides, "nodes a side")
      ->check(CLI::Range(3, 4097))
      ->capture_default_str();
  mesh_command->add_flag("--large", large, "257 and 513 nodes a side, too");
  add_execution_options(*mesh_command, mesh.execution);
  mesh_command->add_option("--precision", mesh.execution.precision, "float32 or float64")
      ->transform(CLI::CheckedTransformer(precisions));
  mesh_command->add_option("--tolerance", mesh.tolerance)->check(CLI::PositiveNumber)->capture_default_str();
  mesh_command->add_option("--seconds", mesh.seconds, "simulated time; 0: as the budget allows")
      ->check(CLI::NonNegativeNumber);
  mesh_command->add_option("--budget", mesh.budget, "wall time of a mesh's steps [s]")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();

  FactorRequest factor{.sides = {9, 17, 33, 65, 129}, .threads = {1, 2}, .lane_sides = {9, 17}, .svg = {}};
  CLI::App* factor_command =
      app.add_subcommand("factor", "factorisation and solve of nodal systems, beside other libraries");
  factor_command->add_option("--mesh", factor.sides, "nodes a side")
      ->check(CLI::Range(3, 1025))
      ->capture_default_str();
  factor_command->add_option("--lanes", factor.lane_sides, "nodes a side of systems in lanes")
      ->check(CLI::Range(3, 33))
      ->capture_default_str();
  factor_command->add_flag("--large", large, "257 nodes a side, too");
  factor_command->add_option("--threads", factor.threads, "threads")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  factor_command->add_option("--budget", factor.budget, "wall time of each solver's repetitions [s]")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  factor_command->add_option("--svg", factor.svg, "draw the curves into this file");

  std::vector<std::string> groups;
  CLI::App* scenes_command = app.add_subcommand("scenes", "scenes with a known answer");
  scenes_command->add_option("--only", groups, "these groups only")->check(CLI::IsMember(scene_groups()));

  DrapeRequest drape{.circles = {6, 7, 9, 11, 13}, .kappas = {7e-5, 1.5e-4, 2.5e-4}, .csv = {}, .svg = {}};
  CLI::App* drape_command =
      app.add_subcommand("drape", "drape coefficient of a ring against mesh and stiffness");
  drape_command->add_option("--circles", drape.circles, "circles of nodes; 8 (circles - 1) nodes on each")
      ->check(CLI::Range(3, 200))
      ->capture_default_str();
  drape_command->add_option("--kappa", drape.kappas, "bending stiffness [N m] at 1 kg/m^2")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  drape_command->add_option("--seeds", drape.seeds, "runs per mesh and stiffness")
      ->check(CLI::Range(1, 100))
      ->capture_default_str();
  drape_command->add_option("--csv", drape.csv, "write every run to this file");
  drape_command->add_option("--svg", drape.svg, "draw the curves into this file");

  bool quick = false;
  ImpulseRequest impulse{
      .parts = {}, .sides = {10, 20, 30, 40, 50}, .tolerances = {0.1, 0.01, 0.001, 0.0001}};
  CLI::App* impulse_command =
      app.add_subcommand("impulse", "impulse solvers beside the figures of Bender and Bayer");
  impulse_command->add_option("--only", impulse.parts, "these parts only")
      ->check(CLI::IsMember(impulse_parts()));
  impulse_command->add_option("--mesh", impulse.sides, "nodes a side")
      ->check(CLI::Range(3, 1025))
      ->capture_default_str();
  impulse_command->add_option("--tolerance", impulse.tolerances, "tolerances")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  impulse_command->add_option("--steps", impulse.steps, "steps of 1/30 s")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  impulse_command->add_option("--budget", impulse.budget, "processor time of a run [s]")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  impulse_command->add_flag("--quick", quick, "60 steps, 5 s a run");

  FramesRequest frames{.sheets = {"100:1", "20:1024"},
                       .precisions = {Precision::float64, Precision::float32},
                       .execution = {.threads = 1}};
  CLI::App* frames_command =
      app.add_subcommand("frames", "sheets held by impulses against real time at 60 frames/s");
  frames_command->add_option("--sheets", frames.sheets, "SIDE:COUNT: nodes a side, cloths at once")
      ->capture_default_str();
  frames_command->add_option("--precision", frames.precisions, "float32, float64; default both")
      ->transform(CLI::CheckedTransformer(precisions));
  add_execution_options(*frames_command, frames.execution);
  frames_command->add_option("--strain", frames.strain, "largest relative error of an edge to reach")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  frames_command->add_option("--frames", frames.frames, "frames of a run")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  frames_command->add_option("--budget", frames.budget, "wall time of a run [s]")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();

  ParetoRequest pareto{.sides = {9, 20, 50, 100}, .svg = {}};
  CLI::App* pareto_command =
      app.add_subcommand("pareto", "time per simulated second against reached strain, every solver");
  pareto_command->add_option("--mesh", pareto.sides, "nodes a side")
      ->check(CLI::Range(3, 1025))
      ->capture_default_str();
  pareto_command->add_option("--budget", pareto.budget, "processor time of a run [s]")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  pareto_command->add_flag("--quick", quick, "shorter runs, fewer settings");
  pareto_command->add_option("--svg", pareto.svg, "draw the curves into this file");

  std::vector<std::string> strained = {"shake_fast_9x9",
                                       "tank_top",
                                       "locking_quad_529",
                                       "locking_tri_472",
                                       "catenary",
                                       "flag",
                                       "sheet_on_sphere",
                                       "sheet_on_box",
                                       "sheet_on_torus",
                                       "table_cloth",
                                       "a3_slap",
                                       "towel_over_edge",
                                       "cloth_on_terrain",
                                       "two_grippers",
                                       "tank_top_on_torso",
                                       "wardrobe",
                                       "impulse_sheet_on_sphere"};
  CLI::App* strain_command =
      app.add_subcommand("strain", "strain of edges and elements beside that of the rows");
  strain_command->add_option("--scenes", strained, "names of scenes")->capture_default_str();

  ContactRequest contact{.sides = {9, 33}, .execution = {.threads = 1}};
  CLI::App* contact_command = app.add_subcommand("contact", "sheets among obstacles, near and far");
  contact_command->add_option("--mesh", contact.sides, "nodes a side of the sheets on a sphere")
      ->check(CLI::Range(3, 1025))
      ->capture_default_str();
  contact_command->add_option("--far", contact.far, "obstacles out of reach")
      ->check(CLI::Range(0, 100'000))
      ->capture_default_str();
  contact_command->add_option("--towels", contact.towels, "towels on a table, up to 1024")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  contact_command->add_option("--steps", contact.steps, "steps of 5 ms")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  contact_command->add_option("--repetitions", contact.repetitions, "of the sheets, the fastest steps count")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  contact_command->add_option("--precision", contact.precision, "float32 or float64")
      ->transform(CLI::CheckedTransformer(precisions));
  add_execution_options(*contact_command, contact.execution);

  std::string figure4_svg;
  CLI::App* figure4_command =
      app.add_subcommand("figure4", "Bender and Bayer, Figure 4: a sheet at four tolerances");
  figure4_command->add_option("--svg", figure4_svg, "draw the four states into this file");

  CLI11_PARSE(app, count, arguments);
  try {
    iterations.workers = drape.workers = impulse.workers = pareto.workers = workers;
    if (quick) impulse.steps = std::min(impulse.steps, 60), impulse.budget = std::min(impulse.budget, 5.0);
    pareto.quick = quick;
    iterations.eps = eps;
    drape.eps = batch.eps = mesh.eps = factor.eps = eps[0];
    if (large) mesh.sides.insert(mesh.sides.end(), {257, 513}), factor.sides.push_back(257);
    if (*iterations_command) publish("iterations", measure_iterations(iterations), json);
    if (*speed_command) publish("speed", measure_speed(eps[0], repetitions), json);
    if (*batch_command) publish("batch", measure_batch(batch), json);
    if (*mesh_command) publish("mesh", measure_meshes(mesh), json);
    if (*factor_command) publish("factor", measure_factors(factor), json);
    if (*scenes_command) publish("scenes", compare_scenes(groups, eps[0], workers), json);
    if (*drape_command) publish("drape", measure_drape(drape), json);
    if (*impulse_command) publish("impulse", measure_impulses(impulse), json);
    if (*frames_command) publish("frames", measure_frames(frames), json);
    if (*pareto_command) publish("pareto", measure_pareto(pareto), json);
    if (*strain_command) publish("strain", measure_strains(strained, workers), json);
    if (*contact_command) publish("contact", measure_contact(contact), json);
    if (*figure4_command) publish("figure4", draw_figure4(figure4_svg, workers), json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isocloth-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
