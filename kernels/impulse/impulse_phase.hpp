// The same steps kernel by kernel, for one large cloth.
#pragma once

#include "kernels/impulse/impulse_arrays.hpp"

namespace isocloth {

/// What one launch does; items are nodes, pinned nodes, or packets.
enum class ImpulsePhase {
  begin,               ///< nodes and the spare one: state to work arrays
  bend,                ///< nodes and the spare one: bending forces, or zero
  pull_shear,          ///< packets of a colour: springs' forces
  pull_bend,           ///< the same
  preview,             ///< nodes: forces to moves
  preview_pinned,      ///< pinned nodes
  correct_positions,   ///< packets of rows of a colour
  correct_velocities,  ///< packets of rows of a colour
  advance,             ///< nodes: moves to places
  measure,             ///< packets of rows: residuals
  measure_ways,        ///< nodes: how far they went beyond bounds
  end,                 ///< nodes: work arrays to state
  begin_contacts,      ///< contacts, when a step begins
  list_near,           ///< one: obstacles near the cloth
  push_out,            ///< samples of a colour: contacts at the preview
  push_back,           ///< samples of a colour: velocities at contacts
  measure_contacts,    ///< samples: depths at the preview
  end_contacts,        ///< contacts, when a part ends
  grasp,               ///< nodes, when a step begins: grippers let go and take hold
  weigh,               ///< packets of rows: what they count of held nodes
  preview_outer,       ///< nodes: `preview` where there are grippers or drag
  end_holds,           ///< nodes: forces of grippers, when a part ends
};
/// Families of rows, in the order of the sweeps.
enum class ImpulseRows { metric_stencils, scalar_stencils, edges };

template <class Real>
struct RunImpulsePhase {
  ImpulseCloths<Real> cloths;  ///< one
  ImpulsePhase phase = ImpulsePhase::begin;
  ImpulseRows rows = ImpulseRows::edges;
  Index first = 0, count = 0;  ///< items
  Index step = 0;              ///< of `targets`
  int part = 0;
  Index sweep = 0;  ///< number of the sweep, from 1
  double factor = 1, threshold = 0;
  bool is_watched = false;  ///< corrections tell `errors` and `last_sweeps`
  bool seeks = false;       ///< push_out: deepest points of edges and faces anew; push_back: the first sweep
  ArrayView<Vec4<Real>> places, moves,
      forces;                              ///< see ImpulseWork, shape [node_count + 1]; forces may be empty
  ArrayView<Vec3<double>> work_positions;  ///< shape [node_count + 1], empty in double precision
  /// Of each packet of these rows: where correct_positions made impulses, the largest relative error before;
  /// measure: the largest residual; infinite where one is not finite.
  ArrayView<Real> errors;
  ArrayView<Real> last_sweeps;  ///< sweep of the last impulse of each packet of these rows
  ArrayView<Real> of_samples;   ///< how far a contact moved its point, or depths [m]; shape [sample]
  ArrayView<Real> of_nodes;     ///< 1: goes beyond excess_way(), else 0; shape [node]
};

namespace ISOCLOTH_BACKEND {
/// One phase of StepImpulse, with the same bits.
template <class Real>
void run_impulse_phase(const Queue& queue, const RunImpulsePhase<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
