// Published models as data: a named choice of rows, forces and solver.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/rows/row_family.hpp"

namespace isocloth {

enum class SolverFamily {
  projection,      ///< implicit step, brought back to the constraints by linear solves (ProjectionSettings)
  impulse,         ///< impulses row by row, in sweeps over all rows (ImpulseSettings)
  impulse_system,  ///< all impulses of a step from one linear system (ImpulseSettings)
  semi_implicit,   ///< a linear system with the forces and their matrix where the step begins
};

/// What impulses on mesh edges make of their lengths, in the core and in models beside it (engine/models).
enum class EdgeRule {
  kept,             ///< rows keep them
  springs,          ///< explicit springs (Fabric::structural_spring), drawn together beyond strain_limit
  plastic_springs,  ///< explicit springs that yield (Fabric::plasticity)
  free,             ///< nothing: the model holds cloth by other energies
};

struct Recipe {
  std::string_view name;
  std::string_view source;  ///< where it is published
  std::vector<RowFamily> rows;
  SolverFamily solver;
  BendingModel bending = BendingModel::isometric;  ///< unless the fabric says another
  StrainMeasure strain = StrainMeasure::green;     ///< of threads or elements, where rows are elastic
  EdgeRule edges = EdgeRule::kept;

  /// Whether every row is the length of an edge.
  bool holds_edges() const {
    return rows.size() == 1 && (rows[0] == RowFamily::edges || rows[0] == RowFamily::elastic_edges);
  }
  /// Edges may have any length up to strain_limit, where there is one.
  bool limits_edges() const { return edges != EdgeRule::kept; }
  /// Springs are plastic, and strain_limit is not known.
  bool yields() const { return edges == EdgeRule::plastic_springs; }
  /// Edges are explicit springs.
  bool has_edge_springs() const { return edges == EdgeRule::springs || yields(); }
  bool has_springs() const { return rows[0] == RowFamily::springs; }
  /// Whether any row is compliant.
  bool is_elastic() const { return std::any_of(rows.begin(), rows.end(), is_compliant); }
};

/// The rows of a garment of this mesh and fabric: those of the recipe, flexion springs where it is one of
/// springs and the fabric has some, limits of strain where the fabric has one, bands where the mesh has some,
/// and hinges or large angles where the fabric bends by them.
std::vector<RowFamily> row_families(const Recipe& recipe, const Mesh& mesh, const Fabric& fabric);

/// Laws of rows by number (RowLaw), `count` pieces each, the last again where a law has fewer; count 0: as
/// many as the longest has. Empty where all are linear in Green's strain and count is 0.
std::vector<CurvePiece> stress_laws(const Recipe& recipe, const Fabric& fabric, std::size_t count = 0);
/// Laws of viscous stress by number (RowLaw), p_v by dC/dt, `count` pieces each as in stress_laws(), of slope
/// viscosity over stiffness [s] where no curve is; empty where nothing is viscous and count is 0.
std::vector<CurvePiece> viscosity_laws(const Fabric& fabric, std::size_t count = 0);

/// How a garment bends.
struct Bending {
  BendingModel model = BendingModel::isometric;  ///< not automatic
  double ratio = 1;                              ///< stiffness along weft over that along warp
  bool operator==(const Bending&) const = default;
};
Bending bending_of(const Recipe& recipe, const Fabric& fabric);
/// Whether a garment bends by rows of hinges, not by a constant matrix.
bool has_hinges(const Recipe& recipe, const Fabric& fabric);
/// Whether rows of large angles stand beside the constant matrix of bending.
bool has_large_angles(const Fabric& fabric);
bool has_bending_matrix(const Recipe& recipe, const Fabric& fabric);

/// All recipes, in the order in which `isocloth schema` lists them.
const std::vector<Recipe>& recipes();

/// The recipe of that name; throws SceneError naming the nearest known one.
const Recipe& find_recipe(std::string_view name);

}  // namespace isocloth
