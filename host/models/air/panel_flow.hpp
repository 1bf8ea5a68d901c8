// Potential flow around one sheet of panels: bound vortex rings, a wake, pressure.
#pragma once

#include <vector>

#include "engine/material/wind.hpp"
#include "engine/models/air/vortex_lattice.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// How a sheet moves at the end of a step, and what it would do if air pushed it.
struct SheetMotion {
  /// Positions of the nodes at the end of the step [m], shape [node_count].
  ArrayView<const Vec3d> positions;
  /// Velocities of the nodes without the pressure of this step [m/s], shape [node_count].
  ArrayView<const Vec3d> velocities;
  /// Inverse masses of the nodes [1/kg], shape [node_count]: velocities are to become higher by step times
  /// load times inverse mass, which the flow takes into account; empty: the sheet moves as velocities say.
  ArrayView<const double> inverse_masses;
};

/// Unsteady vortex lattice (Katz, Plotkin, Low-Speed Aerodynamics, 2001, section 13.12; for cloth: Ling,
/// Damodaran, Gay, A model for animating the motion of cloth, 1994-1996): in each step one linear system
/// (RingSystem) of as many unknowns as panels, no air through the cloth at their collocation points but what
/// its permeability lets pass,
///   wash_normal . (wind + velocities of rings and wake - v) = permeability dp(G) (Darcy's law),
/// v = velocities + step inverse_mass load(dp). The youngest row of the wake reaches from the trailing edge
/// to a quarter of the way that the air goes in the step and has the circulations of the last row (Kutta);
/// older rows go with the wind. Past Wind::wake_rows the oldest row reaches to infinity. wake_rows = 0:
/// quasi-steady flow, a straight wake and no rates of change.
class PanelFlow {
 public:
  PanelFlow(const PanelGrid& grid, const Wind& wind);
  /// A flow whose system is dense up to `most_dense` panels, in the place of most_dense_panels.
  PanelFlow(const PanelGrid& grid, const Wind& wind, Index most_dense);

  /// Goes on from the state to the end of a step of `step` [s] with the air moving at `wind` [m/s]: new
  /// circulations, wake, pressures and loads. A state without circulations is one of air at rest.
  /// Throws NumericalError where the system has no finite solution.
  void advance(const SheetMotion& sheet, const Vec3d& wind, double step, AirState& state) const;

  const PanelGrid& grid() const { return grid_; }

 private:
  PanelGrid grid_;
  double density_, permeability_;
  std::size_t wake_rows_;
  Index most_dense_;
};

}  // namespace isocloth
