#include "host/run/drape_scene.hpp"

#include <chrono>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/json_text.hpp"
#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/report/report.hpp"
#include "host/results/working_folder.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/run/run_tally.hpp"
#include "host/scene/scene_file.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;

/// Nothing but the garment, which starts in the shape.
Scene only(Scene scene, Garment garment) {
  garment.initial_velocities.clear();
  garment.grippers.clear();
  garment.world = Garment::every_world;
  scene.garments = {std::move(garment)};
  scene.obstacles.clear();
  scene.bodies.clear();
  scene.contact = {};
  return scene;
}

ReportData one_frame(const Scene& scene, const Garment& garment, const RunTally& tally) {
  const Mesh& mesh = garment.mesh;
  ReportGarment shown{garment.name,    0, mesh.node_count(), mesh.face_begin, mesh.face_nodes,
                      mesh.corner_uvs, {}};
  for (const HangingPoint& point : hanging_points(garment, garment.time_offset))
    shown.pinned_nodes.push_back(point.node);
  if (MembraneLaw::exists(find_recipe(scene.recipe)))
    shown.law.emplace(find_recipe(scene.recipe), garment.fabric);
  ReportData data;
  data.summary = tally.summary;
  data.garments = {std::move(shown)};
  for (const Vec3d& p : mesh.positions)
    data.rest_positions.insert(data.rest_positions.end(), {p.x, p.y, p.z});
  data.frame_times = {0};
  data.frame_positions = [&garment](std::size_t) {
    std::vector<double> all;
    for (const Vec3d& p : start_positions(garment)) all.insert(all.end(), {p.x, p.y, p.z});
    return all;
  };
  data.metrics = tally.since_frame;
  return data;
}

}  // namespace

std::string drape_json(const DrapeSummary& s) {
  const ShapeMeasures& m = s.shape;
  const Json root{{"scene", s.scene},
                  {"garment", s.garment},
                  {"method", s.method},
                  {"node_count", s.node_count},
                  {"element_count", s.element_count},
                  {"hanging_count", s.hanging_count},
                  {"edge_error_mean", m.edge_error_mean},
                  {"edge_error_p95", m.edge_error_p95},
                  {"edge_error_max", m.edge_error_max},
                  {"area_error_mean", m.area_error_mean},
                  {"area_error_p95", m.area_error_p95},
                  {"area_error_max", m.area_error_max},
                  {"area_error_total", m.area_error_total},
                  {"sag", m.sag},
                  {"center_height", m.center_height},
                  {"potential_energy", s.potential_energy},
                  {"wall_seconds", s.wall_seconds},
                  {"warnings", s.warnings}};
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

DrapeSummary drape_scene(const DrapeRequest& request) {
  DrapeSummary summary;
  Scene scene = read_scene(request.scene, summary.warnings);
  if (scene.garments.size() > 1)
    summary.warnings.push_back(
        text(request.scene.string(), ": has ", scene.garments.size(), " garments; the first one is hung"));
  Garment garment = scene.garments.front();
  const std::vector<HangingPoint> points =
      hanging_points(garment, request.time.value_or(garment.time_offset));
  WorkingFolder folder(request.output, request.if_exists);
  const auto begin = Clock::now();
  try {
    garment.initial_positions = drape(garment.mesh, points, request.settings, "garments[0].pins");
  } catch (const SceneError& error) {
    throw SceneError(text(request.scene.string(), ": ", error.what()));
  }
  summary.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (Pin& pin : garment.pins) pin.motion = FixedMotion{};
  scene = only(std::move(scene), garment);
  const ResolvedScene resolved(scene);
  const Simulation simulation = start_simulation(scene, request.scene, {});
  RunTally tally(resolved, request.scene.stem().string(), simulation, std::nullopt);
  tally.measure_start();
  tally.since_frame[0].measures = simulation.measure(0);
  tally.measure_frame();
  tally.summary.status = "completed";
  tally.summary.message = text("hung by ", to_string(request.settings.method), ", no simulation");
  tally.summary.frame_count = 1;
  tally.summary.tolerance = 0;  // no step kept any

  std::vector<Index> hanging;
  for (const HangingPoint& point : points) hanging.push_back(point.node);
  summary.scene = tally.summary.scene;
  summary.garment = garment.name;
  summary.method = to_string(request.settings.method);
  summary.node_count = garment.mesh.node_count();
  summary.element_count = garment.mesh.face_count();
  summary.hanging_count = static_cast<Index>(points.size());
  summary.shape = measure_shape(garment.mesh, garment.initial_positions, hanging);
  summary.potential_energy = tally.since_frame[0].measures.potential_energy;

  folder.create();
  try {
    write_obj(folder.path() / "drape.obj", garment.mesh,
              {garment.initial_positions.data(), garment.initial_positions.size()});
    write_whole_file(folder.path() / "scene.json", portable_scene_text(request.scene));
    write_whole_file(folder.path() / "summary.json", drape_json(summary));
    write_report(folder.path() / "report.html", one_frame(scene, garment, tally));
    folder.publish({});
  } catch (...) {
    folder.remove();
    throw;
  }
  return summary;
}

}  // namespace isocloth
