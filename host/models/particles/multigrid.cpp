#include "host/models/particles/multigrid.hpp"

#include <cmath>

namespace isocloth {

ParticleGrid coarser_grid(const ParticleGrid& grid, const std::vector<char>& is_held) {
  if (grid.columns % 2 == 0 || grid.rows % 2 == 0 || grid.columns < 5 || grid.rows < 5) return {};
  const auto held = [&](Index i, Index j) {
    return is_held[static_cast<std::size_t>(j * grid.columns + i)] != 0;
  };
  for (Index j = 0; j < grid.rows; ++j)
    for (Index i = 0; i < grid.columns; ++i)
      for (const Index b : {j - j % 2, j + j % 2})
        for (const Index a : {i - i % 2, i + i % 2})
          if (held(i, j) && !held(a, b)) return {};
  return {grid.columns / 2 + 1, grid.rows / 2 + 1, 2 * grid.spacing};
}

std::vector<Vec3d> prolonged(const ParticleGrid& coarse, const std::vector<Vec3d>& x) {
  const auto at = [&](Index i, Index j) { return x[static_cast<std::size_t>(j * coarse.columns + i)]; };
  std::vector<Vec3d> result;
  for (Index j = 0; j < 2 * coarse.rows - 1; ++j)
    for (Index i = 0; i < 2 * coarse.columns - 1; ++i) {
      const Index a = i / 2, b = j / 2, c = a + i % 2, d = b + j % 2;
      result.push_back(0.25 * (at(a, b) + at(c, b) + at(a, d) + at(c, d)));
    }
  return result;
}

std::vector<MultigridLevel> minimise_by_multigrid(
    ParticleEnergy& energy, const ParticleGrid& grid,
    const std::function<ParticleModel(const ParticleGrid&)>& model_of, std::vector<Vec3d>& x,
    const MinimiserSettings& settings) {
  std::vector<MultigridLevel> levels;
  MinimiserSettings left = settings;
  const std::vector<char>& is_held = energy.model().is_held;
  if (const ParticleGrid coarse = coarser_grid(grid, is_held); coarse.columns > 0) {
    ParticleModel model = model_of(coarse);
    model.is_held = every_second(grid, is_held);
    ParticleEnergy coarse_energy(std::move(model));
    std::vector<Vec3d> coarse_x = every_second(grid, x);
    if (std::isfinite(coarse_energy.value(coarse_x))) {  // else a shape that this grid alone allows
      levels = minimise_by_multigrid(coarse_energy, coarse, model_of, coarse_x, settings);
      std::vector<Vec3d> start = prolonged(coarse, coarse_x);
      for (std::size_t i = 0; i < x.size(); ++i)
        if (is_held[i]) start[i] = x[i];
      if (std::isfinite(energy.value(start))) x = std::move(start);
    }
  }
  const std::int64_t done = levels.empty() ? 0 : levels.back().result.history.back().iteration;
  left.most_iterations -= done;
  if (settings.observer)
    left.observer = [&](MinimiserPoint p) {
      p.iteration += done;
      settings.observer(p);
    };
  levels.push_back({grid, minimise_by_newton(energy, x, left)});
  for (MinimiserPoint& p : levels.back().result.history) p.iteration += done;
  return levels;
}

}  // namespace isocloth
