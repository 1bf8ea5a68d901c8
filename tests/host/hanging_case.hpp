// A sheet that hangs from another by whatever holds them together.
#pragma once

#include <vector>

#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth::hanging {

inline constexpr double rho = 0.2, size = 0.1, weight = rho * size * size * 9.8;  // of a panel

/// Two sheets of `count` x `count` nodes, upright, the second `gap` below the first, whose lower side is
/// pinned. Facing nodes: below(c) hangs from above(c).
struct Hanging {
  Index count;
  Garment garment;

  Hanging(Index n, double gap) : count(n) {
    garment.name = "pair";
    garment.mesh = quad_grid(count, count, size, size);
    const Mesh panel = garment.mesh;
    for (const Vec3d& p : panel.positions) garment.mesh.positions.push_back(p + Vec3d{2 * size, 0, 0});
    for (Index f = 0; f < panel.face_count(); ++f) {
      std::vector<Index> face;
      for (const Index node : panel.face(f)) face.push_back(panel.node_count() + node);
      garment.mesh.add_face(face);
    }
    garment.mesh.corner_uvs.clear();
    for (const double lower : {0.0, size + gap})
      for (const Vec3d& p : panel.positions) garment.initial_positions.push_back({p.x, 0, p.y - lower});
    Pin pin{.name = "above", .nodes = {}, .motion = FixedMotion{}};
    for (Index c = 0; c < count; ++c) pin.nodes.push_back(above(c));
    garment.pins = {pin};
    garment.fabric = {.density = rho,
                      .gravity_density = rho,
                      .bending_stiffness = 1e-6,
                      .mass_damping = 5,
                      .stretch_stiffness = 1000,
                      .shear_stiffness = 100};
  }
  Index above(Index c) const { return c; }
  Index below(Index c) const { return count * count + (count - 1) * count + c; }
};

inline Scene scene_of(std::vector<Garment> garments) {
  Scene scene;
  scene.step = 0.005;
  scene.duration = 10;
  scene.projection.tolerance = 1e-6;
  scene.garments = std::move(garments);
  return scene;
}

inline double distance(const Simulation& simulation, Index a, Index b) {
  const auto positions = simulation.positions(0);
  return norm(positions[a] - positions[b]);
}

}  // namespace isocloth::hanging
