// Grids of particles, and the folds of what hangs down around them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/particles/particle_energy.hpp"

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
  std::array<double, 2> spacing{};  ///< spacing along a row and along a column of nodes [m]
};
/// Grid of a mesh that is quad_grid() of rectangular cells; throws SceneError as particle_grid() does.
RectangularGrid rectangular_grid(const Mesh& mesh, const std::string& key);

/// Particles of a cloth of `delta` [kg/m^2] without laws between them: each corner of a cell has a quarter of
/// its mass, nothing is held, and obstacles give way by 2 % of the spacing under ten times a particle's
/// weight.
ParticleModel bare_model(const ParticleGrid& grid, double delta, Vec3d gravity);

/// Nodes of the grid's edge, once around.
std::vector<Index> rim(const ParticleGrid& grid);

/// Folds of hanging cloth, as a drapemeter counts them in plan: maxima of the distance of the rim from its
/// own middle, seen along z, that rise by 5 % of its mean above the minima on both sides. `points`: once
/// around, [m]. 0 where the rim has none, and where the middle is on it.
int fold_count(const std::vector<Vec3d>& points);

}  // namespace isocloth
