// Regular grids on a rectangle.
#include <cmath>

#include "engine/core/enum_check.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/flat_uvs.hpp"
#include "engine/mesh/generator_sizes.hpp"
#include "engine/mesh/generators.hpp"

namespace isocloth {
namespace {

Mesh grid_nodes(const char* generator, Index nx, Index ny, double width, double height) {
  if (nx < 2 || ny < 2) {
    throw MeshError(text(generator, ": found ", nx, " x ", ny, " nodes, expected at least 2 x 2; add nodes"));
  }
  if (!(width > 0 && height > 0) || !std::isfinite(width + height)) {
    throw MeshError(text(generator, ": found size ", width, " x ", height, " m, expected numbers > 0"));
  }
  require_countable(generator, nx, ny);
  Mesh mesh;
  mesh.positions.reserve(static_cast<std::size_t>(nx) * static_cast<std::size_t>(ny));
  for (Index j = 0; j < ny; ++j) {
    for (Index i = 0; i < nx; ++i) mesh.positions.push_back({width * i / (nx - 1), height * j / (ny - 1), 0});
  }
  return mesh;
}

}  // namespace

Mesh quad_grid(Index nx, Index ny, double width, double height) {
  Mesh mesh = grid_nodes("quad_grid", nx, ny, width, height);
  for (Index j = 0; j + 1 < ny; ++j) {
    for (Index i = 0; i + 1 < nx; ++i) {
      const Index a = j * nx + i;
      mesh.add_face({a, a + 1, a + nx + 1, a + nx});
    }
  }
  set_flat_uvs(mesh);
  return mesh;
}

Mesh triangle_grid(Index nx, Index ny, double width, double height, Diagonals diagonals) {
  require_enum<MeshError>("triangle_grid: diagonals", diagonals, Diagonals::alternating);
  Mesh mesh = grid_nodes("triangle_grid", nx, ny, width, height);
  for (Index j = 0; j + 1 < ny; ++j) {
    for (Index i = 0; i + 1 < nx; ++i) {
      const Index a = j * nx + i, b = a + 1, c = a + nx + 1, d = a + nx;
      if (diagonals == Diagonals::parallel || (i + j) % 2 == 0) {
        mesh.add_face({a, b, c});
        mesh.add_face({a, c, d});
      } else {
        mesh.add_face({a, b, d});
        mesh.add_face({b, c, d});
      }
    }
  }
  set_flat_uvs(mesh);
  return mesh;
}

}  // namespace isocloth
