// What a run leaves behind, in memory: filled while running, written by result_folder, read back by report
// and resume.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/model/scene_intersections.hpp"
#include "host/energy/energy_sums.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

/// Name of the processor.
std::string machine_name();
/// Version of the library.
const char* version();

/// One garment at one frame.
struct FrameMetrics {
  StepStatus status = StepStatus::converged;  ///< worst of the steps since the last frame
  int iterations = 0;                         ///< sum over the steps since the last frame
  int substeps = 0;
  int fallbacks = 0;          ///< substeps that sweeps did, because no linear system held them
  double residual_worst = 0;  ///< largest residual at the end of any of these steps
  double penetration = 0;     ///< deepest contact at the end of any of these steps [m]
  /// Largest 1 - t / T of the thickness at obstacles at the end of any of these steps.
  double compression = 0;
  /// Depth that is left to what started inside, at the end of the last of these steps [m].
  double eased_depth = 0;
  Strain strain;  ///< worst at the end of any of these steps
  /// Worst strain of what the rows bound at the end of any of these steps (row_strain() of residual_worst).
  double row_strain = 0;
  Index contact_count = 0;  ///< contacts with obstacles at the frame itself
  /// Force of all obstacles on the garment at the frame itself, friction included [N].
  Vec3d contact_force;
  Index rubbing_count = 0;   ///< contacts with friction
  Index sticking_count = 0;  ///< contacts that friction holds in place
  Index held_count = 0;      ///< nodes that grippers hold
  Vec3d gripper_force;       ///< force of all grippers on the garment at the frame itself [N]
  /// Most contacts between cloths at the end of any of these steps, as StepReport.
  Index cloth_contacts = 0;
  /// Nodes that were held back, summed over these steps, as StepReport.
  Index held_back = 0;
  /// Most contacts between cloths that keep a force at the end of any of these steps, as StepReport.
  Index cloth_loaded = 0;
  /// Greatest force between cloths at the end of any of these steps, as StepReport [N].
  double cloth_force = 0;
  /// Least gap between cloths at the end of any of these steps, as StepReport.
  double cloth_gap = 1;
  int cg_iterations = 0;  ///< most iterations of conjugate gradients in any of these steps, as StepReport
  int substeps_max = 0;   ///< most parts that one of these steps took
  Measures measures;      ///< measures at the frame itself
  /// Energies at the frame itself, where the run has a balance (ResultOptions::has_energies).
  EnergySums energy;
};

/// Summary of a run, the content of summary.json (names of the keys are the names of the members).
struct RunSummary {
  std::string
      status;  ///< "completed", "interrupted", "stopped" (tolerance missed and on_violation = stop), "failed"
  std::string message;  ///< why, when not completed; else which garments froze or missed their tolerance
  std::vector<std::string> warnings;  ///< what was likely meant otherwise, known before the first step
  std::string scene, recipe, method, metric, backend, precision, machine, version;
  std::string solver;  ///< what solves the nodal systems, with the number of garments where there are several
  int threads = 1;
  std::int64_t garment_count = 0, node_count = 0, element_count = 0, row_count = 0, step_count = 0,
               frame_count = 0;
  double step = 0, tolerance = 0, simulated_seconds = 0, wall_seconds = 0, setup_seconds = 0,
         realtime_factor = 0;
  double iterations_per_step_mean = 0;  ///< mean number of iterations over garments and steps
  int iterations_per_step_max = 0;
  std::int64_t steps_violated = 0;  ///< garment-steps that missed the tolerance
  /// Garments that lost a step, and that missed the tolerance once.
  std::int64_t garments_frozen = 0, garments_stalled = 0;
  std::vector<std::string> frozen;  ///< garments that lost a step, each with time and reason
  std::int64_t fallbacks =
      0;  ///< substeps of all garments that sweeps did, because no linear system held them
  /// Most contacts between cloths, and nodes held back, as FrameMetrics, of all garments.
  std::int64_t cloth_contacts_max = 0, held_back = 0;
  std::int64_t blocked = 0;  ///< sum of the blocked nodes of all steps, as StepReport
  /// Most contacts between cloths that keep a force, of all garments and steps, as StepReport.
  std::int64_t cloth_loaded_max = 0;
  double cloth_force_max = 0, cloth_gap_min = 1;
  int cg_iterations_max = 0, substeps_max = 0;
  double seam_opening = 0;  ///< largest distance of two nodes that are sewn together, at the last frame [m]
  std::int64_t frames_of = 0;  ///< number of the first garments whose positions the trajectory keeps
  double residual_max = 0;
  Strain strain;  ///< worst at the end of any step of any garment, in keys strain_max and so on
  /// Worst strain of what the rows bound at the end of any step of any garment.
  double row_strain_max = 0;
  double penetration_max = 0;  ///< deepest contact at the end of any step [m]
  /// Depth that is left to what started inside, at the end of the last step [m].
  double eased_depth = 0;
  Index contact_count_max = 0;   ///< most contacts with obstacles of any garment at any frame
  double contact_force_max = 0;  ///< largest force of all obstacles on a garment at any frame [N]
  /// Force of each obstacle and body on all garments together at the last frame, by its name [N].
  std::map<std::string, double> contact_force;
  double friction_stick_fraction = 0;  ///< sticking among the contacts with friction at the last frame
  Index held_count_max = 0;            ///< most nodes of any garment that grippers hold at any frame
  /// Largest force of each gripper on a garment at any frame, by its name; those of one name together [N].
  std::map<std::string, double> gripper_force_max;
  /// Pose of each body's shape at the last frame, by its name: origin x, y, z [m] and quaternion x, y, z, w.
  std::map<std::string, std::vector<double>> body_poses;
  /// Cloth against cloth (host/run/certificate.hpp): steps whose end was tested, those at whose end cloth
  /// passed through cloth, and those that were free of it but where some touched to the last bit.
  std::int64_t steps_certified = 0, steps_intersecting = 0, steps_touching = 0;
  std::int64_t intersections_max = 0;  ///< most pairs of an edge and a triangle at the end of a step
  /// Pairs that intersect in the first of steps_intersecting, up to ten.
  std::vector<IntersectingPair> first_intersections;
  /// Steps at whose end triangles overlap in one plane to the last bit, whatever crosses or touches
  /// elsewhere, and most pairs of them at the end of a step.
  std::int64_t steps_overlapping = 0, overlaps_max = 0;
  /// Pairs that overlap in the first of steps_overlapping, up to ten, each with time and place.
  std::vector<std::string> first_overlaps;
  /// Steps that end free of crossings and whose straight ways were tested, too, and those of them on whose
  /// ways cloth passed through cloth.
  std::int64_t steps_certified_within = 0, steps_passing_within = 0;
  /// Places where cloth passed through in the first of steps_passing_within, up to ten, each with time and
  /// place.
  std::vector<std::string> first_passages;
  double area_error_total_max = 0, area_error_element_mean_max = 0, area_error_element_max = 0;
  std::uint64_t memory_bytes = 0, seed = 0;
};

}  // namespace isocloth
