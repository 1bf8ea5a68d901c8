// isocloth-bench: figures of the engine beside those that are known.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "bench/commands.hpp"

int main(int count, char** arguments) {
  using namespace isocloth::bench;
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
  CLI::App* speed_command = app.add_subcommand("speed", "time and memory of the 9 x 9 shake on one thread");
  speed_command->add_option("--repetitions", repetitions, "the best counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();

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

  CLI11_PARSE(app, count, arguments);
  try {
    iterations.workers = drape.workers = workers;
    iterations.eps = eps;
    drape.eps = eps[0];
    if (*iterations_command) publish("iterations", measure_iterations(iterations), json);
    if (*speed_command) publish("speed", measure_speed(eps[0], repetitions), json);
    if (*scenes_command) publish("scenes", compare_scenes(groups, eps[0], workers), json);
    if (*drape_command) publish("drape", measure_drape(drape), json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "isocloth-bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
