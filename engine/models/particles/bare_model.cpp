#include "engine/models/particles/bare_model.hpp"

#include <algorithm>
#include <cmath>

namespace isocloth {

ParticleModel bare_model(const ParticleGrid& grid, double delta, Vec3d gravity) {
  ParticleModel model;
  model.spacing = grid.spacing;
  model.gravity = gravity;
  const double cell = delta * grid.spacing * grid.spacing;
  for (Index j = 0; j < grid.rows; ++j)
    for (Index i = 0; i < grid.columns; ++i) {
      const double along = i == 0 || i + 1 == grid.columns ? 0.5 : 1;
      const double across = j == 0 || j + 1 == grid.rows ? 0.5 : 1;
      model.masses.push_back(along * across * cell);
    }
  model.is_held.assign(model.masses.size(), 0);
  // At an edge that carries all that hangs from it particles sink by several times as much
  // (host/docs/ENERGIES.md).
  model.contact_stiffness = 10 * cell * std::max(norm(gravity), 1e-3) / (0.02 * grid.spacing);
  return model;
}

std::vector<Index> rim(const ParticleGrid& grid) {
  std::vector<Index> nodes;
  const Index nx = grid.columns, ny = grid.rows;
  for (Index i = 0; i + 1 < nx; ++i) nodes.push_back(i);
  for (Index j = 0; j + 1 < ny; ++j) nodes.push_back(j * nx + nx - 1);
  for (Index i = nx - 1; i > 0; --i) nodes.push_back((ny - 1) * nx + i);
  for (Index j = ny - 1; j > 0; --j) nodes.push_back(j * nx);
  return nodes;
}

int fold_count(const std::vector<Vec3d>& points) {
  if (points.empty()) return 0;
  Vec3d middle;
  for (const Vec3d& p : points) middle += (1 / static_cast<double>(points.size())) * p;
  std::vector<double> radii;
  double mean = 0;
  for (const Vec3d& p : points) {
    radii.push_back(std::hypot(p.x - middle.x, p.y - middle.y));
    mean += radii.back() / static_cast<double>(points.size());
  }
  // Twice around from the lowest place: every rise above the last minimum is followed by a fall.
  std::ranges::rotate(radii, std::ranges::min_element(radii));
  radii.push_back(radii.front());
  const double least = 0.05 * mean;
  int folds = 0;
  bool rises = true;
  double extreme = radii.front();
  for (const double r : radii) {
    if (rises ? r > extreme : r < extreme) extreme = r;
    if (std::fabs(r - extreme) < least) {
      continue;
    } else if (rises) {
      ++folds;
      rises = false;
      extreme = r;
    } else {
      rises = true;
      extreme = r;
    }
  }
  return folds;
}

}  // namespace isocloth
