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
  correct_lengths,     ///< packets of a colour
  correct_velocities,  ///< packets of a colour
  advance,             ///< nodes: moves to places
  measure,             ///< packets: strains
  end,                 ///< nodes: work arrays to state
};

template <class Real>
struct RunImpulsePhase {
  ImpulseCloths<Real> cloths;  ///< one
  ImpulsePhase phase = ImpulsePhase::begin;
  Index first = 0, count = 0;  ///< items
  Index step = 0;              ///< of `targets`
  int part = 0;
  Index sweep = 0;  ///< number of the sweep, from 1
  double factor = 1, threshold = 0;
  ArrayView<Vec4<Real>> places, moves,
      forces;                              ///< see ImpulseWork, shape [node_count + 1]; forces may be empty
  ArrayView<Vec3<double>> work_positions;  ///< shape [node_count + 1], empty in double precision
  /// correct_lengths: largest |e| / |d| of each packet; measure: its largest strain; infinite where one is
  /// not finite; shape [packet]
  ArrayView<Real> changes;
  ArrayView<Real> last_sweeps;  ///< sweep of the last impulse of each packet, shape [packet]
};

namespace ISOCLOTH_BACKEND {
/// One phase of StepImpulse, with the same bits.
template <class Real>
void run_impulse_phase(const Queue& queue, const RunImpulsePhase<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
