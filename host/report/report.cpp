#include "host/report/report.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/report/assets.hpp"
#include "host/report/encode.hpp"
#include "host/report/material_coordinates.hpp"
#include "host/report/playback.hpp"
#include "host/report/plot_data.hpp"
#include "host/results/summary_file.hpp"

namespace isocloth {
namespace {

using Json = nlohmann::ordered_json;

void require(bool condition, const std::string& message) {
  if (!condition) throw ShapeError("report: " + message);
}

void check_faces(const ReportGarment& garment, const std::string& who) {
  require(garment.face_begin.size() >= 2 && garment.face_begin.front() == 0 &&
              static_cast<std::size_t>(garment.face_begin.back()) == garment.face_nodes.size(),
          who + " has face_begin that does not run from 0 to the " +
              std::to_string(garment.face_nodes.size()) +
              " corners of face_nodes; give the arrays of its mesh");
  require(garment.corner_uvs.empty() || garment.corner_uvs.size() == garment.face_nodes.size(),
          who + " has " + std::to_string(garment.corner_uvs.size()) +
              " corner_uvs, expected none or one for each of " + std::to_string(garment.face_nodes.size()) +
              " corners; give the arrays of its mesh");
  for (std::size_t f = 0; f + 1 < garment.face_begin.size(); ++f) {
    const Index size = garment.face_begin[f + 1] - garment.face_begin[f];
    require(size == 3 || size == 4, who + " face " + std::to_string(f) + " has " + std::to_string(size) +
                                        " corners, expected 3 or 4; give the arrays of its mesh");
  }
  for (const std::vector<Index>* nodes : {&garment.face_nodes, &garment.pinned_nodes})
    for (const Index node : *nodes)
      require(node >= 0 && node < garment.node_count,
              who + " names node " + std::to_string(node) + ", expected 0 to " +
                  std::to_string(garment.node_count - 1) + "; count nodes from the garment's first");
}

void check_obstacle(const ReportObstacle& obstacle, const std::string& who) {
  require(obstacle.vertices.size() % 3 == 0 && obstacle.triangles.size() % 3 == 0,
          who + " has " + std::to_string(obstacle.vertices.size()) + " coordinates and " +
              std::to_string(obstacle.triangles.size()) + " corners; give three per vertex and triangle");
  for (const Index vertex : obstacle.triangles)
    require(vertex >= 0 && static_cast<std::size_t>(vertex) < obstacle.vertices.size() / 3,
            who + " names vertex " + std::to_string(vertex) + ", expected 0 to " +
                std::to_string(obstacle.vertices.size() / 3) + ", excluded; give the arrays of its surface");
  for (const float x : obstacle.vertices)
    if (!std::isfinite(x))
      throw NumericalError("report: " + who + " has a vertex that is not finite; give a valid surface");
}

void check(const ReportData& data) {
  require(!data.garments.empty(), "no garment; give at least one");
  require(!data.frame_times.empty(),
          "no frame; a run writes its initial state as frame 0, give at least that");
  require(static_cast<bool>(data.frame_positions),
          "frame_positions is empty; give a function that reads a frame");
  require(data.obstacles.empty() || static_cast<bool>(data.obstacle_poses),
          "obstacle_poses is empty; give a function that reads the poses of a frame");
  for (std::size_t o = 0; o < data.obstacles.size(); ++o)
    check_obstacle(data.obstacles[o], "obstacles[" + std::to_string(o) + "]");
  std::size_t nodes = 0;
  for (std::size_t g = 0; g < data.garments.size(); ++g) {
    const ReportGarment& garment = data.garments[g];
    const std::string who = "garments[" + std::to_string(g) + "]";
    if (g > 0 && garment.node_count == 0 && garment.face_nodes.empty())
      continue;  // known by its metrics alone
    require(garment.node_count > 0, who + " has no nodes; leave it out");
    require(g == 0 || data.garments[g - 1].node_count > 0,
            who + " follows a garment without nodes; put those at the end");
    require(static_cast<std::size_t>(garment.node_begin) == nodes,
            who + " begins at node " + std::to_string(garment.node_begin) + ", expected " +
                std::to_string(nodes) + "; put the garments one after the other");
    check_faces(garment, who);
    require(garment.clock >= 0 && static_cast<std::size_t>(garment.clock) < data.clock_count,
            who + " has clock " + std::to_string(garment.clock) + ", expected 0 to " +
                std::to_string(data.clock_count - 1) + "; count the clocks of obstacle_poses");
    nodes += static_cast<std::size_t>(garment.node_count);
  }
  require(data.rest_positions.size() == 3 * nodes,
          "rest_positions has " + std::to_string(data.rest_positions.size()) +
              " values, expected three for each of " + std::to_string(nodes) +
              " nodes; give the rest shape of every garment");
  const std::size_t metrics = data.frame_times.size() * data.garments.size();
  require(data.metrics.size() == metrics, "metrics has " + std::to_string(data.metrics.size()) +
                                              " entries, expected " + std::to_string(metrics) +
                                              "; give one per frame and garment");
  for (std::size_t i = 0; i < data.rest_positions.size(); ++i)
    if (!std::isfinite(data.rest_positions[i]))
      throw NumericalError("report: rest position of node " + std::to_string(i / 3) +
                           " is not finite; give the rest shape of a valid mesh");
  for (std::size_t frame = 0; frame < data.frame_times.size(); ++frame)
    if (!std::isfinite(data.frame_times[frame]) ||
        (frame > 0 && !(data.frame_times[frame] > data.frame_times[frame - 1])))
      throw NumericalError("report: time of frame " + std::to_string(frame) + " is " +
                           std::to_string(data.frame_times[frame]) +
                           ", expected a finite time after that of the frame before; give ascending times");
}

/// Material coordinates with 16 bits each: uv_min + uv_size * value / 65535.
Json uv_json(const ReportGarment& garment, const double* rest_positions) {
  const std::vector<Vec2d> uvs = material_coordinates(garment, rest_positions);
  Vec2d low = uvs.front(), high = uvs.front();
  for (const Vec2d& uv : uvs) {
    low = {std::min(low.x, uv.x), std::min(low.y, uv.y)};
    high = {std::max(high.x, uv.x), std::max(high.y, uv.y)};
  }
  const Vec2d size = high - low;
  std::vector<std::uint16_t> stored;
  for (const Vec2d& uv : uvs)
    for (const auto& [value, extent] : {std::pair(uv.x - low.x, size.x), std::pair(uv.y - low.y, size.y)})
      stored.push_back(static_cast<std::uint16_t>(std::lround(extent > 0 ? 65535 * value / extent : 0)));
  return {{"min", {low.x, low.y}}, {"size", {size.x, size.y}}, {"corners", encode_base64(stored)}};
}

/// Worst of a garment in the run.
StepStatus worst_status(const ReportData& data, std::size_t garment) {
  StepStatus worst = StepStatus::converged;
  for (std::size_t i = garment; i < data.metrics.size(); i += data.garments.size())
    worst = std::max(worst, data.metrics[i].steps.status);
  return worst;
}

/// Garments that the playback shows.
Json garments_json(const ReportData& data, std::size_t shown) {
  Json result = Json::array();
  for (std::size_t g = 0; g < shown; ++g) {
    const ReportGarment& garment = data.garments[g];
    std::vector<std::uint8_t> sizes;
    for (std::size_t f = 0; f + 1 < garment.face_begin.size(); ++f)
      sizes.push_back(static_cast<std::uint8_t>(garment.face_begin[f + 1] - garment.face_begin[f]));
    result.push_back({{"name", garment.name},
                      {"status", code_of(worst_status(data, g))},
                      {"node_begin", garment.node_begin},
                      {"node_count", garment.node_count},
                      {"face_sizes", encode_base64(sizes)},
                      {"face_nodes", encode_base64(garment.face_nodes)},
                      {"uvs", uv_json(garment, data.rest_positions.data() + 3 * garment.node_begin)},
                      {"pinned_nodes", encode_base64(garment.pinned_nodes)},
                      {"clock", garment.clock},
                      {"driven", garment.is_kinematic}});
  }
  return result;
}

/// Indices of 16 bits where they suffice; the page tells them by the number of vertices.
std::string encode_triangles(const ReportObstacle& obstacle) {
  if (obstacle.vertices.size() / 3 > 65536) return encode_base64(obstacle.triangles);
  return encode_base64(std::vector<std::uint16_t>(obstacle.triangles.begin(), obstacle.triangles.end()));
}

Json obstacles_json(const ReportData& data, const PlaybackSelection& selection) {
  const std::vector<ObstacleWay> ways = read_obstacle_ways(data, selection);
  Json result = Json::array();
  for (std::size_t o = 0; o < ways.size(); ++o)
    result.push_back({{"name", data.obstacles[o].name},
                      {"shape", data.obstacles[o].shape},
                      {"vertices", encode_base64(data.obstacles[o].vertices)},
                      {"triangles", encode_triangles(data.obstacles[o])},
                      {"moving", ways[o].is_moving},
                      {"poses", encode_base64(ways[o].poses)}});
  return result;
}

/// Stresses of the elements by component; null where no garment has a law.
Json stresses_json(const Playback& playback) {
  if (playback.stresses[0].empty()) return nullptr;
  Json result;
  const char* const names[] = {"warp", "weft", "shear"};
  for (std::size_t k = 0; k < 3; ++k)
    result[names[k]] = {{"scale", playback.stress_scales[k]}, {"bytes", encode_base64(playback.stresses[k])}};
  return result;
}

/// Loads of contacts between cloths; null where frames have no loads.
Json contacts_json(const Playback& playback) {
  if (playback.contact_pressures.empty()) return nullptr;
  return {{"scale", playback.contact_scale}, {"bytes", encode_base64(playback.contact_pressures)}};
}

/// The tables of the summary: which keys they show, and how these are called and measured.
Json tables_json(const RunSummary& s) {
  std::vector<std::string> titles = {"Run", "Size", "Strain, worst of all steps", "Exactness"};
  if (s.steps_certified > 0 || s.overall.steps.cloth_contacts > 0) titles.emplace_back("Cloth against cloth");
  if (s.overall.contacts.count > 0 || s.overall.holds.count > 0 || !s.contact_force.empty() ||
      !s.gripper_force_max.empty())
    titles.emplace_back("Contact and grippers");
  titles.insert(titles.end(), {"Time and machine", "Other"});
  Json tables = Json::array();
  for (const std::string& title : titles) {
    Json rows = Json::array();
    for (const SummaryKey& each : summary_keys())
      if (each.about.page.section == title)
        rows.push_back({{"key", each.name}, {"label", each.about.page.label}, {"unit", each.about.unit}});
    tables.push_back({{"title", title}, {"rows", std::move(rows)}});
  }
  return tables;
}

Json page_json(const ReportData& data) {
  const PlaybackSelection selection = select_playback(data);
  const Playback playback = read_playback(data, selection);
  std::vector<float> times;
  for (const std::uint32_t frame : selection.frames)
    times.push_back(static_cast<float>(data.frame_times[frame]));
  Json names = Json::array();
  for (const ReportGarment& garment : data.garments) names.push_back(garment.name);
  return {{"summary", Json::parse(summary_json(data.summary))},
          {"summary_tables", tables_json(data.summary)},
          {"frame_count", data.frame_times.size()},
          {"garment_names", std::move(names)},
          {"garments", garments_json(data, selection.garment_count)},
          {"garments_meet", data.garments_meet},
          {"clock_count", data.clock_count},
          {"obstacles", obstacles_json(data, selection)},
          {"playback",
           {{"frames", encode_base64(selection.frames)},
            {"times", encode_base64(times)},
            {"box_min", playback.box_min},
            {"box_size", playback.box_size},
            {"positions", encode_base64(playback.positions)},
            {"area_scale", playback.area_scale},
            {"area_errors", encode_base64(playback.area_errors)},
            {"strain_scale", playback.strain_scale},
            {"edge_strains", encode_base64(playback.edge_strains)},
            {"element_scale", playback.element_scale},
            {"element_strains", encode_base64(playback.element_strains)},
            {"stresses", stresses_json(playback)},
            {"contacts", contacts_json(playback)}}},
          {"plots", plot_json(data)}};
}

/// Replaces every {{key}} of the template; what is put in is not searched again.
std::string fill(std::string_view page,
                 const std::vector<std::pair<std::string_view, std::string_view>>& parts) {
  std::string result;
  for (std::size_t at = 0;;) {
    const std::size_t open = page.find("{{", at);
    result += page.substr(at, open - at);
    if (open == std::string_view::npos) return result;
    const std::size_t close = page.find("}}", open);
    const std::string_view key = page.substr(open + 2, close - open - 2);
    for (const auto& [name, text] : parts)
      if (name == key) result += text;
    at = close + 2;
  }
}

}  // namespace

void write_report(const std::filesystem::path& file, const ReportData& data) {
  check(data);
  const std::string json =
      escape_json_for_script(page_json(data).dump(-1, ' ', false, Json::error_handler_t::replace));
  const std::string title = escape_html(data.summary.scene);
  const std::string page = fill(assets::page_html, {{"title", title},
                                                    {"page.css", assets::page_css},
                                                    {"data", json},
                                                    {"three_license.txt", assets::three_license_txt},
                                                    {"three.js", assets::three_js},
                                                    {"orbit_controls.js", assets::orbit_controls_js},
                                                    {"format.js", assets::format_js},
                                                    {"data.js", assets::data_js},
                                                    {"cloth.js", assets::cloth_js},
                                                    {"obstacles.js", assets::obstacles_js},
                                                    {"viewer.js", assets::viewer_js},
                                                    {"pattern.js", assets::pattern_js},
                                                    {"pictures.js", assets::pictures_js},
                                                    {"plots.js", assets::plots_js},
                                                    {"figures.js", assets::figures_js},
                                                    {"page.js", assets::page_js}});
  std::filesystem::path unfinished = file;
  unfinished += ".tmp";
  std::ofstream stream(unfinished, std::ios::binary);
  stream.write(page.data(), static_cast<std::streamsize>(page.size()));
  stream.close();
  std::error_code error;
  if (stream) std::filesystem::rename(unfinished, file, error);
  if (!stream || error) {
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    throw FileError(file.string() + ": cannot write the report (" +
                    (error ? error.message() : std::string("opening or writing the file failed")) +
                    "); check that the folder exists, is writable and has space");
  }
}

}  // namespace isocloth
