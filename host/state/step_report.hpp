// What a step did, and how it ended.
#pragma once

#include "engine/core/array_view.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

enum class StepStatus {
  converged,   ///< within the tolerances
  stalled,     ///< missed them; the step counts all the same
  non_finite,  ///< no step: a number overflowed, or a matrix has no factor
  diverged,    ///< no step: stretched or thrown beyond the bounds of kernels/core/divergence.hpp
};
const char* to_string(StepStatus status);
/// Whether a garment whose step ends so keeps the state before it and is frozen.
constexpr bool has_failed(StepStatus status) { return status >= StepStatus::non_finite; }

/// What one step of one garment did.
struct StepReport {
  StepStatus status = StepStatus::converged;
  int iterations = 0;  ///< linear solves and sweeps of all substeps together
  int substeps = 1;
  int fallbacks = 0;    ///< impulse_system: substeps that no linear system could hold, and sweeps did
  double residual = 0;  ///< largest |scaled row| at the end of the step (worst substep), of a lost one, too;
                        ///< infinite: no number
  /// How far the cloth was pressed by an obstacle below its core, that no pressure of fibres takes away, or
  /// is nearer to cloth than it must be, at the end of the step [m]; what is eased out
  /// (contact.push_out_time) is counted as deep as it may be, eased_depth. With impulses, its deepest point
  /// in an obstacle.
  double penetration = 0;
  double compression =
      0;  ///< largest 1 - t / T of the thickness t at an obstacle; see engine/material/compression.hpp
  /// Greatest depth that is left to what started inside of obstacles and is eased out, at the end of the
  /// last step [m].
  double eased_depth = 0;
  Strain strain = {};        ///< at the end of the step; see ExecutionOptions::measure_strain
  Index cloth_contacts = 0;  ///< pairs of nodes, edges and faces of cloth near cloth, of all that meet
  Index cloth_loaded = 0;    ///< contacts that carry a force, of all that meet
  double cloth_force = 0;    ///< greatest force of one of them [N]
  double cloth_gap = 1;      ///< least distance of such a pair over its thickness, 1: none is nearer
  int cg_iterations = 0;     ///< most conjugate gradient iterations of a solve of all that meet
  Index held_back = 0;       ///< nodes held back, because cloth would have passed through cloth
  Index blocked = 0;  ///< of them those of pins, grippers, driven garments that would pass through such
  double wall_seconds = 0;
  Index bad_node = -1;  ///< where the matrix had a pivot that was not positive, -1: nowhere
};

}  // namespace isocloth
