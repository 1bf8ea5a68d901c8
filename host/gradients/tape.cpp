#include "host/gradients/tape.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <optional>

#include "engine/core/checks.hpp"
#include "engine/core/flat_vectors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/surfaces.hpp"
#include "host/gradients/fabric_gradients.hpp"
#include "host/memory/device.hpp"
#include "host/projection/cloth_adjoint.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {
namespace {

using Nodes = std::vector<Vec3d>;

std::vector<double> numbers_of(const Scene& scene, Fabric fabric) {
  std::vector<double> values;
  for (const FabricDerivative& number : fabric_derivatives(find_recipe(scene.recipe), fabric))
    values.push_back(number.of(fabric));
  return values;
}

/// Without what forces on nodes keep of nothing but themselves.
GarmentState bare_state(const Simulation& simulation, std::size_t garment) {
  GarmentState state = simulation.state(garment);
  if (simulation.scene().obstacles.empty()) state.contacts.clear();
  if (simulation.scene().garments[garment].grippers.empty()) state.holds.clear();
  state.step_index = 0;
  return state;
}

/// Friction of a garment with each obstacle, static and dynamic, then of cloths.
std::vector<double> frictions_of(const Scene& scene, std::size_t garment) {
  std::vector<double> found;
  for (const Obstacle& obstacle : scene.obstacles) {
    found.push_back(obstacle.friction.static_);
    found.push_back(obstacle.friction.dynamic);
  }
  for (const FrictionPair& pair : scene.contact.pairs)
    if (pair.garment == garment && pair.obstacle < scene.obstacles.size()) {
      found[2 * pair.obstacle] = pair.friction.static_;
      found[2 * pair.obstacle + 1] = pair.friction.dynamic;
    }
  const auto add = [&found](const Friction& friction) {
    found.insert(found.end(), {friction.static_, friction.dynamic});
  };
  add(scene.contact.cloth_friction);
  for (const ClothFrictionPair& pair : scene.contact.cloth_pairs) add(pair.friction);
  return found;
}

/// Where solids are at two moments, pose_at(solid, moment).
template <class Solids, class PoseAt>
std::vector<SolidMotion> motions_of(const Solids& solids, const Moment& from, const Moment& to,
                                    const PoseAt& pose_at) {
  std::vector<SolidMotion> motions;
  for (const auto& solid : solids) motions.push_back({pose_at(solid, from), pose_at(solid, to)});
  return motions;
}

void add_poses(const std::vector<std::array<PoseGradient, 2>>& from, std::size_t step,
               std::vector<std::vector<PoseGradient>>& to) {
  for (std::size_t i = 0; i < from.size(); ++i)
    for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
      to[step + end][i].translation += from[i][end].translation;
      to[step + end][i].rotation += from[i][end].rotation;
    }
}

/// Of a garment alone: its friction is that of the obstacles.
void fold_friction(Scene& scene, std::size_t garment) {
  for (const FrictionPair& pair : scene.contact.pairs)
    if (pair.garment == garment) scene.obstacles[pair.obstacle].friction = pair.friction;
  scene.contact.pairs.clear();
  scene.contact.cloth_pairs.clear();
}

/// What functions of the program say of where the cloth is has derivatives that nobody knows.
void require_gradients(const Simulation& simulation) {
  require_known(methods::gradients, simulation.scene());
  if (simulation.options().precision != Precision::float64)
    refuse("precision", "float32", "float64 with gradients (Tape)");
  for (const std::string& name : simulation.forces())
    require_known(methods::gradients, Feature::program_forces, text("force \"", name, '"'),
                  "one of the program's own");
}

double dot_of(const Nodes& a, const Nodes& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += dot(a[i], b[i]);
  return sum;
}
void add(const Nodes& from, Nodes& to) {
  if (to.empty()) to.resize(from.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i] += from[i];
}
void add(const StateGradient& from, StateGradient& to) {
  add(from.positions, to.positions);
  add(from.velocities, to.velocities);
  add(from.holds, to.holds);
  if (to.contacts.empty()) to.contacts.resize(from.contacts.size());
  for (std::size_t c = 0; c < from.contacts.size(); ++c) {
    to.contacts[c].force += from.contacts[c].force;
    to.contacts[c].slip += from.contacts[c].slip;
  }
}

/// Of the state after step n of a loss; of the start no wrench is known.
void require_wrenches(const std::vector<Wrench>& wrenches, std::size_t obstacles, std::size_t n) {
  if (wrenches.empty()) return;
  if (wrenches.size() != obstacles || n == 0)
    throw ShapeError(
        text("loss[", n, "]: found ", wrenches.size(), " wrenches, expected ",
             n == 0 ? text("none at the start") : text(obstacles, ", one of each obstacle, or none")));
  for (const Wrench& by : wrenches)
    if (!std::isfinite(norm(by.force)) || !std::isfinite(norm(by.torque)))
      throw NumericalError(
          text("loss[", n, "]: found a gradient by a wrench that is not finite, expected finite ones"));
}

/// A loss of states with all that is empty in zeros. Throws ShapeError and NumericalError where it is none.
std::vector<StateGradient> complete(std::vector<StateGradient> loss, std::size_t nodes,
                                    std::size_t obstacles) {
  for (std::size_t n = 0; n < loss.size(); ++n) {
    require_wrenches(loss[n].wrenches, obstacles, n);
    if (!loss[n].contacts.empty() || !loss[n].holds.empty())
      throw ShapeError(text("loss[", n,
                            "]: found derivatives by what contacts and holds keep, expected none: "
                            "a loss is one of places, velocities and wrenches"));
    for (Nodes* part : {&loss[n].positions, &loss[n].velocities}) {
      if (part->empty()) part->resize(nodes);
      if (part->size() != nodes)
        throw ShapeError(text("loss[", n, "]: found ", part->size(), " nodes, expected ", nodes, " or none"));
      for (const Vec3d& by : *part)
        if (!std::isfinite(norm(by)))
          throw NumericalError(
              text("loss[", n, "]: found a gradient that is not finite, expected finite ones"));
    }
  }
  return loss;
}

/// A garment by itself, whose fabric may change.
struct Alone {
  Alone(const Device& device, Scene all, Garment own)
      : scene(std::move(all)),
        garment(std::move(own)),
        resolved(scene),
        obstacles(scene.obstacles.empty() ? nullptr
                                          : std::make_shared<ObstacleShapes<double>>(device, scene)),
        solver(device, garment, resolved, obstacles) {}
  Scene scene;
  Garment garment;
  ResolvedScene resolved;
  std::shared_ptr<const ObstacleShapes<double>> obstacles;
  ProjectionSolver<double> solver;
};

}  // namespace

Tape::Tape(Simulation& simulation) : simulation_(simulation) {
  const Scene& scene = simulation.scene();
  require_gradients(simulation);
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    fabrics_.push_back(scene.garments[g].fabric);
    gravities_.push_back(scene.garments[g].gravity.value_or(scene.gravity));
    frictions_.push_back(frictions_of(scene, g));
    states_.push_back({bare_state(simulation, g)});
  }
}

const GarmentState& Tape::state(std::size_t garment, std::size_t step) const {
  if (garment >= states_.size() || step > step_count())
    throw ShapeError(text("tape: found garment ", garment, " after step ", step, ", expected less than ",
                          states_.size(), " and at most ", step_count()));
  return states_[garment][step];
}
std::vector<Vec3d> Tape::positions(std::size_t garment, std::size_t step) const {
  return as_vectors(state(garment, step).positions);
}
std::vector<Vec3d> Tape::velocities(std::size_t garment, std::size_t step) const {
  return as_vectors(state(garment, step).velocities);
}

void Tape::stop_obstacles(Scene& scene, std::size_t garment) const {
  // What starts inside of an obstacle where that is not is no error.
  scene.contact.resolve_initial_penetration = true;
  scene.contact.initial_penetration_time = 0;
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    Obstacle& obstacle = scene.obstacles[o];
    obstacle.motion = FixedMotion{};
    obstacle.world_motions.clear();
    const Pose still = obstacle_pose(obstacle, 0);
    const bool moves = std::ranges::any_of(told_, [&](const auto& step) {
      const SolidMotion& motion = step[garment].obstacles[o];
      return !(motion[0] == still) || !(motion[1] == still);
    });
    if (moves)
      obstacle.motion = KeyframeMotion{.times = {0}, .translations = {}, .rotations = {}, .center = {}};
  }
}

std::vector<ContactChanges> Tape::contact_changes(std::size_t garment) const {
  state(garment, 0);
  std::vector<ContactChanges> all;
  const auto pushes = [](const ContactState& c) { return c.obstacle >= 0 && !(c.force == Vec3d{}); };
  const auto slides = [](const ContactState& c) {
    return c.mode == ContactMode::slide || c.mode == ContactMode::slide_on;
  };
  for (std::size_t n = 0; n < step_count(); ++n) {
    ContactChanges& own = all.emplace_back();
    const std::vector<ContactState>&before = states_[garment][n].contacts,
          &after = states_[garment][n + 1].contacts;
    for (std::size_t c = 0; c < after.size(); ++c) {
      const bool was = pushes(before[c]), is = pushes(after[c]),
                 goes_on = was && is && before[c].obstacle == after[c].obstacle;
      own.began += is && !goes_on;
      own.ended += was && !goes_on;
      own.stuck += goes_on && slides(before[c]) && !slides(after[c]);
      own.slid += goes_on && !slides(before[c]) && slides(after[c]);
    }
    const auto beyond = [](const std::vector<ClothContactState>& some,
                           const std::vector<ClothContactState>& others) {
      return static_cast<int>(std::ranges::count_if(some, [&](const ClothContactState& c) {
        return !std::ranges::binary_search(others, c.key, {}, &ClothContactState::key);
      }));
    };
    const GarmentState &start = states_[garment][n], &end = states_[garment][n + 1];
    own.began += beyond(end.cloth_contacts, start.cloth_contacts);
    own.ended += beyond(start.cloth_contacts, end.cloth_contacts);
  }
  return all;
}

std::vector<StepReport> Tape::step() {
  require_gradients(simulation_);
  const Scene& scene = simulation_.scene();
  std::vector<Told> told;
  for (std::size_t g = 0; g < states_.size(); ++g) {
    const Garment& garment = scene.garments[g];
    if (numbers_of(scene, garment.fabric) != numbers_of(scene, fabrics_[g]) ||
        garment.gravity.value_or(scene.gravity) != gravities_[g] || frictions_of(scene, g) != frictions_[g])
      throw SceneError(text("garments[", g,
                            "]: found another fabric, gravity or friction than when the tape began, "
                            "expected them to stay; begin another tape"));
    // What other code wrote into the simulation is where this step begins.
    GarmentState now = bare_state(simulation_, g);
    if (step_count() > 0 && !(now == states_[g].back()))
      throw SceneError(text("garments[", g,
                            "]: found another state than after the last step of the tape, "
                            "expected it to stay; begin another tape"));
    states_[g].back() = std::move(now);
    const Moment begin{simulation_.time(g), simulation_.time()},
        end{begin.of_garment + scene.step, begin.of_simulation + scene.step};
    const auto obstacle_at = [&garment](const Obstacle& obstacle, const Moment& moment) {
      return obstacle_pose(obstacle, garment.world, moment);
    };
    const auto gripper_at = [](const Gripper& gripper, const Moment& moment) {
      return gripper_pose(gripper, moment.of_garment);
    };
    told.push_back({.time = begin.of_garment,
                    .obstacles = motions_of(scene.obstacles, begin, end, obstacle_at),
                    .grippers = motions_of(garment.grippers, begin, end, gripper_at)});
  }
  std::vector<StepReport> reports = simulation_.step();
  for (std::size_t g = 0; g < reports.size(); ++g) {
    const StepReport& r = reports[g];
    if (r.status == StepStatus::converged && r.substeps == 1 && r.held_back == 0) continue;
    const std::string what = has_failed(r.status)              ? "is lost"
                             : r.status == StepStatus::stalled ? "misses its tolerance"
                             : r.substeps > 1                  ? text("took ", r.substeps, " parts")
                                                               : text("holds back ", r.held_back, " nodes");
    throw NumericalError(text("garments[", g, "] \"", scene.garments[g].name, "\": step ", step_count() + 1,
                              " of the tape ", what,
                              ", expected one that converges whole; make scene.step "
                              "shorter, or projection.max_iterations larger"));
  }
  for (std::size_t g = 0; g < states_.size(); ++g) states_[g].push_back(bare_state(simulation_, g));
  told_.push_back(std::move(told));
  return reports;
}

ExecutionOptions Tape::single_options() const {
  return {.threads = simulation_.options().threads, .monitor = simulation_.options().monitor};
}

Scene Tape::scene_of(std::size_t garment) const {
  Scene own = simulation_.scene();
  own.garments = {simulation_.scene().garments[garment]};
  fold_friction(own, garment);
  stop_obstacles(own, garment);
  Garment& self = own.garments.front();
  self.forces.clear();              // they add to the balance, and nothing to its derivatives
  self.fabric = fabrics_[garment];  // the steps', whatever commands have said since
  self.gravity = gravities_[garment];
  return own;
}

FinishedStep Tape::finished(std::size_t garment, std::size_t step) const {
  const Told& told = told_[step][garment];
  return {.before = states_[garment][step],
          .after = states_[garment][step + 1],
          .time = told.time,
          .step = simulation_.scene().step,
          .obstacles = told.obstacles,
          .grippers = told.grippers};
}

std::vector<std::vector<Wrench>> Tape::wrenches(std::size_t garment) const {
  state(garment, 0);
  const std::size_t count = simulation_.scene().obstacles.size();
  std::vector<std::vector<Wrench>> all(step_count(), std::vector<Wrench>(count));
  if (count == 0) return all;
  const Device device(single_options());
  const Scene own = scene_of(garment);
  Alone alone(device, own, own.garments.front());
  for (std::size_t n = 0; n < step_count(); ++n) {
    device.monitor().check();
    const FinishedStep step = finished(garment, n);
    alone.solver.go_to_end(step);
    all[n] = StepAdjoint(alone.solver.system(), step).wrenches();
  }
  return all;
}

std::vector<std::size_t> Tape::met_by(std::size_t garment) const {
  if (simulation_.scene().contact.cloth)
    for (const std::vector<std::size_t>& group : coupled_garments(simulation_.scene()))
      if (std::ranges::binary_search(group, garment)) return group;
  return {garment};
}

ContactWarmStart Tape::cloth_forces(const std::vector<std::size_t>& group, std::size_t step) const {
  std::map<std::uint64_t, Vec3d> all;
  for (const std::size_t g : group)
    for (const ClothContactState& own : state(g, step).cloth_contacts)
      all[static_cast<std::uint64_t>(own.key)] = own.force;
  ContactWarmStart kept;
  for (const auto& [key, force] : all) {
    kept.keys.push_back(key);
    kept.forces.push_back(force);
  }
  return kept;
}

RunGradient Tape::gradient(std::size_t garment, const std::vector<StateGradient>& loss,
                           std::size_t by) const {
  const std::size_t steps = step_count(), nodes = positions(by, 0).size();
  if (loss.size() != steps + 1)
    throw ShapeError(text("loss: found gradients of ", loss.size(), " states, expected ", steps + 1,
                          ", that of the start and one after each step"));
  const Scene& scene = simulation_.scene();
  const std::vector<std::size_t> group = met_by(by);
  std::vector<std::vector<StateGradient>> sums;  // of each of the group
  for (const std::size_t g : group)
    sums.push_back(complete(g == garment ? loss : std::vector<StateGradient>(steps + 1),
                            positions(g, 0).size(), scene.obstacles.size()));
  const auto place = static_cast<std::size_t>(std::ranges::find(group, by) - group.begin());

  const Device device(single_options());
  const double h = scene.step;
  std::deque<Alone> all;
  std::vector<const Garment*> garments;
  for (const std::size_t g : group) {
    Scene single = scene_of(g);
    Garment own = single.garments.front();
    all.emplace_back(device, std::move(single), std::move(own));
    garments.push_back(&scene.garments[g]);
  }
  Alone& alone = all[place];
  const Scene& own = alone.scene;
  const auto finished_at = [&](std::size_t g, std::size_t n, bool with_contacts) {
    FinishedStep step = finished(group[g], n);
    step.with_contacts = with_contacts;
    return step;
  };
  const std::optional<PairSearch> search =
      scene.contact.cloth ? std::optional<PairSearch>(std::in_place, meshes_of(garments), worlds_of(garments),
                                                      driven_of(garments))
                          : std::nullopt;
  const FrictionClasses friction = friction_classes(scene, garments);
  // Derivatives of a step of the whole group.
  const auto step_back = [&](std::size_t n) {
    device.monitor().check();
    std::vector<StepAdjoint> adjoints;
    adjoints.reserve(group.size());
    std::vector<StateGradient> losses;
    Nodes before, after;
    std::vector<double> inverse_inertia;
    for (std::size_t g = 0; g < group.size(); ++g) {
      const FinishedStep step = finished_at(g, n, true);
      all[g].solver.go_to_end(step);
      adjoints.emplace_back(all[g].solver.system(), step);
      losses.push_back(sums[g][n + 1]);
      if (!search) continue;
      const auto append = [](const auto& from, auto& to) { to.insert(to.end(), from.begin(), from.end()); };
      append(as_vectors(step.before.positions), before);
      append(as_vectors(step.after.positions), after);
      append(adjoints.back().inverse_inertia(), inverse_inertia);
    }
    if (search) {
      const ClothContactAdjoint contacts({.features = search->features(),
                                          .friction = friction,
                                          .before = before,
                                          .after = after,
                                          .inverse_inertia = inverse_inertia,
                                          .tolerance = scene.contact.tolerance},
                                         cloth_forces(group, n + 1));
      if (contacts.exist()) return gradients_of_cloths(adjoints, contacts, search->features(), losses);
    }
    std::vector<StepGradient> found;
    for (std::size_t g = 0; g < group.size(); ++g) found.push_back(adjoints[g].gradient(losses[g]));
    return found;
  };

  RunGradient result;
  StepGradient totals;
  std::vector<Nodes> adjoints(steps);
  result.targets.resize(steps);
  result.obstacles.assign(steps + 1, std::vector<PoseGradient>(own.obstacles.size()));
  result.grippers.assign(steps + 1, std::vector<PoseGradient>(alone.garment.grippers.size()));
  result.friction.resize(own.obstacles.size());
  for (std::size_t n = steps; n-- > 0;) {
    std::vector<StepGradient> parts = step_back(n);
    for (std::size_t g = 0; g < parts.size(); ++g) {
      add(parts[g].before, sums[g][n]);
      if (n > 0) add(parts[g].previous, sums[g][n - 1]);
      add_poses(parts[g].obstacles, n, result.obstacles);
      result.buckling_steps += g == place && parts[g].buckles;
      result.cloth_friction += parts[g].cloth_friction;
    }
    StepGradient& found = parts[place];
    add_poses(found.grippers, n, result.grippers);
    for (std::size_t o = 0; o < found.friction.size(); ++o)
      for (const std::size_t k : {0, 1}) result.friction[o][k] += found.friction[o][k];
    for (double StepGradient::*const number : {&StepGradient::rho, &StepGradient::alpha, &StepGradient::beta,
                                               &StepGradient::kappa, &StepGradient::weight})
      totals.*number += found.*number;
    result.targets[n] = std::move(found.targets);
    adjoints[n] = std::move(found.adjoint);
  }
  result.positions = std::move(sums[place].front().positions);
  result.velocities = std::move(sums[place].front().velocities);
  for (const Nodes& w : adjoints) {
    Nodes& forces = result.forces.emplace_back(nodes);
    for (std::size_t i = 0; i < nodes; ++i) forces[i] = h * h * w[i];
  }
  const Fabric& fabric = fabrics_[by];
  result.gravity = fabric.gravity_density * totals.weight;

  // dL = w . dR at the states as they are, of what has no closed form.
  const auto balance = [&](ProjectionSolver<double>& solver) {
    double sum = 0;
    for (std::size_t n = 0; n < steps; ++n) {
      device.monitor().check();
      const FinishedStep step = finished_at(place, n, false);
      solver.go_to_end(step);
      sum += dot_of(adjoints[n], StepAdjoint(solver.system(), step).balance());
    }
    return sum;
  };
  const auto balance_with = [&](const FabricDerivative& number, double value) {
    Garment changed = alone.garment;
    number.of(changed.fabric) = value;
    if (number.is_in_matrix) {
      Alone other(device, own, changed);
      return balance(other.solver);
    }
    alone.garment.fabric = changed.fabric;
    alone.solver.refresh();
    const double found = balance(alone.solver);
    alone.garment.fabric = fabric;
    alone.solver.refresh();
    return found;
  };
  std::optional<double> unchanged;
  for (const FabricDerivative& number : fabric_derivatives(alone.resolved.recipe, fabric)) {
    if (number.closed_form != nullptr) {
      const bool is_delta = number.closed_form == &StepGradient::weight;
      result.fabric.emplace_back(number.name, (is_delta ? gravities_[by] : 1) * (totals.*number.closed_form));
      continue;
    }
    if (number.is_linear && !unchanged) unchanged = balance(alone.solver);
    Fabric values = fabric;
    const double middle = number.of(values), way = number.is_linear ? std::max(middle, 0.1) : 1e-4 * middle;
    const double ahead = balance_with(number, middle + way);
    const double behind = number.is_linear ? *unchanged : balance_with(number, middle - way);
    result.fabric.emplace_back(number.name, (ahead - behind) / (number.is_linear ? way : 2 * way));
  }
  return result;
}

}  // namespace isocloth
