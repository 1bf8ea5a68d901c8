// Contacts between cloths as they take part in a step.
#pragma once

#include "host/projection/cloth_contacts.hpp"
#include "host/projection/step_participant.hpp"

namespace isocloth {

/// Gives the hooks of a step to ClothContacts, and says of a step what contacts between cloths ask of it:
/// more parts for fast cloth, an early end for what they have thrown away or holds back.
template <class Real>
class ClothParticipant final : public StepParticipant<Real> {
  using Base = StepParticipant<Real>;
  using typename Base::Part, typename Base::Solver, typename Base::Step;

 public:
  /// See ClothContacts.
  ClothParticipant(const Device& device, const ResolvedScene& resolved,
                   const std::vector<const Garment*>& garments, const std::vector<Solver*>& solvers)
      : device_(device),
        contacts_(device, resolved.scene, garments, solvers),
        has_own_parts_(resolved.scene.projection.max_substeps == 0 &&
                       !resolved.scene.projection.budget.exists()) {}

  ClothContacts<Real>& contacts() { return contacts_; }
  std::size_t memory_bytes() const override { return contacts_.memory_bytes(); }
  void begin_step(Step& step) override;
  void predicted() override { contacts_.begin_substep(); }
  void begin_assess(Step& step, int iteration, Downloads& downloads) override;
  ParticipantFit assess(Step& step, int iteration) override;
  bool sum_forces() override { return !contacts_.exist() || contacts_.sum_forces(); }
  ArrayView<const Vec3<Real>> forces_on(const Solver& garment) const override {
    return contacts_.exist() ? contacts_.forces_on(garment) : ArrayView<const Vec3<Real>>{};
  }
  bool couples() const override { return contacts_.exist(); }
  void assemble() override { contacts_.add(); }
  bool couple(Step& step) override;
  void correct() override { contacts_.update(); }
  void end_substep(Step& step, const PartEnd<double, bool>& end) override;
  std::vector<Vec3d> forces_on_nodes(const Solver& garment, double h) const override {
    return contacts_.forces_on_nodes(garment, h);
  }
  void end_step(bool is_kept) override;
  void report(const Step& step, const Solver& garment, StepReport& report) const override;

 private:
  const Device& device_;
  ClothContacts<Real> contacts_;
  const bool has_own_parts_;  ///< nobody has said how many at most
  double least_gap_ = 1;      ///< least gap when the last step ended, see ClothCollision::least_gap()
};

}  // namespace isocloth
