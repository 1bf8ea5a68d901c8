// Nodes of one cloth that grippers hold.
//
// Held rigidly, a node is set to its place in the gripper's frame when a step begins, and a stiffness far
// above all others keeps it there: in the matrix, where it stays an unknown, so that the pattern does not
// depend on what is held. What the stiffness answers is the force of the gripper. Rows count its mass as
// infinite, as that of pinned nodes. Held softly, a spring of given stiffness joins node and place.
#pragma once

#include "kernels/grasp/next_holder.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class HoldTerms {
  /// Of a rigid hold, in inertias of a mean node: far above rows of the least eps, 1e-9. The moves that it
  /// leaves are below the rounding of positions; factors take it, because it stands on the diagonal.
  static constexpr Real rigid = Real(1e14);

 public:
  ISOCLOTH_DEVICE HoldTerms(const GrippersView<Real>& grippers, const ContactControl<Real>& control,
                            const HoldArrays<Real>& arrays)
      : g_(grippers), c_(control), a_(arrays) {}

  ISOCLOTH_DEVICE bool exist() const { return g_.size() > 0; }

  /// Lets go and takes hold at the beginning of a step, where the node is at x. Doing it again changes
  /// nothing.
  ISOCLOTH_DEVICE void grasp(Index node, Vec3<Real> x, Real inverse_mass) const {
    Index holder = -1;
    if (exist()) {
      const Index before = static_cast<Index>(a_.holders[node]);
      Vec3<Real> place;
      holder = next_holder(g_, before, x, inverse_mass > 0, place);
      if (holder != before) a_.forces.set_vector(node, {});
      if (holder != before && holder >= 0) a_.places.set_vector(node, place);
      a_.holders[node] = static_cast<Real>(holder);
    }
    const bool is_rigid = holder >= 0 && !(g_.grippers[holder].stiffness > 0);
    a_.inverse_masses[node] = is_rigid ? Real(0) : inverse_mass;
  }

  /// Puts a node that is held rigidly where its gripper has it at the end of the part of the step.
  ISOCLOTH_DEVICE void place(Index node, Strided<Real> positions) const {
    const Index holder = static_cast<Index>(a_.holders[node]);
    if (holder >= 0 && !(g_.grippers[holder].stiffness > 0)) positions.set_vector(node, target(node, holder));
  }

  /// Adds stiffness and force to those of the node's sample; without pulls the stiffness alone.
  ISOCLOTH_DEVICE void act(Index node, Vec3<Real> x, bool pulls, const ContactArrays<Real>& samples) const {
    const Index holder = static_cast<Index>(a_.holders[node]);
    if (holder < 0) return;
    const Real k = stiffness(node, holder);
    if (pulls && g_.grippers[holder].stiffness > 0)
      a_.forces.set_vector(node, k * (target(node, holder) - x));
    for (const int diagonal : {0, 3, 5}) samples.sample_stiffness[node * 6 + diagonal] += k;
    if (pulls)
      samples.sample_forces.set_vector(node, samples.sample_forces.vector(node) + a_.forces.vector(node));
  }

  /// Force after the correction d of the node.
  ISOCLOTH_DEVICE void update(Index node, Vec3<Real> d) const {
    const Index holder = static_cast<Index>(a_.holders[node]);
    if (holder < 0) return;
    a_.forces.set_vector(node, a_.forces.vector(node) - stiffness(node, holder) * d);
  }

 private:
  ISOCLOTH_DEVICE Vec3<Real> target(Index node, Index holder) const {
    return held_position(g_, holder, a_.places.vector(node), c_.to);
  }
  ISOCLOTH_DEVICE Real stiffness(Index node, Index holder) const {
    const Real k = g_.grippers[holder].stiffness;
    return k > 0 ? c_.step * c_.step * k / a_.inverse_masses[node] : rigid * c_.inertia * c_.mean_mass;
  }

  const GrippersView<Real>& g_;
  const ContactControl<Real>& c_;
  const HoldArrays<Real>& a_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
