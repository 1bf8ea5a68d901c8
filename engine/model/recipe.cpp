#include "engine/model/recipe.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

const std::vector<Recipe>& recipes() {
  // More rows would lock (Coltraro 2022, section 5.4).
  static const std::vector<RowFamily> isometry = {RowFamily::isometry, RowFamily::corner_shear,
                                                  RowFamily::boundary_edges},
                                      edges = {RowFamily::edges}, springs = {RowFamily::elastic_edges},
                                      elements = {RowFamily::membrane};
  static const std::vector<Recipe> all = {
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
      {"bender_iterative",
       "Bender, Bayer: Impulse-based simulation of inextensible cloth, section 3.4.1: every mesh edge keeps "
       "its "
       "length by impulses, edge after edge",
       edges, SolverFamily::impulse},
      {"bender_sle", "the same, section 3.4.2: all impulses of a step from one system of linear equations",
       edges, SolverFamily::impulse_system},
      {"isometric_impulse", "the rows of coltraro2022 by the sweeps of bender_iterative", isometry,
       SolverFamily::impulse},
  };
  return all;
}

std::vector<RowFamily> row_families(const Recipe& recipe, const Fabric& fabric) {
  std::vector<RowFamily> rows = recipe.rows;
  if (fabric.strain_limit > 0) rows.push_back(RowFamily::edge_limits);
  return rows;
}

Bending bending_of(const Recipe& recipe, const Fabric& fabric) {
  const bool is_automatic = fabric.bending == BendingModel::automatic;
  return {is_automatic ? recipe.bending : fabric.bending, fabric.bending_ratio()};
}

const Recipe& find_recipe(std::string_view name) {
  std::vector<std::string> known;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    known.emplace_back(recipe.name);
  }
  throw SceneError(text("recipe: found \"", name, "\", expected a known recipe; the nearest is \"",
                        nearest_name(name, known), "\""));
}

}  // namespace isocloth
