// All impulses of a cloth from one system of linear equations: what is done to edges, entries and nodes.
#pragma once

#include "engine/core/vec3.hpp"
#include "kernels/core/views.hpp"
#include "kernels/launch/phase.hpp"

namespace isocloth {

namespace phases {
// Of edges.
struct ScaleEdges {};  ///< scales
struct Linearise {};   ///< directions at positions + moves, then as FindErrors
struct FindErrors {};  ///< right sides of lengths and strains at positions + moves
struct FindRates {};   ///< right sides of velocities, in moves
// Of entries of the matrix.
struct WeighEntries {};  ///< weights
struct Assemble {
  double diagonal = 1;  ///< 1 + what is added to it
};
// Of nodes.
struct ApplyImpulses {};  ///< impulses to moves
struct KeepMoves {};      ///< moves are noted
struct RestoreMoves {};   ///< moves are taken back
}  // namespace phases

/// A = J W J^T of the constraints |x_b - x_a| = l with J_i = -n_i at a, n_i at b (Bender, section 3.4.2),
/// both sides scaled to a diagonal of one: edge i has the direction g_i = s_i n_i, s_i = (w_a + w_b)^-1/2.
template <class Real>
struct SystemArrays {
  ArrayView<const Index> edge_nodes;  ///< a, b; shape [edge, 2]
  ArrayView<const Real> lengths;      ///< l at rest [m], shape [edge]
  ArrayView<Real> scales;             ///< s_i [m], 0: both ends pinned or held; shape [edge]
  ArrayView<const Index> entries;     ///< row and column of the lower triangle, shape [entry, 2]
  ArrayView<Real> weights;  ///< w of the node that both edges share, negative where it is a of one and
                            ///< b of the other [1/m^2]; not read on the diagonal; shape [entry]
  ArrayView<const Index> node_begin;     ///< shape [node + 1]
  ArrayView<const Index> node_edges;     ///< 2 edge where the node is its a, else 2 edge + 1; ascending
  ArrayView<const Real> inverse_masses;  ///< w_i = 1 / m_i [1/m^2], 0: pinned or held, shape [node]
  ArrayView<const Real> reaches;         ///< shortest edge at each node [m], shape [node]
  ArrayView<const Vec4<Real>> relative_positions;  ///< x, relative to an origin [m], shape [node]
  ArrayView<Vec4<Real>> moves, kept_moves;         ///< u [m], shape [node]
  ArrayView<Vec4<Real>> loads, kept_loads;         ///< see ImpulseHolds, shape [node]; empty: no grippers
  /// g_i [m], zero where |d| < 1e-6 l: such an edge has no impulse; w is not used; shape [edge]
  ArrayView<Vec4<Real>> directions;
  ArrayView<Real> values;          ///< values of the matrix, shape [entry]
  ArrayView<Real> right_side;      ///< s_i (|d| - l), or g_i . (u_b - u_a) [m^2], shape [edge]
  ArrayView<const Real> impulses;  ///< A y = right_side; shape [edge]
  ArrayView<Real> strains;         ///< ||d| / l - 1|, shape [edge]
  ArrayView<Real> changes;         ///< by ApplyImpulses: |change of u| / reach, shape [node]
};

/// A kernel of each phase. d = x_b + u_b - x_a - u_a. Assemble: w g_i . g_j; ApplyImpulses: u_i += w_i sum of
/// +-y g over the edges of the node, in their order, so that a result does not depend on the machine's
/// threads.
template <class Real>
using SystemKernels =
    PhaseKernels<SystemArrays<Real>, phases::ScaleEdges, phases::Linearise, phases::FindErrors,
                 phases::FindRates, phases::WeighEntries, phases::Assemble, phases::ApplyImpulses,
                 phases::KeepMoves, phases::RestoreMoves>;

namespace ISOCLOTH_BACKEND {
template <class Real>
SystemKernels<Real> system_kernels() noexcept;
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
