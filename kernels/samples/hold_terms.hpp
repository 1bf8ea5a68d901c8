// Nodes of one cloth that grippers hold.
//
// Held rigidly, a node is set to its place in the gripper's frame when a step begins, and a stiffness far
// above all others keeps it there: in the matrix, where it stays an unknown, so that the pattern does not
// depend on what is held. What the stiffness answers is the force of the gripper. Rows count its mass as
// infinite, as that of pinned nodes. Held softly, a spring of given stiffness joins node and place.
#pragma once

#include "kernels/grippers/next_holder.hpp"
#include "kernels/samples/act_on_samples.hpp"
#include "kernels/samples/sample_term.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

template <class Real>
class HoldTerms : public SampleTerm<Real> {
  /// Stiffness of a rigid hold, in inertias of a mean node: far above rows of the least eps, 1e-9. The moves
  /// that it leaves are below the rounding of positions; factors take it, because it stands on the diagonal.
  static constexpr Real rigid = Real(1e14);

 public:
  ISOCLOTH_DEVICE explicit HoldTerms(const ActOnSamples<Real>& args)
      : all_(args), g_(args.grippers), c_(args.control), a_(args.holds) {}

  /// Lets go and takes hold; of nodes, where any may be held.
  ISOCLOTH_DEVICE void begin(Index node) const {
    if (node >= all_.pattern.node_count || a_.inverse_masses.data == nullptr) return;
    const Real inverse_mass = all_.positions.rest_inverse_masses[node];
    Index holder = -1;
    if (exist()) {
      const Index before = static_cast<Index>(a_.holders[node]);
      Vec3<Real> local_position;
      holder = next_holder(g_, before, all_.positions.start.vector(node), inverse_mass > 0, local_position);
      if (holder != before) a_.forces.set_vector(node, {});
      if (holder != before && holder >= 0) a_.local_positions.set_vector(node, local_position);
      a_.holders[node] = static_cast<Real>(holder);
    }
    const bool is_rigid = holder >= 0 && !(g_.grippers[holder].stiffness > 0);
    a_.inverse_masses[node] = is_rigid ? Real(0) : inverse_mass;
  }

  /// Puts a node that is held rigidly where its gripper has it at the end of the part of the step.
  ISOCLOTH_DEVICE void place(Index node, Strided<Real> positions) const {
    const Index holder = holder_of(node);
    if (holder >= 0 && !(g_.grippers[holder].stiffness > 0)) positions.set_vector(node, target(node, holder));
  }

  /// A soft hold pulls as its spring does, a rigid one with the force that it had.
  ISOCLOTH_DEVICE void act(Index node) const {
    const Index holder = holder_of(node);
    if (holder < 0) return;
    const Real k = stiffness(node, holder);
    const bool pulls = all_.pulls();
    if (pulls && g_.grippers[holder].stiffness > 0)
      a_.forces.set_vector(node, k * (target(node, holder) - all_.positions.iterate.vector(node)));
    const ContactArrays<Real>& samples = all_.contacts;
    for (const int diagonal : {0, 3, 5}) samples.sample_stiffness[node * 6 + diagonal] += k;
    if (pulls)
      samples.sample_forces.set_vector(node, samples.sample_forces.vector(node) + a_.forces.vector(node));
  }

  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index node, const Correction& correction, const Move&) const {
    const Index holder = holder_of(node);
    if (holder < 0) return;
    a_.forces.set_vector(node, a_.forces.vector(node) - stiffness(node, holder) * correction(node));
  }

 private:
  ISOCLOTH_DEVICE bool exist() const { return g_.size() > 0; }
  /// Number of the gripper that holds a sample, -1: none.
  ISOCLOTH_DEVICE Index holder_of(Index sample) const {
    return exist() && sample < all_.pattern.node_count ? static_cast<Index>(a_.holders[sample]) : -1;
  }
  ISOCLOTH_DEVICE Vec3<Real> target(Index node, Index holder) const {
    return held_position(g_, holder, a_.local_positions.vector(node), c_.to);
  }
  ISOCLOTH_DEVICE Real stiffness(Index node, Index holder) const {
    const Real k = g_.grippers[holder].stiffness;
    return k > 0 ? c_.step * c_.step * k / a_.inverse_masses[node] : rigid * c_.inertia * c_.mean_mass;
  }

  const ActOnSamples<Real>& all_;
  const GrippersView<Real>& g_;
  const ContactControl<Real>& c_;
  const HoldArrays<Real>& a_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
