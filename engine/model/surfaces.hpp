// Garments as searches among moving surfaces take them (engine/geometry/pair_search.hpp and its neighbours).
#pragma once

#include <vector>

#include "engine/model/scene.hpp"

namespace isocloth {

// All of shape [garment_count], in the order of the garments.

inline std::vector<const Garment*> garments_of(const Scene& scene) {
  std::vector<const Garment*> garments;
  for (const Garment& garment : scene.garments) garments.push_back(&garment);
  return garments;
}
inline std::vector<const Mesh*> meshes_of(const std::vector<const Garment*>& garments) {
  std::vector<const Mesh*> meshes;
  for (const Garment* garment : garments) meshes.push_back(&garment->mesh);
  return meshes;
}
/// World of each garment: those of different worlds do not meet; Garment::every_world: one that is in all.
inline std::vector<Index> worlds_of(const std::vector<const Garment*>& garments) {
  std::vector<Index> worlds;
  for (const Garment* garment : garments) worlds.push_back(garment->world);
  return worlds;
}
/// Whether nothing of a garment moves freely.
inline std::vector<bool> driven_of(const std::vector<const Garment*>& garments) {
  std::vector<bool> driven;
  for (const Garment* garment : garments) driven.push_back(is_kinematic(*garment));
  return driven;
}

}  // namespace isocloth
