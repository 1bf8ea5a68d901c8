// Whole steps of many small cloths of one pattern: one launch, no return to the host.
#pragma once

#include "kernels/batch/block_cholesky.hpp"
#include "kernels/core/views.hpp"
#include "kernels/forces/node_forces.hpp"
#include "kernels/projection/integrator.hpp"
#include "kernels/projection/nodal_system.hpp"
#include "kernels/projection/step_controller.hpp"
#include "kernels/samples/contact_state.hpp"

namespace isocloth {

/// What all cloths of a group share: topology, rows, gather lists, elimination. Free numbers follow the order
/// of elimination.
struct ClothPatternView {
  Index node_count = 0, row_count = 0, pair_count = 0;
  RowsView rows;
  FreeNodesView free;
  ArrayView<const Index> pinned_nodes;  ///< every node that is not free
  ArrayView<const Index> driven_nodes;  ///< nodes with a target in every step
  NodeMatrixView bending;               ///< pattern of K, empty: no bending
  ArrayView<const Index> node_pair_begin, node_pairs;
  /// Row, column and pair of nodes of each block of H, see AssembleSystem.
  ArrayView<const Index> block_rows, block_columns, block_pairs;
  CouplingPattern couplings;
  ArrayView<const Index>
      system_blocks;  ///< block of H at each block of L, -1: fill; shape [block count of L]
  CholeskyPlanView plan;
  SamplePattern samples;    ///< none where nothing surrounds the cloths
  Index hold_count = 0;     ///< nodes that may be held: all, or none
  bool has_bounds = false;  ///< whether some rows have bounds, see RowBounds
  Index curve_numbers = 0;  ///< count of the numbers of a cloth's curves, see RowLaws::curves
  /// Count of the numbers of a cloth's viscosity, see RowLaws::viscosity; 0: no row of any cloth is viscous.
  Index viscosity_numbers = 0;
  Index memory_count = 0;  ///< plastic strains of a cloth, see RowMemory; 0: its rows forget
  StrainMeasure measure = StrainMeasure::green;  ///< see RowLaws
  bool has_history = false;                      ///< the integrator remembers the step before
  FacesView faces;                               ///< faces of cloths that air drags or presses
  StitchPattern stitches;
  GatherView block_slots, node_slots;  ///< see SampleForces
  ArrayView<const Index> slot_samples;

  /// Layout of what contacts keep; nothing where nothing surrounds the cloths.
  ISOCLOTH_HD ContactStateLayout contact_state() const {
    return {static_cast<std::size_t>(samples.contact_count()), static_cast<std::size_t>(hold_count),
            static_cast<std::size_t>(samples.eased_count())};
  }
  ISOCLOTH_HD StepHistoryLayout history() const {
    return {has_history ? static_cast<std::size_t>(node_count) : 0};
  }
};

/// Physics of one cloth, or of a tile of them.
template <class S>
struct ClothParameters {
  S rho, alpha, beta, kappa;           ///< see Fabric
  S weight;                            ///< delta g [N/m^2]
  S element_size;                      ///< [m]
  S offset;                            ///< distance kept from obstacles [m]
  CompressionCurve<S> curve;           ///< law of compression at obstacles
  S accuracy;                          ///< see ContactControl [m]
  S reach;                             ///< see excess_displacement() [m]
  S coupling;                          ///< coupling of warp and weft, see RowLaws
  S mismatch_rate, mismatch_rounding;  ///< see MismatchEnergy
};

/// Offsets of the arrays of contacts that live for an iteration; see ContactArrays.
struct ContactScratch {
  std::size_t normals, pulls, stiffness, began, mismatches, weights, depths, errors, shared_with,
      shared_areas, sample_stiffness, sample_forces, near, inverse_masses;
  std::size_t asked, touching, places;  ///< see LaneContacts
};

/// Offsets of a tile's work arrays in lane values. The factor and what it solves for, which most of a step's
/// time goes to, lie in shared memory: [0, shared); all else behind in the workspace: [shared, size).
struct StepScratch {
  std::size_t blocks, diagonals, solution, shared;
  std::size_t start, velocity;  ///< phi_n, v_n
  /// x^, v^ of the integrator; without history those are `start` and `velocity`.
  std::size_t base, base_velocity;
  std::size_t history;  ///< see StepHistoryLayout
  std::size_t krylov;   ///< r, z, p, q, w of conjugate gradients, where there are couplings
  std::size_t iterate, predicted, momentum, correction, multipliers, residuals, scales, growth, strains,
      plastic, row_forces, stiffness, stitch_stiffness, stitch_rests, jacobian, at_limit, pivots,
      contact_state, partials, size;
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
  s.blocks = take(9 * p.plan.block_rows.size());
  s.diagonals = take(6 * columns);
  s.solution = take(3 * columns);
  s.shared = s.size;
  s.start = take(3 * nodes);
  s.velocity = take(3 * nodes);
  s.base = p.has_history ? take(3 * nodes) : s.start;
  s.base_velocity = p.has_history ? take(3 * nodes) : s.velocity;
  s.history = take(p.history().size());
  s.iterate = take(3 * nodes);
  s.predicted = take(3 * nodes);
  s.momentum = take(3 * columns);
  s.krylov = take(p.couplings.exist() ? 5 * 3 * columns : 0);
  s.correction = take(3 * columns);
  s.multipliers = take(rows);
  s.residuals = take(rows);
  s.scales = take(rows);
  s.row_forces = take(rows);
  s.growth = take(p.has_bounds ? rows : 0);
  s.strains = take(p.viscosity_numbers > 0 ? rows : 0);
  s.plastic = take(static_cast<std::size_t>(p.memory_count));
  s.stiffness = take(p.pair_count);
  s.stitch_stiffness = take(static_cast<std::size_t>(p.stitches.count()));
  s.stitch_rests = take(3 * static_cast<std::size_t>(p.stitches.count()));
  s.jacobian = take(3 * p.rows.jacobian_count());
  s.at_limit = take(p.rows.limits.stencils.slot_nodes.size());
  s.pivots = take(columns);
  if (const std::size_t samples = static_cast<std::size_t>(p.samples.sample_count()); samples > 0) {
    const std::size_t contacts = p.contact_state().contacts;
    s.contact_state = take(p.contact_state().size());
    s.contacts.normals = take(3 * contacts);
    s.contacts.pulls = take(3 * contacts);
    s.contacts.stiffness = take(3 * contacts);
    s.contacts.began = take(4 * contacts);
    s.contacts.mismatches = take(contacts);
    s.contacts.weights = take(p.samples.slot_nodes.size());
    s.contacts.depths = take(samples);
    s.contacts.errors = take(samples);
    s.contacts.shared_with = take(samples);
    s.contacts.shared_areas = take(p.samples.slot_nodes.size());
    s.contacts.sample_stiffness = take(6 * samples);
    s.contacts.sample_forces = take(3 * samples);
    s.contacts.near = take(1 + most_near);
    s.contacts.inverse_masses = take(nodes);
    s.contacts.asked = take(samples);
    s.contacts.touching = take(static_cast<std::size_t>(p.samples.element_count()));
    s.contacts.places = take(nodes);
  }
  s.partials = take(max_block_threads);
  return s;
}
/// Memory of the blocks of step_cloths(). S: lane value.
template <class S>
BlockMemory step_memory(const ClothPatternView& p) {
  const StepScratch s = step_scratch(p);
  return {s.shared * sizeof(S), (s.size - s.shared) * sizeof(S)};
}

/// All that tiles keep from step to step.
template <class Real>
struct ClothStates {
  ArrayView<Real> positions;    ///< phi [m], shape [tile, node, 3, width]
  ArrayView<Real> velocities;   ///< v [m/s], shape [tile, node, 3, width]
  ArrayView<Real> multipliers;  ///< lambda [kg m^2], shape [tile, row, width]
  ArrayView<Real> contacts;     ///< see ContactStateLayout, shape [tile, size(), width]
  ArrayView<Real> history;      ///< see StepHistoryLayout, shape [tile, size(), width]
  ArrayView<Real> plastic;      ///< see RowMemory, shape [tile, memory_count, width]
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
  NodeForceSets<Real> forces;
  ArrayView<const Real> parameters;     ///< ClothParameters, shape [tile, 16, width]
  ArrayView<const Real> row_stiffness;  ///< see RowLaws, shape [tile, row, width]; empty: all rows are rigid
  ArrayView<const Real> row_bounds;     ///< see RowBounds, shape [tile, row, width]; empty: no row has one
  ArrayView<const Real> row_curves;     ///< see RowLaws, shape [tile, curve_numbers, width]
  ArrayView<const Real> row_viscosity;  ///< see RowLaws, shape [tile, viscosity_numbers, width]
  ArrayView<const Real> row_memory;     ///< see RowMemory, shape [tile, RowLaw::count, memory_numbers, width]
  StitchLaws<Real> stitch_laws;         ///< stitches of all cloths alike
  Real stitch_speed{}, stitch_hold{};
  ArrayView<const Real> targets;   ///< positions of driven nodes [m], shape [step, tile, driven, 3, width]
  ClothStates<Real> states;        ///< states after the steps
  ClothStates<const Real> before;  ///< states where the steps begin, left as they are; empty: in `states`
  ArrayView<Real> reports;         ///< ClothReport, written anew, shape [tile, 9, width]
  /// Not empty: one iteration of one step with phi~ computed in any case, the work arrays copied here, phi_0
  /// in the place of `velocity`; the state stays as it was. Shape [tile, step_scratch().size, width].
  ArrayView<Real> inspection;
  MonitorView monitor;  ///< monitor of the queue; where it says stop, states and reports are worth nothing
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
