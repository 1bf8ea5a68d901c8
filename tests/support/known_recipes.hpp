// Recipes that a build has: one that is configured with ISOCLOTH_MODELS=OFF has those of the core alone.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "engine/model/models.hpp"
#include "engine/model/recipe.hpp"

namespace isocloth {

/// False of a published model that this build leaves out; true of any other name, for the test to find.
inline bool has_recipe(std::string_view name) {
  return std::ranges::find(models().missing, name) == models().missing.end();
}

/// Those of the names that this build has.
inline std::vector<const char*> known_recipes(std::vector<const char*> names) {
  std::erase_if(names, [](const char* name) { return !has_recipe(name); });
  return names;
}

/// Those of the cases whose recipe this build has.
template <class Case>
std::vector<Case> of_known_recipes(std::vector<Case> cases) {
  std::erase_if(cases, [](const Case& c) { return !has_recipe(c.recipe); });
  return cases;
}

/// Whether this build can read a scene file of this text: false where it names a recipe that the build lacks,
/// a shape at the start or air around panels.
inline bool is_known_scene(const std::string& json) {
  if (models().missing.empty()) return true;
  const auto names = [&](const std::string& words) { return json.find(words) != std::string::npos; };
  return !names("\"drape\"") && !names("\"model\": \"panels\"") &&
         std::ranges::none_of(models().missing, [&](std::string_view recipe) {
           return names('"' + std::string(recipe) + '"');
         });
}

}  // namespace isocloth
