#include "host/models/shapes/shape_report.hpp"

#include <optional>
#include <utility>

#include "host/files/text_file.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/results/trajectory_layout.hpp"
#include "host/scene/start_shape.hpp"

namespace isocloth {

Scene only_garment(Scene scene, Garment garment) {
  garment.initial_velocities.clear();
  garment.grippers.clear();
  garment.world = Garment::every_world;
  scene.garments = {std::move(garment)};
  scene.obstacles.clear();
  scene.bodies.clear();
  scene.contact = {};
  return scene;
}

Json shape_json(const ShapeMeasures& m) {
  return {{"edge_error_mean", m.edge_error_mean},   {"edge_error_p95", m.edge_error_p95},
          {"edge_error_max", m.edge_error_max},     {"area_error_mean", m.area_error_mean},
          {"area_error_p95", m.area_error_p95},     {"area_error_max", m.area_error_max},
          {"area_error_total", m.area_error_total}, {"center_height", m.center_height}};
}

ReportData shape_report(const Simulation& simulation, const std::string& scene_name, const Garment& garment,
                        const std::vector<Obstacle>& obstacles, const std::string& message) {
  const ResolvedScene resolved(simulation.scene());
  RunTally tally(resolved, scene_name, simulation, std::nullopt);
  tally.measure_start();
  tally.since_frame[0].measures = simulation.measure(0);
  tally.measure_frame();
  tally.summary.status = "completed";
  tally.summary.message = message;
  tally.summary.frame_count = 1;
  tally.summary.tolerance = 0;  // no step kept any

  const Mesh& mesh = garment.mesh;
  ReportGarment shown{garment.name,    0, mesh.node_count(), mesh.face_begin, mesh.face_nodes,
                      mesh.corner_uvs, {}};
  for (const HangingPoint& point : hanging_points(garment, garment.time_offset))
    shown.pinned_nodes.push_back(point.node);
  if (MembraneLaw::exists(find_recipe(simulation.scene().recipe)))
    shown.law.emplace(find_recipe(simulation.scene().recipe), garment.fabric);
  shown.face_factors = mesh.face_factors;
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
  std::vector<float> poses;
  for (const Obstacle& obstacle : obstacles) {
    const TrajectoryObstacle shown_as = trajectory_obstacle(obstacle.name, obstacle.shape);
    data.obstacles.push_back({shown_as.name, shown_as.shape, shown_as.vertices, shown_as.triangles});
    const PackedPose pose = packed_pose(obstacle_pose(obstacle, garment.time_offset));
    poses.insert(poses.end(), pose.begin(), pose.end());
  }
  data.obstacle_poses = [poses](std::size_t) { return poses; };
  return data;
}

void publish_shape(WorkingFolder& folder, const std::string& obj_name, const Garment& garment,
                   const std::map<std::string, std::string>& texts, const ReportData& page) {
  const std::vector<Vec3d>& x = garment.initial_positions;
  folder.create();
  try {
    write_obj(folder.path() / obj_name, garment.mesh, {x.data(), x.size()});
    for (const auto& [name, content] : texts) write_whole_file(folder.path() / name, content);
    write_report(folder.path() / "report.html", page);
    // What killed commands of this kind left is made in a moment; a run's frames are not theirs to remove.
    std::vector<std::filesystem::path> left = folder.leftovers();
    std::erase_if(left, [](const std::filesystem::path& other) {
      std::error_code error;
      return std::filesystem::exists(other / "trajectory.h5", error);
    });
    folder.publish(left);
  } catch (...) {
    folder.remove();
    throw;
  }
}

}  // namespace isocloth
