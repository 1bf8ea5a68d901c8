// Garments of impulses that step together, because cloth meets cloth.
#pragma once

#include "engine/model/scene.hpp"
#include "host/cloth_collision/coupled_garments.hpp"
#include "host/impulse/cloth_impulses.hpp"

namespace isocloth {

/// Makes the solver of one garment; arguments as of ImpulseSolver.
template <class Real>
using ImpulseSolverFactory = std::unique_ptr<ImpulseSolver<Real>> (*)(
    const Device& device, const Garment& garment, const ResolvedScene& resolved,
    const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);
template <class Solver, class Real>
std::unique_ptr<ImpulseSolver<Real>> make_impulse_solver(
    const Device& device, const Garment& garment, const ResolvedScene& resolved,
    const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  return std::make_unique<Solver>(device, garment, resolved, obstacles);
}

/// Every garment makes its part of a step, then impulses between cloths follow. All take as many parts as the
/// one whose forces need most, and where cloth is held back or too deep in cloth the step is taken again in
/// more, unless the scene says how many. A garment whose step is lost is frozen, and the step is taken again
/// without it; the others do not pass through it.
template <class Real>
class CoupledImpulses final : public CoupledGarments<ImpulseSolver<Real>> {
 public:
  /// `garments` of the scene; `shapes` of the scene, null: none; `make`: the solver of each garment.
  CoupledImpulses(const Device& device, const std::vector<const Garment*>& garments,
                  const ResolvedScene& resolved, const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                  ImpulseSolverFactory<Real> make);

  std::vector<AdvanceReport> finish() override;
  void refresh() override;
  void refresh_cloth_friction() override { cloth_->set_friction(friction_classes(scene_, cloths_)); }
  ClothCollision* cloth() const override { return &cloth_->collision(); }

 private:
  using Base = CoupledGarments<ImpulseSolver<Real>>;
  using Base::garments_, Base::steps_;

  std::size_t shared_bytes() const override { return cloth_->memory_bytes(); }
  /// Gives all garments as many parts.
  void even_parts();
  /// Numbers of garments that are not frozen.
  std::vector<std::size_t> moving() const;
  /// Takes the step as step() does, again in more parts where cloth has not been kept apart as it should.
  bool step_in_parts(const std::vector<std::size_t>& moving, Index number);
  /// Takes the step up to its end; returns whether none of these garments is lost.
  bool step(const std::vector<std::size_t>& moving, Index number);
  template <class Work>
  void side_by_side(const std::vector<std::size_t>& moving, const Work& work);

  static constexpr int most_more_parts = 8;  ///< most parts, as a multiple of those of other steps
  const Device& device_;
  const Scene& scene_;
  const std::vector<const Garment*> cloths_;
  const bool may_part_;      ///< nobody has said how many parts
  bool are_parted_ = false;  ///< garments take more parts in this step
  std::unique_ptr<ClothImpulses<Real>> cloth_;
  std::vector<char> are_lost_;
};

}  // namespace isocloth
