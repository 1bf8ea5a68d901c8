// Garments as searches among moving surfaces take them (engine/geometry/pair_search.hpp and its neighbours).
#pragma once

#include <algorithm>
#include <map>
#include <utility>
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

/// Numbers of garments that step together: all of a scene with bodies; where cloth meets cloth those of each
/// world, or all, if some are of every world and others are not. Ascending.
inline std::vector<std::vector<std::size_t>> coupled_garments(const Scene& scene) {
  std::map<Index, std::vector<std::size_t>> worlds;
  for (std::size_t g = 0; g < scene.garments.size(); ++g)
    worlds[scene.bodies.empty() ? scene.garments[g].world : Garment::every_world].push_back(g);
  std::vector<std::vector<std::size_t>> groups;
  const bool joins_all = worlds.contains(Garment::every_world);
  for (auto& [world, garments] : worlds)
    if (groups.empty() || !joins_all)
      groups.push_back(std::move(garments));
    else
      groups.front().insert(groups.front().end(), garments.begin(), garments.end());
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

}  // namespace isocloth
