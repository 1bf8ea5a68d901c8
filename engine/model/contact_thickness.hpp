// The thickness of a garment where obstacles and bodies touch it.
#pragma once

#include <algorithm>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"

namespace isocloth {

/// Whether obstacles squeeze the cloth, by the law of its thickness; fast projection and impulses keep it
/// out.
inline bool squeezes(const Scene& scene) {
  return find_recipe(scene.recipe).solver == SolverFamily::projection &&
         scene.projection.method == ProjectionMethod::proximal_newton;
}
/// How a garment is squeezed by obstacles, none where it is not; one without a thickness as if
/// contact.tolerance were half of it.
inline Compression compression_of(const Garment& garment, const Scene& scene) {
  const Fabric& f = garment.fabric;
  if (!squeezes(scene)) return {};
  if (f.compression.exists()) return f.compression;
  return compression_of_thickness(f.thickness > 0 ? f.thickness : 2 * scene.contact.tolerance);
}
/// Distance from obstacles at which contact of a garment begins [m].
inline double contact_offset(const Garment& garment, const Scene& scene) {
  const Fabric& f = garment.fabric;
  const bool has_own = squeezes(scene) && f.compression.exists();
  return (has_own ? f.compression.thickness : f.thickness) / 2 + scene.contact.margin;
}
/// How much a garment's thickness at contacts may differ from that of the force, or how deep it may be [m].
inline double contact_accuracy(const Garment& garment, const Scene& scene) {
  const Compression c = compression_of(garment, scene);
  return c.exists() ? std::min(scene.contact.tolerance, c.thickness / 2) : scene.contact.tolerance;
}

}  // namespace isocloth
