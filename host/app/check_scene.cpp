#include "host/app/check_scene.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/core/text.hpp"
#include "engine/shapes/obstacle.hpp"
#include "host/run/certificate.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

using Json = nlohmann::ordered_json;

Json as_json(const Vec3d& v) { return {v.x, v.y, v.z}; }

Json as_json(const Pin& pin) {
  constexpr const char* motions[] = {"fixed", "oscillation", "keyframes", "recorded"};
  static_assert(std::size(motions) == std::variant_size_v<Motion>);
  return {{"name", pin.name}, {"node_count", pin.nodes.size()}, {"motion", motions[pin.motion.index()]}};
}

Json as_json(const IntersectionReport& report) {
  Json result{{"crossing", report.crossing},
              {"touching", report.touching},
              {"overlapping", report.overlapping},
              {"pairs", Json::array()},
              {"overlaps", Json::array()}};
  for (const IntersectingPair& pair : report.pairs)
    result["pairs"].push_back({{"edge_garment", pair.edge_garment},
                               {"edge", pair.edge},
                               {"face_garment", pair.face_garment},
                               {"face", pair.face},
                               {"place", pair.position}});
  for (const OverlappingPair& pair : report.overlaps)
    result["overlaps"].push_back(
        {{"garments", pair.garments}, {"faces", pair.faces}, {"place", pair.position}});
  return result;
}

Json as_json(const Garment& garment, const GarmentInfo& info) {
  const Bounds bounds = bounds_of(start_positions(garment));
  Json result{{"name", garment.name},
              {"node_count", info.node_count},
              {"element_count", info.face_count},
              {"pinned_count", 0},
              {"stitch_count", garment.mesh.stitches.size()},
              {"seam_length", 0},
              {"seam_opening", 0},
              {"button_count", garment.mesh.buttons.size()},
              {"undone_count", 0},
              {"band_length", 0},
              {"band_sewn_length", 0},
              {"bounds", {as_json(bounds.low), as_json(bounds.high)}},
              {"solver", info.solver},
              {"memory_bytes", info.memory_bytes},
              {"pins", Json::array()},
              {"grippers", Json::array()}};
  std::size_t pinned = 0;
  for (const Pin& pin : garment.pins) {
    pinned += pin.nodes.size();
    result["pins"].push_back(as_json(pin));
  }
  result["pinned_count"] = pinned;
  double seam_length = 0, opening = 0;
  for (const Stitch& stitch : garment.mesh.stitches) {
    const std::vector<Vec3d>& start = start_positions(garment);
    seam_length += stitch.length;
    opening = std::max(
        opening, norm(start[static_cast<std::size_t>(stitch.a)] - start[static_cast<std::size_t>(stitch.b)]));
  }
  const auto distance = [&](const std::vector<Vec3d>& positions, const auto& link) {
    return norm(positions[static_cast<std::size_t>(link.a)] - positions[static_cast<std::size_t>(link.b)]);
  };
  std::size_t undone = 0;
  for (const Button& button : garment.mesh.buttons) {
    const double open = distance(start_positions(garment), button) - button.distance;
    if (button.strength == 0) opening = std::max(opening, open);
    undone += button.strength > 0 && button.stiffness * open > button.strength;
  }
  double band = 0, sewn = 0;
  for (const Band& piece : garment.mesh.bands) {
    band += piece.length;
    sewn += distance(garment.mesh.positions, piece);
  }
  result["undone_count"] = undone;
  result["band_length"] = band;
  result["band_sewn_length"] = sewn;
  result["seam_length"] = seam_length;
  result["seam_opening"] = opening;
  for (const Gripper& gripper : garment.grippers) {
    const Reach reach = first_reach(garment, gripper);
    result["grippers"].push_back({{"name", gripper.name},
                                  {"closes_at", gripper.holds.empty() ? Json() : Json(reach.time)},
                                  {"reached_count", reach.node_count},
                                  {"nearest_distance", std::max(0.0, reach.nearest)}});
  }
  return result;
}

std::string listed(const Json& v) {
  return text("(", v[0].get<double>(), " ", v[1].get<double>(), " ", v[2].get<double>(), ")");
}

void print_garment(const Json& g) {
  std::printf("  garment %s: %lld nodes, %lld elements, %lld pinned\n", g["name"].get<std::string>().c_str(),
              g["node_count"].get<long long>(), g["element_count"].get<long long>(),
              g["pinned_count"].get<long long>());
  std::printf("    from %s to %s m; %s, %.3g MB\n", listed(g["bounds"][0]).c_str(),
              listed(g["bounds"][1]).c_str(), g["solver"].get<std::string>().c_str(),
              1e-6 * g["memory_bytes"].get<double>());
  if (g["stitch_count"] > 0)
    std::printf("    sewn: %.3g m of seams by %lld threads, open by up to %.3g m at the start\n",
                g["seam_length"].get<double>(), g["stitch_count"].get<long long>(),
                g["seam_opening"].get<double>());
  if (g["button_count"] > 0)
    std::printf("    %lld buttons, %lld press studs undone at the start\n",
                g["button_count"].get<long long>(), g["undone_count"].get<long long>());
  if (g["band_length"] > 0)
    std::printf("    elastic bands of %.3g m on edges of %.3g m\n", g["band_length"].get<double>(),
                g["band_sewn_length"].get<double>());
  for (const auto& pin : g["pins"])
    std::printf("    pin %s: holds %lld nodes, %s\n", pin["name"].get<std::string>().c_str(),
                pin["node_count"].get<long long>(), pin["motion"].get<std::string>().c_str());
  for (const auto& gripper : g["grippers"])
    std::printf("    gripper %s: %s, reaches %lld nodes of the start, the nearest at %.3g m\n",
                gripper["name"].get<std::string>().c_str(),
                gripper["closes_at"].is_null()
                    ? "commands close it"
                    : text("closes at ", gripper["closes_at"].get<double>(), " s").c_str(),
                gripper["reached_count"].get<long long>(), gripper["nearest_distance"].get<double>());
}

/// Calls print for the first of a list and says how many there are more.
template <class Print>
void print_first(const Json& list, const char* what, const Print& print) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, list.size()); ++i) print(list[i]);
  if (list.size() > most) std::printf("  and %zu %s more\n", list.size() - most, what);
}

}  // namespace

void check_scene_file(const std::filesystem::path& path, const FileAccess& access,
                      const ExecutionOptions& execution, bool json) {
  std::vector<std::string> warnings;
  const Scene scene = read_scene(path, warnings, access);
  const Simulation simulation = start_simulation(scene, path, execution);
  const IntersectionReport start = start_intersections(scene, simulation);
  for (const std::string& line :
       start_warnings(scene, start, path, execution.precision, simulation.separation()))
    warnings.push_back(line);
  for (const std::string& line : simulation.obstacle_notes()) warnings.push_back(line);
  const std::int64_t steps = step_count(scene), per_frame = steps_per_frame(scene);
  Json result{{"scene", path.string()},    {"recipe", scene.recipe},
              {"step_count", steps},       {"frame_count", 1 + (steps + per_frame - 1) / per_frame},
              {"garments", Json::array()}, {"obstacles", Json::array()},
              {"bodies", Json::array()},   {"warnings", warnings}};
  const StepBudget& budget = scene.projection.budget;
  if (budget.exists()) result["budget"] = {{"solves", budget.solves}, {"milliseconds", budget.milliseconds}};
  result["intersections"] = as_json(start);
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    result["garments"].push_back(as_json(scene.garments[g], simulation.info(g)));
  for (const Obstacle& obstacle : scene.obstacles)
    result["obstacles"].push_back({{"name", obstacle.name},
                                   {"shape", shape_name(obstacle.shape)},
                                   {"position", as_json(obstacle.position)},
                                   {"moves", is_moving(obstacle)}});
  for (const RigidBody& body : scene.bodies)
    result["bodies"].push_back({{"name", body.name},
                                {"shape", shape_name(body.shape)},
                                {"position", as_json(body.position)},
                                {"mass", body.mass}});
  if (json) {
    std::puts(result.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return;
  }
  std::printf("%s: valid, recipe %s, %lld steps, %lld frames\n", path.c_str(), scene.recipe.c_str(),
              static_cast<long long>(steps), result["frame_count"].get<long long>());
  if (budget.exists())
    std::printf(
        "  a step ends, within its tolerances or not (steps_cut), after%s\n",
        text(budget.solves > 0 ? text(" ", budget.solves, budget.solves == 1 ? " solve" : " solves") : "",
             budget.solves > 0 && budget.milliseconds > 0 ? " or" : "",
             budget.milliseconds > 0 ? text(" ", budget.milliseconds, " ms") : "")
            .c_str());
  print_first(result["garments"], "garments", print_garment);
  print_first(result["obstacles"], "obstacles", [](const Json& o) {
    std::printf("  obstacle %s: %s at %s m%s\n", o["name"].get<std::string>().c_str(),
                o["shape"].get<std::string>().c_str(), listed(o["position"]).c_str(),
                o["moves"].get<bool>() ? ", moving" : "");
  });
  print_first(result["bodies"], "bodies", [](const Json& b) {
    std::printf("  body %s: %s of %.3g kg at %s m\n", b["name"].get<std::string>().c_str(),
                b["shape"].get<std::string>().c_str(), b["mass"].get<double>(),
                listed(b["position"]).c_str());
  });
  for (const std::string& warning : warnings) std::printf("  warning: %s\n", warning.c_str());
}

}  // namespace isocloth
