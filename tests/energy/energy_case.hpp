// Scenes whose energy is balanced, and what is expected of every balance.
#pragma once

#include <functional>

#include "engine/core/text.hpp"
#include "host/energy/energy_balance.hpp"
#include "tests/host/gripper_case.hpp"

namespace isocloth {

inline constexpr double gravity_of_scenes = 9.8;

inline Scene energy_scene(const Garment& garment, double step, const std::string& recipe = "membrane") {
  Scene scene;
  scene.recipe = recipe;
  scene.garments = {garment};
  scene.step = step;
  scene.duration = 1000 * step;
  scene.gravity = gravity_of_scenes;
  scene.projection.on_violation = OnViolation::go_on;
  scene.projection.integrator = Integrator::backward_euler;  // of the closed forms
  return scene;
}

/// n x n nodes, 0.5 kg/m^2 and 1 m^2, that bend.
inline Garment half_kilogram(Index n = 5) {
  Garment sheet = square_sheet(n, 1, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.5;
  sheet.fabric.bending_stiffness = 1e-3;
  return sheet;
}

struct MeasuredBalance {
  EnergySums sums;
  Measures start, end;
};

/// each(balance): after every step.
inline MeasuredBalance balance_after(Simulation& simulation, int steps, std::size_t garment = 0,
                                     const std::function<void(const EnergyBalance&)>& each = {}) {
  EnergyBalance balance(simulation);
  MeasuredBalance found{{}, simulation.measure(garment), {}};
  for (int i = 0; i < steps; ++i) {
    balance.step();
    if (each) each(balance);
  }
  found.sums = balance.sums(garment);
  found.end = simulation.measure(garment);
  return found;
}
inline MeasuredBalance balance_of(const Scene& scene, int steps, const ExecutionOptions& options = {}) {
  Simulation simulation(scene, options);
  return balance_after(simulation, steps);
}

/// Kernels measure the same energies, their change is what works and losses say, and what these miss is
/// `tolerance` of the largest at most.
inline void expect_closed(const MeasuredBalance& b, double tolerance, const std::string& what) {
  const EnergySums& s = b.sums;
  const double scale = s.energy_scale, rounding = 1e-9 * scale;
  ASSERT_GT(scale, 0) << what;
  // A matrix of bending is potential energy to them, and rows that bend are elastic.
  EXPECT_NEAR(b.end.potential_energy + b.end.elastic_energy,
              s.gravity_energy + s.bending_energy + s.stretch_energy + s.shear_energy, rounding)
      << what;
  const auto energy = [](const Measures& m) {
    return m.kinetic_energy + m.elastic_energy + m.potential_energy;
  };
  EXPECT_NEAR(energy(b.end) - energy(b.start), s.works() - s.work_gravity - s.losses() + s.errors(), rounding)
      << what;
  EXPECT_LE(std::fabs(s.energy_error), tolerance * scale)
      << what << ": misses " << s.energy_error << " J of " << scale;
}

}  // namespace isocloth
