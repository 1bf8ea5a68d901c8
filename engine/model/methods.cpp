#include "engine/model/methods.hpp"

#include <algorithm>

#include "engine/core/checks.hpp"

namespace isocloth {
namespace {

using enum Feature;
using Set = FeatureSet;
template <class... Features>
constexpr Set set_of(Features... features) {
  return {features...};
}

// Each of these lists is of what one piece of code was written and tested for. None is made of another's,
// or what is new in one would be said of both.

constexpr Set projected = set_of(
    projection, backward_euler, bdf2, budget, sleep, isometric_bending, plate_bending, mid_edge_bending,
    alpha, beta, compression, drag, moving_pins, grippers, seams, buttons, forces, force_slopes, pressure,
    fabric_factors, driven_fasteners, obstacles, moving_obstacles, bodies, friction,
    resolve_initial_penetration, wind, gusts, flow, cloth_contact, keyframes, program_forces);
constexpr Set rigid = projected | set_of(rigid_rows, fast_projection, mass_metric);
constexpr Set elastic =
    projected | set_of(hinges, large_angles, strain_limit, principal_strain_limit, bands, folds);
constexpr Set with_laws = elastic | set_of(curves, viscosity);
constexpr Set swept =
    set_of(rigid_rows, isometric_bending, plate_bending, mid_edge_bending, alpha, beta, drag, shear_spring,
           bend_spring, moving_pins, grippers, forces, force_slopes, obstacles, moving_obstacles, friction,
           resolve_initial_penetration, wind, gusts, flow, cloth_contact, keyframes, program_forces);
constexpr Set by_tensors = set_of(rigid_rows, isometric_bending, plate_bending, mid_edge_bending, alpha, drag,
                                  moving_pins, forces, force_slopes, obstacles, moving_obstacles, friction,
                                  resolve_initial_penetration, wind, gusts, flow, program_forces);
/// Said of them: a stiffness that rigid rows have no use for; contacts of impulses are rigid.
constexpr Set idle_ratio = set_of(poisson_ratio), idle_of_impulses = set_of(poisson_ratio, compression);

constexpr Advice of_recipes[] = {
    {fast_projection, ""},
    {mass_metric, ""},
    {curves, ": use membrane, soft_constraints or springs"},
    {viscosity, ": use membrane, soft_constraints or springs"},
    {poisson_ratio, ", whose threads are apart: set it to 0, or use membrane"},
    {hinges, ", whose rows are not elastic: use membrane, soft_constraints, corotational or springs"},
    {large_angles, ", whose rows are not elastic: use membrane, soft_constraints, corotational or springs"},
    {strain_limit, ", which has no elastic rows: use membrane"},
    {principal_strain_limit, ", which has no elastic rows: use membrane"},
    {bands, ", whose rows are not elastic: use membrane"},
    {folds, ", whose rows are not elastic: use membrane"},
    {fabric_factors, ": use membrane, or another recipe of the projection"},
    {driven_fasteners, ": use membrane, or another recipe of the projection"},
    {seams, ": use membrane, or another recipe of the projection"},
    {buttons, ": use membrane, or another recipe of the projection"},
    {pressure, ": use membrane, or another recipe of the projection"},
    {structural_spring, ": use provot1995 or sakaguchi1991"},
    {plasticity, ", which is elastic: use sakaguchi1991"},
    {memory, ": use membrane or soft_constraints"},
    {shear_spring, ", which has no springs: use bending_stiffness, or an impulse recipe"},
    {bend_spring, ", which has no springs: use bending_stiffness, or an impulse recipe"},
    {bodies, ", whose impulses know obstacles but no bodies that move with the cloth: use coltraro2022"},
};
constexpr Advice of_corotational[] = {
    {curves, ", whose stress is linear in stretch: use membrane, soft_constraints or springs"}};
constexpr Advice of_sakaguchi[] = {{strain_limit, ", whose springs yield: use provot1995"}};
constexpr Advice of_tensors[] = {
    {grippers, ": use membrane"},
    {shear_spring, ": use shear_stiffness"},
    {bend_spring, ": use bending_stiffness"},
    {beta, ", which damps by mass_damping alone"},
    {strain_limit, ": use membrane"},
    {poisson_ratio, ": use membrane"},
    {cloth_contact, ", whose systems know no contact between cloths: use \"membrane\""},
};

constexpr Method recipe(std::string_view name, Set known, Set idle = {},
                        std::span<const Advice> advice = {}) {
  return {name, known, idle, advice, ": use membrane", true};
}
constexpr Method recipe_methods[] = {
    recipe("the recipe coltraro2022", rigid, idle_ratio),
    recipe("the recipe inextensible_edges", rigid, idle_ratio),
    recipe("the recipe elastic_edges", elastic | set_of(elastic_edges), idle_ratio),
    recipe("the recipe membrane", with_laws | set_of(membrane, poisson_ratio, memory)),
    recipe("the recipe soft_constraints", with_laws | set_of(membrane, engineering_strain, memory)),
    recipe("the recipe corotational",
           elastic | set_of(membrane, corotational_strain, viscosity, poisson_ratio), {}, of_corotational),
    recipe("the recipe springs", with_laws | set_of(springs, engineering_strain, bend_spring)),
    recipe("the recipe bender_iterative", swept | set_of(impulses), idle_of_impulses),
    recipe("the recipe bender_sle", swept | set_of(impulse_system), idle_of_impulses),
    recipe("the recipe provot1995", swept | set_of(impulses, structural_spring, strain_limit),
           idle_of_impulses),
    recipe("the recipe sakaguchi1991", swept | set_of(impulses, structural_spring, plasticity),
           idle_of_impulses, of_sakaguchi),
    recipe("the recipe terzopoulos1987", by_tensors | set_of(tensors), set_of(compression), of_tensors),
    recipe("the recipe terzopoulos1987_implicit", by_tensors | set_of(implicit_tensors), set_of(compression),
           of_tensors),
    recipe("the recipe isometric_impulse", swept | set_of(impulses), idle_of_impulses),
};
constexpr std::size_t recipe_prefix = std::string_view("the recipe ").size();

// What steps and what watches them.

constexpr Advice of_gradients[] = {
    {bodies, ": an obstacle that moves has one, by its poses; smoothed_gradient() of Python asks for none"},
    {resolve_initial_penetration,
     ": what is pushed out has none; begin the tape after it, from a state outside"},
    {flow, ": use \"drag\" without fabric.drag"},
    {program_forces, ": remove_force() it; set_forces() acts as it is told, and has a gradient"},
    {memory,
     ": what slips and yields depends on all steps before; smoothed_gradient() of Python asks for none"},
};
constexpr Advice of_static_sheet[] = {
    {rigid_rows,
     ": use membrane, soft_constraints, springs or elastic_edges; others have no stiffness at rest"},
    {corotational_strain,
     ": use membrane, soft_constraints, springs or elastic_edges, whose rows are strains one by one"},
    {hinges, ": use plate"},
};
constexpr Advice of_validation[] = {
    {flow, ": it knows no flow; validate the scene without it"},
    {bodies, ": it knows no rigid bodies; validate the scene without them"},
};
/// In the place of the scene's recipe, settings and most of its fabric: host/docs/ENERGIES.md.
constexpr Set particle_idle = set_of(
    projection, impulses, impulse_system, tensors, implicit_tensors, rigid_rows, elastic_edges, membrane,
    springs, engineering_strain, corotational_strain, fast_projection, mass_metric, backward_euler, bdf2,
    budget, sleep, isometric_bending, plate_bending, mid_edge_bending, hinges, large_angles, alpha, beta,
    poisson_ratio, viscosity, strain_limit, principal_strain_limit, compression, drag, shear_spring,
    bend_spring, structural_spring, plasticity, memory, friction, resolve_initial_penetration, cloth_contact);

}  // namespace

namespace methods {

constexpr Method by_fast_projection{
    "projection.method \"fast_projection\"",
    set_of(projection, fast_projection, mass_metric, rigid_rows, backward_euler, bdf2, budget,
           isometric_bending, plate_bending, mid_edge_bending, alpha, beta, drag, moving_pins, grippers,
           forces, force_slopes, pressure, obstacles, moving_obstacles, friction, resolve_initial_penetration,
           wind, gusts, flow, keyframes, program_forces),
    set_of(poisson_ratio, compression),
    {},
    ": use \"proximal_newton\""};
constexpr Method by_mass_metric{
    "projection.metric \"mass\"",
    set_of(projection, fast_projection, mass_metric, rigid_rows, backward_euler, isometric_bending,
           plate_bending, mid_edge_bending, alpha, beta, compression, moving_pins, obstacles,
           moving_obstacles, friction, resolve_initial_penetration, wind, gusts, keyframes),
    set_of(poisson_ratio),
    {},
    ": use \"implicit\""};
constexpr Method gradients{
    "gradients (Tape)",
    set_of(projection, rigid_rows, elastic_edges, membrane, springs, engineering_strain, corotational_strain,
           backward_euler, bdf2, isometric_bending, plate_bending, mid_edge_bending, alpha, beta,
           poisson_ratio, curves, viscosity, bend_spring, moving_pins, grippers, forces, compression,
           obstacles, moving_obstacles, friction, cloth_contact),
    set_of(wind, gusts), of_gradients, ": a run has no gradient with it"};
constexpr Method energy_balance{
    "a balance of energy",
    set_of(projection, rigid_rows, elastic_edges, membrane, springs, engineering_strain, corotational_strain,
           backward_euler, bdf2, isometric_bending, plate_bending, mid_edge_bending, hinges, large_angles,
           alpha, beta, poisson_ratio, curves, viscosity, memory, strain_limit, principal_strain_limit,
           compression, drag, bend_spring, moving_pins, grippers, seams, buttons, bands, folds,
           fabric_factors, driven_fasteners, forces, force_slopes, pressure, obstacles, moving_obstacles,
           bodies, friction, resolve_initial_penetration, wind, gusts, flow, cloth_contact, keyframes,
           program_forces),
    {},
    {},
    ": it is not known with it"};
constexpr Method rest{
    "isocloth rest",
    set_of(projection, rigid_rows, elastic_edges, membrane, springs, engineering_strain, corotational_strain,
           fast_projection, mass_metric, backward_euler, bdf2, isometric_bending, plate_bending,
           mid_edge_bending, hinges, large_angles, alpha, beta, poisson_ratio, curves, viscosity,
           strain_limit, principal_strain_limit, compression, drag, bend_spring, seams, buttons, bands, folds,
           fabric_factors, forces, force_slopes, pressure, obstacles, friction, resolve_initial_penetration,
           wind, cloth_contact, program_forces),
    {},
    {},
    ": it has no rest; use isocloth run"};
constexpr Method static_sheet{
    "cloth at rest by its energy",
    set_of(projection, elastic_edges, membrane, springs, engineering_strain, isometric_bending, plate_bending,
           mid_edge_bending, poisson_ratio, curves, bend_spring, moving_pins, grippers),
    set_of(backward_euler, bdf2, budget, sleep, alpha, beta, viscosity, compression, drag, gusts,
           resolve_initial_penetration),
    of_static_sheet, ", which knows cloth by itself, held by pins and grippers"};
constexpr Method breen1994{
    "breen1994", set_of(curves, obstacles), particle_idle, {}, ", which has none: use isocloth run"};
constexpr Method feynman1986{"feynman1986",
                             set_of(obstacles),
                             particle_idle | set_of(curves),
                             {},
                             ", which has none: use isocloth run"};
constexpr Method validation{
    "the reference",
    set_of(projection, impulses, impulse_system, tensors, implicit_tensors, rigid_rows, elastic_edges,
           membrane, springs, engineering_strain, corotational_strain, fast_projection, mass_metric,
           backward_euler, bdf2, isometric_bending, plate_bending, mid_edge_bending, hinges, large_angles,
           alpha, beta, poisson_ratio, curves, viscosity, memory, strain_limit, principal_strain_limit,
           compression, drag, shear_spring, bend_spring, structural_spring, plasticity, moving_pins, grippers,
           seams, buttons, bands, folds, fabric_factors, forces, pressure, obstacles, moving_obstacles,
           friction, resolve_initial_penetration, wind, gusts),
    set_of(cloth_contact),  // each garment is stepped by itself
    of_validation, ": validate the scene without it"};

constexpr Advice of_solvers[] = {
    {impulses, ": impulses solve no nodal system; use \"direct\" or \"batched\""},
    {impulse_system, ": one cloth at a time is factored; use \"direct\""},
    {bodies, ": what meets is solved together; use \"direct\" or \"mixed\""},
    {cloth_contact, ": what meets is stepped together; use \"direct\""},
};
constexpr Method batched{
    "solver \"batched\"",
    set_of(projection, impulses, rigid_rows, elastic_edges, membrane, springs, engineering_strain,
           corotational_strain, fast_projection, mass_metric, backward_euler, bdf2, isometric_bending,
           plate_bending, mid_edge_bending, hinges, large_angles, alpha, beta, poisson_ratio, memory, curves,
           viscosity, strain_limit, principal_strain_limit, compression, drag, shear_spring, bend_spring,
           structural_spring, plasticity, moving_pins, grippers, seams, buttons, bands, folds, fabric_factors,
           forces, force_slopes, pressure, obstacles, moving_obstacles, friction, resolve_initial_penetration,
           wind, gusts, flow, keyframes, program_forces),
    {},
    of_solvers,
    ": use \"direct\""};
constexpr Set nodal_system = set_of(
    projection, rigid_rows, elastic_edges, membrane, springs, engineering_strain, corotational_strain,
    fast_projection, mass_metric, backward_euler, bdf2, budget, sleep, isometric_bending, plate_bending,
    mid_edge_bending, hinges, large_angles, alpha, beta, poisson_ratio, memory, curves, viscosity,
    strain_limit, principal_strain_limit, compression, drag, bend_spring, moving_pins, grippers, seams,
    buttons, bands, folds, fabric_factors, driven_fasteners, forces, force_slopes, pressure, obstacles,
    moving_obstacles, friction, resolve_initial_penetration, wind, gusts, flow, keyframes, program_forces);
constexpr Method iterative{"solver \"iterative\"", nodal_system, {}, of_solvers, ": use \"direct\""};
constexpr Method mixed{
    "solver \"mixed\"", nodal_system | set_of(bodies, cloth_contact), {}, of_solvers, ": use \"direct\""};

}  // namespace methods

std::span<const Method* const> all_methods() {
  static const std::vector<const Method*> all = [] {
    std::vector<const Method*> found;
    for (const Method& method : recipe_methods) found.push_back(&method);
    using namespace methods;
    for (const Method* method :
         {&by_fast_projection, &by_mass_metric, &batched, &iterative, &mixed, &gradients, &energy_balance,
          &rest, &static_sheet, &breen1994, &feynman1986, &validation})
      found.push_back(method);
    return found;
  }();
  return all;
}

const Method& method_of(const Recipe& recipe) {
  static constexpr Method unknown{"a recipe that methods.cpp does not list", {}};
  const auto found = std::ranges::find_if(
      recipe_methods, [&](const Method& m) { return m.name.substr(recipe_prefix) == recipe.name; });
  return found == std::end(recipe_methods) ? unknown : *found;
}

void require_known(const Method& method, Feature feature, const std::string& key, const std::string& found) {
  if (method.accepts({feature})) return;
  const char* advice = method.otherwise;
  const auto look = [&](std::span<const Advice> all) {
    for (const Advice& own : all)
      if (own.feature == feature) advice = own.text;
  };
  if (method.refuses_weak) look(of_recipes);
  look(method.advice);
  const char* const instead =
      static_cast<std::size_t>(feature) < feature_count ? info_of(feature).instead : "none";
  refuse(key, found, text(instead, " with ", method.name, advice));
}

namespace {
void refuse_other(const Method& method, const std::optional<FeatureUse>& use) {
  if (use) require_known(method, use->feature, use->key, use->found);
}
}  // namespace

void require_known(const Method& method, const Garment& garment, const Recipe& recipe,
                   const std::string& key) {
  refuse_other(method, find_other(method.known | method.idle, garment, recipe, key, method.refuses_weak));
}

void require_known_surroundings(const Method& method, const Scene& scene) {
  refuse_other(method, find_other(method.known | method.idle, scene, method.refuses_weak));
}

void require_known(const Method& method, const Scene& scene) {
  require_known_surroundings(method, scene);
  const Recipe& recipe = find_recipe(scene.recipe);
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    require_known(method, scene.garments[g], recipe, text("garments[", g, "]"));
}

}  // namespace isocloth
