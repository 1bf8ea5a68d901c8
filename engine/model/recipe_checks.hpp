// What a recipe asks of garments and settings.
#pragma once

#include <string>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Throws SceneError for a garment, its key, that the recipe cannot step.
void check_recipe_of(const std::string& key, const Garment& garment, const Recipe& recipe);

}  // namespace isocloth
