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

/// One garment at one frame: what its steps since the last frame did, and what it is at the frame itself.
struct FrameMetrics {
  StepReport steps = {.substeps = 0};  ///< together; residual: of steps that were not lost
  int substeps_max = 0, iterations_max = 0;
  double row_strain = 0;
  ContactMeasures contacts;
  HoldMeasures holds;
  Measures measures;
  EnergySums energy;  ///< where the run has a balance (ResultOptions::has_energies)

  static constexpr auto fields() {
    using enum Rule;
    using Metrics = FrameMetrics;
    return std::tuple{
        Quantity("steps", &Metrics::steps, {}),
        Quantity("substeps_max", &Metrics::substeps_max, most, "", "most parts of one of the steps",
                 {"substeps_max", nullptr, true},
                 {"parts of a step, most", "Steps with cloth on cloth", "Time and machine"}),
        Quantity("iterations_max", &Metrics::iterations_max, most, "", "most iterations of one of the steps",
                 {"iterations_per_step_max", ""}, {"iterations per step, most", "", "Time and machine"}),
        Quantity("row_strain", &Metrics::row_strain, most, "1",
                 "strain of what the rows bound, that of the worst residual", {"row_strain_max"},
                 {"rows, largest", "", "Strain, worst of all steps"}),
        Quantity("contacts", &Metrics::contacts, {}),
        Quantity("holds", &Metrics::holds, {}),
        Quantity("measures", &Metrics::measures, {}),
        Quantity("energy", &Metrics::energy, {})};
  }
};

/// Summary of a run, the content of summary.json: numbers of `overall` by their keys there, the rest by the
/// names of the members.
struct RunSummary {
  std::string status, message;
  std::vector<std::string> warnings;
  std::string scene, recipe, method, metric, backend, precision, solver, machine, version;
  int threads = 1;
  std::int64_t garment_count = 0, node_count = 0, element_count = 0, row_count = 0, step_count = 0,
               frame_count = 0;
  double step = 0, tolerance = 0, simulated_seconds = 0, wall_seconds = 0, setup_seconds = 0,
         realtime_factor = 0, iterations_per_step_mean = 0;
  std::int64_t steps_violated = 0, garments_frozen = 0, garments_stalled = 0;
  std::vector<std::string> frozen;
  FrameMetrics overall;  ///< of all garments and steps, by the rules of the quantities
  std::int64_t frames_of = 0;
  double contact_force_max = 0, friction_stick_fraction = 0;
  std::map<std::string, double> contact_force, gripper_force_max;
  std::map<std::string, std::vector<double>> body_poses;
  std::int64_t steps_certified = 0, steps_intersecting = 0, steps_touching = 0, intersections_max = 0;
  std::vector<IntersectingPair> first_intersections;
  std::int64_t steps_overlapping = 0, overlaps_max = 0;
  std::vector<std::string> first_overlaps;
  std::int64_t steps_certified_within = 0, steps_passing_within = 0;
  std::vector<std::string> first_passages;
  std::uint64_t memory_bytes = 0, seed = 0;

  static constexpr auto fields() {
    using enum Rule;
    using Summary = RunSummary;
    constexpr const char *run = "Run", *size = "Size", *exactness = "Exactness",
                         *cloth = "Cloth against cloth", *contact = "Contact and grippers",
                         *time = "Time and machine", *other = "Other";
    constexpr auto of = [](const char* section, const char* label = "", const char* doc = "",
                           const char* unit = "", bool is_optional = false) {
      return About{none, unit, doc, {nullptr, nullptr, is_optional}, {label, "", section}};
    };
    return std::tuple{
        Quantity("status", &Summary::status,
                 of(run, "status",
                    "``completed``, ``interrupted``, ``stopped`` (a tolerance missed, on_violation is stop) "
                    "or ``failed``")),
        Quantity("message", &Summary::message,
                 of("", "", "why, when not completed; else which garments froze or missed their tolerance")),
        Quantity("warnings", &Summary::warnings,
                 of(other, "", "what was likely meant otherwise, known before the first step")),
        Quantity("scene", &Summary::scene, of(run)),
        Quantity("recipe", &Summary::recipe, of(run)),
        Quantity("method", &Summary::method, of(run)),
        Quantity("metric", &Summary::metric, of(run)),
        Quantity("backend", &Summary::backend, of(time)),
        Quantity("precision", &Summary::precision, of(time)),
        Quantity("solver", &Summary::solver,
                 of(time, "linear solver", "with the number of garments where there are several")),
        Quantity("machine", &Summary::machine, of(time)),
        Quantity("version", &Summary::version, of(run)),
        Quantity("threads", &Summary::threads, of(time)),
        Quantity("garment_count", &Summary::garment_count, of(size, "garments")),
        Quantity("node_count", &Summary::node_count, of(size, "nodes")),
        Quantity("element_count", &Summary::element_count, of(size, "elements")),
        Quantity("row_count", &Summary::row_count, of(size, "rows")),
        Quantity("step_count", &Summary::step_count, of(size, "steps")),
        Quantity("frame_count", &Summary::frame_count, of(size, "frames")),
        Quantity("step", &Summary::step, of(size, "time step", "", "s")),
        Quantity("tolerance", &Summary::tolerance, of(exactness, "tolerance of a residual")),
        Quantity("simulated_seconds", &Summary::simulated_seconds, of(time, "simulated time", "", "s")),
        Quantity("wall_seconds", &Summary::wall_seconds, of(time, "wall time", "", "s")),
        Quantity("setup_seconds", &Summary::setup_seconds, of(time, "set-up time", "", "s")),
        Quantity("realtime_factor", &Summary::realtime_factor, of(time, "times real time")),
        Quantity("iterations_per_step_mean", &Summary::iterations_per_step_mean,
                 of(time, "iterations per step, mean", "over garments and steps")),
        Quantity("steps_violated", &Summary::steps_violated, of(exactness, "garment steps over tolerance")),
        Quantity("garments_frozen", &Summary::garments_frozen, of(exactness, "", "those that lost a step")),
        Quantity("garments_stalled", &Summary::garments_stalled,
                 of(exactness, "garments over tolerance", "those that missed it once")),
        Quantity("frozen", &Summary::frozen, of(other, "", "the frozen garments, each with time and reason")),
        Quantity("overall", &Summary::overall, {}),
        Quantity("frames_of", &Summary::frames_of,
                 of(size, "garments with frames", "the first garments whose positions the trajectory keeps")),
        Quantity("contact_force_max", &Summary::contact_force_max,
                 of(contact, "force on a garment, largest", "of all obstacles at any frame", "N")),
        Quantity("contact_force", &Summary::contact_force,
                 of(contact, "Force of obstacles and bodies, at the end", "on all garments together, by name",
                    "N")),
        Quantity("friction_stick_fraction", &Summary::friction_stick_fraction,
                 of(contact, "contacts that stick, at the end", "of those with friction", "1")),
        Quantity("gripper_force_max", &Summary::gripper_force_max,
                 of(contact, "Force of grippers, largest",
                    "on a garment at any frame, by name; those of one name together", "N")),
        Quantity("body_poses", &Summary::body_poses,
                 of(other, "Bodies, at the end",
                    "of each shape by its name: origin x, y, z [m] and quaternion x, y, z, w")),
        Quantity("steps_certified", &Summary::steps_certified,
                 of(cloth, "steps tested", "steps whose end was tested (host/run/certificate.hpp)")),
        Quantity("steps_intersecting", &Summary::steps_intersecting,
                 of(cloth, "steps that end with cloth through cloth")),
        Quantity("steps_touching", &Summary::steps_touching,
                 of(cloth, "steps that end with touching cloth",
                    "free of crossings, but some touches to the last bit")),
        Quantity("intersections_max", &Summary::intersections_max,
                 of(cloth, "pairs of an edge and a face, most", "that cross at the end of a step")),
        Quantity("first_intersections", &Summary::first_intersections,
                 of("", "", "of the first such step, up to ten")),
        Quantity(
            "steps_overlapping", &Summary::steps_overlapping,
            of(cloth, "steps that end with cloth in one plane with cloth",
               "triangles overlap there to the last bit, whatever crosses or touches elsewhere", "", true)),
        Quantity("overlaps_max", &Summary::overlaps_max,
                 of(cloth, "pairs of triangles that overlap in one plane, most", "", "", true)),
        Quantity("first_overlaps", &Summary::first_overlaps,
                 of(other, "", "of the first such step, up to ten, each with time and place", "", true)),
        Quantity("steps_certified_within", &Summary::steps_certified_within,
                 of(cloth, "steps whose ways were tested",
                    "of those that end free of crossings, their straight ways", "", true)),
        Quantity("steps_passing_within", &Summary::steps_passing_within,
                 of(cloth, "steps on whose ways cloth passes through cloth", "", "", true)),
        Quantity("first_passages", &Summary::first_passages,
                 of(other, "", "of the first such step, up to ten, each with time and place", "", true)),
        Quantity("memory_bytes", &Summary::memory_bytes,
                 of(size, "memory", "arrays and factors of all garments, estimated", "byte")),
        Quantity("seed", &Summary::seed, of(run))};
  }
};

}  // namespace isocloth
