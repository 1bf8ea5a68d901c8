// The air around one garment, where it is a model beside the core.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/state/garment_state.hpp"

namespace isocloth {

class AirFlow {
 public:
  virtual ~AirFlow() = default;
  /// The flow after the step that begins with `positions` [m] and `velocities` [m/s], shape [node_count, 3]
  /// each; its loads act in that step. Throws NumericalError.
  virtual AirState advance(const std::vector<double>& positions, const std::vector<double>& velocities,
                           const Vec3d& wind, double step, const AirState& state) const = 0;
  /// Throws ShapeError unless the state is one of this garment.
  virtual void check(const AirState& state) const = 0;
};

/// Makes the flow of WindModel::panels around a garment, which must outlive it. Throws SceneError beginning
/// with `key` as panel_grid() does.
using AirFlowFactory = std::unique_ptr<AirFlow> (*)(const Garment& garment, const Wind& wind,
                                                    const std::string& key);
/// That of host/models/air; null: not in this build (host/without_models), and scenes that ask for it are
/// refused.
AirFlowFactory panel_flow_factory();

}  // namespace isocloth
