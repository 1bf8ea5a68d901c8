// What a recipe asks of garments and settings.
#pragma once

#include <string>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Throws SceneError for a garment, its key, that the recipe cannot step.
void check_recipe_of(const std::string& key, const Garment& garment, const Recipe& recipe);

/// Throws SceneError, messages beginning with `key`, unless a running simulation of the fabric `now` can go
/// on with `found`: numbers may change, but kernels are shared by fabrics of the same terms, and so none may
/// come or go.
void check_same_terms(const std::string& key, const Fabric& found, const Fabric& now);

}  // namespace isocloth
