#include "engine/model/air_checks.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/fabric_numbers.hpp"
#include "engine/model/models.hpp"
#include "engine/model/resolved_scene.hpp"

namespace isocloth {

bool is_sheet_in_air(const Garment& garment, const Scene& scene) {
  return scene.wind.model == WindModel::panels && !is_kinematic(garment);
}

void check_air(const Scene& scene) {
  const ResolvedScene resolved(scene);
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    if (scene.garments[g].fabric.drag.is_quadratic() && resolved.projects && !resolved.is_newton)
      throw SceneError(
          text("garments[", g,
               "].fabric.drag: found coefficients of quadratic drag, expected none with "
               "projection.method \"fast_projection\", which solves for forces once, before it knows "
               "the speed: use \"proximal_newton\", or normal and tangential"));
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    if (!is_sheet_in_air(garment, scene)) continue;
    if (models().check_panels == nullptr) throw SceneError(not_in_this_build("wind.model \"panels\""));
    for (const char* const name : {"normal", "normal_coefficient"})
      if (const double found = find_fabric_number(text("drag.", name), "").value(garment.fabric); found > 0)
        throw SceneError(text("garments[", g, "].fabric.drag.", name, ": found ", found,
                              ", expected 0 with wind.model \"panels\", which has that force"));
    models().check_panels(garment, scene.wind.velocity, text("garments[", g, "].mesh"));
  }
}

}  // namespace isocloth
