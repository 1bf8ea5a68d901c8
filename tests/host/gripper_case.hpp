// Sheets that grippers take hold of.
#pragma once

#include "tests/host/contact_case.hpp"

namespace isocloth {

inline Gripper gripper(Vec3d position, double radius, std::vector<Hold> holds,
                       const ObstacleMotion& motion = {}) {
  return {.name = "gripper",
          .region = SphereShape{radius},
          .position = position,
          .rotation = {},
          .motion = motion,
          .holds = std::move(holds),
          .stiffness = 0};
}

/// Nodes whose state names a gripper.
inline std::vector<std::size_t> held_nodes(const Simulation& simulation, std::size_t garment = 0) {
  const GarmentState state = simulation.state(garment);
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < state.holds.size(); ++i)
    if (state.holds[i].gripper >= 0) nodes.push_back(i);
  return nodes;
}

/// Sheets of one pattern that differ in their grippers, on springs too, over a plane and in the wind.
inline Scene many_grippers(Scene scene) {
  const Garment sheet = scene.garments[0];
  scene.garments.clear();
  for (int g = 0; g < 5; ++g) {
    Garment own = sheet;
    own.name += std::to_string(g);
    const KeyframeMotion motion{.times = {0, 1},
                                .translations = {{}, {0.1 * g, 0.1, 0.3}},
                                .rotations = {{}, {0, 0.2 * g, 0}},
                                .center = {}};
    own.grippers = {gripper({-0.15, -0.15, -0.02}, 0.05 + 0.01 * g, {{0.05, 0.15}, {0.2, 5}}, motion)};
    if (g > 2) {
      own.grippers.push_back(gripper({0.15, 0.15, 0}, 0.04, {{0.01 * g, 0.3}}));
      own.grippers[1].name = "other";
      own.grippers[1].stiffness = g == 4 ? 3000 : 0;
    }
    own.fabric.drag = {.normal = 0.2 * g, .tangential = 0.01};
    scene.garments.push_back(own);
  }
  scene.wind = {.velocity = {1, 0.5, 0}, .gusts = 0.3, .gust_period = 0.2};
  scene.obstacles = {obstacle(PlaneShape{}, {0, 0, -0.1}, 0.3)};
  return scene;
}

}  // namespace isocloth
