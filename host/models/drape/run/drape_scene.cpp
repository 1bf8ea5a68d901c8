#include "host/models/drape/run/drape_scene.hpp"

#include <chrono>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/in_file.hpp"
#include "host/files/json_text.hpp"
#include "host/models/shapes/shape_report.hpp"
#include "host/results/working_folder.hpp"
#include "host/run/prepare_scene.hpp"
#include "host/scene/scene_file.hpp"
#include "host/scene/start_shape.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

std::string drape_json(const DrapeSummary& s) {
  Json root{{"scene", s.scene},
            {"garment", s.garment},
            {"method", s.method},
            {"node_count", s.node_count},
            {"element_count", s.element_count},
            {"hanging_count", s.hanging_count}};
  root.update(shape_json(s.shape));
  root.update({{"sag", s.shape.sag},
               {"potential_energy", s.potential_energy},
               {"wall_seconds", s.wall_seconds},
               {"warnings", s.warnings}});
  return root.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

DrapeSummary drape_scene(const DrapeRequest& request) {
  DrapeSummary summary;
  Scene scene = read_scene(request.scene, summary.warnings, request.access);
  if (scene.garments.size() > 1)
    summary.warnings.push_back(
        text(request.scene.string(), ": has ", scene.garments.size(), " garments; the first one is hung"));
  Garment garment = scene.garments.front();
  const std::vector<HangingPoint> points =
      hanging_points(garment, request.time.value_or(garment.time_offset));
  WorkingFolder folder(request.output, request.if_exists);
  const auto begin = Clock::now();
  garment.initial_positions = in_file(
      request.scene, [&] { return drape(garment.mesh, points, request.settings, "garments[0].pins"); });
  summary.wall_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  for (Pin& pin : garment.pins) pin.motion = FixedMotion{};
  scene = only_garment(std::move(scene), garment);
  const Simulation simulation = start_simulation(scene, request.scene, {});
  const ReportData page =
      shape_report(simulation, request.scene.stem().string(), garment, {},
                   text("hung by ", to_string(request.settings.method), ", no simulation"));

  std::vector<Index> hanging;
  for (const HangingPoint& point : points) hanging.push_back(point.node);
  summary.scene = page.summary.scene;
  summary.garment = garment.name;
  summary.method = to_string(request.settings.method);
  summary.node_count = garment.mesh.node_count();
  summary.element_count = garment.mesh.face_count();
  summary.hanging_count = static_cast<Index>(points.size());
  summary.shape = measure_shape(garment.mesh, garment.initial_positions, hanging);
  summary.potential_energy = page.metrics[0].measures.potential_energy;

  publish_shape(folder, "drape.obj", garment,
                {{"scene.json", portable_scene_text(request.scene, request.access)},
                 {"summary.json", drape_json(summary)}},
                page);
  return summary;
}

}  // namespace isocloth
