// Energies of a garment, and what they came from and went to since the run began.
#pragma once

#include <cmath>
#include <tuple>

#include "engine/core/fields.hpp"

namespace isocloth {

/// kinetic + bending + stretch + shear energy = that of the start + works - losses + energy_error; all [J].
struct EnergySums {
  // Of the state; kinetic energy is in Measures.
  double gravity_energy = 0;                    ///< delta g sum m z
  double bending_energy = 0;                    ///< 1/2 kappa x^T K x, and energy of flexion springs
  double stretch_energy = 0, shear_energy = 0;  ///< energy of compliant rows
  /// Largest force on a node that nothing balanced in the last step, over the node's weight, or its inertia
  /// times 9.81 m/s^2 where it has none.
  double unbalanced_force = 0;
  // Work done on the garment since the start.
  double work_gravity = 0;
  double work_pins = 0;       ///< forces of pins along the ways of their nodes
  double work_grippers = 0;   ///< forces of grippers along the ways of their nodes
  double work_obstacles = 0;  ///< forces of contacts with obstacles and bodies along the ways of these
  /// Forces of contacts between cloths; over all garments what friction and impact take.
  double work_cloth = 0;
  double work_air = 0;       ///< drag, flow around panels, pressure
  double work_forces = 0;    ///< Garment::forces and Simulation::add_force()
  double work_seams = 0;     ///< forces of threads of seams
  double work_commands = 0;  ///< changes between steps: what was written, set or reset
  // Lost since the start.
  double loss_contact = 0;  ///< friction and impact: forces of contacts along what slips of their obstacles
  double loss_damping = 0;  ///< alpha, beta, viscosities
  double loss_integrator = 0;  ///< what the step's length costs, second order in it
  double loss_rows =
      0;  ///< what the tolerance leaves: multipliers that are not the stress of strains, drift of rigid rows
  double energy_error = 0;  ///< what is left: work of forces that no iteration balanced, and rounding
  double energy_scale = 0;  ///< largest so far of kinetic energy + sum of |works| and |losses|

  static constexpr auto fields() {
    using Sums = EnergySums;
    return std::tuple{Field{"gravity_energy", &Sums::gravity_energy},
                      Field{"bending_energy", &Sums::bending_energy},
                      Field{"stretch_energy", &Sums::stretch_energy},
                      Field{"shear_energy", &Sums::shear_energy},
                      Field{"unbalanced_force", &Sums::unbalanced_force},
                      Field{"work_gravity", &Sums::work_gravity},
                      Field{"work_pins", &Sums::work_pins},
                      Field{"work_grippers", &Sums::work_grippers},
                      Field{"work_obstacles", &Sums::work_obstacles},
                      Field{"work_cloth", &Sums::work_cloth},
                      Field{"work_air", &Sums::work_air},
                      Field{"work_forces", &Sums::work_forces},
                      Field{"work_seams", &Sums::work_seams},
                      Field{"work_commands", &Sums::work_commands},
                      Field{"loss_contact", &Sums::loss_contact},
                      Field{"loss_damping", &Sums::loss_damping},
                      Field{"loss_integrator", &Sums::loss_integrator},
                      Field{"loss_rows", &Sums::loss_rows},
                      Field{"energy_error", &Sums::energy_error},
                      Field{"energy_scale", &Sums::energy_scale}};
  }
  bool operator==(const EnergySums&) const = default;

  double works() const {
    return work_gravity + work_pins + work_grippers + work_obstacles + work_cloth + work_air + work_forces +
           work_seams + work_commands;
  }
  double losses() const { return loss_contact + loss_damping + loss_integrator + loss_rows; }
  /// Sum of the sizes of works and losses.
  double turnover() const {
    double sum = 0;
    for (const double each :
         {work_gravity, work_pins, work_grippers, work_obstacles, work_cloth, work_air, work_forces,
          work_seams, work_commands, loss_contact, loss_damping, loss_integrator, loss_rows})
      sum += std::fabs(each);
    return sum;
  }
};

}  // namespace isocloth
