// Sheets that meet each other, for tests of contact of cloth with cloth.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/geometry/intersection_search.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

inline constexpr double thickness = 1e-3;

/// A square sheet of `count` x `count` nodes about (x, y), at the height z, a little uneven.
inline Garment sheet(const std::string& name, Index count, double size, Vec3d center, Vec3d velocity = {}) {
  Garment garment;
  garment.name = name;
  garment.mesh = quad_grid(count, count, size, size);
  Random random(static_cast<std::uint64_t>(1000 * (1 + center.z)));
  for (Vec3d p : garment.mesh.positions)
    garment.initial_positions.push_back(p + center - Vec3d{size / 2, size / 2, 1e-4 * random.uniform(-1, 1)});
  garment.initial_velocities.assign(garment.initial_positions.size(), velocity);
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.2,
                    .bending_stiffness = 1e-5,
                    .stretch_stiffness = 2000,
                    .shear_stiffness = 100,
                    .thickness = thickness};
  return garment;
}

inline Scene cloth_scene(std::vector<Garment> garments) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.005;
  scene.duration = 10;
  scene.contact.cloth = true;
  scene.contact.cloth_friction = {.static_ = 0.3, .dynamic = 0.3};
  scene.contact.tolerance = thickness / 4;
  scene.garments = std::move(garments);
  return scene;
}

/// One sheet above another in each world; in those of odd numbers they meet.
inline Scene worlds_of_two(Index count) {
  std::vector<Garment> garments;
  for (Index world = 0; world < count; ++world)
    for (const double side : {-1.0, 1.0}) {
      const double speed = world % 2 == 0 ? 0.0 : -1.0 - 0.1 * static_cast<double>(world);
      garments.push_back(sheet("sheet " + std::to_string(garments.size()), 7, 0.2,
                               {0, 0, side * (0.012 + 1e-4 * static_cast<double>(world))},
                               {0, 0, side * speed}));
      garments.back().world = world;
    }
  Scene scene = cloth_scene(std::move(garments));
  scene.gravity = 0;
  return scene;
}

inline Obstacle floor_obstacle() {
  Obstacle floor;
  floor.name = "floor";
  floor.shape = PlaneShape{};
  floor.friction = {.static_ = 0.3, .dynamic = 0.3};
  return floor;
}

inline IntersectionSearch search_of(const Scene& scene) {
  std::vector<const Mesh*> meshes;
  for (const Garment& garment : scene.garments) meshes.push_back(&garment.mesh);
  return IntersectionSearch(meshes);
}

inline std::int64_t crossings(IntersectionSearch& search, const Simulation& simulation) {
  const Intersections found = search.find(simulation.positions());
  return found.crossing.count + found.touching.count;
}

}  // namespace isocloth
