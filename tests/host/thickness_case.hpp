// Cloth whose thickness is squeezed between solids.
#pragma once

#include "engine/material/fabric_presets.hpp"
#include "tests/host/body_case.hpp"

namespace isocloth {

inline Fabric preset(std::string_view name) {
  for (const FabricPreset& preset : fabric_presets())
    if (preset.name == name) return preset.fabric;
  return {};
}

/// n x n nodes of a square with sides of `size`, its middle at `height` over the plane z = 0.
inline Garment sheet_over_plane(Index n, double size, double height, const Fabric& fabric) {
  Garment sheet = square_sheet(n, size, 0);
  sheet.fabric = fabric;
  for (Vec3d& p : sheet.initial_positions) p.z += height;
  return sheet;
}

inline Scene squeeze_scene(const Garment& garment, double step) {
  Scene scene;
  scene.recipe = "membrane";
  scene.garments = {garment};
  scene.step = step;
  scene.duration = 1e6 * step;
  scene.gravity = 9.81;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

/// What steps of a run did.
struct Course {
  int steps = 0, iterations = 0, most_iterations = 0, missed = 0;
  void add(const StepReport& report) {
    ++steps;
    iterations += report.iterations;
    most_iterations = std::max(most_iterations, report.iterations);
    missed += report.status != StepStatus::converged;
  }
  double mean() const { return static_cast<double>(iterations) / steps; }
};

/// Lumped area of the nodes that `counts` says [m^2].
template <class Counts>
double area_of_nodes(Index n, double size, const Counts& counts) {
  const double cell = size / (n - 1);
  double area = 0;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      const double x = i * cell - size / 2, y = j * cell - size / 2;
      const auto side = [n](Index k) { return k == 0 || k == n - 1 ? 0.5 : 1.0; };
      if (counts(x, y)) area += side(i) * side(j) * cell * cell;
    }
  return area;
}

}  // namespace isocloth
