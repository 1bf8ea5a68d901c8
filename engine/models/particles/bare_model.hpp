// Grids of particles without laws, and the folds of what hangs down around them.
#pragma once

#include <string>
#include <vector>

#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/particle_energy.hpp"

namespace isocloth {

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
