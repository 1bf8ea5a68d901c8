// What published models beside the core (engine/models) add to recipes and to checks of scenes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

struct Models {
  std::vector<Recipe> recipes;            ///< listed after those of the core
  std::vector<std::string_view> missing;  ///< recipes that exist and that this build was configured without
  /// Throws SceneError beginning with `key` of the garment for what a recipe among these cannot do; null:
  /// none of them asks for anything.
  void (*check_recipe)(const std::string& key, const Garment& garment, const Recipe& recipe) = nullptr;
  /// Throws SceneError beginning with `key` of the mesh for a garment around which air cannot flow as around
  /// panels (WindModel::panels); null: this build knows no such air.
  void (*check_panels)(const Garment& garment, const Vec3d& wind, const std::string& key) = nullptr;
};

/// Those of this build: engine/models/lists, or engine/without_models where it is configured with
/// -DISOCLOTH_MODELS=OFF.
const Models& models();

/// "WHAT: not in this build; configure with -DISOCLOTH_MODELS=ON".
std::string not_in_this_build(const std::string& what);

}  // namespace isocloth
