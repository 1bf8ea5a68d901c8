#include "engine/geometry/enclosure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/geometry/face_tree.hpp"
#include "engine/geometry/triangle_tree.hpp"

namespace isocloth {
namespace {

bool is_inside(const TriangleTree& tree, const Vec3d& p, double length) {
  constexpr double rim = 1e-7;  // in barycentric coordinates: there parity may count twice
  const Vec3d directions[] = {
      {0.53, 0.21, 0.82}, {-0.37, 0.86, 0.35}, {0.71, -0.63, 0.31}, {0.11, 0.47, -0.88}};
  for (const Vec3d& direction : directions) {
    int hits = 0;
    bool is_clear = true;
    tree.for_each_hit(p, direction, length, [&](const RayHit& hit) {
      ++hits;
      is_clear = is_clear && hit.margin > rim;
    });
    if (is_clear) return hits % 2 == 1;
  }
  return false;
}

}  // namespace

bool is_watertight(const Mesh& surface) {
  std::vector<std::array<Index, 2>> sides;
  for (Index f = 0; f < surface.face_count(); ++f) {
    const auto nodes = surface.face(f);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const auto [low, high] = std::minmax(nodes[k], nodes[(k + 1) % nodes.size()]);
      sides.push_back({low, high});
    }
  }
  std::ranges::sort(sides);
  for (std::size_t first = 0, last = 0; first < sides.size(); first = last) {
    while (last < sides.size() && sides[last] == sides[first]) ++last;
    if (last - first != 2) return false;
  }
  return !sides.empty();
}

Enclosed enclosed_points(const Mesh& surface, const std::vector<Vec3d>& positions,
                         const std::vector<Vec3d>& points) {
  BoundingBox box;
  for (const Vec3d& p : positions) box = joined(box, {p, p});
  const double length = 4 * norm(box.high - box.low);  // in units of directions of about 1
  Enclosed found;
  std::optional<TriangleTree> tree;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Vec3d& p = points[i];
    if (!overlap(box, {p, p})) continue;
    if (!tree) {
      std::vector<TriangleCorners> triangles;
      for (Index f = 0; f < surface.face_count(); ++f) {
        const auto nodes = surface.face(f);
        for (std::size_t k = 2; k < nodes.size(); ++k) {
          const TriangleCorners corners{positions[nodes[0]], positions[nodes[k - 1]], positions[nodes[k]]};
          if (norm(cross(corners[1] - corners[0], corners[2] - corners[0])) > 0) triangles.push_back(corners);
        }
      }
      if (triangles.empty()) return found;
      tree.emplace(std::move(triangles));
    }
    if (!is_inside(*tree, p, length)) continue;
    ++found.count;
    const double depth = std::sqrt(tree->nearest(p).distance_squared);
    if (found.deepest < 0 || depth > found.depth) {
      found.deepest = static_cast<Index>(i);
      found.depth = depth;
    }
  }
  return found;
}

}  // namespace isocloth
