#include "host/simulation/simulation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/digest.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/model/scene_intersections.hpp"
#include "host/orchestrator/advance.hpp"
#include "host/orchestrator/separate_cloths.hpp"
#include "host/simulation/simulation_members.hpp"
#include "host/solver/step_sums.hpp"

namespace isocloth {

/// Digest of what states of a scene belong to, see Snapshot::scene.
static std::uint64_t state_digest(const Scene& scene) {
  Digest digest;
  const auto add_bytes = [&digest](const auto& values) {
    digest.add(
        std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof values[0]));
  };
  digest.add(scene.recipe);
  for (const Garment& garment : scene.garments) {
    add_bytes(garment.mesh.positions);
    add_bytes(garment.mesh.face_begin);
    add_bytes(garment.mesh.face_nodes);
  }
  for (const Obstacle& obstacle : scene.obstacles) digest.add(obstacle.name);
  for (const RigidBody& body : scene.bodies) digest.add(body.name);
  return std::max<std::uint64_t>(digest.value(), 1);
}

Simulation::Simulation(Scene scene, ExecutionOptions options) {
  require_enum("precision", options.precision, Precision::float64);
  require_enum("solver", options.solver, StepSolver::iterative);
  validate_scene(scene);
  std::optional<IntersectionReport> found = require_intersection_free(scene);
  const Separation separation = separate_cloths(scene);
  members_ = std::make_unique<Members>(std::move(scene), std::move(options));
  Members& m = members();
  m.separation = separation;
  m.found_at_start = std::move(found);
  m.solvers = make_garment_solvers(m.device, m.options.precision, m.resolved, m.options.solver);
  m.clocks.assign(m.scene.garments.size(), 0);
  m.frozen.assign(m.scene.garments.size(), 0);
  m.steering.resize(m.scene.garments.size());
  m.fasteners.resize(m.scene.garments.size());
  for (const Garment& garment : m.scene.garments) m.said_fasteners.emplace_back(garment);
  m.make_sheets();
  m.keep_start(*this);
  m.start_bodies = bodies();
  m.options.threads = m.device.threads();
  m.digest = state_digest(m.scene);
  for (const Keyframes& keyframes : m.scene.keyframes) {
    std::vector<double*>& numbers = m.keyed_numbers.emplace_back();
    for (const std::size_t g : keyframes.garments) numbers.push_back(&number_of(keyframes, g, m.scene));
    if (numbers.empty()) numbers.push_back(&number_of(keyframes, 0, m.scene));
  }
  follow_keyframes();
}

Simulation::Members& Simulation::members() const {
  if (!members_)
    throw ShapeError("simulation: found one that was moved from, expected the one that it was moved to");
  return *members_;
}

Simulation::~Simulation() = default;
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

std::vector<AdvanceReport> Simulation::Members::advance_solvers(int steps) {
  std::vector<AdvanceReport> reports(solvers.members.size());
  std::vector<std::vector<Clock>> starts(solvers.solvers.size());
  follow_clocks();
  for (std::size_t g = 0; g < reports.size(); ++g)
    starts[solvers.members[g].solver].push_back(
        {.offset = scene.garments[g].time_offset, .steps = clocks[g], .lead = lead(g)});
  StrainCheck check{.measures = options.measure_strain, .tearing = {}};
  if (check.measures) check.tearing.resize(solvers.solvers.size());
  for (std::size_t g = 0; check.measures && g < reports.size(); ++g)
    check.tearing[solvers.members[g].solver].push_back(tearing_of(resolved, scene.garments[g]));
  std::vector<std::vector<AdvanceReport>> found;
  const auto take_over = [&] {
    for (std::size_t g = 0; g < reports.size(); ++g) {
      AdvanceReport& own = found[solvers.members[g].solver][solvers.members[g].member];
      clocks[g] += own.steps;
      frozen[g] = frozen[g] != 0 || has_failed(own.total.status);
      reports[g] = std::move(own);
    }
  };
  int done = 0;
  try {
    advance_together(solvers.solvers, starts, scene.step, steps, device, check, found, done);
  } catch (...) {
    take_over();
    step_index += done;
    throw;
  }
  take_over();
  step_index += steps;
  return reports;
}

void Simulation::Members::drive_fasteners() {
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Garment& own = scene.garments[g];
    const double end = own.time_offset + static_cast<double>(clocks[g] + 1) * scene.step;
    if (frozen[g] == 0 && set_fasteners(own.zippers, own.drawstrings, end, own.mesh)) refresh({g});
    if (frozen[g] != 0 || !lets_go(own)) continue;
    const GarmentState state = at(g, [](GarmentSolver& solver, std::size_t i) { return solver.state(i); });
    for (std::size_t i = 0; i < own.force_slopes.size(); ++i) {
      ForceSlope& slope = own.force_slopes[i];
      if (slope.strength == 0) continue;
      const Vec3d way =
          Vec3d{state.positions[3 * i], state.positions[3 * i + 1], state.positions[3 * i + 2]} -
          slope.position;
      const auto& [xx, xy, xz, yy, yz, zz] = slope.stiffness;
      const Vec3d pull{xx * way.x + xy * way.y + xz * way.z, xy * way.x + yy * way.y + yz * way.z,
                       xz * way.x + yz * way.y + zz * way.z};
      if (!(norm(pull) > slope.strength)) continue;
      slope = {};
      std::vector<Index>& released = fasteners[g].released;
      released.insert(std::ranges::upper_bound(released, static_cast<Index>(i)), static_cast<Index>(i));
    }
  }
}

Simulation::Members::SaidFasteners::SaidFasteners(const Garment& garment) {
  for (const Zipper& zipper : garment.zippers) zippers.push_back(zipper.closed);
  for (const Drawstring& string : garment.drawstrings) drawstrings.push_back(string.share);
  if (lets_go(garment)) slopes = garment.force_slopes;
}

void Simulation::Members::put(std::size_t garment, const FastenerState& state) {
  const SaidFasteners& said = said_fasteners[garment];
  Garment& own = scene.garments[garment];
  const auto tell = [](auto& all, auto member, const std::vector<DrivenNumber>& motions,
                       const std::vector<ToldShare>& told) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].*member = motions[i];
    for (const ToldShare& one : told) all[static_cast<std::size_t>(one.number)].*member = {{0}, {one.share}};
  };
  tell(own.zippers, &Zipper::closed, said.zippers, state.zippers);
  tell(own.drawstrings, &Drawstring::share, said.drawstrings, state.drawstrings);
  if (!own.force_slopes.empty() && !said.slopes.empty()) {  // a program's forces have not taken their place
    own.force_slopes = said.slopes;
    for (const Index node : state.released) own.force_slopes[static_cast<std::size_t>(node)] = {};
  }
  fasteners[garment] = state;
}

std::vector<StepReport> Simulation::advance(int steps) {
  require_step_count(steps);
  Members& m = members();
  m.require_idle("advance");
  m.asked.clear();
  m.has_kept = false;
  follow_keyframes();
  std::vector<StepReport> reports = m.is_busy() ? add_up_steps(steps, garment_count(),
                                                               [&m, this] {
                                                                 follow_keyframes();
                                                                 m.drive_fasteners();
                                                                 return m.is_asked_for_loads()
                                                                            ? m.step_with_loads()
                                                                            : totals_of(m.advance_solvers(1));
                                                               })
                                                : totals_of(m.advance_solvers(steps));
  m.has_kept = m.keeps_steps && steps == 1;
  return reports;
}

int Simulation::most_steps_at_once() const {
  const Members& m = members();
  if (!m.options.measure_strain || m.is_busy() || m.keeps_steps) return 1;
  return std::max(1, most_measured_steps(m.solvers.solvers));
}

std::vector<AdvanceReport> Simulation::advance_at_once(int steps) {
  if (steps < 1 || steps > most_steps_at_once())
    throw ShapeError(
        text("steps: found ", steps, ", expected 1 to most_steps_at_once(), ", most_steps_at_once()));
  Members& m = members();
  if (steps > 1) {
    m.require_idle("advance_at_once");
    m.asked.clear();
    follow_keyframes();
    return m.advance_solvers(steps);
  }
  std::vector<AdvanceReport> reports;
  for (const StepReport& own : step()) {
    AdvanceReport& report = reports.emplace_back();
    report.total = own;
    report.steps = has_failed(own.status) ? 0 : 1;
    report.iterations_max = own.iterations;
    report.substeps_max = own.substeps;
  }
  return reports;
}

void Simulation::keep_step_records(bool are_kept) {
  members().keeps_steps = are_kept;
  for (const auto& solver : members().solvers.solvers) solver->keep_parts(are_kept);
}

std::vector<StepRecord> Simulation::take_step_records() {
  Members& m = members();
  if (!std::exchange(m.has_kept, false))
    throw ShapeError(
        "take_step_records: found no step that was kept, expected keep_step_records(true), advance(1) and "
        "then one call");
  std::vector<StepRecord> steps(garment_count());
  for (std::size_t g = 0; g < steps.size(); ++g) {
    if (g < m.asked.size()) steps[g].asked = m.asked[g];
    if (m.frozen[g] != 0) continue;
    steps[g].parts = m.at(g, [](GarmentSolver& solver, std::size_t i) { return solver.take_parts(i); });
    for (SubstepRecord& part : steps[g].parts) part.state.air.loads = m.air[g].loads;
    if (!steps[g].parts.empty()) continue;
    // Of a batch: the step is one part, or nobody knows.
    steps[g].parts.push_back(
        {.step = m.scene.step, .state = state(g), .cloth_forces = {}, .ccd_stopped_nodes = {}});
  }
  return steps;
}

std::vector<StepReport> Simulation::step() { return advance(1); }

const Scene& Simulation::scene() const { return members().scene; }
const ExecutionOptions& Simulation::options() const { return members().options; }
std::int64_t Simulation::step_index() const { return members().step_index; }
double Simulation::time() const { return static_cast<double>(members().step_index) * members().scene.step; }
GarmentInfo Simulation::info(std::size_t garment) const {
  return members().at(garment, [](GarmentSolver& solver, std::size_t i) { return solver.info(i); });
}
std::vector<Vec3d> Simulation::positions(std::size_t garment) const {
  return as_vectors(state(garment).positions);
}
std::vector<Vec3d> Simulation::velocities(std::size_t garment) const {
  return as_vectors(state(garment).velocities);
}
Measures Simulation::measure(std::size_t garment) const {
  return members().at(garment,
                      [](GarmentSolver& solver, std::size_t i) { return solver.measure(i, 1).front(); });
}
std::vector<Measures> Simulation::measure() const {
  return members().of_all([](GarmentSolver& solver) { return solver.measure(0, solver.size()); });
}
double Simulation::start_penetration(std::size_t garment) const {
  check_index(garment, garment_count());
  const std::vector<double>& depths = members().solvers.start_depths;
  return depths.empty() ? 0 : depths[garment];
}
const std::vector<std::string>& Simulation::obstacle_notes() const {
  return members().solvers.obstacle_notes;
}
const Separation& Simulation::separation() const { return members().separation; }
const IntersectionReport* Simulation::start_intersections() const {
  const Members& m = members();
  return m.found_at_start ? &*m.found_at_start : nullptr;
}
std::vector<Strain> Simulation::strains() const {
  return members().of_all([](GarmentSolver& solver) { return solver.strains(); });
}
std::vector<BodyState> Simulation::bodies() const { return members().solvers.solvers.front()->bodies(); }
void Simulation::Members::check(const std::vector<BodyState>& states) const {
  const std::size_t count = scene.bodies.size();
  if (states.size() != count)
    throw ShapeError("bodies: found " + std::to_string(states.size()) + ", expected " +
                     std::to_string(count));
  constexpr double rounding = 1e-9;
  for (std::size_t b = 0; b < count; ++b) {
    const auto& [x, y, z] = states[b].pose.axes;
    double error = norm(cross(x, y) - z);
    for (const Vec3d& axis : {x, y, z}) error = std::max(error, std::abs(norm(axis) - 1));
    if (find_beyond(states[b], std::numeric_limits<double>::max())) error = HUGE_VAL;
    if (!(error <= rounding))
      throw ShapeError(text("bodies[", b, "]: found ",
                            std::isfinite(error) ? text("axes off by ", error) : "a state that is not finite",
                            ", expected finite numbers and axes that are orthonormal to ", rounding));
  }
}
void Simulation::set_bodies(const std::vector<BodyState>& states) {
  members().require_idle("set_bodies");
  members().check(states);
  members().solvers.solvers.front()->set_bodies(states);
}
std::size_t Simulation::garment_count() const { return members().solvers.members.size(); }
double Simulation::time(std::size_t garment) const {
  check_index(garment, garment_count());
  return members().scene.garments[garment].time_offset +
         static_cast<double>(members().clocks[garment]) * members().scene.step;
}
bool Simulation::frozen(std::size_t garment) const {
  check_index(garment, garment_count());
  return members().frozen[garment] != 0;
}
GarmentState Simulation::state(std::size_t garment) const {
  GarmentState state =
      members().at(garment, [](GarmentSolver& solver, std::size_t i) { return solver.state(i); });
  state.step_index = members().clocks[garment];
  state.air = members().air[garment];
  state.fasteners = members().fasteners[garment];
  return state;
}

std::vector<GarmentState> Simulation::Members::states() const {
  std::vector<GarmentState> all = of_all([](GarmentSolver& solver) { return solver.states(); });
  for (std::size_t g = 0; g < all.size(); ++g) {
    all[g].step_index = clocks[g];
    all[g].air = air[g];
    all[g].fasteners = fasteners[g];
  }
  return all;
}

void Simulation::Members::check(std::size_t garment, const GarmentState& state) const {
  at(garment, [&](GarmentSolver& solver, std::size_t i) { solver.check(i, state); });
  if (const auto& sheet = sheets[garment])
    sheet->check(state.air);
  else if (state.air != AirState{})
    throw ShapeError("air: found a state of it, expected none: wind.model is not \"panels\"");
  const auto check_told = [](const char* what, const std::vector<ToldShare>& told, std::size_t count) {
    for (const ToldShare& one : told)
      if (one.number < 0 || static_cast<std::size_t>(one.number) >= count)
        throw ShapeError(
            text("fasteners.", what, ": found number ", one.number, ", expected one of ", count));
  };
  check_told("zippers", state.fasteners.zippers, scene.garments[garment].zippers.size());
  check_told("drawstrings", state.fasteners.drawstrings, scene.garments[garment].drawstrings.size());
  for (const ToldShare& one : state.fasteners.drawstrings)
    require_positive("fasteners.drawstrings", one.share);
  const std::size_t soft = said_fasteners[garment].slopes.size();
  for (const Index node : state.fasteners.released)
    if (node < 0 || static_cast<std::size_t>(node) >= soft)
      throw ShapeError(text("fasteners.released: found node ", node, ", expected one of ", soft,
                            " that soft pins hold which let go"));
}
void Simulation::Members::put(const std::vector<std::size_t>& garments,
                              ArrayView<const GarmentState> states) {
  std::vector<const GarmentState*> places;
  for (const GarmentState& state : states) places.push_back(&state);
  put(garments, places);
}
void Simulation::Members::put(const std::vector<std::size_t>& garments,
                              const std::vector<const GarmentState*>& states) {
  std::vector<std::vector<MemberState>> of_solvers(solvers.solvers.size());
  for (std::size_t i = 0; i < garments.size(); ++i) {
    const auto [solver, member] = solvers.members[garments[i]];
    of_solvers[solver].push_back({.member = member, .state = states[i]});
  }
  for (std::size_t s = 0; s < of_solvers.size(); ++s)
    if (!of_solvers[s].empty()) solvers.solvers[s]->set_states(of_solvers[s]);
  for (std::size_t i = 0; i < garments.size(); ++i) {
    air[garments[i]] = states[i]->air;
    put(garments[i], states[i]->fasteners);
    frozen[garments[i]] = states[i]->frozen;
    clocks[garments[i]] = states[i]->step_index;
  }
}

/// Whether two garments of one solver start in the same state.
static bool start_alike(const Garment& a, const Garment& b) {
  return alike(a.mesh, b.mesh) && a.initial_positions == b.initial_positions &&
         a.initial_velocities == b.initial_velocities && a.time_offset == b.time_offset &&
         a.grippers.size() == b.grippers.size() && alike(a.fabric, b.fabric);
}
void Simulation::Members::keep_start(const Simulation& simulation) {
  std::vector<std::size_t> firsts;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const bool is_replica = g > 0 && solvers.members[g].solver == solvers.members[g - 1].solver &&
                            start_alike(scene.garments[g], scene.garments[g - 1]);
    if (!is_replica) firsts.push_back(g);
    start_of.push_back(firsts.size() - 1);
  }
  if (firsts.size() == scene.garments.size())
    start = states();  // at once
  else
    for (const std::size_t g : firsts) start.push_back(simulation.state(g));
}
void Simulation::Members::put_start(const std::vector<std::size_t>& garments) {
  std::vector<const GarmentState*> places;
  for (const std::size_t g : garments) places.push_back(&start[start_of[g]]);
  put(garments, places);
}
void Simulation::set_state(std::size_t garment, const GarmentState& state) {
  members().require_idle("set_state");
  members().check(garment, state);
  members().put(garment, state);
  members().follow_clocks();
}
void Simulation::set_step_index(std::int64_t step_index) {
  members().require_idle("set_step_index");
  if (step_index < 0 || step_index > last_step_index)
    throw ShapeError(text("step_index: found ", step_index, ", expected 0 to ", last_step_index));
  members().step_index = step_index;
  members().follow_clocks();
}

void Simulation::reset() {
  members().require_idle("reset");
  members().put_start(members().all_garments());
  members().solvers.solvers.front()->set_bodies(members().start_bodies);
  set_step_index(0);
}
void Simulation::reset(const std::vector<std::size_t>& garments) {
  members().require_idle("reset");
  for (const std::size_t g : garments) check_index(g, garment_count());
  members().put_start(garments);
  members().follow_clocks();
}

}  // namespace isocloth
