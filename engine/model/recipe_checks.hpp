// What a recipe asks of garments and settings.
#pragma once

#include <string>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Throws SceneError for a garment, its key, that the recipe cannot step.
void check_recipe_of(const std::string& key, const Garment& garment, const Scene& scene,
                     const Recipe& recipe);
/// Elastic rows are part of the step's energy, whose multipliers the iterations carry: throws SceneError for
/// settings of another step, and for limits of rows that do not stretch.
void check_elasticity(const Scene& scene, const Recipe& recipe);

}  // namespace isocloth
