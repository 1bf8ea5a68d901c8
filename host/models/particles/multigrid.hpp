// Minimisation that begins on coarse grids.
#pragma once

#include "engine/models/grids/particle_grid.hpp"
#include "host/models/particles/minimise.hpp"

namespace isocloth {

struct MultigridLevel {
  ParticleGrid grid;
  MinimiserResult result;  ///< energies fall within a level; iterations count on from level to level
};

/// The grid of every second particle. None (zero columns) where a side has an odd number of cells or would
/// keep less than three particles, or where a particle that is held would be lost: one that it skips must lie
/// between particles that are held, too.
ParticleGrid coarser_grid(const ParticleGrid& grid, const std::vector<char>& is_held);

/// Every second particle's value along both threads.
template <class T>
std::vector<T> every_second(const ParticleGrid& fine, const std::vector<T>& values) {
  std::vector<T> result;
  for (Index j = 0; j < fine.rows; j += 2)
    for (Index i = 0; i < fine.columns; i += 2)
      result.push_back(values[static_cast<std::size_t>(j * fine.columns + i)]);
  return result;
}

/// Bilinear interpolation of a coarse grid's positions to the finer grid [m].
std::vector<Vec3d> prolonged(const ParticleGrid& coarse, const std::vector<Vec3d>& x);

/// Nested iteration: Newton's method on the coarsest grid, from every 2^k-th particle of x; its rest,
/// interpolated, is where the next finer grid starts, and so on to `energy`, whose grid is `grid`. What is
/// held stays where x has it; where the energy forbids the interpolated shape, a level starts from x, too.
/// Coarse levels have `model_of` their grid with its own obstacles. Settings bound the iterations of all
/// levels together; a stop leaves the shape that was reached, interpolated. Returns the levels, coarsest
/// first. Throws NumericalError as minimise_by_newton().
std::vector<MultigridLevel> minimise_by_multigrid(
    ParticleEnergy& energy, const ParticleGrid& grid,
    const std::function<ParticleModel(const ParticleGrid&)>& model_of, std::vector<Vec3d>& x,
    const MinimiserSettings& settings);

}  // namespace isocloth
