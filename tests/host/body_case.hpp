// Scenes with rigid bodies.
#pragma once

#include "tests/host/contact_case.hpp"

namespace isocloth {

inline RigidBody body(const ObstacleShape& shape, double mass, Vec3d position, double mu = 0) {
  return {.name = "body",
          .shape = shape,
          .mass = mass,
          .position = position,
          .rotation = {},
          .velocity = {},
          .angular_velocity = {},
          .friction = {.static_ = mu, .dynamic = mu}};
}

inline Scene body_scene(const Garment& garment, const std::vector<RigidBody>& bodies, double step) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {garment};
  scene.bodies = bodies;
  for (std::size_t b = 0; b < bodies.size(); ++b) scene.bodies[b].name = "body " + std::to_string(b);
  scene.step = step;
  scene.duration = 1000 * step;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

/// A net of 1 m and 0.25 kg whose corners come together by a fifth within the first half second.
inline Garment hanging_net(Index n = 17) {
  Garment net = square_sheet(n, 1, 1);
  net.fabric.density = net.fabric.gravity_density = 0.25;
  const auto corner = [&](Index node) {
    const Vec3d from = net.mesh.positions[static_cast<std::size_t>(node)];
    KeyframeMotion motion;
    motion.times = {0, 0.5};
    motion.translations = {{}, -0.2 * from};
    net.pins.push_back({"corner", {node}, motion});
  };
  for (const Index node : {0, n - 1, n * (n - 1), n * n - 1}) corner(node);
  return net;
}

/// A small sheet out of the way.
inline Garment far_sheet() {
  Garment sheet = square_sheet(3, 0.1, 0);
  for (Vec3d& p : sheet.initial_positions) p.z += 50;
  sheet.pins = {{"edge", {0, 1, 2}, FixedMotion{}}};
  return sheet;
}

}  // namespace isocloth
