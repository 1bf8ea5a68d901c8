// The models beside the core, for recipes and checks; a model that is taken out takes its lines along.
#include "engine/model/models.hpp"

#include "engine/models/air/panel_grid.hpp"
#include "engine/models/bender_sle/recipe.hpp"
#include "engine/models/isometric_impulse/recipe.hpp"
#include "engine/models/provot1995/recipe.hpp"
#include "engine/models/sakaguchi1991/recipe.hpp"
#include "engine/models/terzopoulos1987/recipe.hpp"

namespace isocloth {
namespace {

void check_recipe(const std::string& key, const Garment& garment, const Recipe& recipe) {
  if (recipe.solver == SolverFamily::semi_implicit) check_tensors(key, garment);
}

void check_panels(const Garment& garment, const Vec3d& wind, const std::string& key) {
  panel_grid(garment.mesh, start_positions(garment), wind, key);
}

}  // namespace

const Models& models() {
  static const Models all{.recipes = {bender_sle(), provot1995(), sakaguchi1991(), terzopoulos1987(),
                                      terzopoulos1987_implicit(), isometric_impulse()},
                          .missing = {},
                          .check_recipe = check_recipe,
                          .check_panels = check_panels};
  return all;
}

}  // namespace isocloth
