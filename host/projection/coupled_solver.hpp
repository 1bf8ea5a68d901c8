// Garments that are projected together: through rigid bodies, or because cloth meets cloth.
#pragma once

#include "engine/model/scene.hpp"
#include "host/cloth_collision/coupled_garments.hpp"
#include "host/projection/body_coupling.hpp"
#include "host/projection/cloth_participant.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// Garments step together with the bodies and contacts between cloths: one that touches nothing still takes
/// the iterations that the others need. A garment whose step is lost is frozen, and the step is taken again
/// without it; bodies pass through it from then on, cloth does not. One that sleeps stays where it is, as if
/// it were driven, until the box of cloth that moves meets its own.
template <class Real>
class CoupledSolver final : public CoupledGarments<ProjectionSolver<Real>> {
 public:
  /// `garments` of the scene; `shapes` of the scene, null: none.
  CoupledSolver(const Device& device, const std::vector<const Garment*>& garments,
                const ResolvedScene& resolved, const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                StepSolver choice);

  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::vector<AdvanceReport> finish() override;
  void refresh_cloth_friction() override;
  void refresh_motions() override { wake(); }
  void wake() override;
  void forget_step_before(const std::vector<std::size_t>& members) override {
    for (const std::size_t g : members) garments_[g]->forget_step_before({0});
  }
  std::vector<Strain> strains() override;
  void undo() override;
  std::vector<BodyState> bodies() const override {
    return bodies_ ? bodies_->states() : std::vector<BodyState>();
  }
  void set_bodies(const std::vector<BodyState>& states) override {
    if (bodies_) bodies_->set_states(states);
  }
  void set_external(const ExternalMotion& motion) override {
    if (bodies_) bodies_->set_external(motion);
  }
  std::vector<Wrench> body_wrenches() const override {
    return bodies_ ? bodies_->wrenches() : std::vector<Wrench>();
  }
  ClothCollision* cloth() const override { return cloth_ ? &cloth_->contacts().collision() : nullptr; }

 private:
  using Base = CoupledGarments<ProjectionSolver<Real>>;
  using Base::garments_, Base::step_, Base::steps_;

  std::size_t shared_bytes() const override;
  /// Lets garments sleep in a step of the request: those that may, unless cloth that moves comes near.
  void let_sleep(int number);

  const Device& device_;
  const ResolvedScene resolved_;
  const std::vector<const Garment*> cloths_;
  std::unique_ptr<BodyCoupling<Real>> bodies_;  ///< null: there are none
  std::unique_ptr<ClothParticipant<Real>>
      cloth_;  ///< contacts between cloths; null: cloth does not meet cloth
  std::vector<StepParticipant<Real>*> participants_;  ///< in the order in which a step asks them
  std::vector<BodyState> before_;                     ///< bodies when the request began
};

}  // namespace isocloth
