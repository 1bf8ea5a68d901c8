// What a running scene can be told between its steps. Solvers keep references to the scene and ask it anew
// for every launch, so that a command is a change of the scene.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "engine/core/checks.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/model/recipe_checks.hpp"
#include "host/simulation/simulation_members.hpp"

namespace isocloth {
namespace {

std::string key_of(std::size_t garment) { return text("garments[", garment, "]"); }

}  // namespace

void Simulation::set_body_velocity(std::size_t body, const Vec3d& velocity, const Vec3d& angular_velocity) {
  members().require_idle("set_body_velocity");
  const Scene& scene = members().scene;
  check_index(body, scene.bodies.size(), "body");
  const std::string key = text("bodies[", body, "]");
  if (scene.bodies[body].is_external)
    refuse(key + ".velocity", "that of an external body",
           "one that its mass moves; set_external_motion has these");
  require_finite(key + ".velocity", velocity);
  require_finite(key + ".angular_velocity", angular_velocity);
  std::vector<BodyState> states = bodies();
  BodyState& own = states[body];
  own.velocity = velocity;
  own.angular_momentum = angular_momentum(scene.bodies[body], mass_properties(scene.bodies[body].shape),
                                          own.pose.axes, angular_velocity);
  set_bodies(states);
}

void Simulation::set_wind(const Wind& wind) {
  members().require_idle("set_wind");
  validate_wind(wind, "wind");
  const Wind& before = members().scene.wind;
  const auto require_same = [](const char* key, bool same) {
    if (!same) refuse(key, "another than at the start", "the same as at the start; make a new simulation");
  };
  require_same("wind.model", wind.model == before.model);
  if (wind.model == WindModel::panels) {
    require_same("wind.density", wind.density == before.density);
    require_same("wind.permeability", wind.permeability == before.permeability);
    require_same("wind.wake_rows", wind.wake_rows == before.wake_rows);
  }
  members().scene.wind = wind;
  for (const auto& solver : members().solvers.solvers) solver->wake();
}

void Simulation::set_gravity(std::size_t garment, double gravity) {
  members().require_idle("set_gravity");
  check_index(garment, garment_count());
  require_finite(key_of(garment) + ".gravity", gravity);
  members().scene.garments[garment].gravity = gravity;
  members().refresh({garment});
}

void Simulation::Members::refresh(const std::vector<std::size_t>& garments) {
  std::map<std::size_t, std::vector<std::size_t>> members_of;  // of each solver
  for (const std::size_t g : garments)
    members_of[solvers.members[g].solver].push_back(solvers.members[g].member);
  for (const auto& [solver, changed] : members_of) solvers.solvers[solver]->refresh_members(changed);
}

bool Simulation::Members::has_changing_numbers() const {
  return std::ranges::any_of(scene.keyframes, [&](const Keyframes& keyframes) {
    constexpr double rounding = 1e-6;  // of a step, as in Keyframes::at()
    const double last = keyframes.values.times.back() - rounding * scene.step;
    const auto is_before_last = [last](double t) { return t < last; };
    if (keyframes.garments.empty()) return is_before_last(static_cast<double>(step_index) * scene.step);
    return std::ranges::any_of(keyframes.garments, [&](std::size_t g) {
      return is_before_last(scene.garments[g].time_offset + static_cast<double>(clocks[g]) * scene.step);
    });
  });
}

void Simulation::follow_keyframes() {
  Members& m = members();
  if (m.scene.keyframes.empty()) return;
  m.require_idle("follow_keyframes");
  std::set<std::size_t> changed;
  bool rubs_otherwise = false, cloth_rubs_otherwise = false;
  for (std::size_t k = 0; k < m.scene.keyframes.size(); ++k) {
    const Keyframes& keyframes = m.scene.keyframes[k];
    const auto follow = [&](std::size_t i, double t) {
      const double value = keyframes.at(t, m.scene.step);
      return std::exchange(*m.keyed_numbers[k][i], value) != value;
    };
    for (std::size_t i = 0; i < keyframes.garments.size(); ++i)
      if (follow(i, time(keyframes.garments[i]))) changed.insert(keyframes.garments[i]);
    if (!keyframes.garments.empty() || !follow(0, time())) continue;
    rubs_otherwise = rubs_otherwise || keyframes.obstacle != Keyframes::none;
    cloth_rubs_otherwise = cloth_rubs_otherwise || keyframes.number.starts_with("contact.");
    if (keyframes.number != "gravity") continue;
    for (std::size_t g = 0; g < garment_count(); ++g)
      if (!m.scene.garments[g].gravity) changed.insert(g);
  }
  m.refresh({changed.begin(), changed.end()});
  if (rubs_otherwise) m.solvers.refresh_obstacles();
  if (cloth_rubs_otherwise)
    for (const auto& solver : m.solvers.solvers) solver->refresh_cloth_friction();
}

/// Takes note of what a program says of a zipper or drawstring.
static void tell(std::vector<ToldShare>& told, std::size_t number, double share) {
  const auto at = std::ranges::lower_bound(told, static_cast<Index>(number), {}, &ToldShare::number);
  if (at != told.end() && at->number == static_cast<Index>(number))
    at->share = share;
  else
    told.insert(at, {static_cast<Index>(number), share});
}

void Simulation::set_zipper(std::size_t garment, std::size_t zipper, double closed) {
  members().require_idle("set_zipper");
  check_index(garment, garment_count());
  std::vector<Zipper>& zippers = members().scene.garments[garment].zippers;
  const std::string key = text(key_of(garment), ".zippers[", zipper, "]");
  if (zipper >= zippers.size()) refuse(key, "none", text("one of ", zippers.size(), " zippers"));
  require_finite(key + ".closed", closed);
  zippers[zipper].closed = {{0}, {closed}};
  tell(members().fasteners[garment].zippers, zipper, closed);
}

void Simulation::set_drawstring(std::size_t garment, std::size_t drawstring, double share) {
  members().require_idle("set_drawstring");
  check_index(garment, garment_count());
  std::vector<Drawstring>& strings = members().scene.garments[garment].drawstrings;
  const std::string key = text(key_of(garment), ".drawstrings[", drawstring, "]");
  if (drawstring >= strings.size()) refuse(key, "none", text("one of ", strings.size(), " drawstrings"));
  require_positive(key + ".share", share);
  strings[drawstring].share = {{0}, {share}};
  tell(members().fasteners[garment].drawstrings, drawstring, share);
}

void Simulation::set_forces(std::size_t garment, ArrayView<const Vec3d> forces) {
  members().require_idle("set_forces");
  check_index(garment, garment_count());
  Scene& scene = members().scene;
  Garment& own = scene.garments[garment];
  std::vector<Vec3d> values(forces.begin(), forces.end());
  validate_forces(key_of(garment) + ".forces", values, own.mesh.positions.size(), scene);
  const bool was_surrounded = has_surroundings(scene);
  std::swap(own.forces, values);
  std::vector<ForceSlope> slopes = std::exchange(own.force_slopes, {});
  // Solvers read forces anew in every step, but must have room for them.
  if (was_surrounded == has_surroundings(scene)) return;
  try {
    for (const auto& solver : members().solvers.solvers) solver->refresh();
  } catch (...) {
    own.forces = values;
    own.force_slopes = std::move(slopes);
    throw;
  }
}

void Simulation::set_fabric(std::size_t garment, const Fabric& fabric) { set_fabrics({garment}, {fabric}); }

void Simulation::set_fabrics(const std::vector<std::size_t>& garments, const std::vector<Fabric>& fabrics) {
  members().require_idle("set_fabrics");
  if (fabrics.size() != garments.size())
    throw ShapeError(
        text("fabrics: found ", fabrics.size(), ", expected ", garments.size(), ", one for each garment"));
  check_indices(garments, garment_count());
  for (std::size_t i = 0; i < garments.size(); ++i) {
    const std::string key = key_of(garments[i]) + ".fabric";
    validate_fabric(key, fabrics[i]);
    check_same_terms(key, fabrics[i], members().scene.garments[garments[i]].fabric);
  }
  std::vector<Fabric> before;
  for (std::size_t i = 0; i < garments.size(); ++i)
    before.push_back(std::exchange(members().scene.garments[garments[i]].fabric, fabrics[i]));
  const Scene& scene = members().scene;
  try {
    for (const std::size_t g : garments)
      check_recipe_of(key_of(g), scene.garments[g], members().resolved.recipe);
    members().refresh(garments);
  } catch (...) {
    for (std::size_t i = garments.size(); i-- > 0;) members().scene.garments[garments[i]].fabric = before[i];
    members().refresh(garments);
    throw;
  }
}

const std::vector<Steering>& Simulation::steering() const { return members().steering; }

void Simulation::take_commands(const Scene& said, const std::vector<Steering>& steering) {
  Members& m = members();
  m.require_idle("take_commands");
  Scene& scene = m.scene;
  bool fits = said.garments.size() == garment_count() && steering.size() == garment_count() &&
              said.obstacles.size() == scene.obstacles.size();
  for (std::size_t g = 0; fits && g < garment_count(); ++g)
    fits = said.garments[g].pins.size() == scene.garments[g].pins.size() &&
           said.garments[g].grippers.size() == scene.garments[g].grippers.size();
  if (!fits) throw ShapeError("commands: found those of another scene, expected those of the same");
  std::vector<std::size_t> changed;
  std::vector<Fabric> fabrics;
  for (std::size_t g = 0; g < garment_count(); ++g) {
    if (alike(said.garments[g].fabric, scene.garments[g].fabric)) continue;
    changed.push_back(g);
    fabrics.push_back(said.garments[g].fabric);
  }
  if (!changed.empty()) set_fabrics(changed, fabrics);
  for (std::size_t g = 0; g < garment_count(); ++g) {
    const Garment& other = said.garments[g];
    Garment& own = scene.garments[g];
    if (other.gravity != own.gravity) set_gravity(g, other.gravity.value_or(scene.gravity));
    if (other.forces != own.forces) set_forces(g, other.forces);
    for (std::size_t p = 0; p < own.pins.size(); ++p) {
      validate_motion(text(key_of(g), ".pins[", p, "].motion"), other.pins[p].motion,
                      own.pins[p].nodes.size());
      own.pins[p].motion = other.pins[p].motion;
      own.pins[p].ramp = other.pins[p].ramp;
    }
    for (std::size_t n = 0; n < own.grippers.size(); ++n) {
      own.grippers[n].motion = other.grippers[n].motion;
      own.grippers[n].holds = other.grippers[n].holds;
    }
  }
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    scene.obstacles[o].motion = said.obstacles[o].motion;
    scene.obstacles[o].is_steered = said.obstacles[o].is_steered;
    scene.obstacles[o].world_motions = said.obstacles[o].world_motions;
  }
  scene.contact.pairs = said.contact.pairs;
  scene.contact.cloth_friction = said.contact.cloth_friction;
  set_wind(said.wind);
  m.steering = steering;
  for (const auto& solver : m.solvers.solvers) {
    solver->refresh_motions();
    solver->refresh_cloth_friction();
  }
  if (m.solvers.refresh_obstacles) m.solvers.refresh_obstacles();
}

Snapshot Simulation::snapshot() const {
  return {.garments = members().states(),
          .bodies = bodies(),
          .step_index = step_index(),
          .scene = members().digest};
}

void Simulation::restore(const Snapshot& snapshot) {
  members().require_idle("restore");
  if (snapshot.scene != 0 && snapshot.scene != members().digest)
    throw ShapeError(
        "snapshot: found that of another scene, expected one with these rest shapes, recipe, obstacles and "
        "bodies");
  if (snapshot.garments.size() != garment_count())
    throw ShapeError(
        text("snapshot: found ", snapshot.garments.size(), " garments, expected ", garment_count()));
  for (std::size_t g = 0; g < garment_count(); ++g) members().check(g, snapshot.garments[g]);
  set_bodies(snapshot.bodies);
  members().put(members().all_garments(), snapshot.garments);
  set_step_index(snapshot.step_index);
}

}  // namespace isocloth
