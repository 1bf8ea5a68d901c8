// Irregular Delaunay triangles on a rectangle.
#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/delaunay.hpp"
#include "engine/mesh/flat_uvs.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

constexpr int sweeps = 60;
constexpr double jitter = 0.15;  ///< greatest move of a node in x and y, over a boundary segment
/// Least distance of interior nodes from the boundary before smoothing, over a boundary segment.
constexpr double first_margin = 0.55;
/// Least distance of jittered nodes from the boundary, over a boundary segment.
constexpr double final_margin = 0.45;

/// Equal segments on each side, counter-clockwise from (0, 0).
std::vector<Vec2d> rectangle_boundary(Index segments, double width, double height) {
  std::vector<Vec2d> points;
  for (Index i = 0; i < segments; ++i) points.push_back({width * i / segments, 0});
  for (Index i = 0; i < segments; ++i) points.push_back({width, height * i / segments});
  for (Index i = 0; i < segments; ++i) points.push_back({width * (segments - i) / segments, height});
  for (Index i = 0; i < segments; ++i) points.push_back({0, height * (segments - i) / segments});
  return points;
}

}  // namespace

Mesh irregular_triangles(Index boundary_segments, Index interior_nodes, double width, double height,
                         std::uint64_t seed) {
  if (boundary_segments < 2 || interior_nodes < 0) {
    throw MeshError(text("irregular_triangles: found ", boundary_segments, " boundary segments and ",
                         interior_nodes, " interior nodes, expected at least 2 and 0; add segments"));
  }
  if (!(width > 0 && height > 0) || !std::isfinite(width + height)) {
    throw MeshError(
        text("irregular_triangles: found size ", width, " x ", height, " m, expected numbers > 0"));
  }
  Random random(seed);
  const double dx = width / boundary_segments, dy = height / boundary_segments;
  std::vector<Vec2d> points = rectangle_boundary(boundary_segments, width, height);
  const Index boundary_count = 4 * boundary_segments;
  for (Index i = 0; i < interior_nodes; ++i) {
    const double x = random.uniform(first_margin * dx, width - first_margin * dx);
    const double y = random.uniform(first_margin * dy, height - first_margin * dy);
    points.push_back({x, y});
  }
  spread_points(points, boundary_count, sweeps);
  for (std::size_t k = static_cast<std::size_t>(boundary_count); k < points.size(); ++k) {
    const double x = points[k].x + random.uniform(-jitter * dx, jitter * dx);
    const double y = points[k].y + random.uniform(-jitter * dy, jitter * dy);
    points[k] = {std::clamp(x, final_margin * dx, width - final_margin * dx),
                 std::clamp(y, final_margin * dy, height - final_margin * dy)};
  }
  Mesh mesh;
  for (const Vec2d& p : points) mesh.positions.push_back({p.x, p.y, 0});
  try {
    for (const auto& t : triangulate_region(points, boundary_count)) mesh.add_face({t[0], t[1], t[2]});
  } catch (const MeshError& error) {
    throw MeshError(
        text("irregular_triangles: ", error.what(), "; use fewer interior nodes or more boundary segments"));
  }
  set_flat_uvs(mesh);
  return mesh;
}

}  // namespace isocloth
