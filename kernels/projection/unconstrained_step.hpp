// The step without constraints: B v = rho M v_n + h f(phi_n).
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/views.hpp"

namespace isocloth {

/// B = inertia M + stiffness K, with M the lumped mass per unit density and K the bending matrix.
template <class Real>
struct MetricView {
  Real inertia = 1;               ///< rho + h alpha [kg/m^2]
  Real stiffness = 0;             ///< h beta + h^2 kappa [N m s^2]
  ArrayView<const Real> masses;   ///< m_i [m^2], shape [node_count]
  NodeMatrixView pattern;         ///< of K; empty when there is no bending
  ArrayView<const Real> bending;  ///< K [1/m^2], shape [entries]; empty when there is no bending

  ISOCLOTH_HD bool has_bending() const { return !bending.empty(); }
};

template <class Real>
struct UnconstrainedRightSide {
  MetricView<Real> metric;
  FreeNodesView free;
  Real rho = 1, kappa = 0;                 ///< [kg/m^2], [N m]
  Real weight = 0;                         ///< delta g [N/m^2]
  Real step = 0;                           ///< h [s]
  ArrayView<const Vec3<Real>> positions;   ///< phi_n [m], shape [node_count]
  ArrayView<const Vec3<Real>> velocities;  ///< v_n [m/s], shape [node_count]
  ArrayView<const Vec3<Real>> targets;  ///< phi_{n+1} of pinned nodes [m], others unused, shape [node_count]
  ArrayView<Vec3<Real>> right_side;     ///< of B_ff v_f = ..., shape [free_count]
};

template <class Real>
struct PredictPositions {
  MetricView<Real> metric;
  FreeNodesView free;
  Real step = 0;
  ArrayView<const Vec3<Real>> positions;   ///< phi_n [m], shape [node_count]
  ArrayView<const Vec3<Real>> targets;     ///< phi_{n+1} of pinned nodes [m], shape [node_count]
  ArrayView<const Vec3<Real>> velocities;  ///< v_n [m/s], shape [node_count]; empty: phi_0 = phi~
  ArrayView<const Vec3<Real>>
      solution;                     ///< v [m/s]; without bending the right side itself; shape [free_count]
  ArrayView<Vec3<Real>> predicted;  ///< phi~ [m], shape [node_count]
  ArrayView<Vec3<Real>> iterate;    ///< phi_0 = phi_n + h v_n on free nodes [m], shape [node_count]
};

namespace ISOCLOTH_BACKEND {
/// rho M v_n + h (-delta M g e_z - kappa K phi_n) - B_fc v_c on free nodes, with v_c = (target - phi_n) / h
/// of driven nodes. Coltraro 2022, section 7 (implicit Euler on (14)). One item per free node.
template <class Real>
void unconstrained_right_side(const Queue& queue, const UnconstrainedRightSide<Real>& args);
/// phi~ = phi_n + h v on free nodes, the target on pinned ones, and the first iterate. Inertia alone leaves
/// the cloth nearly isometric, gravity does not: the iterations start from phi_n + h v_n. One item per node.
template <class Real>
void predict_positions(const Queue& queue, const PredictPositions<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
