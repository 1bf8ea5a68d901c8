// The symmetric positive definite system of one projection iteration, 3x3 blocks on free nodes.
#pragma once

#include "kernels/contact/contact_arrays.hpp"
#include "kernels/core/views.hpp"
#include "kernels/forces/stitches.hpp"
#include "kernels/launch/queue.hpp"
#include "kernels/linear/columns.hpp"
#include "kernels/linear/couplings.hpp"
#include "kernels/projection/metric.hpp"
#include "kernels/tensors/row_laws.hpp"

namespace isocloth {

/// G+ of the multipliers: one weight per pair of nodes that share a face.
template <class S, class T = S>
struct GeometricStiffness {
  RowsView rows;
  ArrayView<const T> tensors;      ///< [1/m^2], shape [tensor_count()]
  ArrayView<const S> multipliers;  ///< lambda [kg m^2], or QuadraticMultipliers, shape [row_count]
  S coupling{};                    ///< see RowLaws
  ArrayView<S> stiffness;          ///< max(0, -G_ab), and of stitches [kg], shape [pair_count]
  Stitches<S> stitches{};
  ArrayView<const S> at_limit{};  ///< see LimitGroup
};

/// Forces on material points of the cloth: samples, each a weighted mean of nodes that share a face (its
/// slots), with a symmetric 3x3 stiffness.
template <class S>
struct SampleForces {
  GatherView block_slots;               ///< per block: (slot of row node, slot of column node) of one sample
  GatherView node_slots;                ///< per free node: (slot, its sample)
  ArrayView<const Index> slot_samples;  ///< shape [slot_count]
  ArrayView<const S> weights;           ///< shape [slot_count]
  ArrayView<const S> stiffness;         ///< xx, xy, xz, yy, yz, zz [kg], shape [sample_count, 6]
  ArrayView<const S> forces;            ///< times h^2, at phi_j [kg m], shape [sample_count, 3]
  /// Slots from this one on have no weight; those of nodes are the first of all, and of each list.
  Index slot_end = all_slots;

  static constexpr Index all_slots = 0x7fffffff;

  ISOCLOTH_HD bool exist() const { return !weights.empty(); }
};

template <class S, class T = S>
struct AssembleSystem {
  MetricView<S, T> metric;
  FreeNodesView free;
  ArrayView<const Index> block_rows;     ///< free number, shape [block_count]
  ArrayView<const Index> block_columns;  ///< free number <= row, shape [block_count]
  ArrayView<const Index> block_pairs;    ///< pair of the two nodes, -1: none; shape [block_count]
  RowsView rows;
  ArrayView<const Vec3<S>> jacobian;       ///< s J, shape [jacobian_count()]
  ArrayView<const Index> node_pair_begin;  ///< pairs at each node, shape [node_count + 1]
  ArrayView<const Index> node_pairs;
  ArrayView<const S> stiffness;   ///< G+ per pair, empty: none
  SampleForces<S> samples;        ///< none, or what acts from outside
  bool with_rows = true;          ///< false: B alone
  ArrayView<S> blocks;            ///< row-major 3x3 blocks of the lower triangle, shape [block_count, 9]
  ArrayView<const S> at_limit{};  ///< see LimitGroup
};

/// With what rows pull in the right side of a system.
enum class RowPull {
  next,         ///< what the next iteration begins from
  multipliers,  ///< lambda itself
  mismatch,     ///< what is between `next` and `multipliers`
};

template <class S, class T = S>
struct AssembleGradient {
  MetricView<S, T> metric;
  FreeNodesView free;
  RowsView rows;
  ArrayView<const Vec3<S>> jacobian;     ///< s J [1/m], shape [jacobian_count()]
  ArrayView<const S> residuals, scales;  ///< shape [row_count]
  ArrayView<const S> multipliers;        ///< lambda, shape [row_count]; empty: none
  RowLaws<S> laws;
  ArrayView<const Vec3<S>> positions;  ///< phi_j [m], shape [node_count]
  ArrayView<const Vec3<S>> start;      ///< x^ of the integrator [m], shape [node_count]
  ArrayView<const Vec3<S>> momentum;   ///< B (phi~ - x^) [kg m], shape [free_count]; empty: C alone drives
  SampleForces<S> samples;
  bool with_rows = true;          ///< false: B alone
  ArrayView<Vec3<S>> right_side;  ///< [kg m], shape [free_count]
  Stitches<S> stitches{};
  ArrayView<const S> at_limit{};  ///< see LimitGroup
  RowPull pull = RowPull::next;
  ArrayView<S> row_forces{};  ///< room for row_force() of every row; empty: found anew for each of its nodes
};

/// What samples exert that keep forces from iteration to iteration: p, and what the next iteration begins
/// from in its place; see ContactArrays.
template <class S>
struct KeptForces {
  SamplePattern pattern;
  ArrayView<const S> forces, pulls, modes;
};

/// How far forces are from balancing at the end of a step: at free node i
///   |B (phi~ - phi) - J^T lambda + forces on samples and from cloth| / (h^2 weight m_i),
/// by which the residual of Newton's method is measured as a user measures it. 0 at nodes that are held.
template <class S, class T = S, class M = S>
struct FindImbalances {
  AssembleGradient<S, T> balance;  ///< gradient with the multipliers themselves, RowPull::multipliers
  KeptForces<S> contacts;
  ArrayView<const Vec3<S>> from_cloth;  ///< times h^2 [kg m], shape [free_count]; empty: none
  ArrayView<const M> inverse_masses;    ///< 0: held; shape [node_count]
  S weight{};                           ///< per area, times h^2 [kg/m]
  ArrayView<S> imbalances;              ///< shape [free_count]
};

/// See CoupledSystem (host/linear/coupled_system.hpp).
template <class S, class T = S>
struct MultiplyCouplings {
  Couplings<S, T> couplings;
  ArrayView<const Vec3<S>> direction;       ///< p, columns of shape [free_count]
  ArrayView<const Vec3<S>> factor_product;  ///< q = P p, the same
  ArrayView<Vec3<S>> product;               ///< A p = q + E p, the same
  Columns columns{};
};

template <class S>
struct ApplyCorrection {
  FreeNodesView free;
  ArrayView<const Vec3<S>> correction;  ///< d [m], shape [free_count]
  ArrayView<Vec3<S>> positions;         ///< phi_j += d, shape [node_count]
};

template <class S>
struct UpdateMultipliers {
  RowsView rows;
  RowLaws<S> laws;
  FreeNodesView free;
  ArrayView<const Vec3<S>> jacobian;     ///< s J, shape [jacobian_count()]
  ArrayView<const S> residuals, scales;  ///< shape [row_count]
  ArrayView<const Vec3<S>> correction;   ///< d [m], shape [free_count]
  ArrayView<S> multipliers;              ///< lambda, shape [row_count]
  ArrayView<const S> at_limit{};         ///< see LimitGroup
};

template <class S>
struct FindMismatches {
  RowLaws<S> laws;
  ArrayView<const S> residuals, scales;  ///< shape [row_count]
  ArrayView<const S> multipliers;        ///< lambda, shape [row_count]
  ArrayView<S> mismatches;               ///< shape [row_count]
  ArrayView<S> scaled;                   ///< see scaled_mismatch(), shape [row_count]
};

namespace ISOCLOTH_BACKEND {
/// -G_ab where positive, G = sum_k lambda_k 2 T_k; the graph Laplacian of these weights is G+. That of
/// threads is added. One item per pair.
template <class Real>
void geometric_stiffness(const Queue& queue, const GeometricStiffness<Real>& args);
/// H = B + G+ + J^T s^2 J, or B, and the stiffness of samples. One item per block, O(rows that hold
/// both nodes).
template <class Real>
void assemble_system(const Queue& queue, const AssembleSystem<Real>& args);
/// -B (phi_j - phi~) - J^T (prox + s^2 C_j), see RowLaws, the first part as B (phi~ - x^) - B (phi_j -
/// x^), so that phi~ itself is not needed; and the forces of threads. Without momentum: -J^T s^2 C_j (fast
/// projection). Without rows: the right side of B (phi~ - phi_j) = ... . One item per free node.
template <class Real>
void assemble_gradient(const Queue& queue, const AssembleGradient<Real>& args);
/// A p. One item per free node.
template <class Real>
void multiply_couplings(const Queue& queue, const MultiplyCouplings<Real>& args);
/// phi_{j+1} = phi_j + d. One item per free node.
template <class Real>
void apply_correction(const Queue& queue, const ApplyCorrection<Real>& args);
/// lambda_{j+1}, see RowLaws. One item per row.
template <class Real>
void update_multipliers(const Queue& queue, const UpdateMultipliers<Real>& args);
/// What the step must bring below its tolerance, see mismatch(). One item per row.
template <class Real>
void find_mismatches(const Queue& queue, const FindMismatches<Real>& args);
/// One item per free node.
template <class Real>
void find_imbalances(const Queue& queue, const FindImbalances<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
