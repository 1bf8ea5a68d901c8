#include "host/reference/spring_forces.hpp"

#include <cmath>

#include "engine/mesh/spring_pairs.hpp"

namespace isocloth::reference {

std::vector<Spring> garment_springs(const Garment& garment, const Topology& topology) {
  const MatrixX3d rest = to_matrix(garment.mesh.positions);
  std::vector<Spring> springs;
  const auto add = [&](const NodePairs& pairs, const SpringDamper& kind) {
    for (const auto& [a, b] : pairs)
      springs.push_back({a, b, (rest.row(b) - rest.row(a)).norm(), kind.stiffness, kind.damping});
  };
  const Fabric& fabric = garment.fabric;
  if (fabric.structural_spring.exists()) add(topology.edges, fabric.structural_spring);
  if (fabric.shear_spring.exists())
    add(shear_pairs(garment.mesh, fabric.shear_diagonals), fabric.shear_spring);
  if (fabric.bend_spring.exists()) add(bend_pairs(garment.mesh, topology), fabric.bend_spring);
  return springs;
}

MatrixX3d spring_forces(const std::vector<Spring>& springs, const MatrixX3d& positions,
                        const MatrixX3d& velocities) {
  MatrixX3d forces = MatrixX3d::Zero(positions.rows(), 3);
  for (const Spring& spring : springs) {
    const Eigen::RowVector3d d = positions.row(spring.b) - positions.row(spring.a);
    const double distance = d.norm();
    if (distance == 0) continue;
    const Eigen::RowVector3d direction = d / distance;
    const double speed = (velocities.row(spring.b) - velocities.row(spring.a)).dot(direction);
    const double tension = spring.stiffness * (distance - spring.length) + spring.damping * speed;
    forces.row(spring.a) += tension * direction;
    forces.row(spring.b) -= tension * direction;
  }
  return forces;
}

double plastic_length(double length, double distance, double yield_stretch, double flow_time, double h) {
  // Where |d| - L' = s yield_stretch + s flow_time (L' - L) / h, s = 1 pulled and -1 pushed, is solved for
  // L'.
  const double pull = distance - length;
  if (std::abs(pull) <= yield_stretch) return length;
  const double end = distance - std::copysign(yield_stretch, pull);  // where flow ends
  return (flow_time * length + h * end) / (flow_time + h);
}

double spring_energy(const std::vector<Spring>& springs, const MatrixX3d& positions) {
  double energy = 0;
  for (const Spring& spring : springs) {
    const double stretch = (positions.row(spring.b) - positions.row(spring.a)).norm() - spring.length;
    energy += 0.5 * spring.stiffness * stretch * stretch;
  }
  return energy;
}

}  // namespace isocloth::reference
