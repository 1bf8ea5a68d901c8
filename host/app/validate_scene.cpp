#include "host/app/validate_scene.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "host/files/in_file.hpp"
#include "host/files/names.hpp"
#include "host/run/progress.hpp"
#include "host/scene/scene_file.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {
namespace {

nlohmann::ordered_json as_json(const ValidationReport& report, const std::string& scene) {
  nlohmann::ordered_json result{
      {"scene", scene}, {"passed", report.passed()}, {"precision", to_string(report.precision)}};
  for (const GarmentValidation& g : report.garments) {
    nlohmann::ordered_json garment{{"name", g.garment},
                                   {"passed", g.passed()},
                                   {"steps", g.steps},
                                   {"whole_steps", g.whole_steps},
                                   {"undecided_steps", g.undecided_steps},
                                   {"stalled_steps", g.stalled_steps},
                                   {"deviating_steps", g.deviating_steps},
                                   {"iterations", g.iterations}};
    for (const Difference& d : g.differences)
      garment["differences"].push_back({{"quantity", d.quantity},
                                        {"worst", d.worst},
                                        {"tolerance", d.tolerance},
                                        {"step", d.step},
                                        {"index", d.index},
                                        {"passed", d.passed()}});
    result["garments"].push_back(garment);
  }
  return result;
}

void print_table(const ValidationReport& report) {
  for (const GarmentValidation& g : report.garments) {
    std::printf(
        "garment %s: %lld steps, %lld compared from end to end (%lld iterations), %lld undecided, %lld "
        "stalled, %lld deviating\n",
        g.garment.c_str(), static_cast<long long>(g.steps), static_cast<long long>(g.whole_steps),
        static_cast<long long>(g.iterations), static_cast<long long>(g.undecided_steps),
        static_cast<long long>(g.stalled_steps), static_cast<long long>(g.deviating_steps));
    std::printf("  %-24s %10s %10s %8s %8s\n", "quantity", "worst", "tolerance", "step", "index");
    for (const Difference& d : g.differences)
      if (d.step >= 0)
        std::printf("  %-24s %10.2e %10.2e %8lld %8lld%s\n", d.quantity.c_str(), d.worst, d.tolerance,
                    static_cast<long long>(d.step), static_cast<long long>(d.index),
                    d.passed() ? "" : "  FAILED");
  }
  std::printf("%s\n", report.passed() ? "kernels and reference agree" : "kernels and reference differ");
}

}  // namespace

bool validate_scene_file(const std::filesystem::path& path, const FileAccess& access,
                         const ExecutionOptions& execution, std::int64_t steps, bool json, bool quiet) {
  const Scene scene = read_scene(path, access);
  const std::int64_t count = steps > 0 ? std::min(steps, step_count(scene)) : step_count(scene);
  ValidationReport report;
  {
    std::int64_t done = 0;
    Progress progress("steps", count * static_cast<std::int64_t>(scene.garments.size()), 0, quiet);
    report = in_file(path, [&] {
      return validate(scene, execution, count, [&](std::size_t garment, std::int64_t) {
        progress.update(done++, scene.garments[garment].name);
      });
    });
  }
  if (json)
    std::puts(as_json(report, path.string())
                  .dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)
                  .c_str());
  else
    print_table(report);
  return report.passed();
}

}  // namespace isocloth
