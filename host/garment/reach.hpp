// How far a step may take a node of a garment.
#pragma once

#include <algorithm>

#include "engine/model/scene.hpp"
#include "kernels/core/divergence.hpp"

namespace isocloth {

/// The longest way beyond inertia in a step of the scene, w of excess_displacement() [m].
inline double reach(const Garment& garment, const Scene& scene) {
  Vec3d low = garment.mesh.positions.front(), high = low;
  for (const Vec3d& p : garment.mesh.positions) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  const Fabric& fabric = garment.fabric;
  const double fall = scene.step * scene.step * fabric.gravity_density *
                      std::abs(garment.gravity.value_or(scene.gravity)) / fabric.density;
  return fall + largest_way * norm(high - low);
}

}  // namespace isocloth
