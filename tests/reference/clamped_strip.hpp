// Strips of triangles that edges cross at any angle.
#pragma once

#include <numbers>

#include "engine/mesh/delaunay.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {

/// Strip [0, 1] x [0, width] of a lattice of squares that is turned by an angle, and a row of elements with
/// x < 0 that a clamp holds; irregular: nodes inside are moved by up to 0.15 edges along both axes.
inline Mesh clamped_strip(Index n, double degrees, double width, bool is_irregular) {
  const double h = 1.0 / n, c = std::cos(degrees * std::numbers::pi / 180),
               s = std::sin(degrees * std::numbers::pi / 180);
  const auto rows = static_cast<Index>(std::lround(width / h));
  std::vector<Vec2d> points;
  for (Index i = -1; i <= n; ++i) points.push_back({i * h, 0});
  for (Index j = 1; j <= rows; ++j) points.push_back({1, j * width / rows});
  for (Index i = n - 1; i >= -1; --i) points.push_back({i * h, width});
  for (Index j = rows - 1; j > 0; --j) points.push_back({-h, j * width / rows});
  const auto outline = static_cast<Index>(points.size());
  for (Index j = 1; j < rows; ++j) points.push_back({0, j * width / rows});
  const MatrixX3d by = noise(40 * n * n, is_irregular ? 0.15 * h : 0, 7);
  Eigen::Index draw = 0;
  for (Index i = -3 * n; i <= 3 * n; ++i)
    for (Index j = -3 * n; j <= 3 * n; ++j) {
      const double u = (i + 0.013) * h, v = (j + 0.017) * h, x = c * u - s * v + by(draw % by.rows(), 0),
                   y = s * u + c * v + by(draw % by.rows(), 1);
      ++draw;
      if (x > 0.55 * h && x < 1 - 0.55 * h && y > 0.55 * h && y < width - 0.55 * h) points.push_back({x, y});
    }
  Mesh mesh;
  for (const Vec2d& p : points) mesh.positions.push_back({p.x, p.y, 0});
  for (const auto& [a, b, c3] : triangulate_region(points, outline)) mesh.add_face({a, b, c3});
  return mesh;
}

}  // namespace isocloth::reference
