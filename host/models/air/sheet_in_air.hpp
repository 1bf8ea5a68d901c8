// One garment in the potential flow around it.
#pragma once

#include "engine/model/scene.hpp"
#include "host/models/air/panel_flow.hpp"
#include "host/simulation/air_flow.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

/// The explicit Robin-Neumann coupling of Fernandez, Mullaert, Vidrascu (Int. J. Numer. Meth. Engng 89, 2012,
/// with first-order extrapolation): light cloth is moved by air that weighs more than it does, and a pressure
/// computed for cloth that cannot give way throws it back and forth. So the flow is solved for cloth whose
/// nodes give way by their own inertia,
///   v = v_n + h (e + F / m),  e = (v_n - v_{n-1}) / h - F_n / m: what else acted on them in the last step,
/// at where the nodes are after h v_n; then the loads F act on the cloth throughout its step. Nodes that are
/// pinned have no 1 / m. The garment must outlive this.
class SheetInAir final : public AirFlow {
 public:
  SheetInAir(const Garment& garment, const Wind& wind, const std::string& key);
  AirState advance(const std::vector<double>& positions, const std::vector<double>& velocities,
                   const Vec3d& wind, double step, const AirState& state) const override;
  void check(const AirState& state) const override;

 private:
  const Garment& garment_;
  PanelFlow flow_;
  std::size_t wake_rows_;
  std::vector<double> areas_;  ///< areas of the nodes at rest [m^2], shape [node_count]; 0 where pinned
};

}  // namespace isocloth
