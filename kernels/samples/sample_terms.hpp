// The list of terms that act on the samples of one cloth. A further one is a file with the hooks of
// SampleTerm, its arguments in ActOnSamples, and a line here; a force on nodes is less, see node_forces.hpp.
#pragma once

#include "kernels/samples/act_on_samples.hpp"
#include "kernels/samples/contact_terms.hpp"
#include "kernels/samples/hold_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// One force of NodeForces.
template <class Real, class View>
struct NodeForceTerm : SampleTerm<Real> {
  const ActOnSamples<Real>& a;
  const View& force;

  ISOCLOTH_DEVICE NodeForceTerm(const ActOnSamples<Real>& args, const View& view) : a(args), force(view) {}
  ISOCLOTH_DEVICE void act(Index sample) const {
    if (sample >= a.pattern.node_count) return;
    add_force(force, NodeSite<Real>{a.faces, static_cast<std::size_t>(sample), a.control.step, a.control.rate,
                                    a.positions.start, a.positions.base, a.positions.iterate, a.pulls(),
                                    a.contacts});
  }
};

template <class Real>
class SampleTerms {
 public:
  ISOCLOTH_DEVICE explicit SampleTerms(const ActOnSamples<Real>& args)
      : a_(args), contacts_(args), holds_(args) {}

  ISOCLOTH_DEVICE void begin(Index sample) const {
    for_each([&](const auto& term) { term.begin(sample); });
  }
  ISOCLOTH_DEVICE void place(Index node, Strided<Real> positions) const {
    for_each([&](const auto& term) { term.place(node, positions); });
  }
  ISOCLOTH_DEVICE void act(Index sample) const {
    for_each([&](const auto& term) { term.act(sample); });
  }
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update(Index sample, const Correction& correction, const Move& move) const {
    for_each([&](const auto& term) { term.update(sample, correction, move); });
  }
  /// Before act(): what is kept of the way of a node, see Clearances.
  ISOCLOTH_DEVICE void note_way(Index node) const { contacts_.note_way(node); }
  /// Before act(): the cloth lies between these corners over the step so far.
  ISOCLOTH_DEVICE void list_near(Vec3<Real> least, Vec3<Real> most) const {
    contacts_.list_near(least, most);
  }
  // act() and update() of all but contacts with obstacles, where those are done elsewhere.
  ISOCLOTH_DEVICE void act_beside_contacts(Index sample) const {
    for_each_beside_contacts([&](const auto& term) { term.act(sample); });
  }
  template <class Correction, class Move>
  ISOCLOTH_DEVICE void update_beside_contacts(Index sample, const Correction& correction,
                                              const Move& move) const {
    for_each_beside_contacts([&](const auto& term) { term.update(sample, correction, move); });
  }

 private:
  /// The list, in the order in which its terms act: contacts begin the sums of a sample.
  template <class Visit>
  ISOCLOTH_DEVICE void for_each(const Visit& visit) const {
    visit(contacts_);
    for_each_beside_contacts(visit);
  }
  template <class Visit>
  ISOCLOTH_DEVICE void for_each_beside_contacts(const Visit& visit) const {
    visit(holds_);
    a_.forces.for_each([&](const auto& force) { visit(NodeForceTerm{a_, force}); });
  }

  const ActOnSamples<Real>& a_;
  const ContactTerms<Real> contacts_;
  const HoldTerms<Real> holds_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
