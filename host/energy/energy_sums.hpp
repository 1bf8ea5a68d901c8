// Energies of a garment, and what they came from and went to since the run began.
#pragma once

#include <cmath>
#include <string_view>
#include <tuple>

#include "host/state/quantity.hpp"

namespace isocloth {

/// kinetic + bending + stretch + shear energy = that of the start + works - losses + errors; all [J] but
/// unbalanced_force. Kinetic energy is in Measures; works, losses and errors are since the start.
///
/// Errors are energy that no force put in or took: `error_rows`, of rows whose multipliers are not the stress
/// of their strain when a step ends, within projection.tolerance, and `energy_error`, of forces that
/// iterations left unbalanced, within projection.force_tolerance, and rounding.
struct EnergySums {
  double gravity_energy = 0, bending_energy = 0, stretch_energy = 0, shear_energy = 0;
  double unbalanced_force = 0;
  double work_gravity = 0, work_pins = 0, work_grippers = 0, work_obstacles = 0, work_cloth = 0, work_air = 0,
         work_forces = 0, work_seams = 0, work_commands = 0;
  double loss_contact = 0, loss_damping = 0, loss_hysteresis = 0, loss_integrator = 0;
  double error_rows = 0, energy_error = 0, energy_scale = 0;

  static constexpr auto fields() {
    using enum Rule;
    using Sums = EnergySums;
    constexpr const char *state = "Where it is, and where it went",
                         *works = "Energy done on the cloth since the start",
                         *misses = "Energy that the balance misses";
    constexpr auto of = [](const char* doc, const char* label = "", const char* plot = "") {
      return About{end_sum, "J", doc, {nullptr, nullptr, true}, {label, plot}};
    };
    return std::tuple{
        Quantity("gravity_energy", &Sums::gravity_energy, of("``gravity_density g sum m z``")),
        Quantity("bending_energy", &Sums::bending_energy,
                 of("``1/2 bending_stiffness x^T K x``, and of flexion springs", "bending", state)),
        Quantity("stretch_energy", &Sums::stretch_energy,
                 of("of threads, springs and elastic bands", "stretch", state)),
        Quantity("shear_energy", &Sums::shear_energy, of("of compliant rows in shear", "shear", state)),
        Quantity("unbalanced_force", &Sums::unbalanced_force, end_most, "",
                 "largest force on a node that nothing balances in the last step, over the node's weight, or "
                 "its inertia times 9.81 m/s^2 where it has none",
                 {nullptr, nullptr, true}),
        Quantity("work_gravity", &Sums::work_gravity, of("work of gravity", "gravity", works)),
        Quantity("work_pins", &Sums::work_pins, of("of pins along the ways of their nodes", "pins", works)),
        Quantity("work_grippers", &Sums::work_grippers,
                 of("of grippers along the ways of their nodes", "grippers", works)),
        Quantity("work_obstacles", &Sums::work_obstacles,
                 of("of contacts with obstacles and bodies along the ways of these", "obstacles", works)),
        Quantity(
            "work_cloth", &Sums::work_cloth,
            of("of contacts between cloths; of all garments together what that loses", "other cloth", works)),
        Quantity("work_air", &Sums::work_air, of("drag, flow around panels, pressure", "air", works)),
        Quantity("work_forces", &Sums::work_forces,
                 of("of the scene, ``set_forces()`` and ``add_force()``", "forces", works)),
        Quantity("work_seams", &Sums::work_seams,
                 of("threads of seams, buttons and studs", "threads", works)),
        Quantity("work_commands", &Sums::work_commands,
                 of("changes between steps: ``write()``, ``set_fabric()``, ``reset()``, ``restore()``")),
        Quantity("loss_contact", &Sums::loss_contact,
                 of("friction and impact, along what slips of obstacles", "lost in contacts", state)),
        Quantity("loss_damping", &Sums::loss_damping,
                 of("mass_damping, stiffness_damping, viscosities", "damping", state)),
        Quantity("loss_hysteresis", &Sums::loss_hysteresis,
                 of("internal friction and plastic flow of the fabric's memory", "hysteresis", state)),
        Quantity("loss_integrator", &Sums::loss_integrator, of("of the step's length", "integrator", state)),
        Quantity("error_rows", &Sums::error_rows,
                 of("put in by projection.tolerance: multipliers that are not the stress of strains, drift",
                    "rows", misses)),
        Quantity("energy_error", &Sums::energy_error,
                 of("what is left: forces that no iteration balanced, and rounding", "forces", misses)),
        Quantity("energy_scale", &Sums::energy_scale,
                 of("largest so far of kinetic energy + sizes of works and losses"))};
  }
  bool operator==(const EnergySums&) const = default;

  double works() const { return sum_of("work_", "work_", false); }
  double losses() const { return sum_of("loss_", "loss_", false); }
  double errors() const { return error_rows + energy_error; }
  /// Sum of the sizes of works and losses.
  double turnover() const { return sum_of("work_", "loss_", true); }

 private:
  /// Of what is named so or so.
  double sum_of(std::string_view one, std::string_view other, bool of_sizes) const {
    double sum = 0;
    for_each_quantity<EnergySums>([&](const auto& each) {
      const std::string_view name = each.name;
      const double value = this->*each.member;
      if (name.starts_with(one) || name.starts_with(other)) sum += of_sizes ? std::fabs(value) : value;
    });
    return sum;
  }
};

}  // namespace isocloth
