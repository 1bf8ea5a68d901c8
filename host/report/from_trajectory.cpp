#include "host/report/from_trajectory.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// Whether two garments that are simulated are in one world.
bool share_a_world(const std::vector<Garment>& garments) {
  std::set<Index> worlds;
  std::size_t count = 0;
  for (const Garment& garment : garments) {
    if (is_kinematic(garment)) continue;
    worlds.insert(garment.world);
    ++count;
  }
  return count > 1 && (worlds.size() < count || worlds.contains(Garment::every_world));
}

}  // namespace

ReportData report_from(const TrajectoryFile& trajectory, const RunSummary& summary,
                       const std::vector<Garment>& garments, bool cloth_meets) {
  const TrajectoryLayout& layout = trajectory.layout();
  if (!garments.empty() && garments.size() != layout.garments.size())
    throw ShapeError("report: found " + std::to_string(garments.size()) +
                     " garments of the scene, expected " + std::to_string(layout.garments.size()) +
                     "; give those of the trajectory");
  ReportData data;
  data.summary = summary;
  data.garments_meet = cloth_meets && share_a_world(garments);
  const auto recipe = std::ranges::find(recipes(), summary.recipe, &Recipe::name);
  for (std::size_t g = 0; g < layout.garments.size(); ++g) {
    const TrajectoryGarment& part = layout.garments[g];
    ReportGarment garment{part.name, part.node_begin, part.node_count, {0}, {}, {}, {}, part.clock};
    for (Index f = part.face_begin; f < part.face_begin + part.face_count; ++f) {
      for (const Index node : layout.faces[f])
        if (node >= 0) garment.face_nodes.push_back(node - part.node_begin);
      garment.face_begin.push_back(static_cast<Index>(garment.face_nodes.size()));
    }
    if (!garments.empty() && part.node_count > 0) {
      garment.corner_uvs = garments[g].mesh.corner_uvs;
      garment.face_factors = garments[g].mesh.face_factors;
      garment.is_kinematic = cloth_meets && is_kinematic(garments[g]);
      if (garment.is_kinematic) {
        data.garments.push_back(std::move(garment));
        continue;
      }
      if (recipe != recipes().end() && MembraneLaw::exists(*recipe))
        garment.law.emplace(*recipe, garments[g].fabric);
      for (const Pin& pin : garments[g].pins)
        garment.pinned_nodes.insert(garment.pinned_nodes.end(), pin.nodes.begin(), pin.nodes.end());
    }
    data.garments.push_back(std::move(garment));
  }
  for (const Vec3d& p : layout.rest_positions)
    data.rest_positions.insert(data.rest_positions.end(), {p.x, p.y, p.z});
  for (const TrajectoryObstacle& obstacle : layout.obstacles)
    data.obstacles.push_back({obstacle.name, obstacle.shape, obstacle.vertices, obstacle.triangles});
  data.clock_count = std::max<std::size_t>(1, layout.clock_offsets.size());
  data.obstacle_poses = [&trajectory](std::size_t frame) { return trajectory.obstacle_poses(frame); };
  if (layout.has_contact_loads)
    data.contact_loads = [&trajectory](std::size_t frame) { return trajectory.contact_loads(frame); };
  data.frame_times = trajectory.times();
  data.frame_positions = [&trajectory](std::size_t frame) { return trajectory.positions(frame); };
  for (std::size_t frame = 0; frame < trajectory.frame_count(); ++frame)
    for (std::size_t g = 0; g < layout.garments.size(); ++g)
      data.metrics.push_back(trajectory.metrics(frame, g));
  return data;
}

void write_folder_report(const std::filesystem::path& folder, const Scene& scene, const RunSummary& summary) {
  const TrajectoryFile trajectory = read_trajectory(folder / "trajectory.h5");
  write_report(folder / "report.html", report_from(trajectory, summary, scene.garments, scene.contact.cloth));
}

}  // namespace isocloth
