#include "engine/model/recipe.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"
#include "engine/material/membrane_laws.hpp"
#include "engine/model/models.hpp"
#include "engine/rows/row_families.hpp"

namespace isocloth {

const std::vector<Recipe>& recipes() {
  // More rows would lock (Coltraro 2022, section 5.4).
  static const std::vector<RowFamily> isometry = {RowFamily::isometry, RowFamily::corner_shear,
                                                  RowFamily::boundary_edges},
                                      edges = {RowFamily::edges}, springs = {RowFamily::elastic_edges},
                                      grid_springs = {RowFamily::springs}, elements = {RowFamily::membrane};
  static const std::vector<Recipe> own = {
      {"coltraro2022",
       "Coltraro, Amoros, Alberich-Carraminana, Torras 2022, An inextensible model for the robotic "
       "manipulation of textiles",
       isometry, SolverFamily::projection},
      {"inextensible_edges", "control: every mesh edge keeps its length, which locks a triangle mesh", edges,
       SolverFamily::projection},
      {"elastic_edges",
       "implicit mass-spring cloth after Baraff, Witkin 1998: every mesh edge is a spring of fabric."
       "stretch_stiffness",
       springs, SolverFamily::projection, BendingModel::plate},
      {"membrane",
       "Volino, Magnenat-Thalmann, Faure 2009, A simple approach to nonlinear tensile stiffness for accurate "
       "cloth simulation, with linear stress: strain held on every element by fabric.stretch_stiffness and "
       "fabric.shear_stiffness",
       elements, SolverFamily::projection, BendingModel::plate},
      {"soft_constraints",
       "Baraff, Witkin 1998, Large steps in cloth simulation, section 4.2, as Miguel et al. 2012, (4), have "
       "it: the elements of membrane, threads with force over elongation in the place of Green's strain",
       elements, SolverFamily::projection, BendingModel::plate, StrainMeasure::engineering},
      {"corotational",
       "Etzmuss, Keckeisen, Strasser 2003, A fast finite element solution for cloth modelling, as Volino, "
       "Magnenat-Thalmann, Faure 2009, section 4.3, compare it with theirs: the elements of membrane, stress "
       "linear in the strain S - I of the polar decomposition F = R S",
       elements, SolverFamily::projection, BendingModel::plate, StrainMeasure::corotational},
      {"springs",
       "Provot 1995, Deformation constraints in a mass-spring model; Miguel et al. 2012, (1): springs along "
       "edges and both diagonals of quads with the stiffness of warp, weft and shear, flexion by fabric."
       "bend_spring",
       grid_springs, SolverFamily::projection, BendingModel::plate, StrainMeasure::engineering},
      {"bender_iterative",
       "Bender, Bayer: Impulse-based simulation of inextensible cloth, section 3.4.1: every mesh edge keeps "
       "its "
       "length by impulses, edge after edge",
       edges, SolverFamily::impulse},
  };
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> found = own;
    found.insert(found.end(), models().recipes.begin(), models().recipes.end());
    return found;
  }();
  return all;
}

std::vector<RowFamily> row_families(const Recipe& recipe, const Mesh& mesh, const Fabric& fabric) {
  std::vector<RowFamily> rows = recipe.rows;
  const AskedRows by{mesh, fabric, recipe.has_springs(), recipe.limits_edges(), has_hinges(recipe, fabric)};
  for_each_family([&](RowFamily name, auto family) {
    if constexpr (requires { family.are_asked(by); })
      if (family.are_asked(by)) rows.push_back(name);
  });
  return rows;
}

namespace {

/// Laws one after another, each with as many pieces as the longest has, `count` at least.
std::vector<CurvePiece> even_laws(const std::array<std::vector<CurvePiece>, RowLaw::count>& laws,
                                  std::size_t count) {
  for (const auto& pieces : laws) count = std::max(count, pieces.size());
  std::vector<CurvePiece> all;
  for (const auto& pieces : laws)
    for (std::size_t i = 0; i < count; ++i) all.push_back(pieces[std::min(i, pieces.size() - 1)]);
  return all;
}

}  // namespace

std::vector<CurvePiece> stress_laws(const Recipe& recipe, const Fabric& fabric, std::size_t count) {
  const StressCurves& curves = fabric.curves;
  const bool is_linear = !curves.exist() && kind_of(recipe.strain).is_linear &&
                         !(has_hinges(recipe, fabric) && curves.bend.exists());
  if (count == 0 && is_linear) return {};
  return even_laws(
      {thread_law(curves.warp, fabric.stretch_stiffness, recipe.strain),
       shear_law(curves.shear, fabric.shear_stiffness),
       thread_law(curves.weft.exists() ? curves.weft : curves.warp, fabric.weft_stiffness(), recipe.strain),
       {{}},
       curves.bend.exists() ? shear_law(curves.bend, fabric.hinge_stiffness()) : shear_law({}, 1)},
      count);
}

std::vector<CurvePiece> viscosity_laws(const Fabric& fabric, std::size_t count) {
  const auto& [stretch, shear, curves] = fabric.viscosity;
  const SpringDamper& flexion = fabric.bend_spring;
  const double flexion_time = flexion.stiffness > 0 ? flexion.damping / flexion.stiffness : 0;
  const bool has_damped_hinges =
      fabric.bending == BendingModel::discrete_shells && fabric.stiffness_damping > 0;
  const double bend_time = has_damped_hinges ? fabric.stiffness_damping / fabric.hinge_stiffness() : 0;
  if (count == 0 && !fabric.viscosity.exists() && !(flexion_time + bend_time > 0)) return {};
  const auto linear = [](double time) { return std::vector<CurvePiece>{{.slope = time}}; };
  // C is twice Green's strain, and stress over stiffness half of p: as forces by the engineering measure.
  const auto thread = [&, &stretch = stretch](const StressCurve& curve, double stiffness) {
    return curve.exists() ? thread_law(curve, stiffness, StrainMeasure::engineering)
                          : linear(stretch / fabric.stretch_stiffness);
  };
  return even_laws({thread(curves.warp, fabric.stretch_stiffness),
                    curves.shear.exists() ? shear_law(curves.shear, fabric.shear_stiffness)
                                          : linear(shear / fabric.shear_stiffness),
                    thread(curves.weft.exists() ? curves.weft : curves.warp, fabric.weft_stiffness()),
                    linear(flexion_time), linear(bend_time)},
                   count);
}

Bending bending_of(const Recipe& recipe, const Fabric& fabric) {
  const bool is_automatic = fabric.bending == BendingModel::automatic;
  return {is_automatic ? recipe.bending : fabric.bending, fabric.bending_ratio()};
}

bool has_hinges(const Recipe& recipe, const Fabric& fabric) {
  return bending_of(recipe, fabric).model == BendingModel::discrete_shells && fabric.hinge_stiffness() > 0;
}

bool has_large_angles(const Fabric& fabric) { return fabric.large_angles && fabric.bending_stiffness > 0; }

bool has_bending_matrix(const Recipe& recipe, const Fabric& fabric) {
  return (fabric.bending_stiffness > 0 || fabric.stiffness_damping > 0) &&
         bending_of(recipe, fabric).model != BendingModel::discrete_shells;
}

const Recipe& find_recipe(std::string_view name) {
  std::vector<std::string> known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    known.emplace_back(recipe.name);
  }
  if (std::ranges::find(models().missing, name) != models().missing.end())
    throw SceneError(not_in_this_build(text("recipe ", name)));
  throw SceneError(text("recipe: found \"", name, "\", expected a known recipe; the nearest is \"",
                        nearest_name(name, known), "\""));
}

}  // namespace isocloth
