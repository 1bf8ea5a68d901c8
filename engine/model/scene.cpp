#include "engine/model/scene.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <unordered_map>

#include "engine/core/checks.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/core/members.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/validate.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/air_checks.hpp"
#include "engine/model/contact_checks.hpp"
#include "engine/model/fabric_numbers.hpp"
#include "engine/model/methods.hpp"
#include "engine/model/recipe.hpp"
#include "engine/model/recipe_checks.hpp"
#include "engine/rows/row_families.hpp"

namespace isocloth {
namespace {

/// ratio > 0
bool is_whole(double ratio) {
  return std::isfinite(ratio) && std::abs(ratio - std::round(ratio)) <= whole_tolerance * ratio;
}

void check_recorded_motion(const std::string& key, const RecordedMotion& motion, std::size_t node_count) {
  const std::string file_key = motion.file.empty() ? key : text(key, " (", motion.file, ")");
  require_ascending(file_key + ".times", motion.times);
  require_size(file_key + ".positions", motion.positions.size(), motion.times.size() * node_count,
               "time and driven node");
  require_finite(file_key + ".positions", motion.positions);
}

void check_pins(const std::string& key, const Garment& garment) {
  std::vector<std::size_t> owner(garment.mesh.positions.size(), garment.pins.size());
  for (std::size_t p = 0; p < garment.pins.size(); ++p) {
    const Pin& pin = garment.pins[p];
    const std::string pin_key = text(key, ".pins[", p, "]");
    if (pin.nodes.empty()) refuse(pin_key + ".nodes", "none", "at least one node");
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Index node = pin.nodes[i];
      const std::string node_key = text(pin_key, ".nodes[", i, "]");
      if (node < 0 || node >= garment.mesh.node_count()) {
        refuse(node_key, node, text("a node from 0 to ", garment.mesh.node_count() - 1));
      }
      if (owner[node] != garment.pins.size()) {
        refuse(node_key, text("node ", node, ", already in pins[", owner[node], "]"),
               "each node once, in one pin at most");
      }
      owner[node] = p;
    }
    validate_motion(pin_key + ".motion", pin.motion, pin.nodes.size());
    require_not_negative(pin_key + ".ramp", pin.ramp);
  }
}

void check_projection(const ProjectionSettings& settings) {
  require_enum("projection.method", settings.method, ProjectionMethod::fast_projection);
  require_enum("projection.metric", settings.metric, Metric::mass);
  require_enum("projection.integrator", settings.integrator, Integrator::automatic);
  require_enum("projection.factorization", settings.factorization, FactorPattern::rows);
  require_enum("projection.on_violation", settings.on_violation, OnViolation::go_on);
  if (!(settings.tolerance > 0 && settings.tolerance < 1)) {
    refuse("projection.tolerance", settings.tolerance, "a number between 0 and 1");
  }
  require_not_negative("projection.force_tolerance", settings.force_tolerance);
  if (settings.force_tolerance > 0 && settings.method == ProjectionMethod::fast_projection)
    refuse("projection.force_tolerance", settings.force_tolerance,
           "0 with projection.method \"fast_projection\", which has no forces to balance");
  if (settings.force_tolerance > 0 && settings.metric == Metric::mass)
    refuse("projection.force_tolerance", settings.force_tolerance,
           "0 with projection.metric \"mass\", whose steps balance no forces");
  if (settings.max_iterations < 0)
    refuse("projection.max_iterations", settings.max_iterations, "0 for the default, or at least 1");
  if (!(settings.eps >= 0 && settings.eps < 1)) {
    refuse("projection.eps", settings.eps, "0 for the default, or a number between 0 and 1");
  }
  if (!(settings.cg_tolerance > 0 && settings.cg_tolerance < 1))
    refuse("projection.cg_tolerance", settings.cg_tolerance, "a number between 0 and 1");
  if (remembers_step(settings.integrator) && settings.metric != Metric::implicit_b)
    refuse("projection.integrator", "one that remembers a step",
           "backward_euler with projection.metric \"mass\"");
  const int parts = settings.max_substeps;
  if (parts < 0 || (parts & (parts - 1)) != 0) {
    refuse("projection.max_substeps", parts, "0 for the default, 1 or another power of two");
  }
  const StepBudget& budget = settings.budget;
  if (budget.solves < 0) refuse("projection.budget.solves", budget.solves, "0 for no bound, or at least 1");
  require_not_negative("projection.budget.milliseconds", budget.milliseconds);
  if (budget.exists() && parts > 1)
    refuse("projection.max_substeps", parts, "0 or 1 with projection.budget, whose steps go in one part");
  require_not_negative("projection.sleep.after", settings.sleep.after);
  require_positive("projection.sleep.speed", settings.sleep.speed);
}

void check_impulse(const ImpulseSettings& settings) {
  require_enum("impulse.mode", settings.mode, ImpulseMode::converge);
  require_enum("impulse.velocity_pass", settings.velocity_pass, VelocityPass::off);
  require_enum("impulse.on_violation", settings.on_violation, OnViolation::go_on);
  if (!(settings.tolerance > 0 && settings.tolerance < 1)) {
    refuse("impulse.tolerance", settings.tolerance, "a number between 0 and 1");
  }
  if (settings.substeps < 0) {
    refuse("impulse.substeps", settings.substeps, "0 for the default, or at least 1");
  }
  if (settings.max_sweeps < 0) {
    refuse("impulse.max_sweeps", settings.max_sweeps, "0 for the default, or at least 1");
  }
  if (!(settings.relaxation >= 0 && settings.relaxation < 2)) {
    refuse("impulse.relaxation", settings.relaxation, "0 for the default, or a number below 2");
  }
  if (settings.mode == ImpulseMode::substeps && settings.relaxation > 1) {
    refuse_above("impulse.relaxation", settings.relaxation, 1,
                 " in mode substeps: more pays only in sweeps that converge, and blows up in the others");
  }
  if (settings.max_solves < 1) refuse("impulse.max_solves", settings.max_solves, "at least 1");
}

/// Who has which name.
using Names = std::unordered_map<std::string, std::string>;

/// Requires a name that nobody in `names` has, and notes that `owner` has it now.
void require_new_name(Names& names, const std::string& name, const std::string& owner,
                      const std::string& key) {
  const auto [earlier, is_new] = names.emplace(name, owner);
  if (!is_new)
    refuse(key + ".name", text("\"", name, "\", already the name of ", earlier->second), "another");
}

void check_obstacles(const std::vector<Obstacle>& obstacles) {
  Names names;
  for (std::size_t i = 0; i < obstacles.size(); ++i) {
    const std::string key = text("obstacles[", i, "]");
    validate_obstacle(obstacles[i], key);
    require_new_name(names, obstacles[i].name, key, key);
  }
}

void check_grippers(const std::string& key, const Garment& garment) {
  Names names;
  for (std::size_t i = 0; i < garment.grippers.size(); ++i) {
    const std::string own = text("grippers[", i, "]"), gripper_key = text(key, ".", own);
    validate_gripper(garment.grippers[i], gripper_key);
    require_new_name(names, garment.grippers[i].name, own, gripper_key);
  }
}

/// visit(method) for each that the scene's steps are.
void for_each_method(const Scene& scene, const Recipe& recipe, const auto& visit) {
  visit(method_of(recipe));
  if (recipe.solver != SolverFamily::projection) return;
  if (scene.projection.method == ProjectionMethod::fast_projection) visit(methods::by_fast_projection);
  if (scene.projection.metric == Metric::mass) visit(methods::by_mass_metric);
}

void check_bodies(const Scene& scene) {
  if (scene.bodies.empty()) return;
  if (scene.projection.sleep.after > 0)
    refuse("projection.sleep.after", scene.projection.sleep.after,
           "0 in a scene with bodies, which would not wake what they meet");
  if (scene.projection.factorization == FactorPattern::rows)
    refuse("projection.factorization", "rows", "automatic or whole in a scene with bodies");
  Names names;
  for (std::size_t o = 0; o < scene.obstacles.size(); ++o) {
    names.emplace(scene.obstacles[o].name, text("obstacles[", o, "]"));
  }
  for (std::size_t i = 0; i < scene.bodies.size(); ++i) {
    const std::string key = text("bodies[", i, "]");
    validate_body(scene.bodies[i], key);
    require_new_name(names, scene.bodies[i].name, key, key);
  }
}

}  // namespace

void validate_motion(const std::string& key, const Motion& motion, std::size_t node_count) {
  const auto check = [&](const auto& kind) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(kind)>, RecordedMotion>)
      check_recorded_motion(key, kind, node_count);
    else
      check_motion(key, kind);
  };
  std::visit(check, motion);
}

void validate_fabric(const std::string& key, const Fabric& fabric) {
  require_enum(key + ".bending", fabric.bending, BendingModel::discrete_shells);
  check_fabric_numbers(key, fabric);
  if (fabric.weft_bending_stiffness > 0 && fabric.bending_stiffness == 0)
    refuse(key + ".weft_bending_stiffness", fabric.weft_bending_stiffness,
           "0 where bending_stiffness, along warp, is 0");
  validate_curves(key + ".curves", fabric.curves);
  validate_curves(key + ".viscosity_curves", fabric.viscosity.curves);
  if (const Compression& c = fabric.compression; c.exists()) {
    require_positive(key + ".compression.c", c.core);
    require_positive(key + ".compression.a", c.stiffness);
    if (!(c.core < c.thickness))
      refuse(key + ".compression.c", c.core,
             text("less than the thickness T without load, ", c.thickness, " m"));
    if (!(c.linear_from() > 0))
      refuse(key + ".compression", text("a slope of ", c.slope(0), " Pa/m without load"),
             text("less than the ", c.largest_slope(),
                  " Pa/m of solid fibre: a larger T - c (or T0 - Tm), or a smaller a"));
  }
  if (fabric.shear_diagonals != 1 && fabric.shear_diagonals != 2)
    refuse(key + ".shear_diagonals", fabric.shear_diagonals, "1 or 2");
}

void validate_forces(const std::string& key, const std::vector<Vec3d>& forces, std::size_t node_count,
                     const Scene& scene) {
  if (forces.empty()) return;
  require_size(key, forces.size(), node_count, "node");
  require_finite(key, forces);
  for_each_method(scene, find_recipe(scene.recipe),
                  [&](const Method& m) { require_known(m, Feature::forces, key, "some"); });
}

void validate_force_slopes(const std::string& key, const Garment& garment) {
  const std::vector<ForceSlope>& slopes = garment.force_slopes;
  if (slopes.empty()) return;
  require_size(key, slopes.size(), garment.mesh.positions.size(), "node");
  require_size(key + " and forces", garment.forces.size(), slopes.size(), "slope");
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    const std::string at = text(key, "[", i, "]");
    require_finite(at + ".position", slopes[i].position);
    require_finite(at + ".velocity", slopes[i].velocity);
    for (const auto& [name, tensor] :
         {std::pair{".stiffness", slopes[i].stiffness}, std::pair{".damping", slopes[i].damping}})
      if (!is_positive_semidefinite(tensor))
        refuse(at + name, "one with a negative eigenvalue or that is not finite",
               "a positive semidefinite one");
    require_not_negative(at + ".strength", slopes[i].strength);
  }
}

/// Cloth that one step would carry out of all places is lost in it, and what it meets with it.
void check_speeds(const std::string& key, const Garment& garment, double step) {
  const double fastest = farthest / step;
  for (std::size_t i = 0; i < garment.initial_velocities.size(); ++i)
    if (const double speed = norm(garment.initial_velocities[i]); !(speed <= fastest))
      refuse_above(text(key, ".initial_velocities[", i, "]"), speed, fastest,
                   text(" m/s, ", farthest, " m in a step"));
}

/// Throws as validate_garment().
static void check_mesh(const Mesh& found, const std::string& key) {
  Mesh mesh = found;
  const Index reversed = validate_mesh(mesh, key + ".mesh");
  require_position(key + ".mesh.positions", found.positions);
  if (reversed > 0) {
    refuse(key + ".mesh", text(reversed, " faces that run against the others"),
           "one orientation; call validate_mesh, which turns them");
  }
}

/// Checks all of a garment but its mesh.
static void check_garment(const Garment& garment, const std::string& key) {
  const std::size_t node_count = garment.mesh.positions.size();
  if (garment.world < Garment::every_world)
    refuse(key + ".world", garment.world, "a number from 0, or every_world, -1");
  if (!garment.initial_positions.empty()) {
    require_size(key + ".initial_positions", garment.initial_positions.size(), node_count, "node");
  }
  if (!garment.initial_velocities.empty()) {
    require_size(key + ".initial_velocities", garment.initial_velocities.size(), node_count, "node");
  }
  require_finite(key + ".initial_positions", garment.initial_positions);
  require_finite(key + ".initial_velocities", garment.initial_velocities);
  validate_fabric(key + ".fabric", garment.fabric);
  const auto check_driven = [&](const std::string& name, const DrivenNumber& number,
                                const std::vector<Index>& places, std::size_t count, std::size_t sizes) {
    require_ascending(name + ".times", number.times);
    require_size(name + ".values", number.values.size(), number.times.size(), "time");
    require_size(name + ", its lengths or shares,", sizes, places.size(), "piece");
    for (const Index place : places)
      if (place < 0 || place >= static_cast<Index>(count))
        refuse(name, text("piece ", place), text("pieces from 0 to ", static_cast<Index>(count) - 1));
  };
  for (std::size_t i = 0; i < garment.zippers.size(); ++i) {
    const Zipper& zipper = garment.zippers[i];
    const std::string name = text(key, ".zippers[", i, "]");
    check_driven(name, zipper.closed, zipper.stitches, garment.mesh.stitches.size(), zipper.shares.size());
    for (const double closed : zipper.closed.values) require_finite(name + ".values", closed);
  }
  for (std::size_t i = 0; i < garment.drawstrings.size(); ++i) {
    const Drawstring& string = garment.drawstrings[i];
    const std::string name = text(key, ".drawstrings[", i, "]");
    check_driven(name, string.share, string.bands, garment.mesh.bands.size(), string.lengths.size());
    for (const double share : string.share.values) require_positive(name + ".values", share);
    for (const double length : string.lengths) require_positive(name + ".lengths", length);
  }
  for (std::size_t i = 0; i < garment.mesh.folds.size(); ++i)
    if (const Fold& fold = garment.mesh.folds[i];
        fold.factor > 0 && fold.stiffness == 0 && !(garment.fabric.hinge_stiffness() > 0))
      refuse(text(key, ".mesh.folds[", i, "].factor"), fold.factor,
             "0 or a stiffness where fabric.bending_stiffness is 0; a fold that turns freely has neither");
  if (garment.gravity) require_finite(key + ".gravity", *garment.gravity);
  require_finite(key + ".time_offset", garment.time_offset);
  require_finite(key + ".pressure", garment.pressure);
  require_positive(key + ".sewing.force", garment.sewing.force);
  require_positive(key + ".sewing.speed", garment.sewing.speed);
  require_positive(key + ".sewing.stiffness", garment.sewing.stiffness);
  require_positive(key + ".sewing.strength", garment.sewing.strength);
  check_pins(key, garment);
  check_grippers(key, garment);
}

void validate_garment(const Garment& garment, const std::string& key) {
  check_mesh(garment.mesh, key);
  check_garment(garment, key);
}

void validate_scene(const Scene& scene) {
  const Recipe& recipe = find_recipe(scene.recipe);
  require_finite("gravity", scene.gravity);
  require_positive("step", scene.step);
  require_positive("duration", scene.duration);
  if (!is_whole(scene.duration / scene.step)) {
    refuse("duration", scene.duration, text("a whole number of steps of ", scene.step, " s"));
  }
  constexpr double most_steps = 1e9;
  if (scene.duration / scene.step > most_steps * (1 + whole_tolerance)) {
    const ToldApart told = told_apart(scene.duration, most_steps * scene.step, 9);
    refuse("duration", told.found,
           text("at most ", most_steps, " steps of ", scene.step, " s: ", told.bound, " s"));
  }
  require_not_negative("frame_interval", scene.frame_interval);
  if (scene.frame_interval != 0 && !is_whole(scene.frame_interval / scene.step)) {
    refuse("frame_interval", scene.frame_interval,
           text("0 for every step, or a whole number of steps of ", scene.step, " s"));
  }
  if (scene.frame_interval / scene.step > most_steps * (1 + whole_tolerance))
    refuse("frame_interval", told_apart(scene.frame_interval, most_steps * scene.step, 9).found,
           text("at most ", most_steps, " steps of ", scene.step, " s"));
  check_projection(scene.projection);
  check_impulse(scene.impulse);
  if (scene.garments.empty()) refuse("garments", "none", "at least one garment");
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    // Replicas follow each other.
    if (g == 0 || !alike(scene.garments[g].mesh, scene.garments[g - 1].mesh))
      check_mesh(scene.garments[g].mesh, text("garments[", g, "]"));
    check_garment(scene.garments[g], text("garments[", g, "]"));
    if (scene.contact.cloth) check_speeds(text("garments[", g, "]"), scene.garments[g], scene.step);
    check_recipe_of(text("garments[", g, "]"), scene.garments[g], recipe);
    validate_forces(text("garments[", g, "].forces"), scene.garments[g].forces,
                    scene.garments[g].mesh.positions.size(), scene);
    validate_force_slopes(text("garments[", g, "].force_slopes"), scene.garments[g]);
  }
  validate_wind(scene.wind, "wind");
  for_each_method(scene, recipe, [&](const Method& method) { require_known(method, scene); });
  check_air(scene);
  check_obstacles(scene.obstacles);
  check_bodies(scene);
  check_contact(scene);
  validate_keyframes(scene);
}

bool is_kinematic(const Garment& garment) {
  std::size_t pinned = 0;  // pins share no nodes
  for (const Pin& pin : garment.pins) pinned += pin.nodes.size();
  return pinned == garment.mesh.positions.size();
}

bool eases_out(const Scene& scene) {
  return scene.contact.resolve_initial_penetration && scene.contact.initial_penetration_time > 0 &&
         !(scene.obstacles.empty() && scene.bodies.empty());
}

PinView view_of(const Garment& garment, const Pin& pin) {
  return {.motion = view_of(pin.motion), .ramp = pin.ramp, .start = garment.time_offset};
}

Vec3d pin_position(const Garment& garment, const Pin& pin, std::size_t i, double t) {
  return view_of(garment, pin).position(start_positions(garment)[pin.nodes[i]], i, t);
}

PinGap find_pin_gap(const Garment& garment, const Pin& pin) {
  PinGap gap;
  for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
    const Vec3d& start = start_positions(garment)[pin.nodes[i]];
    const Vec3d way = evaluate_motion(pin.motion, start, i, garment.time_offset) - start;
    const double distance = std::hypot(way.x, way.y, way.z);  // whose squares may overflow
    if (distance > gap.distance) gap = {.distance = distance, .i = i};
  }
  return gap;
}

void require_pins_at_start(const Garment& garment, const std::string& key) {
  constexpr double most = 0.01;  // of an element
  for (std::size_t p = 0; p < garment.pins.size(); ++p) {
    const Pin& pin = garment.pins[p];
    if (pin.ramp > 0 || std::holds_alternative<FixedMotion>(pin.motion)) continue;
    const PinGap gap = find_pin_gap(garment, pin);
    if (gap.distance == 0) continue;
    const double size = mean_element_size(garment.mesh);
    if (gap.distance <= most * size) continue;
    const Index node = pin.nodes[gap.i];
    const Vec3d& start = start_positions(garment)[node];
    const Vec3d position = evaluate_motion(pin.motion, start, gap.i, garment.time_offset);
    const auto listed = [](const Vec3d& x) { return text("(", x.x, " ", x.y, " ", x.z, ")"); };
    const ToldApart told = told_apart(gap.distance, most * size, 9);
    refuse(text(key, ".pins[", p, "].motion"),
           text("node ", node, " at ", listed(position), " at the start (", garment.time_offset, " s), ",
                told.found, " m from where it starts, ", listed(start)),
           text("at most 1 % of an element, ", told.bound,
                " m: move the cloth or the motion, or set ramp to the seconds in which to bring it there"));
  }
}

bool has_surroundings(const Scene& scene) {
  return !scene.obstacles.empty() || !scene.bodies.empty() || scene.wind.model == WindModel::panels ||
         std::any_of(scene.garments.begin(), scene.garments.end(), [](const Garment& garment) {
           return !garment.grippers.empty() || has_node_forces(garment);
         });
}

std::int64_t step_count(const Scene& scene) { return std::llround(scene.duration / scene.step); }

std::int64_t steps_per_frame(const Scene& scene) {
  return scene.frame_interval == 0 ? 1 : std::llround(scene.frame_interval / scene.step);
}

}  // namespace isocloth
