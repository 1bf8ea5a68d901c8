// The symmetric positive definite system of one projection iteration, 3x3 blocks on free nodes.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/projection/unconstrained_step.hpp"
#include "kernels/views.hpp"

namespace isocloth {

/// Lists of places that add up in one place, in a fixed order: sums do not depend on threads.
struct GatherView {
  ArrayView<const Index> begin;   ///< shape [target_count + 1]
  ArrayView<const Index> first;   ///< shape [contribution_count]
  ArrayView<const Index> second;  ///< shape [contribution_count]
};

/// G+ of the multipliers: one weight per pair of nodes that share a face.
template <class Real>
struct GeometricStiffness {
  GatherView metric_terms;               ///< per pair: (entry of T_efg, first of its stencil's three rows)
  GatherView scalar_terms;               ///< per pair: (entry of scalar T, its row)
  ArrayView<const Real> metric_tensors;  ///< [1/m^2], shape [metric entries, 3]
  ArrayView<const Real> scalar_tensors;  ///< [1/m^2], shape [scalar entries]
  ArrayView<const Real> multipliers;     ///< lambda [kg m^2], shape [row_count]
  ArrayView<Real> stiffness;             ///< max(0, -G_ab) [kg], shape [pair_count]
};

template <class Real>
struct AssembleSystem {
  MetricView<Real> metric;
  FreeNodesView free;
  ArrayView<const Index> block_rows;     ///< free number, shape [block_count]
  ArrayView<const Index> block_columns;  ///< free number <= row, shape [block_count]
  ArrayView<const Index> block_pairs;    ///< pair of the two nodes, -1: none; shape [block_count]
  ArrayView<const Index> block_bending;  ///< entry of K, -1: none; shape [block_count]
  GatherView metric_terms;               ///< per block: (slot of row node, slot of column node), metric rows
  GatherView scalar_terms;               ///< the same, scalar rows
  ArrayView<const Vec3<Real>> metric_jacobian;  ///< s J, shape [metric slots, 3]
  ArrayView<const Vec3<Real>> scalar_jacobian;  ///< s J, shape [scalar slots]
  ArrayView<const Index> node_pair_begin;       ///< pairs at each node, shape [node_count + 1]
  ArrayView<const Index> node_pairs;
  ArrayView<const Real> stiffness;  ///< G+ per pair, empty: none
  ArrayView<Real> blocks;           ///< row-major 3x3 blocks of the lower triangle, shape [block_count, 9]
};

template <class Real>
struct AssembleGradient {
  MetricView<Real> metric;
  FreeNodesView free;
  GatherView metric_terms;  ///< per free node: (metric slot, first row of its stencil)
  GatherView scalar_terms;  ///< per free node: (scalar slot, its row)
  ArrayView<const Vec3<Real>> metric_jacobian, scalar_jacobian;  ///< as above
  ArrayView<const Real> residuals, scales;                       ///< shape [row_count]
  ArrayView<const Real> multipliers;      ///< lambda, shape [row_count]; empty: fast projection
  ArrayView<const Vec3<Real>> positions;  ///< phi_j [m], shape [node_count]
  ArrayView<const Vec3<Real>> predicted;  ///< phi~ [m], shape [node_count]
  ArrayView<Vec3<Real>> right_side;       ///< [kg m], shape [free_count]
};

template <class Real>
struct ApplyCorrection {
  FreeNodesView free;
  Real clamp = 0;                    ///< largest move of a node [m], 0: off
  ArrayView<Vec3<Real>> correction;  ///< d [m], clamped in place, shape [free_count]
  ArrayView<Vec3<Real>> positions;   ///< phi_j += d, shape [node_count]
};

template <class Real, int Width>
struct UpdateMultipliers {
  StencilView stencils;
  FreeNodesView free;
  ArrayView<const Vec3<Real>> jacobian;     ///< s J, shape [slot_count, Width]
  ArrayView<const Real> residuals, scales;  ///< shape [rows of this family]
  ArrayView<const Vec3<Real>> correction;   ///< d [m], shape [free_count]
  ArrayView<Real> multipliers;              ///< lambda, shape [rows of this family]
};

namespace ISOCLOTH_BACKEND {
/// -G_ab where positive, G = sum_k lambda_k 2 T_k; the graph Laplacian of these weights is G+. One item per
/// pair.
template <class Real>
void geometric_stiffness(const Queue& queue, const GeometricStiffness<Real>& args);
/// H = B + G+ + J^T (eps D)^-1 J. One item per block, O(rows that hold both nodes).
template <class Real>
void assemble_system(const Queue& queue, const AssembleSystem<Real>& args);
/// -B (phi_j - phi~) - J^T (lambda_j + C_j / (eps D)); fast projection: -J^T C_j / (eps D). One item per free
/// node.
template <class Real>
void assemble_gradient(const Queue& queue, const AssembleGradient<Real>& args);
/// phi_{j+1} = phi_j + d. One item per free node.
template <class Real>
void apply_correction(const Queue& queue, const ApplyCorrection<Real>& args);
/// lambda_{j+1} = lambda_j + (C_j + J d) / (eps D). One item per stencil.
template <class Real, int Width>
void update_multipliers(const Queue& queue, const UpdateMultipliers<Real, Width>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
