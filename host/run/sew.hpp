// Garments sewn before time begins.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/model/sewing_plan.hpp"
#include "host/run/unclosed_seams.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth {

struct SewingProgress {
  int step = 0, most_steps = 0;
  double opening = 0;  ///< widest opening of the seams that are being closed [m]
};

/// "open by 0.12 m"
std::string note_of(const SewingProgress& progress);

/// What sewing leaves behind.
struct SewnScene {
  Scene scene;  ///< its garments' initial_positions are as they were sewn
  int steps = 0;
  double opening = 0;                  ///< widest opening of all seams [m]
  double imbalance = 0;                ///< largest force on a node that is not balanced, over its weight
  std::vector<UnclosedSeam> unclosed;  ///< seams that are open by more than the tolerance
  /// Positions of all garments [m], shape [frame][garment][node_count]; see SewingStage::frames.
  std::vector<std::vector<std::vector<Vec3d>>> frames;
  std::vector<int> frame_steps;  ///< shape [frame]
};

/// Sews the garments of a scene as a plan says, before its time begins; a plan without a stage: as the
/// default one.
///
/// There is no gravity, wind, pressure or force of a program; grippers hold nothing, pins and obstacles stand
/// where they are at t = 0, bodies stand still.
///
/// Seams are closed in the order of SewingPlan::order by steps of backward Euler, h = 5 ms, with a drag of
/// 200 m/s^2 per m/s, in which cloth all but stands still between steps. Each draws the sides of a seam
/// nearer by 0.15 of a mean side of an element, so that contacts keep up, with the force that stretches the
/// cloth by SewingStage::strain. As long as seams are open the cloth, where it is elastic, is as stiff as 200
/// N/m at most, and there is no friction. Where each of 40 steps closes less than a tenth of what it could
/// the next seams begin. Closed, the cloth becomes stiffer in steps of 5 up to its own stiffness.
///
/// Layers are sewn from the lowest (layer by layer, as Ye, Ma, Gao, Wang 2012): garments above are not there
/// yet, those below stand still. Then all find their balance, with friction: steps from standstill,
///   minimum over x of E(x) + |x - x_n|^2 / (2 h^2) in the norm of mass and damping,
/// go downhill in the energy E of cloth, contacts and threads (pseudo-transient continuation; Kelley, Keyes
/// 1998), h growing to 0.05 s as long as they converge, until forces balance, 60 steps or
/// sewing.most_steps are over. A step that is lost, or that finds no way to move, is taken shorter.
///
/// Returns the scene with its sewn start; seams that stay open are no error. Throws SceneError
/// (validate_sewing, and what Simulation throws), DeviceError, and Interrupted when the monitor of the
/// options says so: nothing has then been done. Results depend on nothing but scene, plan and options.
SewnScene sew(Scene scene, const SewingPlan& plan, const ExecutionOptions& options,
              const std::function<void(const SewingProgress&)>& on_step = {});

/// "sewn in 40 steps, seams closed to 1e-05 m", or with the first three seams that stay open.
std::string describe(const SewnScene& sewn);

}  // namespace isocloth
