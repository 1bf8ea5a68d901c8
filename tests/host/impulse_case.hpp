// Cloths held by impulses that differ in all that the kernels treat differently.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "engine/core/random.hpp"
#include "engine/mesh/generators.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {

inline const std::vector<const char*> sweep_recipes =
    known_recipes({"bender_iterative", "isometric_impulse"});
inline constexpr ImpulseMode both_modes[] = {ImpulseMode::substeps, ImpulseMode::converge};
inline const char* describe(ImpulseMode mode) {
  return mode == ImpulseMode::substeps ? "substeps" : "converge";
}

inline Fabric springy_fabric() {
  return {.density = 0.4,
          .gravity_density = 0.3,
          .bending_stiffness = 2e-5,
          .mass_damping = 0.6,
          .stiffness_damping = 1e-7,
          .shear_spring = {.stiffness = 2, .damping = 2e-4},
          .bend_spring = {.stiffness = 0.5, .damping = 1e-4},
          .shear_diagonals = 2};
}

/// Somewhat off its rest shape and in motion.
inline Garment shaken(std::string name, Mesh mesh, const Fabric& fabric, std::vector<Pin> pins) {
  Garment garment;
  garment.name = std::move(name);
  Random random(3);
  const auto vector = [&random](double amplitude) {
    const double x = random.uniform(), y = random.uniform(), z = random.uniform();
    return amplitude * Vec3d{2 * x - 1, 2 * y - 1, 2 * z - 1};
  };
  for (const Vec3d& p : mesh.positions) {
    garment.initial_positions.push_back(p + Vec3d{0, 0, 0.02 * std::sin(12 * p.x + 7 * p.y)} + vector(1e-3));
    garment.initial_velocities.push_back(vector(0.2));
  }
  for (const Pin& pin : pins)
    for (const Index node : pin.nodes) garment.initial_velocities[node] = {};
  garment.mesh = std::move(mesh);
  garment.fabric = fabric;
  garment.pins = std::move(pins);
  return garment;
}

/// Quads and irregular triangles; a centre of 24 neighbours, more than a stencil keeps in registers; a free
/// cloth; springs, bending and air; driven pins, pinned neighbours, an interior node pinned.
inline std::vector<Garment> impulse_garments() {
  const Fabric plain{.density = 0.5,
                     .gravity_density = 0.4,
                     .bending_stiffness = 0,
                     .mass_damping = 0.3,
                     .stiffness_damping = 0};
  const Motion swing = OscillationMotion{.amplitude = {0.03, 0.02, 0.01}, .frequency = 1.5, .start = 0};
  Fabric one_diagonal = springy_fabric();
  one_diagonal.shear_diagonals = 1;
  return {
      shaken("quads", quad_grid(9, 7, 0.4, 0.3), plain, {{"a", {0}, swing}, {"b", {8}, FixedMotion{}}}),
      shaken("triangles", irregular_triangles(6, 31, 0.4, 0.3, 2), plain,
             {{"a", {0, 1}, FixedMotion{}}, {"b", {30}, swing}}),
      shaken("disc", disc(4, 24, 0.3, FaceKind::triangles), springy_fabric(), {{"rim", {80, 90}, swing}}),
      shaken("free", quad_grid(8, 8, 0.3, 0.3), one_diagonal, {}),
      shaken("springs", quad_grid(7, 8, 0.3, 0.4), springy_fabric(),
             {{"row", {0, 1, 2, 24}, FixedMotion{}}, {"corner", {55}, swing}}),
      shaken("bent triangles", triangle_grid(7, 6, 0.3, 0.3, Diagonals::alternating), springy_fabric(),
             {{"corner", {35, 41}, swing}}),
  };
}

inline Scene impulse_scene(std::vector<Garment> garments, const std::string& recipe, ImpulseMode mode) {
  Scene scene;
  scene.recipe = recipe;
  scene.garments = std::move(garments);
  scene.step = 0.01;
  scene.impulse.mode = mode;
  return scene;
}

/// The cloths of batch_case.hpp with springs of their own: parts of a step differ, too.
inline Scene impulse_batch(const std::string& recipe, ImpulseMode mode, const std::vector<int>& members,
                           const BatchCase& batch = {.bending = true, .own_rest_shapes = true}) {
  Scene scene = batch_scene(batch, members);
  for (std::size_t g = 0; g < members.size(); ++g) {
    Fabric& fabric = scene.garments[g].fabric;
    fabric.shear_spring = {.stiffness = 5000.0 * (1 + members[g] % 5), .damping = 1e-4 * (members[g] % 3)};
    fabric.bend_spring = {.stiffness = 1, .damping = 0};
    fabric.shear_diagonals = 1;
  }
  scene.recipe = recipe;
  scene.impulse.mode = mode;
  scene.impulse.tolerance = 1e-3;
  scene.impulse.max_sweeps = mode == ImpulseMode::substeps ? 2 : 40;
  return scene;
}

}  // namespace isocloth
