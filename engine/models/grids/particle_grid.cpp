#include "engine/models/grids/particle_grid.hpp"

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

}  // namespace isocloth
