#include "host/results/trajectory_layout.hpp"

#include <algorithm>
#include <map>

#include "host/results/obstacle_surface.hpp"

namespace isocloth {
TrajectoryObstacle trajectory_obstacle(const std::string& name, const ObstacleShape& shape) {
  const ObstacleSurface surface = obstacle_surface(shape);
  TrajectoryObstacle result{.name = name, .shape = shape_name(shape), .vertices = {}, .triangles = {}};
  for (const Vec3d& p : surface.vertices)
    for (const double x : {p.x, p.y, p.z}) result.vertices.push_back(static_cast<float>(x));
  for (const auto& corners : surface.triangles)
    result.triangles.insert(result.triangles.end(), corners.begin(), corners.end());
  return result;
}

Mesh TrajectoryLayout::mesh() const {
  Mesh mesh;
  mesh.positions = rest_positions;
  for (const std::array<Index, 4>& face : faces) {
    mesh.add_face({face.begin(), face.begin() + (face[3] < 0 ? 3 : 4)});
  }
  return mesh;
}

std::size_t TrajectoryLayout::frames_of() const {
  const auto is_kept = [](const TrajectoryGarment& garment) { return garment.node_count > 0; };
  return static_cast<std::size_t>(std::count_if(garments.begin(), garments.end(), is_kept));
}

TrajectoryLayout trajectory_layout(const Scene& scene, std::size_t frames_of) {
  TrajectoryLayout layout;
  layout.has_contact_loads = scene.contact.cloth;
  layout.expected_frames = 2 + step_count(scene) / steps_per_frame(scene);
  const Mesh nothing;
  for (const Garment& garment : scene.garments) {
    const Mesh& mesh = layout.garments.size() < frames_of ? garment.mesh : nothing;
    const auto node_begin = static_cast<Index>(layout.rest_positions.size());
    layout.garments.push_back({garment.name, node_begin, mesh.node_count(),
                               static_cast<Index>(layout.faces.size()), mesh.face_count()});
    layout.rest_positions.insert(layout.rest_positions.end(), mesh.positions.begin(), mesh.positions.end());
    for (Index f = 0; f < mesh.face_count(); ++f) {
      std::array<Index, 4> nodes{-1, -1, -1, -1};
      std::transform(mesh.face(f).begin(), mesh.face(f).end(), nodes.begin(),
                     [node_begin](Index node) { return node + node_begin; });
      layout.faces.push_back(nodes);
    }
  }
  for (const Obstacle& obstacle : scene.obstacles)
    layout.obstacles.push_back(trajectory_obstacle(obstacle.name, obstacle.shape));
  for (const RigidBody& body : scene.bodies)
    layout.obstacles.push_back(trajectory_obstacle(body.name, body.shape));
  if (layout.obstacles.empty()) return layout;
  std::map<double, Index> clocks;
  for (std::size_t g = 0; g < layout.frames_of(); ++g) {
    const double offset = scene.garments[g].time_offset;
    const auto [clock, is_new] = clocks.emplace(offset, static_cast<Index>(clocks.size()));
    if (is_new) layout.clock_offsets.push_back(offset);
    layout.garments[g].clock = clock->second;
  }
  return layout;
}

}  // namespace isocloth
