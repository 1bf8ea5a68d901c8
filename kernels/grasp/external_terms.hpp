// What acts on the nodes of one cloth from outside besides contact: grippers and NodeForces.
#pragma once

#include "kernels/grasp/external_forces.hpp"
#include "kernels/grasp/hold_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class ExternalTerms {
 public:
  ISOCLOTH_DEVICE ExternalTerms(const ExternalForces<Real>& external, const ContactControl<Real>& control,
                                const ContactPlaces<Real>& places, const ContactArrays<Real>& samples)
      : o_(external),
        c_(control),
        x_(places),
        samples_(samples),
        holds_(external.grippers, control, external.holds) {}

  /// Lets go and takes hold at the beginning of a step.
  ISOCLOTH_DEVICE void grasp(Index node) const {
    holds_.grasp(node, x_.start.vector(node), x_.rest_inverse_masses[node]);
  }
  /// Puts a node that is held rigidly in its place.
  ISOCLOTH_DEVICE void place(Index node, Strided<Real> positions) const {
    if (holds_.exist()) holds_.place(node, positions);
  }
  /// Adds to the sample of a node, after its contacts. Without pulls the stiffness alone.
  ISOCLOTH_DEVICE void act(Index node, bool pulls) const {
    if (holds_.exist()) holds_.act(node, x_.iterate.vector(node), pulls, samples_);
    const NodeSite<Real> site{
        o_.faces, static_cast<std::size_t>(node), c_.step, c_.rate, x_.start, x_.base, x_.iterate, pulls,
        samples_};
    o_.forces.for_each([&](const auto& force) { add_force(force, site); });
  }
  /// Forces after the correction d of a node.
  ISOCLOTH_DEVICE void update(Index node, Vec3<Real> d) const {
    if (holds_.exist()) holds_.update(node, d);
  }

 private:
  const ExternalForces<Real>& o_;
  const ContactControl<Real>& c_;
  const ContactPlaces<Real>& x_;
  const ContactArrays<Real>& samples_;
  const HoldTerms<Real> holds_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
