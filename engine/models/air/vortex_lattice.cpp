#include "engine/models/air/vortex_lattice.hpp"

#include <algorithm>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/models/air/vortex_segment.hpp"

namespace isocloth {
namespace {

Vec3d weighted(const std::array<double, 4>& weights, const std::array<Vec3d, 4>& corners) {
  Vec3d sum;
  for (std::size_t k = 0; k < 4; ++k) sum += weights[k] * corners[k];
  return sum;
}

/// across: of the collocation point, in parts of the panel.
VortexPanel panel_of(const std::array<Vec3d, 4>& x, double across) {
  VortexPanel panel;
  const Vec3d row = 0.5 * (x[2] - x[0] + x[3] - x[1]), column = 0.5 * (x[1] - x[0] + x[3] - x[2]);
  const Vec3d normal = cross(row, column);
  panel.area = norm(normal);
  panel.normal = (1 / panel.area) * normal;
  panel.down = (1 / panel.area) * cross(column, panel.normal);
  panel.across = (1 / panel.area) * cross(panel.normal, row);
  panel.collocation_weights = {0.25 * (1 - across), 0.25 * across, 0.75 * (1 - across), 0.75 * across};
  panel.collocation = weighted(panel.collocation_weights, x);
  return panel;
}

}  // namespace

Vec3d RingVelocities::segment(const Vec3d& point, const Vec3d& a, const Vec3d& b) const {
  return segment_velocity(point, a, b, core_);
}

VortexLattice vortex_lattice(const PanelGrid& grid, ArrayView<const Vec3d> positions) {
  const Index m = grid.rows, n = grid.columns;
  const auto at = [&](Index i, Index j) { return positions[static_cast<std::size_t>(grid.node(i, j))]; };
  VortexLattice lattice;
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      const double across = 0.5 + 0.125 * ((j == 0) - (j == n - 1));
      VortexPanel panel = panel_of({at(i, j), at(i, j + 1), at(i + 1, j), at(i + 1, j + 1)}, across);
      if (!(panel.area > 0))
        throw NumericalError(text("air: found panel ", i, ", ", j, " of area ", panel.area, " m^2"));
      panel.ring_share -= 0.25 * ((j == 0) + (j == n - 1));
      lattice.panels.push_back(panel);
    }
  double rows = 0, columns = 0;
  for (const VortexPanel& panel : lattice.panels) {
    rows += 1 / norm(panel.down);
    columns += 1 / norm(panel.across);
  }
  lattice.panel_size = std::min(rows, columns) / (m * n);
  // Slopes of panels are those at their middles; three quarters down is a quarter of the way to the next.
  for (Index p = 0; p < m * n; ++p) {
    const Index i = p / n, next = i + 1 < m ? p + n : p, before = i + 1 < m || i == 0 ? p : p - n;
    VortexPanel& panel = lattice.panels[static_cast<std::size_t>(p)];
    const Vec3d turn = lattice.panels[static_cast<std::size_t>(next)].normal -
                       lattice.panels[static_cast<std::size_t>(before)].normal;
    panel.wash_normal = normalized(panel.normal + 0.25 * turn);
  }
  for (Index i = 0; i <= m; ++i) {
    const auto on_line = [&](Index j) { return i < m ? 0.75 * at(i, j) + 0.25 * at(i + 1, j) : at(m, j); };
    for (Index j = 0; j <= n; ++j) {
      const double inward = j == 0 || j == n ? 0.25 : 0;
      const Index inner = j == 0 ? 1 : n - 1;
      lattice.ring_points.push_back((1 - inward) * on_line(j) + inward * on_line(inner));
    }
  }
  return lattice;
}

}  // namespace isocloth
