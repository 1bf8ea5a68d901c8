// Steps of a garment among obstacles and grippers, checked by what the reference knows of the world.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/model/scene.hpp"
#include "host/reference/impulse_rows.hpp"
#include "host/reference/obstacle_distance.hpp"
#include "host/reference/row_response.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/step_report.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {

/// Checks a garment's steps in their surroundings; what is checked stands at validate() (validation.hpp).
class SurroundingsCheck {
 public:
  /// The arguments must outlive the object.
  SurroundingsCheck(const Device& device, const ExecutionOptions& options, const ResolvedScene& resolved,
                    const Garment& garment);
  /// Throws NumericalError where a step of the kernels is lost.
  void step(std::int64_t step_index);
  GarmentValidation result() const { return result_; }

 private:
  void check_residual(const StepReport& report, const GarmentState& before, const GarmentState& after);
  void check_penetration(const StepReport& report, const GarmentState& before, const GarmentState& after,
                         double t);
  void check_holds(const GarmentState& before, const GarmentState& after, double t);
  void check_momentum(const StepReport& report, const GarmentState& before, const GarmentState& after,
                      double t);
  double deepest(const GarmentState& state, double t) const;
  /// Sum over nodes of the drag at the end of a step of one part [N].
  Vec3d drag(const GarmentState& before, const GarmentState& after, Vec3d wind) const;
  double row_residual(const StepReport& report, const GarmentState& before, const GarmentState& after) const;
  void compare(const char* quantity, double difference, double scale, double tolerance,
               std::int64_t index = 0);

  /// What holds a node, by this check's own account.
  struct Hold {
    int gripper = -1;
    Vec3d local_position;
  };

  const ResolvedScene resolved_;
  const Scene& scene_;
  const Garment& garment_;
  const Precision precision_;
  std::unique_ptr<GarmentSolver> solver_;
  std::vector<reference::ObstacleDistance> obstacles_;
  std::vector<reference::ShapeDistance> regions_;
  std::vector<char> is_free_;
  reference::VectorXd masses_;                    ///< m_i [m^2], shape [node_count]
  std::vector<Hold> holds_;                       ///< what holds each node, shape [node_count]
  std::optional<reference::DistanceRows> edges_;  ///< rows of impulses on edges
  reference::GarmentRows rows_;                   ///< rows of all other recipes
  reference::RowResponse laws_;                   ///< laws of rows_
  double length_ = 0;                             ///< diagonal of the rest shape's bounding box [m]
  double shortest_ = 0;                           ///< shortest edge of the rest shape [m]
  double sums_ = 0;                               ///< tolerance of sums over stencils
  std::int64_t step_ = 0;
  GarmentValidation result_;
};

}  // namespace isocloth
