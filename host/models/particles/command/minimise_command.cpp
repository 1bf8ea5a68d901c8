#include "host/models/particles/command/minimise_command.hpp"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "engine/core/text.hpp"
#include "host/app/exit_codes.hpp"
#include "host/app/interrupt.hpp"
#include "host/models/particles/run/minimise_scene.hpp"
#include "host/run/progress.hpp"

namespace isocloth {
namespace {

/// Throws CLI::ValidationError for options that the chosen way to rest does not know.
void require_options_of_way(const CLI::App& command, const MinimiseRequest& request) {
  const auto refuse = [&](const char* option, const char* why) {
    if (command.count(option) > 0) throw CLI::ValidationError(option, text(why, "; leave it out"));
  };
  if (request.recipe.empty()) {
    for (const char* option : {"--minimiser", "--perturbation", "--seed", "--most-iterations"})
      refuse(option, "found without --recipe, to which it belongs");
    return;
  }
  for (const char* option : {"--longest-step", "--most-steps", "--backend", "--device", "--precision",
                             "--solver", "--simd", "--threads"})
    refuse(option, "found with --recipe, which takes no steps");
}

void add_minimise_options(CLI::App& command, MinimiseRequest& request) {
  command
      .add_option(
          "--recipe", request.recipe,
          "energies of particles in the place of the scene's recipe, minimised: breen1994, feynman1986")
      ->check(CLI::IsMember({"breen1994", "feynman1986"}));
  command
      .add_option_function<std::string>(
          "--minimiser",
          [&request](const std::string& word) {
            request.minimiser = static_cast<Minimiser>(std::ranges::find(minimiser_names(), word) -
                                                       minimiser_names().begin());
          },
          "newton; multigrid: newton on coarser grids first; descent: steepest, of all particles at once; "
          "or two-phase: fall and collide, then a stochastic descent, particle by particle")
      ->check(CLI::IsMember(minimiser_names()))
      ->default_str("newton");
  command
      .add_option(
          "--perturbation", request.settings.perturbation,
          "random part of a step of two-phase over its length; of the others, of the start, over w / 10")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--seed", request.settings.seed, "of what is random")->capture_default_str();
  command.add_option("--most-iterations", request.settings.search.most_iterations, "of the minimiser")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.final_callback([&] { require_options_of_way(command, request); });
}

MinimiseSummary run_minimise_command(MinimiseRequest request, bool json, bool quiet) {
  Monitor monitor;
  MinimiseSummary s;
  {
    const InterruptGuard guard(monitor);
    Progress progress("iterations", request.settings.search.most_iterations, 0, quiet, &monitor);
    request.settings.search.monitor = &monitor;
    request.settings.search.observer = [&](const MinimiserPoint& p) {
      progress.update(p.iteration, text("energy ", p.energy, " J, residual ", p.residual));
    };
    s = minimise_scene(request);
  }
  for (const std::string& line : s.warnings) std::fprintf(stderr, "isocloth: warning: %s\n", line.c_str());
  if (json) {
    std::fputs(minimise_json(s).c_str(), stdout);
    return s;
  }
  std::printf("%s: %s by %s: %s after %lld iterations in %.3g s, residual %.2e\n", s.scene.c_str(),
              s.recipe.c_str(), s.minimiser.c_str(), s.status.c_str(), static_cast<long long>(s.iterations),
              s.wall_seconds, s.residual);
  std::printf("energy %.9g J:", s.energy);
  for (const auto& [name, value] : s.energies) std::printf(" %s %.4g", name.c_str(), value);
  std::printf(
      "\nfolds %d; edges off by %.2g %% on average, all by <= %.2g %%; areas by %.2g %% and %.2g %%\n",
      s.folds, 100 * s.shape.edge_error_mean, 100 * s.shape.edge_error_max, 100 * s.shape.area_error_mean,
      100 * s.shape.area_error_max);
  std::printf("result: %s (rest.obj, summary.json, energy.csv, report.html)\n", request.output.c_str());
  return s;
}

class MinimiseCommand final : public ModelCommand {
 public:
  void add_options(CLI::App& command) override { add_minimise_options(command, request_); }
  bool is_chosen() const override { return !request_.recipe.empty(); }
  int run(const SharedOptions& options) override {
    request_.access = options.access;
    request_.scene = options.scene;
    request_.output = options.output;
    request_.settings.search.tolerance = options.tolerance;
    if (options.if_exists == IfExists::overwrite) request_.if_exists = IfExists::overwrite;
    const MinimiseSummary s = run_minimise_command(request_, options.json, options.quiet);
    if (s.status == "interrupted") return exit_interrupted;
    return s.status == "at rest" ? exit_done : exit_violated;
  }

 private:
  MinimiseRequest request_;
};

}  // namespace

std::unique_ptr<ModelCommand> make_minimise_command() { return std::make_unique<MinimiseCommand>(); }

}  // namespace isocloth
