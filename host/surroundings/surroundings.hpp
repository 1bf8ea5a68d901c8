// All that surrounds garments of one kind: obstacles, grippers, forces.
#pragma once

#include "engine/model/scene.hpp"
#include "host/surroundings/gripper_table.hpp"
#include "host/surroundings/node_force_table.hpp"
#include "host/surroundings/obstacle_table.hpp"

namespace isocloth {

template <class Real>
struct Surroundings {
  ObstacleTable<Real> obstacles;
  GripperTable<Real> grippers;
  NodeForceTable<Real> forces;

  /// Nothing.
  Surroundings() = default;
  /// `shapes` of the scene's obstacles, null: none; `garments` of one mesh in the order of their clocks.
  Surroundings(const Device& device, const Scene& scene,
               const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
               const std::vector<const Garment*>& garments)
      : grippers(device, garments), forces(device, scene, garments) {
    if (shapes != nullptr) obstacles = ObstacleTable<Real>(device, shapes, garments);
  }

  /// Where they are and what they do in the next `steps` steps of h [s].
  void set(const std::vector<Clock>& clocks, double h, int steps) {
    obstacles.set_motions(clocks, h, steps);
    grippers.set_motions(clocks, h, steps);
    forces.set(clocks, h, steps);
  }
  std::size_t memory_bytes() const {
    return obstacles.memory_bytes() + grippers.memory_bytes() + forces.memory_bytes();
  }
};

}  // namespace isocloth
