// Published models as data: a named choice of rows, forces and solver.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/rows/row_pattern.hpp"

namespace isocloth {

enum class SolverFamily {
  projection,      ///< implicit step, brought back to the constraints by linear solves (ProjectionSettings)
  impulse,         ///< impulses row by row, in sweeps over all rows (ImpulseSettings)
  impulse_system,  ///< all impulses of a step from one linear system (ImpulseSettings)
};

struct Recipe {
  std::string_view name;
  std::string_view source;  ///< where it is published
  std::vector<RowFamily> rows;
  SolverFamily solver;
  BendingModel bending = BendingModel::isometric;  ///< unless the fabric says another

  /// Whether every row is the length of an edge.
  bool holds_edges() const {
    return rows.size() == 1 && (rows[0] == RowFamily::edges || rows[0] == RowFamily::elastic_edges);
  }
  /// Whether any row is compliant.
  bool is_elastic() const { return std::any_of(rows.begin(), rows.end(), is_compliant); }
};

/// The rows of a garment of this fabric: those of the recipe, and limits of strain where the fabric has one.
std::vector<RowFamily> row_families(const Recipe& recipe, const Fabric& fabric);

/// How a garment bends.
struct Bending {
  BendingModel model = BendingModel::isometric;  ///< not automatic
  double ratio = 1;                              ///< stiffness along weft over that along warp
  bool operator==(const Bending&) const = default;
};
Bending bending_of(const Recipe& recipe, const Fabric& fabric);

/// All recipes, in the order in which `isocloth schema` lists them.
const std::vector<Recipe>& recipes();

/// The recipe of that name; throws SceneError naming the nearest known one.
const Recipe& find_recipe(std::string_view name);

}  // namespace isocloth
