// Whole steps of many small cloths of one pattern: one launch, no return to the host.
#pragma once

#include "kernels/batch/block_cholesky.hpp"
#include "kernels/divergence.hpp"
#include "kernels/grasp/outer_forces.hpp"
#include "kernels/projection/nodal_system.hpp"
#include "kernels/views.hpp"

namespace isocloth {

/// What all cloths of a group share: topology, rows, gather lists, elimination. Free numbers follow the order
/// of elimination.
struct ClothPatternView {
  Index node_count = 0, row_count = 0, pair_count = 0;
  StencilView metric_stencils, scalar_stencils;
  FreeNodesView free;
  ArrayView<const Index> pinned_nodes;  ///< every node that is not free
  ArrayView<const Index> driven_nodes;  ///< those with a target in every step
  NodeMatrixView bending;               ///< pattern of K, empty: no bending
  GatherView pair_metric, pair_scalar, block_metric, block_scalar, node_metric, node_scalar;
  ArrayView<const Index> node_pair_begin, node_pairs;
  ArrayView<const Index> block_rows, block_columns, block_pairs, block_bending;  ///< of H
  ArrayView<const Index>
      system_blocks;  ///< block of H at each block of L, -1: fill; shape [block count of L]
  CholeskyPlanView plan;
  SamplePattern samples;               ///< none where nothing surrounds the cloths
  Index hold_count = 0;                ///< nodes that may be held: all, or none
  FacesView faces;                     ///< of cloths that the air drags
  GatherView block_slots, node_slots;  ///< see SampleForces
  ArrayView<const Index> slot_samples;
};

/// Physics of one cloth, or of a tile of them.
template <class S>
struct ClothParameters {
  S rho, alpha, beta, kappa;  ///< see Fabric
  S weight;                   ///< delta g [N/m^2]
  S clamp;                    ///< largest node move per iteration [mean element sizes], 0: off
  S element_size;             ///< [m]
  S offset;                   ///< distance kept from obstacles [m]
  S reach;                    ///< see excess_way() [m]
};

/// What the steps of one launch did with one cloth, or a tile of them; counts are whole numbers.
template <class S>
struct ClothReport {
  S status;       ///< worst of the steps: 0 converged, 1 stalled, 2 non-finite, 3 diverged
  S steps;        ///< done; none follows one that was not finite or diverged
  S iterations;   ///< of all steps together
  S substeps;     ///< of all steps together
  S residual;     ///< worst |C| at the end of a step
  S penetration;  ///< deepest into an obstacle at the end of a step [m]
  S bad_pivot;    ///< 1 + free number of the first pivot that was not positive in the last failure, 0: none
};

/// How a step is iterated; see ProjectionSettings.
struct StepControl {
  bool newton = true;  ///< false: fast projection
  bool metric_is_mass = false;
  double step = 0.01;  ///< h [s]
  double tolerance = 1e-3;
  double eps = 1e-6, least_eps = 1e-9;
  int max_iterations = 50, max_substeps = 1;
  double contact_tolerance = 1e-4;  ///< [m]
};

/// Offsets of the arrays of contacts and holds; see ContactArrays, HoldArrays. What is kept from step to step
/// comes first, forces before the rest.
struct ContactScratch {
  std::size_t forces, hold_forces, obstacles, modes, points, holders, places;
  std::size_t normals, pulls, stiffness, weights, depths, sample_stiffness, sample_forces, near,
      inverse_masses;
};
/// Numbers of a cloth that are forces of contacts and grippers, and all that is kept of these.
ISOCLOTH_HD std::size_t kept_forces(const ClothPatternView& p) {
  return 3 * static_cast<std::size_t>(p.samples.contact_count() + p.hold_count);
}
ISOCLOTH_HD std::size_t kept_count(const ClothPatternView& p) {
  return 7 * static_cast<std::size_t>(p.samples.contact_count()) + 7 * static_cast<std::size_t>(p.hold_count);
}

/// Offsets of a tile's work arrays in lane values.
struct StepScratch {
  std::size_t start, velocity, iterate, predicted, momentum, correction, multipliers, residuals, scales,
      stiffness, metric_jacobian, scalar_jacobian, blocks, diagonals, pivots, partials, size;
  ContactScratch contacts;
};
/// Partial results of a block's threads; blocks have no more of them.
constexpr int max_block_threads = 256;
ISOCLOTH_HD StepScratch step_scratch(const ClothPatternView& p) {
  StepScratch s{};
  auto take = [&s](std::size_t count) {
    const std::size_t begin = s.size;
    s.size += count;
    return begin;
  };
  const std::size_t nodes = p.node_count, rows = p.row_count, columns = p.free.nodes.size();
  s.start = take(3 * nodes);
  s.velocity = take(3 * nodes);
  s.iterate = take(3 * nodes);
  s.predicted = take(3 * nodes);
  s.momentum = take(3 * columns);
  s.correction = take(3 * columns);
  s.multipliers = take(rows);
  s.residuals = take(rows);
  s.scales = take(rows);
  s.stiffness = take(p.pair_count);
  s.metric_jacobian = take(9 * p.metric_stencils.slot_nodes.size());
  s.scalar_jacobian = take(3 * p.scalar_stencils.slot_nodes.size());
  s.blocks = take(9 * p.plan.block_rows.size());
  s.diagonals = take(6 * columns);
  s.pivots = take(columns);
  if (const std::size_t samples = static_cast<std::size_t>(p.samples.sample_count()); samples > 0) {
    const std::size_t contacts = static_cast<std::size_t>(p.samples.contact_count()),
                      holds = static_cast<std::size_t>(p.hold_count);
    s.contacts.forces = take(3 * contacts);
    s.contacts.hold_forces = take(3 * holds);
    s.contacts.obstacles = take(contacts);
    s.contacts.modes = take(contacts);
    s.contacts.points = take(2 * contacts);
    s.contacts.holders = take(holds);
    s.contacts.places = take(3 * holds);
    s.contacts.normals = take(3 * contacts);
    s.contacts.pulls = take(3 * contacts);
    s.contacts.stiffness = take(2 * contacts);
    s.contacts.weights = take(p.samples.slot_nodes.size());
    s.contacts.depths = take(samples);
    s.contacts.sample_stiffness = take(6 * samples);
    s.contacts.sample_forces = take(3 * samples);
    s.contacts.near = take(1 + most_near);
    s.contacts.inverse_masses = take(nodes);
  }
  s.partials = take(max_block_threads);
  return s;
}

/// All that tiles keep from step to step.
template <class Real>
struct ClothStates {
  ArrayView<Real> positions;    ///< phi [m], shape [tile, node, 3, width]
  ArrayView<Real> velocities;   ///< v [m/s], shape [tile, node, 3, width]
  ArrayView<Real> multipliers;  ///< lambda [kg m^2], shape [tile, row, width]
  ArrayView<Real> kept;         ///< see ContactScratch, shape [tile, kept_count(), width]
  ArrayView<Real> alive;        ///< 1; 0: frozen, not to be touched; shape [tile, width]
};

/// Tiles of `width` cloths, lane by lane innermost: element i of cloth c lies at ((c / width) * count + i) *
/// width + c % width.
template <class Real>
struct StepCloths {
  ClothPatternView pattern;
  RestShapesView<Real> rest;
  StepControl control;
  int width = 1;  ///< cloths per tile: 1, or the lane width of the backend (StepKernels::lane_width)
  Index tile_count = 0;
  Index steps = 1;
  ObstacleSets<Real> obstacles;
  GripperSets<Real> grippers;
  DragSets<Real> drag;
  ArrayView<const Real> parameters;  ///< ClothParameters, shape [tile, 9, width]
  ArrayView<const Real> targets;     ///< positions of driven nodes [m], shape [step, tile, driven, 3, width]
  ClothStates<Real> states;          ///< after the steps
  ClothStates<const Real> before;    ///< where they begin, left as it is; empty: in `states`
  ArrayView<Real> reports;           ///< ClothReport, written anew, shape [tile, 7, width]
  /// Not empty: one iteration of one step with phi~ computed in any case, the work arrays copied here, phi_0
  /// in the place of `velocity`; the state stays as it was. Shape [tile, step_scratch().size, width].
  ArrayView<Real> inspection;
  MonitorView monitor;  ///< of the queue; where it says stop, states and reports are worth nothing
};

namespace ISOCLOTH_BACKEND {
/// Steps of (B + G+ + J^T (eps D)^-1 J) d = ..., exactly as ProjectionSolver does them kernel by kernel, with
/// the factorisation of block_cholesky.hpp. A cloth whose step is not finite or diverges keeps the state
/// before it and is no longer alive. A step that misses its tolerance is tried again in 2, 4, ... parts,
/// driven nodes moving evenly in between. One block per tile; results do not depend on the tile's other
/// cloths.
template <class Real>
void step_cloths(const Queue& queue, const StepCloths<Real>& args);
/// Cloths that one tile takes side by side.
template <class Real>
int lane_width();
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
