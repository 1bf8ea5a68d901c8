#include "host/run/run_tally.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "engine/core/bound_text.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/contact_thickness.hpp"
#include "engine/model/taut_pins.hpp"
#include "host/files/names.hpp"
#include "host/results/obstacle_poses.hpp"
#include "host/run/lost_step.hpp"
#include "host/run/rounded.hpp"

namespace isocloth {

RunTally::RunTally(const ResolvedScene& resolved, const std::string& name, const Simulation& simulation,
                   const std::optional<Checkpoint>& from)
    : since_frame(resolved.scene.garments.size()),
      resolved_(resolved),
      scene_(resolved.scene),
      simulation_(simulation),
      is_noted_(scene_.garments.size(), 0) {
  if (from) {
    summary = from->summary;
    if (!from->since_frame.empty()) since_frame = from->since_frame;
    for (std::size_t g = 0; g < is_noted_.size(); ++g) is_noted_[g] = from->garments[g].frozen;
  }
  // What follows is of this run alone.
  const std::string solver_before = std::exchange(summary.solver, "");
  summary.message.clear();
  summary.warnings.clear();
  summary.node_count = summary.element_count = summary.row_count = 0;
  summary.scene = scene_.name.empty() ? name : scene_.name;
  summary.recipe = scene_.recipe;
  summary.method = method_name(resolved_);
  summary.metric = to_string(resolved_.metric);
  summary.backend = simulation_.options().backend;
  summary.precision = to_string(simulation_.options().precision);
  summary.machine = machine_name();
  summary.version = version();
  summary.threads = simulation_.options().threads;
  summary.garment_count = static_cast<std::int64_t>(scene_.garments.size());
  summary.step = scene_.step;
  summary.tolerance = resolved_.tolerance;
  summary.seed = scene_.seed;
  std::map<std::string, std::size_t> solvers;
  for (std::size_t g = 0; g < scene_.garments.size(); ++g) {
    const GarmentInfo info = simulation_.info(g);
    summary.node_count += info.node_count;
    summary.element_count += info.face_count;
    summary.row_count += info.row_count;
    ++solvers[info.solver];
  }
  for (const auto& [solver, count] : solvers) {
    if (!summary.solver.empty()) summary.solver += "; ";
    summary.solver += solvers.size() > 1 ? text(count, " x ", solver) : solver;
  }
  if (solver_before.ends_with(summary.solver))
    summary.solver = solver_before;
  else if (!solver_before.empty())
    summary.solver = solver_before + ", then " + summary.solver;
  measure_memory();
}

/// Arrays of contacts between cloths grow with what they find, and stay.
void RunTally::measure_memory() {
  std::uint64_t bytes = 0;
  for (std::size_t g = 0; g < scene_.garments.size(); ++g) bytes += simulation_.info(g).memory_bytes;
  summary.memory_bytes = std::max(summary.memory_bytes, bytes);
}

void RunTally::count(const std::vector<StepReport>& reports) {
  std::vector<AdvanceReport> steps;
  for (const StepReport& report : reports) steps.emplace_back().total = report;
  count(steps, 1);
}

namespace {

/// What a garment did in a step of several.
const StepReport& report_of(const AdvanceReport& report, int step) {
  return report.each.empty() ? report.total : report.each[static_cast<std::size_t>(step)];
}
bool are_all_lost(const std::vector<AdvanceReport>& reports, int step) {
  return std::all_of(reports.begin(), reports.end(),
                     [&](const AdvanceReport& r) { return has_failed(report_of(r, step).status); });
}
/// Sums without residuals of states that are not kept.
StepReport kept_sum(const AdvanceReport& report, int steps) {
  const auto kept = [](StepReport step) {
    if (has_failed(step.status)) step.residual = 0;
    return step;
  };
  if (steps == 1) return kept(report.total);
  if (report.each.empty()) return report.total;
  StepReport sum{.substeps = 0};
  for (const StepReport& step : report.each) add_by_rule(Further::step, kept(step), sum);
  return sum;
}
/// Garments some step of which may not have converged.
std::vector<std::size_t> in_doubt(const std::vector<AdvanceReport>& reports, int steps) {
  std::vector<std::size_t> garments;
  for (std::size_t g = 0; g < reports.size(); ++g)
    if (steps == 1 || !reports[g].each.empty()) garments.push_back(g);
  return garments;
}

}  // namespace

void RunTally::count(const std::vector<AdvanceReport>& reports, int steps) {
  const double before = static_cast<double>((simulation_.step_index() - steps) * summary.garment_count);
  double iterations = summary.iterations_per_step_mean * before;
  FrameMetrics& overall = summary.overall;
  StepReport all{.substeps = 0};  // of all garments in these steps
  for (std::size_t g = 0; g < reports.size(); ++g) {
    const AdvanceReport& r = reports[g];
    FrameMetrics& m = since_frame[g];
    iterations += r.total.iterations;
    const StepReport counted = kept_sum(r, steps);
    add_by_rule(Further::step, counted, m.steps);
    add_by_rule(Further::garment, counted, all);
    const bool is_one = steps == 1;
    for (FrameMetrics* const each : {&m, &overall}) {
      each->iterations_max = std::max(each->iterations_max, is_one ? r.total.iterations : r.iterations_max);
      each->substeps_max = std::max(each->substeps_max, is_one ? r.total.substeps : r.substeps_max);
    }
    m.row_strain = resolved_.row_strain(m.steps.residual);
    const Compression law = compression_of(scene_.garments[g], scene_);
    const double thickness = (1 - r.total.compression) * law.thickness;
    const double unsure = 2 * contact_accuracy(scene_.garments[g], scene_);
    if (thickness < least_room_ * law.core && thickness + unsure < law.core) {
      least_room_ = thickness / law.core;
      overpressure_ = law.pressure(thickness);
    }
  }
  all.iterations = all.substeps = 0;  // of a long run they would overflow
  add_by_rule(Further::step, all, overall.steps);
  overall.row_strain = resolved_.row_strain(overall.steps.residual);
  const std::vector<std::size_t> doubted = in_doubt(reports, steps);
  for (int n = 0; n < steps; ++n) {
    const double time = static_cast<double>(simulation_.step_index() - steps + n + 1) * scene_.step;
    for (const std::size_t g : doubted) note_violation(g, report_of(reports[g], n), time);
    if (summary.status == "completed" && are_all_lost(reports, n))
      end("failed", 0,
          text("frozen, as are all ", reports.size(), " garments: none has a finite step left",
               advice(0, of_lost(0))));
  }
  summary.iterations_per_step_mean =
      iterations / (before + static_cast<double>(steps * summary.garment_count));
}

int RunTally::steps_to_end(const std::vector<AdvanceReport>& reports, int steps) const {
  const std::vector<std::size_t> doubted = in_doubt(reports, steps);
  for (int n = 0; n < steps; ++n) {
    const bool is_violated = resolved_.on_violation != OnViolation::go_on &&
                             std::any_of(doubted.begin(), doubted.end(), [&](auto g) {
                               return report_of(reports[g], n).status == StepStatus::stalled;
                             });
    if (is_violated || are_all_lost(reports, n)) return n + 1;
  }
  return steps;
}

void RunTally::note_violation(std::size_t g, const StepReport& r, double time) {
  if (r.status <= StepStatus::cut) return;
  ++summary.steps_violated;
  const bool go_on = resolved_.on_violation == OnViolation::go_on;
  if (r.status == StepStatus::stalled && !go_on)
    end("stopped", g,
        tearing_of(resolved_, scene_.garments[g]).has_torn(r.strain.pinned_max, r.strain.stretch_max)
            ? torn_by_pins(g)
            : text(missed(r), " after ", r.iterations, " iterations in the step to t = ", time, " s",
                   advice(g, of_stalled(r))));
  if (!has_failed(r.status)) return;
  const std::string why = lost_because(r, resolved_);
  note_lost(g, text("the step to t = ", time, " s ", why));
  if (summary.garment_count == 1)
    end("failed", g,
        text("the step to t = ", time, " s ", why, "; the state before it is kept", advice(g, of_lost(g))));
}

void RunTally::note_lost(std::size_t g, const std::string& why) {
  if (std::exchange(is_noted_[g], 1) == 0)
    summary.frozen.push_back(text(scene_.garments[g].name, " (", why, ")"));
}

void RunTally::measure_start(const Nearness& near) {
  const std::vector<Strain> strains = simulation_.strains();
  StepReport& overall = summary.overall.steps;
  if (scene_.contact.cloth && near.near_count > 0)
    overall.cloth_gap = std::min(overall.cloth_gap, near.nearest.distance / near.nearest.thickness);
  for (std::size_t g = 0; g < strains.size(); ++g) {
    StepReport& start = since_frame[g].steps;
    start.strain = strains[g];
    start.cloth_gap = overall.cloth_gap;
    start.penetration = simulation_.start_penetration(g);
    add_by_rule(Further::garment, start, overall);
  }
}

void RunTally::end(const char* status, std::size_t g, const std::string& why) {
  if (summary.status == "failed" || summary.status == status) return;
  summary.status = status;
  summary.message = text("garments[", g, "] \"", scene_.garments[g].name, "\": ", why);
}

void RunTally::measure_frame() {
  measure_memory();
  measure_contacts();
  measure_holds();
  measure_limits();
  const auto add = [this]<class Part>(Part FrameMetrics::*part) {
    Part all{};  // of all garments at this frame
    for (const FrameMetrics& metrics : since_frame) add_by_rule(Further::garment, metrics.*part, all);
    add_by_rule(Further::step, all, summary.overall.*part);
  };
  add(&FrameMetrics::contacts), add(&FrameMetrics::holds);
  add(&FrameMetrics::measures), add(&FrameMetrics::energy);
}

void RunTally::measure_contacts() {
  std::vector<std::string> names;
  for (const Obstacle& obstacle : scene_.obstacles) names.push_back(obstacle.name);
  for (const RigidBody& body : scene_.bodies) names.push_back(body.name);
  if (names.empty()) return;
  std::vector<Vec3d> forces(names.size());
  std::vector<ContactMeasures> contacts = simulation_.contacts();
  Index friction_count = 0, sticking = 0;
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const ContactMeasures& found = since_frame[g].contacts = std::move(contacts[g]);
    friction_count += found.rubbing;
    sticking += found.sticking;
    summary.contact_force_max = std::max(summary.contact_force_max, norm(found.force));
    for (std::size_t o = 0; o < forces.size(); ++o) forces[o] += found.forces[o];
  }
  for (std::size_t o = 0; o < forces.size(); ++o) summary.contact_force[names[o]] = norm(forces[o]);
  const std::vector<BodyState> bodies = simulation_.bodies();
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const RigidBody& body = scene_.bodies[b];
    const PackedPose packed = packed_pose(shape_pose(bodies[b].pose, mass_properties(body.shape)));
    summary.body_poses[body.name] = {packed.begin(), packed.end()};
  }
  summary.friction_stick_fraction =
      friction_count > 0 ? static_cast<double>(sticking) / static_cast<double>(friction_count) : 0;
}

/// Frames at which limits gave way (kernels/tensors/row_laws.hpp): by design an edge is within a tenth of its
/// own, an element within what its rows let through (engine/rows/principal_limits.hpp).
void RunTally::measure_limits() {
  of_edges_.is_new_frame = of_elements_.is_new_frame = true;
  std::vector<std::vector<Vec3d>> positions;  // of all garments, where one is asked for
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const Garment& garment = scene_.garments[g];
    const double limit = garment.fabric.strain_limit, principal = garment.fabric.principal_strain_limit;
    const Strain& strain = since_frame[g].steps.strain;
    if (principal > 0 && strain.stretch_max > 1.5 * principal)
      of_elements_.add(g, strain.stretch_max, principal);
    if (!(limit > 0) || strain.max <= 1.2 * limit) continue;
    double worst = 0;  // in tension
    if (positions.empty()) positions = simulation_.positions();
    const std::vector<Vec3d>& x = positions[g];
    for (const auto& [a, b] : build_topology(garment.mesh).edges)
      worst = std::max(worst,
                       norm(x[b] - x[a]) / norm(garment.mesh.positions[b] - garment.mesh.positions[a]) - 1);
    if (worst > 1.2 * limit) of_edges_.add(g, worst, limit);
  }
}

void RunTally::Overload::add(std::size_t garment, double found, double bound) {
  frames += std::exchange(is_new_frame, false);
  garments.insert(garment);
  if (limit > 0 && found / bound <= strain / limit) return;
  worst = garment;
  strain = found;
  limit = bound;
}

void RunTally::note_overloads() {
  note_overload(of_edges_, "edges", "strain_limit");
  note_overload(of_elements_, "elements", "principal_strain_limit");
}

void RunTally::note_overload(const Overload& found, const char* what, const char* key) {
  if (found.frames == 0) return;
  std::string line =
      text(scene_.garments[found.worst].name, ": ", what, " grew by ", rounded(100 * found.strain),
           " %, fabric.", key, " is ", rounded(100 * found.limit), " % (at ", found.frames, " frames");
  if (found.garments.size() > 1) line += text(", with ", found.garments.size() - 1, " garments more");
  line += "): a step or a pull that it cannot hold; use a smaller step, pull or lade it less, or allow more";
  summary.message += (summary.message.empty() ? "" : "; ") + line;
}

void RunTally::measure_holds() {
  if (std::all_of(scene_.garments.begin(), scene_.garments.end(),
                  [](const Garment& garment) { return garment.grippers.empty(); }))
    return;
  std::vector<HoldMeasures> holds = simulation_.holds();
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const std::vector<Gripper>& grippers = scene_.garments[g].grippers;
    if (grippers.empty()) continue;
    const HoldMeasures& found = since_frame[g].holds = std::move(holds[g]);
    for (std::size_t i = 0; i < grippers.size(); ++i) {
      double& most = summary.gripper_force_max[grippers[i].name];
      most = std::max(most, norm(found.forces[i]));
    }
  }
}

std::vector<std::string> RunTally::eased_garments() const {
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < scene_.garments.size() && eases_out(scene_); ++g) {
    const double end = scene_.garments[g].time_offset + scene_.contact.initial_penetration_time,
                 depth = simulation_.start_penetration(g);
    if (depth > scene_.contact.tolerance)
      lines.push_back(text("garments[", g, "] \"", scene_.garments[g].name, "\" starts up to ", depth,
                           " m inside of obstacles and is eased out until t = ", end,
                           " s (contact.initial_penetration_time)"));
  }
  return lines;
}

std::vector<std::string> RunTally::coarse_garments() const {
  constexpr double most_share = 0.05;
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const Measures& m = since_frame[g].measures;
    const double share = m.hourglass_energy / (m.elastic_energy + m.bending_energy);
    const double rounding = 1e-9 * (std::fabs(m.potential_energy) + m.kinetic_energy);
    if (share > most_share && m.hourglass_energy > rounding)
      lines.push_back(
          text("garments[", g, "] \"", scene_.garments[g].name, "\": at the end ", rounded(100 * share),
               " % of the elastic energy is in differences of strain within pairs of triangles, "
               "expected at most ",
               100 * most_share, " %: folds are tighter than elements can follow; refine the mesh"));
  }
  return lines;
}

std::vector<std::string> RunTally::energy_errors() const {
  constexpr double most_share = 0.01;
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const EnergySums& e = since_frame[g].energy;
    const double error = std::fabs(e.error_rows) + std::fabs(e.energy_error);
    if (error > most_share * e.energy_scale)
      lines.push_back(text("garments[", g, "] \"", scene_.garments[g].name,
                           "\": the balance of energy misses ", rounded(100 * error / e.energy_scale),
                           " % of what was turned over (rows ", rounded(e.error_rows), " J, forces ",
                           rounded(e.energy_error), " J), expected at most ", 100 * most_share,
                           " %: set projection.force_tolerance, 0.01, and where rows put it in a smaller "
                           "projection.tolerance"));
  }
  return lines;
}

std::vector<std::string> RunTally::idle_grippers() const {
  std::vector<std::string> lines;
  const auto is_said = [this](const std::string& which) {
    return std::any_of(summary.warnings.begin(), summary.warnings.end(),
                       [&](const std::string& said) { return said.find(which) != std::string::npos; });
  };
  for (const auto& [name, force] : summary.gripper_force_max)
    if (const std::string which = text("gripper \"", name, "\""); !(force > 0) && !is_said(which))
      lines.push_back(which + " held nothing at any frame");
  return lines;
}

void RunTally::count_garments(const std::vector<StepStatus>& worst_before) {
  std::vector<std::string> stalled, open, unbuttoned;
  std::int64_t frozen = 0;
  double widest = 0, widest_button = 0;  // [m]
  std::size_t most_open = 0;
  for (std::size_t g = 0; g < since_frame.size(); ++g) {
    const StepStatus worst = std::max(worst_before[g], since_frame[g].steps.status);
    const Garment& garment = scene_.garments[g];
    if (!garment.mesh.stitches.empty() || !garment.mesh.buttons.empty()) {
      const SewnOpenings openings = sewn_openings(garment.mesh, simulation_.positions(g));
      widest_button = std::max(widest_button, openings.button);
      if (openings.seam > closed_opening(garment.mesh)) {
        open.push_back(garment.name);
        if (openings.seam > widest) most_open = g;
        widest = std::max(widest, openings.seam);
      }
      if (openings.button > closed_opening(garment.mesh)) unbuttoned.push_back(garment.name);
    }
    if (simulation_.frozen(g))
      ++frozen;
    else if (worst > StepStatus::cut)
      stalled.push_back(scene_.garments[g].name);
  }
  summary.garments_frozen = frozen;
  summary.garments_stalled = static_cast<std::int64_t>(stalled.size());
  if (summary.status != "completed") return note_overloads();
  const auto list = [](const std::vector<std::string>& names, const char* what) {
    constexpr std::size_t most = 3;
    if (names.empty()) return std::string();
    std::string line = text(names.size(), what);
    for (std::size_t i = 0; i < std::min(most, names.size()); ++i) line += (i == 0 ? "" : ", ") + names[i];
    return line + (names.size() > most ? ", ..." : "");
  };
  const std::string of_frozen =
      list(summary.frozen, " garments frozen in the state before a step that was lost: ");
  const std::string of_stalled = list(stalled, " garments missed their tolerance: ");
  const auto add = [this](const std::string& what) {
    if (!what.empty()) summary.message += (summary.message.empty() ? "" : "; ") + what;
  };
  summary.message.clear();
  add(of_frozen);
  add(of_stalled);
  if (!open.empty())
    add(list(open, " garments have seams that did not close: ") +
        text(", by up to ", widest, " m (", open.size() > 1 ? scene_.garments[most_open].name + ": " : "",
             open_seams(most_open),
             "); a larger sewing.force draws harder, a longer run longer, a larger sewing.stiffness holds "
             "closer what pulls itself apart"));
  if (!unbuttoned.empty())
    add(list(unbuttoned, " garments have buttons that did not close: ") +
        text(", by up to ", widest_button,
             " m; a larger force of the button draws harder, a larger stiffness holds closer"));
  note_overloads();
  const StepReport& steps = summary.overall.steps;
  if (steps.eased_depth > scene_.contact.tolerance)
    add(text("what started inside of obstacles is still up to ", steps.eased_depth,
             " m deep; a run longer than contact.initial_penetration_time, ",
             scene_.contact.initial_penetration_time, " s, ends with it outside"));
  if (least_room_ < 1)
    add(text("cloth was overpressed: obstacles left it ", rounded(100 * std::max(least_room_, 0.0)),
             " % of its core, at up to ", rounded(1e-6 * overpressure_),
             " MPa, where it is as stiff as its fibres; leave it more room"));
  if (steps.blocked > 0)
    add(text("pins, grippers or driven garments were stopped ", steps.blocked,
             " times, because they would have driven cloth through cloth that is held itself: change their "
             "motions"));
  if (const std::int64_t others = steps.held_back - steps.blocked; others > 0)
    add(text("nodes were held back ", others,
             " times, because cloth would have passed through cloth: use a smaller step, or "
             "projection.max_substeps ",
             more_parts(summary.overall.substeps_max)));
  if (steps.cut > 0)
    add(text(steps.cut, " steps of garments were cut by projection.budget: residual up to ",
             rounded(steps.residual), ", strain of threads ", rounded(100 * steps.strain.thread_max),
             " %, forces on nodes unbalanced by up to ", rounded(steps.imbalance), " of their weight"));
  if (steps.fallbacks > 0) add(text(steps.fallbacks, " parts of steps fell back on sweeps"));
}

}  // namespace isocloth
