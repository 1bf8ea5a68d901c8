// Garments that move together: through rigid bodies, or because cloth meets cloth.
#pragma once

#include "host/projection/projection_step.hpp"

namespace isocloth {

/// Garments are members in the order of the scene and step together, with the bodies and contacts between
/// cloths: one that touches nothing still takes the iterations that the others need. A garment whose step is
/// lost is frozen, and the step is taken again without it; bodies pass through it from then on, cloth does
/// not.
template <class Real>
class CoupledSolver final : public GarmentSolver {
 public:
  /// `garments` of the scene; `shapes` of the scene, null: none.
  CoupledSolver(const Device& device, const std::vector<const Garment*>& garments,
                const ResolvedScene& resolved, const std::shared_ptr<const ObstacleShapes<Real>>& shapes,
                StepSolver choice);

  std::size_t size() const override { return garments_.size(); }
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::size_t threads() const override;
  std::vector<AdvanceReport> finish() override;
  void undo() override;
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<FieldView> views(GarmentField field) override;
  std::vector<Strain> strains() override;
  Inspection inspect(std::size_t member, double t, double h) override {
    return garments_[member]->inspect(0, t, h);
  }
  void refresh() override {
    for (const auto& garment : garments_) garment->refresh();
  }
  void keep_parts(bool are_kept) override {
    for (const auto& garment : garments_) garment->keep_parts(are_kept);
  }
  std::vector<KeptPart> take_parts(std::size_t member) override { return garments_[member]->take_parts(0); }
  GarmentInfo info(std::size_t member) const override;
  GarmentState state(std::size_t member) const override;
  void set_state(std::size_t member, const GarmentState& state) override;
  std::vector<ClothLoads> cloth_loads() const override;
  std::vector<BodyState> bodies() const override {
    return bodies_ ? bodies_->states() : std::vector<BodyState>();
  }
  void set_bodies(const std::vector<BodyState>& states) override {
    if (bodies_) bodies_->set_states(states);
  }

 private:
  std::vector<std::unique_ptr<ProjectionSolver<Real>>> garments_;
  std::unique_ptr<BodyCoupling<Real>> bodies_;  ///< null: there are none
  std::unique_ptr<ClothContacts<Real>> cloth_;  ///< null: cloth does not meet cloth
  const ResolvedScene resolved_;
  std::vector<BodyState> before_;  ///< bodies when the request began
  KeptContacts contacts_before_;   ///< the same of contacts between cloths
  double step_ = 0;
  int steps_ = 0;
};

}  // namespace isocloth
