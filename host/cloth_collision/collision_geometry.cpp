#include "host/cloth_collision/collision_geometry.hpp"

#include <algorithm>

namespace isocloth {
namespace {

template <std::size_t count>
std::vector<Index> flattened(const std::vector<std::array<Index, count>>& all) {
  std::vector<Index> numbers;
  numbers.reserve(count * all.size());
  for (const auto& each : all) numbers.insert(numbers.end(), each.begin(), each.end());
  return numbers;
}

}  // namespace

CollisionGeometry::CollisionGeometry(const Device& device, const SurfaceFeatures& features,
                                     const std::vector<const Garment*>& garments, double tolerance)
    : features_(features),
      tolerance_(tolerance),
      triangles_(device, flattened(features.triangles)),
      sides_(device, flattened(features.sides)),
      edges_(device, flattened(features.edges)),
      node_garments_(device, features.node_surfaces) {
  std::vector<Vec3d> rest;
  for (const Garment* garment : garments) {
    thicknesses_.push_back(garment->fabric.thickness);
    rest.insert(rest.end(), garment->mesh.positions.begin(), garment->mesh.positions.end());
  }
  reach_ = std::max(std::ranges::min(thicknesses_) / 4, 2 * tolerance);
  device_thicknesses_ = {device, thicknesses_};
  rest_ = {device, rest};
}

std::size_t CollisionGeometry::memory_bytes() const {
  return triangles_.bytes() + sides_.bytes() + edges_.bytes() + node_garments_.bytes() +
         device_thicknesses_.bytes() + rest_.bytes();
}

}  // namespace isocloth
