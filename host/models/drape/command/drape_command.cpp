#include "host/models/drape/command/drape_command.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "host/app/exit_codes.hpp"
#include "host/models/drape/run/drape_scene.hpp"
#include "host/scene/start_shape.hpp"

namespace isocloth {
namespace {

/// CLI::Range lets through what is no number.
std::string finite(const std::string& word) {
  return std::isfinite(std::strtod(word.c_str(), nullptr)) ? ""
                                                           : "found " + word + ", expected a finite number";
}

/// Throws CLI::ValidationError for what the other method alone knows, which would change nothing.
void require_options_of(const CLI::App& command, DrapeMethod method) {
  const auto refuse = [&](const std::string& option) {
    if (command.count(option) > 0)
      throw CLI::ValidationError(option, std::string("found with --method ") + to_string(method) +
                                             ", which has no such option; leave it out");
  };
  if (method == DrapeMethod::weil) return refuse("--diagonals");
  for (const char* option : {"--resolution", "--angles", "--least-angle"}) refuse(option);
}

/// Its options but --json; `command` and `request` must outlive the parsing.
void add_drape_options(CLI::App& command, DrapeRequest& request) {
  command
      .add_option("scene", request.scene, "scene file; the first garment hangs from the nodes that it pins")
      ->required();
  command.add_option("-o,--output", request.output, "folder for drape.obj, summary.json and report.html")
      ->required();
  command
      .add_option_function<std::string>(
          "--method",
          [&request](const std::string& word) {
            request.settings.method = word == "weil" ? DrapeMethod::weil : DrapeMethod::laplace;
          },
          "weil: catenaries between the pins, lengths relaxed; laplace: catenaries along the rim, Laplace's "
          "equation inside")
      ->check(CLI::IsMember({"weil", "laplace"}))
      ->required();
  command.add_option("--time", request.time, "at which the pins are where they hang [s]; default: the start")
      ->check(finite);
  command.add_flag("--diagonals", request.settings.diagonals, "laplace: catenaries between all corners");
  command
      .add_option("--resolution", request.settings.resolution,
                  "weil: sides of the smallest triangles [m], 0: half an element")
      ->check(finite)
      ->check(CLI::Range(0.0, 1e9));
  command.add_flag("--angles", request.settings.angles, "weil: relax the angles between threads, too");
  command
      .add_option("--least-angle", request.settings.least_angle,
                  "weil: between the edges of a thread at a node [degrees], 0: any")
      ->check(finite)
      ->check(CLI::Range(0.0, 180.0));
  command.final_callback([&] { require_options_of(command, request.settings.method); });
}

/// Hangs the cloth and prints how well its lengths and areas are kept, as JSON if asked. Throws what
/// drape_scene() throws.
void run_drape_command(const DrapeRequest& request, bool json) {
  const DrapeSummary s = drape_scene(request);
  for (const std::string& line : s.warnings) std::fprintf(stderr, "isocloth: warning: %s\n", line.c_str());
  if (json) {
    std::fputs(drape_json(s).c_str(), stdout);
    return;
  }
  const ShapeMeasures& m = s.shape;
  std::printf("%s: garment %s hung from %lld nodes by %s in %.3g s\n", s.scene.c_str(), s.garment.c_str(),
              static_cast<long long>(s.hanging_count), s.method.c_str(), s.wall_seconds);
  std::printf("lengths of edges off by %.2g %% on average, 95 %% of them by <= %.2g %%, all by <= %.2g %%\n",
              100 * m.edge_error_mean, 100 * m.edge_error_p95, 100 * m.edge_error_max);
  std::printf(
      "areas of elements off by %.2g %% on average, 95 %% of them by <= %.2g %%, all by <= %.2g %%; "
      "that of the whole by %.2g %%\n",
      100 * m.area_error_mean, 100 * m.area_error_p95, 100 * m.area_error_max, 100 * m.area_error_total);
  std::printf("it hangs %.6g m below its lowest point, potential energy %.6g J\n", m.sag, s.potential_energy);
  std::printf("result: %s (drape.obj, summary.json, report.html)\n", request.output.c_str());
}

class DrapeCommand final : public ModelCommand {
 public:
  void add_options(CLI::App& command) override { add_drape_options(command, request_); }
  int run(const SharedOptions& options) override {
    request_.access = options.access;
    request_.if_exists = options.if_exists;
    run_drape_command(request_, options.json);
    return exit_done;
  }

 private:
  DrapeRequest request_;
};

}  // namespace

std::unique_ptr<ModelCommand> make_drape_command() { return std::make_unique<DrapeCommand>(); }

}  // namespace isocloth
