// A scene with each feature.
#pragma once

#include <string>
#include <vector>

#include "engine/mesh/generators.hpp"
#include "engine/model/scene_features.hpp"

namespace isocloth {

/// A sheet of 4 x 4 nodes that hangs from two corners.
inline Scene plain_scene(const std::string& recipe = "membrane") {
  Scene scene;
  scene.recipe = recipe;
  scene.duration = scene.step;
  Garment& sheet = scene.garments.emplace_back();
  sheet.name = "sheet";
  sheet.mesh = quad_grid(4, 4, 0.3, 0.3);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.2;
  sheet.pins = {{.name = "corners", .nodes = {0, 3}, .motion = FixedMotion{}}};
  return scene;
}

/// A valid scene that has it, perhaps with what it needs; what is new in Feature is not compiled without one.
inline Scene scene_with(Feature feature) {
  Scene scene = plain_scene();
  Garment& sheet = scene.garments[0];
  Fabric& fabric = sheet.fabric;
  const auto put_below = [](auto& ball) -> auto& {
    ball.name = "ball";
    ball.shape = SphereShape{0.1};
    ball.position = {0, 0, -1};
    return ball;
  };
  const auto add_ball = [&]() -> Obstacle& { return put_below(scene.obstacles.emplace_back()); };
  const auto bend = [&](BendingModel model) {
    fabric.bending = model;
    fabric.bending_stiffness = 1e-5;
  };
  switch (feature) {
    case Feature::projection:
    case Feature::membrane:
    case Feature::bdf2:
    case Feature::program_forces:  // of no scene
      break;
    case Feature::impulses:
      scene.recipe = "bender_iterative";
      break;
    case Feature::impulse_system:
      scene.recipe = "bender_sle";
      break;
    case Feature::tensors:
      scene.recipe = "terzopoulos1987";
      break;
    case Feature::implicit_tensors:
      scene.recipe = "terzopoulos1987_implicit";
      add_ball();  // by itself the reference does not step it
      break;
    case Feature::rigid_rows:
    case Feature::backward_euler:
      scene.recipe = "coltraro2022";
      break;
    case Feature::elastic_edges:
      scene.recipe = "elastic_edges";
      break;
    case Feature::springs:
      scene.recipe = "springs";
      break;
    case Feature::engineering_strain:
      scene.recipe = "soft_constraints";
      break;
    case Feature::corotational_strain:
      scene.recipe = "corotational";
      break;
    case Feature::fast_projection:
      scene.recipe = "coltraro2022";
      scene.projection.method = ProjectionMethod::fast_projection;
      break;
    case Feature::budget:
      scene.projection.budget.solves = 2;
      break;
    case Feature::sleep:
      scene.projection.sleep.after = 0.5;
      break;
    case Feature::mass_metric:
      scene.recipe = "coltraro2022";
      scene.projection.metric = Metric::mass;
      break;
    case Feature::isometric_bending:
      bend(BendingModel::isometric);
      break;
    case Feature::plate_bending:
      bend(BendingModel::plate);
      break;
    case Feature::mid_edge_bending:
      bend(BendingModel::mid_edge);
      break;
    case Feature::hinges:
      sheet.mesh = triangle_grid(4, 4, 0.3, 0.3, Diagonals::parallel);
      bend(BendingModel::discrete_shells);
      break;
    case Feature::large_angles:
      bend(BendingModel::plate);
      fabric.large_angles = true;
      break;
    case Feature::alpha:
      fabric.mass_damping = 0.1;
      break;
    case Feature::beta:
      bend(BendingModel::plate);
      fabric.stiffness_damping = 1e-7;
      break;
    case Feature::poisson_ratio:
      fabric.poisson_ratio = 0.3;
      break;
    case Feature::curves:
      fabric.curves.warp.points = {{0.1, 100}, {0.2, 300}};
      break;
    case Feature::viscosity:
      fabric.viscosity.stretch = 1;
      break;
    case Feature::strain_limit:
      fabric.strain_limit = 0.1;
      break;
    case Feature::principal_strain_limit:
      fabric.principal_strain_limit = 0.1;
      break;
    case Feature::compression:
      fabric.compression = {.thickness = 1e-3, .core = 5e-4, .stiffness = 1e-8};
      break;
    case Feature::drag:
      fabric.drag = {.normal = 1};
      break;
    case Feature::shear_spring:
      scene.recipe = "bender_iterative";
      fabric.shear_spring = {.stiffness = 1};
      break;
    case Feature::bend_spring:
      scene.recipe = "springs";
      fabric.bend_spring = {.stiffness = 1};
      break;
    case Feature::structural_spring:
    case Feature::plasticity:
      scene.recipe = "sakaguchi1991";
      fabric.structural_spring = {.stiffness = 100};
      if (feature == Feature::plasticity) fabric.plasticity.yield_strain = 0.1;
      break;
    case Feature::memory:
      fabric.memory.shear_friction = 0.1;
      break;
    case Feature::moving_pins:
      sheet.pins[0].motion = OscillationMotion{.amplitude = {0, 0, 0.01}};
      break;
    case Feature::grippers:
      sheet.grippers.resize(1);
      sheet.grippers[0].name = "clip";
      sheet.grippers[0].region = SphereShape{0.01};
      sheet.grippers[0].holds = {{-1, 1e9}};
      sheet.grippers[0].position = sheet.mesh.positions[12];
      break;
    case Feature::seams:
      sheet.mesh.stitches = {{0, 12, 0.3}};
      break;
    case Feature::buttons:
      sheet.mesh.buttons = {{.a = 0, .b = 12}};
      break;
    case Feature::bands:
      sheet.mesh.bands = {{0, 12, 0.3, 1}};
      break;
    case Feature::folds:
      sheet.mesh.folds = {{.nodes = {5, 6, 9, 1}, .angle = 0.5, .stiffness = 1e-6}};
      break;
    case Feature::fabric_factors:
      sheet.mesh.face_factors.resize(9);
      sheet.mesh.face_factors[4] = {2, 3, 2, 2, 8};
      break;
    case Feature::driven_fasteners:
      sheet.mesh.stitches = {{0, 12, 0.3}};
      sheet.zippers = {
          {.name = "seam", .stitches = {0}, .shares = {0}, .closed = {.times = {0, 1}, .values = {0, 1}}}};
      break;
    case Feature::forces:
    case Feature::force_slopes:
      sheet.forces.resize(16);
      if (feature == Feature::force_slopes) sheet.force_slopes.resize(16);
      break;
    case Feature::pressure:
      sheet.pressure = 1;
      break;
    case Feature::obstacles:
      add_ball();
      break;
    case Feature::moving_obstacles:
      add_ball().motion = OscillationMotion{.amplitude = {0, 0, 0.01}};
      break;
    case Feature::bodies:
      put_below(scene.bodies.emplace_back()).mass = 1;
      break;
    case Feature::friction:
      add_ball().friction = {.static_ = 0.3, .dynamic = 0.2};
      break;
    case Feature::resolve_initial_penetration:
      scene.contact.resolve_initial_penetration = true;
      break;
    case Feature::wind:
    case Feature::gusts:
      scene.wind.velocity = {3, 0, 0};
      fabric.drag = {.normal = 1};
      if (feature == Feature::gusts) scene.wind.gusts = 0.1;
      break;
    case Feature::flow:
      scene.wind.velocity = {3, 0, 0};
      scene.wind.model = WindModel::panels;
      break;
    case Feature::cloth_contact:
      scene.contact.cloth = true;
      fabric.thickness = 1e-3;
      break;
    case Feature::keyframes:
      scene.keyframes = {
          {.number = "gravity", .garments = {}, .values = {.times = {0, 1}, .values = {9.8, 5}}}};
      break;
  }
  return scene;
}

inline FeatureSet all_features(const Scene& scene) {
  FeatureSet all = surroundings_of(scene);
  for (const Garment& garment : scene.garments) all = all | features_of(garment, find_recipe(scene.recipe));
  return all;
}

}  // namespace isocloth
