#include "engine/model/air_checks.hpp"

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/model/models.hpp"

namespace isocloth {

bool is_sheet_in_air(const Garment& garment, const Scene& scene) {
  return scene.wind.model == WindModel::panels && !is_kinematic(garment);
}

void check_air(const Scene& scene) {
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    const Garment& garment = scene.garments[g];
    if (!is_sheet_in_air(garment, scene)) continue;
    if (models().check_panels == nullptr) throw SceneError(not_in_this_build("wind.model \"panels\""));
    if (garment.fabric.drag.normal > 0)
      throw SceneError(text("garments[", g, "].fabric.drag.normal: found ", garment.fabric.drag.normal,
                            ", expected 0 with wind.model \"panels\", which has that force"));
    models().check_panels(garment, scene.wind.velocity, text("garments[", g, "].mesh"));
  }
}

}  // namespace isocloth
