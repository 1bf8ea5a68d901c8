// Kernels and reference side by side: every quantity of every step, from the same state.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Where one quantity of kernels and reference differs most, measured in its tolerance.
struct Difference {
  std::string quantity;
  double worst = 0;         ///< |kernels - reference| / scale, largest entry
  double tolerance = 0;     ///< what rounding may do to the worst entry, over scale
  std::int64_t step = -1;   ///< step of the worst entry, the first step is 0; -1: never compared
  std::int64_t index = -1;  ///< node, row or entry of the worst entry

  bool passed() const { return worst <= tolerance; }
};

/// What comparing one garment found.
struct GarmentValidation {
  std::string garment;
  std::vector<Difference> differences;
  std::int64_t steps = 0;            ///< single iterations (impulses: ends of steps) compared
  std::int64_t whole_steps = 0;      ///< steps compared from beginning to end
  std::int64_t undecided_steps = 0;  ///< a residual within rounding of a threshold: either course is right
  std::int64_t stalled_steps = 0;    ///< neither side met the tolerance: nothing defines where it must end
  std::int64_t deviating_steps = 0;  ///< decided steps with other iteration counts or status: none allowed
  /// Iterations, or sweeps and linear solves, of the whole steps, the same on both sides.
  std::int64_t iterations = 0;

  bool passed() const;
};

struct ValidationReport {
  Precision precision = Precision::float64;
  std::vector<GarmentValidation> garments;

  bool passed() const;
};

/// Called before each step of each garment.
using ValidationProgress = std::function<void(std::size_t garment, std::int64_t step)>;

/// Runs the first `steps` steps of every garment with the kernels and compares with the reference
/// (ReferenceCloth, ImpulseCloth), which starts every step from the kernels' state, so that nothing
/// accumulates, and sweeps in the kernels' order.
///
/// Where conjugate gradients finish the kernels' systems, they are led to rounding here.
///
/// Scales: 1 for rows (they are relative to their rest values); an entry's own value for masses and D; the
/// largest entry for matrices; the diagonal of the rest shape's bounding box, l, for positions; for
/// corrections, velocities and multipliers the largest entry, but no less than what a row residual of one
/// tolerance asks for (tolerance l, tolerance l / h, the largest tolerance / D), since below that only
/// rounding is left.
///
/// Tolerances: 1e-9, in float 10 u sqrt(n) with u = 2^-23. For what comes out of a linear solve ten times the
/// change that the reference shows when it is rounded like the kernels (rounding.hpp) is added, for a whole
/// step once per iteration, and for each iteration ten times what such a change at the beginning becomes at
/// the end.
///
/// Impulses: whole steps, and the residual of the kernels' positions by the reference's rows, of every step;
/// ten times what the reference makes of rounding of its places and velocities in every part of the step is
/// added. Neither side need meet the tolerance to be compared. A step is undecided where a row came closer to
/// the threshold of its correction than ten times that rounding; in mode `converge` in single precision most
/// are. Linear systems: also where the residual that ended the solves, the correction that was too long or
/// the pivot that was too small did; a choice that depends on the order of elimination is undecided, too.
///
/// Scenes with obstacles, grippers or drag: no whole steps, since the reference of the projection knows no
/// contact, but what it knows of each step's end from the outside; `iterations` and `stalled_steps` are the
/// kernels'. The rows' residual at the stored positions against what the step reported (but for the
/// projection in parts, which reports the worst). How deep a lattice of 8 x 8 points on every face lies, by
/// ObstacleDistance: no deeper than contact.tolerance after a converged step, else no deeper by it than the
/// step told or began with. Who holds which node, and how far rigidly held ones are off their gripper's
/// frame: 1e-9 m, in the projection, which holds them by a stiffness, 1e-7 m; in single precision 4 u of the
/// node's way, or of its coordinates, more. The balance of momentum over the step, relative to all that
/// enters it: ten times the tolerance of sums; where contacts of the projection act, which end at a
/// displacement, as much more as moving the garment by contact.tolerance out of them and as far along them
/// takes. Of pinned garments, of those in air or projected ones whose steps were cut into parts, and of
/// projected steps of more than four iterations, whose last move may be cut short, it is not known.
///
/// Throws SceneError, also for rigid bodies; DeviceError, also for solvers that iterate, whose tolerance is
/// another; NumericalError where a step of the kernels is lost.
ValidationReport validate(const Scene& scene, const ExecutionOptions& options, std::int64_t steps,
                          const ValidationProgress& progress = {});

}  // namespace isocloth
