// Cloths that the impulse solver is tested on.
#pragma once

#include "engine/core/errors.hpp"
#include "host/reference/impulse_cloth.hpp"
#include "host/reference/impulse_system.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {

/// Settings as ResolvedScene::impulse leaves them: one part, sweeps until `tolerance` is met, no velocity
/// pass.
inline ImpulseSettings converging(double tolerance) {
  ImpulseSettings settings;
  settings.mode = ImpulseMode::converge;
  settings.tolerance = tolerance;
  settings.substeps = 1;
  settings.max_sweeps = 10'000;
  settings.velocity_pass = VelocityPass::off;
  return settings;
}

/// The same with a fixed number of sweeps in each of `parts`.
inline ImpulseSettings sweeping(int parts, int sweeps) {
  ImpulseSettings settings = converging(1e-2);
  settings.mode = ImpulseMode::substeps;
  settings.substeps = parts;
  settings.max_sweeps = sweeps;
  settings.relaxation = 1;
  return settings;
}

inline ImpulseCloth impulse_cloth(const Garment& garment, const ImpulseSettings& settings,
                                  double gravity = 9.8, const char* recipe = "bender_iterative") {
  return ImpulseCloth(garment, find_recipe(recipe), settings, gravity);
}

inline MatrixX3d pinned_positions(const ImpulseCloth& cloth) {
  MatrixX3d positions(static_cast<Eigen::Index>(cloth.pinned_nodes().size()), 3);
  for (Eigen::Index i = 0; i < positions.rows(); ++i)
    positions.row(i) = cloth.positions().row(cloth.pinned_nodes()[static_cast<std::size_t>(i)]);
  return positions;
}

/// A square sheet that hangs between two corners pinned 5 % closer than their rest distance and swings.
struct SwingingSheet {
  Garment garment;
  MatrixX3d positions;   ///< off flat, on the rows of a recipe to 1e-9
  MatrixX3d velocities;  ///< random, up to 0.5 m/s, against the rows too
};

inline SwingingSheet swinging_sheet(const char* recipe) {
  const Index n = 6;
  SwingingSheet sheet{garment_of(quad_grid(n, n, 1, 1), {0, n - 1}), {}, noise(n * n, 0.5, 7)};
  sheet.garment.fabric.mass_damping = 0.2;
  MatrixX3d at = to_matrix(sheet.garment.mesh.positions) + noise(n * n, 0.01, 4);
  at.row(0) << 0.025, 0, 0;
  at.row(n - 1) << 0.975, 0, 0;
  ImpulseCloth cloth = impulse_cloth(sheet.garment, converging(1e-9), 9.8, recipe);
  cloth.set_positions(at);
  if (!cloth.step(1e-3, pinned_positions(cloth)).converged) throw NumericalError("swinging_sheet: stalled");
  sheet.positions = cloth.positions();
  for (const Index node : cloth.pinned_nodes()) sheet.velocities.row(node).setZero();
  return sheet;
}

inline ImpulseCloth at_state(const SwingingSheet& sheet, const ImpulseSettings& settings,
                             const char* recipe) {
  ImpulseCloth cloth = impulse_cloth(sheet.garment, settings, 9.8, recipe);
  cloth.set_positions(sheet.positions);
  cloth.set_velocities(sheet.velocities);
  return cloth;
}

}  // namespace isocloth::reference
