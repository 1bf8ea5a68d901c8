#include "engine/models/air/panel_pressure.hpp"

namespace isocloth {

PanelPressure panel_pressure(const PanelGrid& grid, const VortexLattice& lattice, Index p,
                             const Vec3d& velocity, double density, double rate,
                             const std::vector<double>& before) {
  const Index n = grid.columns, i = p / n, j = p % n;
  const VortexPanel& own = lattice.panels[static_cast<std::size_t>(p)];
  const auto old = [&before](Index panel) { return before[static_cast<std::size_t>(panel)]; };
  PanelPressure pressure;

  const double down = -density * own.ring_share * dot(velocity, own.down);
  pressure.quarter.add(p, down);
  if (i > 0) pressure.quarter.add(p - n, -down);

  // Half of each line between two columns belongs to either, the outermost lines wholly to the outermost
  // columns, and a quarter of the panel lies in the ring before its own.
  const double across = -density * dot(velocity, own.across);
  const double left = j > 0 ? 0.5 : 1, right = j + 1 < n ? 0.5 : 1;
  const double per_time = -density * own.ring_share * rate;
  PressureRow& middle = pressure.middle;
  middle.add(p, across * (left - right) + 0.75 * per_time);
  if (j > 0) middle.add(p - 1, -across * left);
  if (j + 1 < n) middle.add(p + 1, across * right);
  middle.constant = -0.75 * per_time * old(p);
  if (i > 0) {
    middle.add(p - n, 0.25 * per_time);
    middle.constant -= 0.25 * per_time * old(p - n);
  }
  return pressure;
}

}  // namespace isocloth
