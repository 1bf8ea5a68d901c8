#include "engine/models/particles/feynman1986.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/models/particles/bare_model.hpp"

namespace isocloth {

EnergyLaw feynman_elastic(double stiffness, double rest) {
  return [stiffness, rest](double r) -> LawValue {
    const double d = r - rest;
    return {stiffness * d * d / 2, stiffness * d, stiffness};
  };
}

EnergyLaw feynman_bending(double b) {
  return [b](double c) -> LawValue {
    const double phi = std::acos(-c), s = std::sin(phi), p2 = phi * phi;
    // phi / sin(phi) and its derivative by c are 0 / 0 where the line is straight; the next terms are phi^4.
    if (phi < 1e-3) return {b * p2, 2 * b * (1 + p2 / 6), 2 * b * (1 + 2 * p2 / 5) / 3};
    constexpr double infinite = std::numeric_limits<double>::infinity();
    if (!(c < 1)) return {infinite, infinite, 0};
    return {b * p2, 2 * b * phi / s, 2 * b * (s - phi * std::cos(phi)) / (s * s * s)};
  };
}

ParticleModel feynman_model(const ParticleGrid& grid, const Fabric& fabric, Vec3d gravity,
                            const std::string& key) {
  if (!(fabric.bending_stiffness > 0))
    throw SceneError(text(key, ".fabric.bending_stiffness: found 0, expected a bending stiffness > 0"));
  ParticleModel model = bare_model(grid, fabric.gravity_density, gravity);
  const double spring = 0.75 * fabric.stretch_stiffness, bend = fabric.bending_stiffness / 3,
               w = grid.spacing;
  const auto inside = [&grid](Index i, Index j) {
    return i >= 0 && j >= 0 && i < grid.columns && j < grid.rows;
  };
  const auto node = [&grid](Index i, Index j) { return j * grid.columns + i; };
  // Of threads, threads along edges, diagonals.
  const char* names[3] = {"", " at edges", " of diagonals"};
  for (const int kind : {0, 1, 2}) {
    const double weight = kind == 0 ? 1 : 0.5, rest = kind == 2 ? std::numbers::sqrt2 * w : w;
    LengthTerms lengths{text("stretch", names[kind]), feynman_elastic(weight * spring, rest), {}};
    AngleTerms angles{text("bend", names[kind]), feynman_bending(weight * bend), {}};
    for (Index j = 0; j < grid.rows; ++j)
      for (Index i = 0; i < grid.columns; ++i)
        for (const auto& [di, dj] : {std::array<Index, 2>{1, 0}, {0, 1}, {1, 1}, {-1, 1}}) {
          const bool is_edge = di == 0 ? i == 0 || i + 1 == grid.columns : j == 0 || j + 1 == grid.rows;
          if (kind != (di != 0 && dj != 0 ? 2 : is_edge ? 1 : 0) || !inside(i + di, j + dj)) continue;
          lengths.pairs.push_back({node(i, j), node(i + di, j + dj)});
          if (inside(i - di, j - dj))
            angles.triples.push_back({node(i - di, j - dj), node(i, j), node(i + di, j + dj)});
        }
    model.lengths.push_back(std::move(lengths));
    model.angles.push_back(std::move(angles));
  }
  return model;
}

}  // namespace isocloth
