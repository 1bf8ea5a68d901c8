#include "engine/model/recipe.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = {
      {"coltraro2022",
       "Coltraro, Amoros, Alberich-Carraminana, Torras 2022, An inextensible model for the robotic "
       "manipulation of textiles",
       RowFamily::isometry},
      {"inextensible_edges", "control: every mesh edge keeps its length, which locks a triangle mesh",
       RowFamily::edges},
  };
  return all;
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
