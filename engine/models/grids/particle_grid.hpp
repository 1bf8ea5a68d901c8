// Meshes that are grids of nodes.
#pragma once

#include <array>
#include <string>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

struct ParticleGrid {
  Index columns = 0, rows = 0;  ///< node j * columns + i at column i, row j
  double spacing = 0;           ///< [m], along both threads
};
/// Throws SceneError beginning with `key` for a mesh that is not quad_grid() of square cells (to 1e-3, for
/// noise) with three nodes at least along each side.
ParticleGrid particle_grid(const Mesh& mesh, const std::string& key);

struct RectangularGrid {
  Index columns = 0, rows = 0;
  std::array<double, 2> spacing{};  ///< along a row and along a column of nodes [m]
};
/// The same for cells that are rectangles.
RectangularGrid rectangular_grid(const Mesh& mesh, const std::string& key);

}  // namespace isocloth
