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

struct Recipe {
  std::string_view name;
  std::string_view source;  ///< where it is published
  RowFamily rows;
};

/// All recipes, in the order in which `isocloth schema` lists them.
const std::vector<Recipe>& recipes();

/// The recipe of that name; throws SceneError naming the nearest known one.
const Recipe& find_recipe(std::string_view name);

}  // namespace isocloth
