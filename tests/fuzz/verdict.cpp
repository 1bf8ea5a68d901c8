#include "tests/fuzz/verdict.hpp"

#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/results/trajectory_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/support/measured_strain.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Words of the program's inside that no user should read.
constexpr const char* internals[] = {"std::",     "json.exception", "nan m",     "inf m",
                                     "bad_alloc", "terminate",      ".partial-", "basic_string",
                                     "vector:",   "what():",        "Assertion", "isocloth::"};

bool is_utf8_without_control_characters(const std::string& bytes) {
  for (const char c : bytes)
    if (static_cast<unsigned char>(c) < 32 || c == 127) return false;
  try {
    Json(bytes).dump();
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

/// Warnings may stand before an error.
std::string without_warnings(const std::string& errors) {
  std::istringstream lines(errors);
  std::string rest;
  for (std::string line; std::getline(lines, line);)
    if (!line.starts_with("isocloth: warning: ")) rest += lines.eof() ? line : line + "\n";
  return rest;
}

void check_error_line(std::string errors, Faults& faults) {
  if (!errors.ends_with('\n') || std::count(errors.begin(), errors.end(), '\n') != 1) {
    faults.push_back({"not one line of error", errors.substr(0, 300)});
    return;
  }
  errors.pop_back();
  if (!errors.starts_with("isocloth: "))
    faults.push_back({"an error that does not begin with the program's name", errors});
  if (!is_utf8_without_control_characters(errors))
    faults.push_back({"an error with control characters or no UTF-8",
                      Json(errors).dump(-1, ' ', true, Json::error_handler_t::replace)});
  if (errors.size() > 1000) faults.push_back({"an error of more than 1000 bytes", errors.substr(0, 200)});
  if (errors.size() < 25) faults.push_back({"an error that says little", errors});
  // Where the frames of a run that failed are kept is told, with the working folder's own name.
  const std::size_t kept = errors.find(" s are kept in ");
  if (const std::size_t mark = errors.find(".partial-", kept); mark != std::string::npos)
    errors.erase(mark, 9);
  for (const char* word : internals)
    if (errors.find(word) != std::string::npos)
      faults.push_back({text("an error that shows \"", word, '"'), errors});
}

/// With --json the error is an object, too.
void check_error_object(const Finished& end, Faults& faults) {
  const Json object = Json::parse(end.output, nullptr, false);
  if (!object.is_object() || !object.contains("error") || !object["error"].is_string())
    faults.push_back({"a refusal that prints no error object", end.output.substr(0, 100)});
  else if (end.errors != "isocloth: " + object["error"].get<std::string>() + "\n")
    faults.push_back({"an error object that says something else", end.output.substr(0, 200)});
}

void check_finite(const Json& value, const std::string& key, Faults& faults) {
  if (value.is_number() && !std::isfinite(value.get<double>()))
    faults.push_back({"summary.json: a number that is not finite", key});
  if (value.is_null()) faults.push_back({"summary.json: " + key + " is null", ""});
  if (value.is_structured())
    for (const auto& [name, member] : value.items())
      check_finite(member, key.empty() ? name : key + "." + name, faults);
}

/// Claimed figures are at least what frames show.
void check_strain(const Json& summary, const MeasuredStrain& found, Faults& faults) {
  // Measured in single precision, the figures themselves are rounded a few times.
  const double roundings = summary.value("precision", "") == "float32" ? 16 : 1;
  if (!found.is_finite) faults.push_back({"trajectory.h5: strain is not finite", ""});
  const struct {
    const char* key;
    double found, rounding;
  } claims[] = {{"strain_max", found.edge_max, found.edge_rounding},
                {"strain_p95", found.edge_p95, found.edge_rounding},
                {"stretch_max", found.stretch_max, found.element_rounding},
                {"compression_max", found.compression_max, found.element_rounding}};
  for (const auto& claim : claims) {
    if (!summary.contains(claim.key)) {
      faults.push_back({text("summary.json: has no ", claim.key), ""});
      continue;
    }
    const double claimed = summary[claim.key].is_number() ? summary[claim.key].get<double>() : -1;
    if (claim.found > claimed * (1 + 1e-9) + roundings * claim.rounding + 1e-9)
      faults.push_back({text("frames show more than the claimed ", claim.key),
                        text(claim.found, ", claimed ", claimed, ", rounding ", claim.rounding)});
  }
}

void check_penetration(const Json& summary, const Scene& scene, const TrajectoryFile& trajectory,
                       int exit_code, Faults& faults) {
  if (scene.obstacles.empty()) return;
  const double tolerance = scene.contact.tolerance, claimed = summary.value("penetration_max", 0.0);
  if (exit_code == 0 && !scene.contact.resolve_initial_penetration && claimed > tolerance)
    faults.push_back({"exit code 0, but penetration_max is above the tolerance",
                      text(claimed, ", tolerance ", tolerance)});
  double worst = 0, rounding = 0;
  // The reference is slow: some of the frames.
  const std::size_t stride = 1 + trajectory.frame_count() / 40;
  for (std::size_t f = 0; f < trajectory.frame_count(); f += stride) {
    const std::vector<double> frame = trajectory.positions(f);
    for (std::size_t g = 0; g < trajectory.layout().frames_of(); ++g) {
      const Garment& garment = scene.garments[g];
      const TrajectoryGarment& place = trajectory.layout().garments[g];
      std::vector<Vec3d> x;
      for (Index i = place.node_begin; i < place.node_begin + place.node_count; ++i) {
        const double* p = &frame[3 * static_cast<std::size_t>(i)];
        x.push_back({p[0], p[1], p[2]});
        rounding = std::max(rounding, 0x1p-22 * norm(x.back()));
      }
      for (const Obstacle& obstacle : scene.obstacles)
        worst = std::max(
            worst, reference::deepest_penetration(garment.mesh, x, reference::ObstacleDistance(obstacle),
                                                  trajectory.times()[f] + garment.time_offset,
                                                  garment.fabric.thickness + 2 * scene.contact.margin, 2));
    }
  }
  // Nodes alone: a warped face of a coarse sheet may lie deeper between the points that a step looks at.
  if (worst > std::max(claimed, tolerance) + tolerance + rounding)
    faults.push_back({"frames show more than the claimed penetration_max",
                      text(worst, " m, claimed ", claimed, ", tolerance ", tolerance)});
}

void check_csv(const std::string& csv, Faults& faults) {
  for (const char* word : {",nan", ",-nan", ",inf", ",-inf"})
    if (csv.find(word) != std::string::npos) faults.push_back({text("metrics.csv: found ", word), ""});
}

}  // namespace

Faults faults_of_command(const Finished& ended, bool is_interrupted) {
  Finished end = ended;
  end.errors = without_warnings(end.errors);
  if (end.code < 0) return {{text("crash by signal ", -end.code), end.errors.substr(0, 200)}};
  Faults faults;
  if (end.code > 2 && !(is_interrupted && end.code == 130))
    faults.push_back({text("exit code ", end.code), end.errors.substr(0, 300)});
  if (end.code == 0 && !end.errors.empty())
    faults.push_back({"exit code 0 with an error", end.errors.substr(0, 300)});
  // A run to its end that missed a tolerance says so where it says the rest.
  const bool missed = end.code == 1 && end.errors.empty() && end.output.find("missed") != std::string::npos;
  if ((end.code == 1 && !missed) || end.code == 2) check_error_line(end.errors, faults);
  if (end.code == 2 && !end.output.empty()) check_error_object(end, faults);
  return faults;
}

Faults faults_of_result(const fs::path& scene_path, const fs::path& folder, int exit_code) {
  Faults faults;
  for (const char* file :
       {"summary.json", "metrics.csv", "trajectory.h5", "checkpoint.h5", "report.html", "scene.json"})
    if (!fs::exists(folder / file)) faults.push_back({text("exit code ", exit_code, ", but no ", file), ""});
  if (!faults.empty()) return faults;
  try {
    const Json summary = Json::parse(read_whole_file(folder / "summary.json"));
    check_finite(summary, "", faults);
    check_csv(read_whole_file(folder / "metrics.csv"), faults);
    const TrajectoryFile trajectory(folder / "trajectory.h5");
    check_strain(summary, measured_strain(trajectory), faults);
    check_penetration(summary, read_scene(scene_path), trajectory, exit_code, faults);
    for (const char* key : {"steps_violated", "garments_frozen"})
      if (exit_code == 0 && summary.value(key, 0) > 0)
        faults.push_back({text("exit code 0, but ", key, " is not 0"), summary[key].dump()});
  } catch (const std::exception& error) {
    faults.push_back({"a result that cannot be read", error.what()});
  }
  return faults;
}

}  // namespace isocloth
