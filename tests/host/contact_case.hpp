// Sheets among obstacles, and what their contacts say.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

/// n x n nodes of a square with sides of `size` around the origin, in the plane z = 0; 1 kg/m^2.
inline Garment square_sheet(Index n, double size, double alpha) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = quad_grid(n, n, size, size);
  for (Vec3d& p : sheet.mesh.positions) p -= Vec3d{size / 2, size / 2, 0};
  sheet.fabric.mass_damping = alpha;
  sheet.initial_positions = sheet.mesh.positions;
  return sheet;
}

inline Obstacle obstacle(const ObstacleShape& shape, Vec3d position, double mu = 0, Vec3d rotation = {}) {
  return {.name = "obstacle",
          .shape = shape,
          .position = position,
          .rotation = rotation,
          .motion = {},
          .friction = {.static_ = mu, .dynamic = mu}};
}

inline Scene contact_scene(const Garment& garment, const Obstacle& obstacle, double step) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {garment};
  scene.obstacles = {obstacle};
  scene.step = step;
  scene.duration = 1000 * step;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

/// Laid down on a sphere of radius 0.3 m with 1 mm of noise.
inline Scene sphere_scene(double mu, double alpha) {
  Garment sheet = square_sheet(9, 1, alpha);
  Random random(1);
  for (Vec3d& p : sheet.initial_positions) p.z = 0.302 + 1e-3 * random.uniform(-1, 1);
  return contact_scene(sheet, obstacle(SphereShape{0.3}, {0.01, 0.013, 0}, mu), 0.01);
}

/// `count` sheets that differ, from `above` over the scene's own, with a box, a cylinder that moves and a
/// plane more.
inline Scene among_solids(Scene scene, int count, double above) {
  scene.obstacles.push_back(
      obstacle(BoxShape{{0.3, 0.2, 0.4}, 0.02}, {-0.4, 0.2, 0.05}, 0.2, {0.1, 0.2, 0.3}));
  scene.obstacles.push_back(obstacle(CylinderShape{0.1, 0.5, 0}, {0.4, -0.2, 0.1}, 0.1, {1.2, 0, 0.4}));
  scene.obstacles.back().motion =
      OscillationMotion{.amplitude = {0.05, 0.02, 0.01}, .frequency = 1.5, .start = 0, .duration = 100};
  scene.obstacles.push_back(obstacle(PlaneShape{}, {0, 0, -0.2}, 0.3));
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) scene.obstacles[o].name += std::to_string(o);
  const Garment sheet = scene.garments[0];
  scene.garments.clear();
  for (int g = 0; g < count; ++g) {
    Garment own = sheet;
    own.name += std::to_string(g);
    own.time_offset = 0.07 * g;
    own.fabric.thickness = 1e-3 * (g % 3);
    for (Vec3d& p : own.initial_positions) p += Vec3d{0.02 * g, -0.013 * g, above};
    scene.garments.push_back(own);
  }
  return scene;
}
/// The same over a sphere.
inline Scene mixed_scene(int count) { return among_solids(sphere_scene(0.4, 1), count, 0.03); }

inline ExecutionOptions one_thread(StepSolver solver = StepSolver::automatic) {
  return {.solver = solver, .threads = 1};
}

/// Of all contacts [N].
inline Vec3d contact_force(const Simulation& simulation) {
  const GarmentState state = simulation.state(0);
  Vec3d sum;
  for (const ContactState& contact : state.contacts) sum += contact.force;
  const double h = simulation.scene().step;
  return (1 / (h * h)) * sum;
}

inline double fastest(const Simulation& simulation) {
  double most = 0;
  for (const Vec3d& v : simulation.velocities(0)) most = std::max(most, norm(v));
  return most;
}

/// Contacts whose obstacle the state names.
inline double contacts_in(const GarmentState& state) {
  double count = 0;
  for (const ContactState& contact : state.contacts) count += contact.obstacle >= 0;
  return count;
}

inline Vec3d mean(const std::vector<Vec3d>& vectors) {
  Vec3d sum;
  for (const Vec3d& v : vectors) sum += v;
  return (1 / static_cast<double>(vectors.size())) * sum;
}

inline double largest_move(const std::vector<Vec3d>& from, const std::vector<Vec3d>& to) {
  double most = 0;
  for (std::size_t i = 0; i < from.size(); ++i) most = std::max(most, norm(to[i] - from[i]));
  return most;
}

}  // namespace isocloth
