// A part of a step of one garment as the terms of its balance see it.
#pragma once

#include "engine/model/scene.hpp"
#include "host/energy/energy_sums.hpp"
#include "host/reference/surface_quadrature.hpp"
#include "host/state/step_record.hpp"

namespace isocloth::energy {

using Eigen::MatrixX3d;
using Eigen::VectorXd;

/// A part of a garment's step. Arrays have shape [node_count, 3].
struct GarmentPart {
  const Scene& scene;
  const Garment& garment;
  const SubstepRecord& end;
  MatrixX3d from, to;  ///< where the nodes are when the part begins and ends [m]
  MatrixX3d move;      ///< way of the nodes in the part, to - from [m]
  MatrixX3d
      speed;  ///< rate (to - x^) / h, which forces feel [m/s]; nodes that were held back have none after it
  double step = 0;           ///< duration h of the part [s]
  double begin_time = 0;     ///< time of the garment's clock when the part begins [s]
  double lead = 0;           ///< by how much the garment's clock is ahead of that of the simulation [s]
  double step_end_time = 0;  ///< time of the garment's clock when the whole step ends [s]
  double share = 1;          ///< duration of the part over that of the whole step
  const std::vector<double>& plastic_before;  ///< GarmentState::plastic_strains when the part begins
  const std::vector<BodyState>&bodies_before, &bodies_after;  ///< bodies when the whole step begins and ends
};

/// A term adds the force that it exerts on the nodes [N] to `force` and its work to the sums.
inline double work_of(const MatrixX3d& force, const MatrixX3d& move) {
  return force.cwiseProduct(move).sum();
}
inline Eigen::RowVector3d row(const Vec3d& v) { return {v.x, v.y, v.z}; }
inline Vec3d vector(const Eigen::RowVector3d& v) { return {v[0], v[1], v[2]}; }

}  // namespace isocloth::energy
