// A sheet with metric and curvature energies (Terzopoulos et al. 1987), step by step.
#pragma once

#include "engine/model/scene.hpp"
#include "host/impulse/impulse_solver.hpp"
#include "host/models/terzopoulos1987/tensor_grid_step.hpp"

namespace isocloth {

/// Previews, pins, air, obstacles, states and measures are those of ImpulseSolver; in the place of impulses
/// on rows the host solves the systems of TensorGridStep, in double. Contacts follow by impulses.
template <class Real>
class TensorGridSolver final : public ImpulseSolver<Real> {
 public:
  /// A solver of one garment; arguments as ImpulseGarments takes them. Throws SceneError for a mesh that is
  /// no grid, and where a given number of parts is too small for semi-implicit steps.
  TensorGridSolver(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);

  std::size_t threads() const override { return 1; }  // its systems are solved by one

  /// A step whose Newton's method did not end is reported as stalled.
  std::vector<AdvanceReport> finish() override;

 private:
  using Base = ImpulseSolver<Real>;
  using typename Base::Step;

  void enter(Index step, int part) override;
  /// Returns the number of linear solves, and of sweeps over contacts.
  int hold_lengths(Step& step) override;
  void hold_rates(Step&) override {}
  std::string solver_name() const override;

  const bool iterates_;
  const TensorGrid grid_;
  TensorGridStep step_;
  std::vector<Vec3d> positions_of_part_, before_, moves_of_part_;
  std::vector<Vec4<Real>> staging_;
  bool missed_ = false;  ///< whether Newton's method did not end in a step of this finish()
};

}  // namespace isocloth
