// Bernoulli's equation on a sheet of vortex rings: the pressure as a linear function of the circulations.
#pragma once

#include <array>
#include <vector>

#include "engine/models/air/vortex_lattice.hpp"

namespace isocloth {

/// sum of coefficients times circulations of panels, plus a constant [Pa].
struct PressureRow {
  std::array<Index, 5> panels{};
  std::array<double, 5> coefficients{};  ///< [Pa s/m^2]
  std::size_t count = 0;
  double constant = 0;  ///< [Pa]
  void add(Index panel, double coefficient) {
    panels[count] = panel;
    coefficients[count++] = coefficient;
  }
  double value(const std::vector<double>& circulations) const {
    double sum = constant;
    for (std::size_t k = 0; k < count; ++k)
      sum += coefficients[k] * circulations[static_cast<std::size_t>(panels[k])];
    return sum;
  }
};

/// Mean pressure of a panel behind it (where its normal comes from) over that in front of it, in two parts by
/// where they act. The unsteady equation of Bernoulli for a sheet of doublets of strength G, circulation of
/// rings about the normal, so that the potential falls by G from behind to front (Katz, Plotkin, Low-Speed
/// Aerodynamics, 2001, sections 13.12, eq. 13.150 there):
/// dp = -rho (V . grad G + dG/dt), V: mean velocity of the air on both sides against the cloth.
struct PanelPressure {
  PressureRow quarter;  ///< V . down dG/d(row): of the vortex across the panel, at a quarter of it
  PressureRow middle;   ///< V . across dG/d(column), by mean differences, and dG/dt
};
/// before: circulations a step ago [m^2/s], shape [panel_count]; rate: 1 / step [1/s], 0: steady flow.
PanelPressure panel_pressure(const PanelGrid& grid, const VortexLattice& lattice, Index panel,
                             const Vec3d& velocity, double density, double rate,
                             const std::vector<double>& before);

}  // namespace isocloth
