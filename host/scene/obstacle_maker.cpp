#include "host/scene/obstacle_maker.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/files/number_rows.hpp"
#include "host/meshes/mesh_file.hpp"
#include "host/scene/recorded_poses.hpp"

namespace isocloth {
namespace {

Mesh read_scaled(const std::filesystem::path& path, const ObstacleSpec& spec, const std::string& key) {
  Mesh surface = spec.repair ? read_surface(path, true, spec.weld > 0 ? spec.weld / spec.scale : -1)
                             : read_surface(path);
  surface.corner_uvs.clear();
  for (Vec3d& p : surface.positions) p = spec.scale * p;
  if (!spec.repair) weld_file(surface, spec.weld, key);
  return surface;
}

void read_heights(HeightFieldShape& shape, const std::filesystem::path& path) {
  NumberRows rows = read_number_rows(path, 0, "as many heights as in the rows before");
  shape.samples = {static_cast<Index>(rows.columns), static_cast<Index>(rows.lines.size())};
  shape.heights = std::move(rows.values);
}

}  // namespace

Obstacle make_obstacle(const ObstacleSpec& spec, const std::string& key, std::size_t number,
                       const std::filesystem::path& folder) {
  Obstacle obstacle{.name = spec.name.empty() ? text("obstacle ", number) : spec.name,
                    .shape = spec.shape,
                    .position = spec.position,
                    .rotation = spec.rotation,
                    .motion = spec.motion,
                    .friction = spec.friction};
  if (auto* const mesh = std::get_if<MeshShape>(&obstacle.shape)) {
    mesh->surface = read_scaled(folder / spec.file, spec, key + ".shape");
  } else if (auto* const field = std::get_if<HeightFieldShape>(&obstacle.shape)) {
    if (!spec.file.empty()) read_heights(*field, folder / spec.file);
  }
  if (!spec.poses_file.empty()) {
    RecordedPoses poses = read_only_poses(folder / spec.poses_file, key, spec.position, spec.rotation);
    obstacle.position = poses.position;
    obstacle.rotation = poses.rotation;
    obstacle.motion = std::move(poses.motion);
  }
  obstacle.position += rotated(obstacle.rotation, spec.shift);
  validate_obstacle(obstacle, key);
  return obstacle;
}

RigidBody make_body(const BodySpec& spec, const std::string& key, std::size_t number,
                    const std::filesystem::path& folder) {
  ObstacleSpec named = spec.solid;
  if (named.name.empty()) named.name = text("body ", number);
  Obstacle solid = make_obstacle(named, key, number, folder);
  if (spec.is_external && (spec.mass || spec.density)) {
    throw SceneError(text(key, ": found ", spec.mass ? "mass" : "density",
                          " of an external body, expected neither: "
                          "the program that moves it says its inertia"));
  }
  if (!spec.is_external && spec.mass.has_value() == spec.density.has_value()) {
    throw SceneError(text(key, ": found ", spec.mass ? "both mass and density" : "neither mass nor density",
                          ", expected one of them"));
  }
  RigidBody body{.name = std::move(solid.name),
                 .shape = std::move(solid.shape),
                 .mass = spec.mass.value_or(spec.is_external ? 1 : 0),
                 .position = solid.position,
                 .rotation = solid.rotation,
                 .velocity = spec.velocity,
                 .angular_velocity = spec.angular_velocity,
                 .friction = solid.friction,
                 .is_external = spec.is_external};
  if (spec.density) body.mass = *spec.density * mass_properties(body.shape, key + ".shape").volume;
  validate_body(body, key);
  return body;
}

}  // namespace isocloth
