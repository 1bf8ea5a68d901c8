#include "engine/particles/particle_grid.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

namespace {

/// `cells`: what they should be.
RectangularGrid find_grid(const Mesh& mesh, const std::string& key, const char* cells) {
  const auto refuse = [&](const std::string& found) {
    throw SceneError(text(key, ".mesh: found ", found, ", expected a quad_grid of ", cells,
                          " cells, three nodes at least along each side"));
  };
  if (mesh.face_count() == 0 || mesh.face_nodes.size() != 4 * static_cast<std::size_t>(mesh.face_count()))
    refuse("faces that are no quads");
  const Index columns = mesh.face_nodes[3], rows = columns > 0 ? mesh.node_count() / columns : 0;
  if (columns < 3 || rows < 3 || columns * rows != mesh.node_count() ||
      (columns - 1) * (rows - 1) != mesh.face_count())
    refuse("another mesh");
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const Index first = f / (columns - 1) * columns + f % (columns - 1);
    const Index expected[4] = {first, first + 1, first + 1 + columns, first + columns};
    if (!std::equal(expected, expected + 4, mesh.face_nodes.begin() + 4 * f)) refuse("another mesh");
  }
  const auto length = [&mesh](Index a, Index b) {
    return norm(mesh.positions[static_cast<std::size_t>(a)] - mesh.positions[static_cast<std::size_t>(b)]);
  };
  const double spacing[2] = {length(0, 1), length(0, columns)};
  const auto check = [&](double found, double expected) {
    if (std::fabs(found - expected) > 1e-3 * expected)
      refuse(text("edges of ", expected, " m and of ", found, " m"));
  };
  for (Index i = 0; i < mesh.node_count(); ++i) {
    if ((i + 1) % columns != 0) check(length(i, i + 1), spacing[0]);
    if (i + columns < mesh.node_count()) check(length(i, i + columns), spacing[1]);
  }
  return {columns, rows, {spacing[0], spacing[1]}};
}

}  // namespace

RectangularGrid rectangular_grid(const Mesh& mesh, const std::string& key) {
  const RectangularGrid grid = find_grid(mesh, key, "rectangular");
  const auto check = [&](double found, double expected) {
    if (std::fabs(found - expected) > 2e-3 * expected)
      throw SceneError(text(key, ".mesh: found a diagonal of ", found, " m, expected one of ", expected,
                            " m, of a quad_grid of rectangular cells"));
  };
  const double diagonal = std::hypot(grid.spacing[0], grid.spacing[1]);
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    check(norm(mesh.positions[static_cast<std::size_t>(face[2])] -
               mesh.positions[static_cast<std::size_t>(face[0])]),
          diagonal);
  }
  return grid;
}

ParticleGrid particle_grid(const Mesh& mesh, const std::string& key) {
  const RectangularGrid grid = find_grid(mesh, key, "square");
  const auto [w, other] = grid.spacing;
  if (std::fabs(other - w) > 1e-3 * w)
    throw SceneError(text(key, ".mesh: found edges of ", w, " m and of ", other,
                          " m, expected a quad_grid of square cells, three nodes at least along each side"));
  return {grid.columns, grid.rows, w};
}

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
