// Published models as data: a named choice of rows, forces and solver.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace isocloth {

enum class RowFamily {
  isometry,  ///< E, F, G at interior nodes, F at corners, boundary edge lengths
  edges,     ///< every edge length
};

enum class SolverFamily {
  projection,      ///< implicit step, brought back to the constraints by linear solves (ProjectionSettings)
  impulse,         ///< impulses row by row, in sweeps over all rows (ImpulseSettings)
  impulse_system,  ///< all impulses of a step from one linear system (ImpulseSettings)
};

struct Recipe {
  std::string_view name;
  std::string_view source;  ///< where it is published
  RowFamily rows;
  SolverFamily solver;
};

/// All recipes, in the order in which `isocloth schema` lists them.
const std::vector<Recipe>& recipes();

/// The recipe of that name; throws SceneError naming the nearest known one.
const Recipe& find_recipe(std::string_view name);

}  // namespace isocloth
