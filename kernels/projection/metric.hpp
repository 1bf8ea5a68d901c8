// The inner product of a step, B, and what drives the step.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// B = inertia M + stiffness K, with M the lumped mass per unit density and K the bending matrix. S: lane
/// value of the state (kernels/launch/lanes.hpp), T: of the rest shape.
template <class S, class T = S>
struct MetricView {
  S inertia{};                 ///< rate (rate rho + h alpha) [kg/m^2], see IntegratorCoefficients
  S stiffness{};               ///< h rate beta + h^2 kappa [N m s^2]
  ArrayView<const T> masses;   ///< m_i [m^2], shape [node_count]
  NodeMatrixView pattern;      ///< pattern of K; empty when there is no bending
  ArrayView<const T> bending;  ///< K [1/m^2], shape [entries]; empty when there is no bending
  /// K = K_P + K_E: what the factor has of it at each block of the matrix, shape [block_count], and what
  /// couples beyond, at the entries of a CouplingPattern [1/m^2]; see factored_bending (host/garment).
  ArrayView<const T> factored{}, beyond{};

  ISOCLOTH_HD bool has_bending() const { return !bending.empty(); }
};

template <class S, class T = S>
struct AssembleMomentum {
  MetricView<S, T> metric;  ///< masses and K
  FreeNodesView free;
  S rho{}, kappa{};                     ///< rate rho [kg/m^2], kappa [N m]
  S weight{};                           ///< delta g [N/m^2]
  S step{};                             ///< h [s]
  ArrayView<const Vec3<S>> positions;   ///< x^ [m], shape [node_count]
  ArrayView<const Vec3<S>> velocities;  ///< v^ [m/s], shape [node_count]
  ArrayView<Vec3<S>> momentum;          ///< B (phi~ - x^) [kg m], shape [free_count]
};

template <class S>
struct StartIteration {
  FreeNodesView free;
  S step{};                             ///< h / rate [s]; 0: start from x^
  ArrayView<const Vec3<S>> positions;   ///< x^ [m], shape [node_count]
  ArrayView<const Vec3<S>> velocities;  ///< v^ [m/s], shape [node_count]
  // Of pinned nodes, which move evenly; other nodes unused, shape [node_count].
  /// Places of pinned nodes when the whole step begins and ends [m].
  ArrayView<const Vec3<S>> from, targets;
  S share{};                   ///< share of the whole step that is over when this one ends
  ArrayView<Vec3<S>> iterate;  ///< phi_0 [m], shape [node_count]
};

/// See IntegratorCoefficients.
template <class S>
struct ExtrapolateNodes {
  S memory{};
  ArrayView<const Vec3<S>> now, before;  ///< shape [node_count]
  ArrayView<Vec3<S>> extrapolated;       ///< shape [node_count]
};

template <class S, class T = S>
struct PredictPositions {
  MetricView<S, T> metric;
  FreeNodesView free;
  ArrayView<const Vec3<S>> positions;  ///< x^ [m], shape [node_count]
  ArrayView<const Vec3<S>> targets;    ///< phi_0 of pinned nodes [m], others unused, shape [node_count]
  ArrayView<const Vec3<S>> momentum;   ///< B (phi~ - x^) of a diagonal B [kg m], shape [free_count]; or
  ArrayView<const Vec3<S>> moves;      ///< phi~ - x^ [m], shape [free_count] or empty
  ArrayView<Vec3<S>> predicted;        ///< phi~ [m], shape [node_count]
};

namespace ISOCLOTH_BACKEND {
/// h (rate rho M v^ - h delta M g e_z - h kappa K x^), which is B (phi~ - x^) of the step without constraints
/// when the columns of pinned nodes are counted. Coltraro 2022, section 7 (implicit Euler on (14)), times
/// h^2 / (h / rate)^2. One item per free node.
template <class Real>
void assemble_momentum(const Queue& queue, const AssembleMomentum<Real>& args);
/// phi_0 = x^ + h v^ / rate on free nodes, the target on pinned ones. Inertia alone leaves the cloth nearly
/// isometric, gravity does not: the iterations start without it. One item per node.
template <class Real>
void start_iteration(const Queue& queue, const StartIteration<Real>& args);
/// x^ or v^. One item per node.
template <class Real>
void extrapolate_nodes(const Queue& queue, const ExtrapolateNodes<Real>& args);
/// phi~ of the step without constraints. One item per node.
template <class Real>
void predict_positions(const Queue& queue, const PredictPositions<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
