// All garments of a scene with rigid bodies.
#pragma once

#include "host/projection/projection_step.hpp"

namespace isocloth {

/// Garments are members in the order of the scene and step together with the bodies: one that touches no body
/// still takes the iterations that the others need. A garment whose step is lost is frozen, and the
/// step is taken again without it; bodies pass through it from then on.
template <class Real>
class CoupledSolver final : public GarmentSolver {
 public:
  /// `shapes` of the scene, which has bodies.
  CoupledSolver(const Device& device, const ResolvedScene& resolved,
                const std::shared_ptr<const ObstacleShapes<Real>>& shapes, StepSolver choice);

  std::size_t size() const override { return garments_.size(); }
  void start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) override;
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
  GarmentInfo info(std::size_t member) const override;
  GarmentState state(std::size_t member) const override { return garments_[member]->state(0); }
  void set_state(std::size_t member, const GarmentState& state) override {
    garments_[member]->set_state(0, state);
  }
  std::vector<BodyState> bodies() const override { return bodies_.states(); }
  void set_bodies(const std::vector<BodyState>& states) override { bodies_.set_states(states); }

 private:
  std::vector<std::unique_ptr<ProjectionSolver<Real>>> garments_;
  BodyCoupling<Real> bodies_;
  const ResolvedScene resolved_;
  std::vector<BodyState> before_;  ///< bodies when the request began
  double step_ = 0;
  int steps_ = 0;
};

}  // namespace isocloth
