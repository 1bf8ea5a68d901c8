#include "engine/geometry/wall_thickness.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace isocloth {
namespace {

constexpr double most_parallel =
    -0.93969262;  ///< cos(180 - 20 degrees): where normals are nearer, walls are thin

struct Sample {
  double thickness;  ///< [m]
  double area;       ///< area of the surface that it stands for [m^2]
  Vec3d position;    ///< [m]
  Index triangle;
  bool is_wall;  ///< the other side is parallel
};

}  // namespace

std::optional<ThinWalls> find_thin_walls(const ClosedSurface& solid, double limit, double cell) {
  std::vector<Sample> thin;
  double total = 0;
  const double spacing = 2 * cell;
  for (Index t = 0; t < solid.tree().size(); ++t) {
    const auto& [a, b, c] = solid.tree().triangle(t);
    const Vec3d normal = solid.normal(t);
    const double area = norm(cross(b - a, c - a)) / 2;
    total += area;
    const int count = 1 + static_cast<int>(std::min(area / (spacing * spacing), 1e6));
    for (int i = 0; i < count; ++i) {
      // Roberts' sequence in the square (multiples of 1/g, 1/g^2, g^3 = g + 1), folded into the triangle.
      double u = std::fmod(1.0 / 3 + i * 0.7548776662466927, 1),
             v = std::fmod(1.0 / 3 + i * 0.5698402909980532, 1);
      if (u + v > 1) {
        u = 1 - u;
        v = 1 - v;
      }
      const Vec3d position = a + u * (b - a) + v * (c - a);
      RayHit first{-1, limit, 0, 0};
      solid.tree().for_each_hit(position, -normal, limit, [&](const RayHit& hit) {
        if (hit.triangle != t && hit.length < first.length) first = hit;
      });
      if (first.triangle < 0) continue;
      const bool is_wall = dot(solid.normal(first.triangle), normal) < most_parallel;
      thin.push_back({first.length, area / count, position, t, is_wall});
    }
  }
  std::sort(thin.begin(), thin.end(), [](const Sample& a, const Sample& b) {
    return a.thickness != b.thickness ? a.thickness < b.thickness : a.triangle < b.triangle;
  });
  const double sliver = std::max(18 * cell * cell, 1e-3 * total);
  double walls = 0, rays = 0;
  std::optional<ThinWalls> found;
  for (const Sample& sample : thin) {
    rays += sample.area;
    if (sample.is_wall) walls += sample.area;
    if (!found && (walls > sliver || rays > total / 2)) {
      found = {sample.thickness, sample.position, solid.triangles()[sample.triangle].face, 0};
    }
  }
  if (found) found->area_share = std::max(walls, rays > total / 2 ? rays : 0) / total;
  return found;
}

}  // namespace isocloth
