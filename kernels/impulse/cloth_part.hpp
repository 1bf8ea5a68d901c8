// Who does a phase: the formulas of a cloth in a part of a step.
#pragma once

#include "kernels/impulse/edge_terms.hpp"
#include "kernels/impulse/impulse_contact_terms.hpp"
#include "kernels/impulse/impulse_external_terms.hpp"
#include "kernels/impulse/stencil_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Holds: grippers may hold nodes of its rows.
template <class Real, bool Holds>
struct ClothPart {
  const ImpulseCloths<Real>& cloths;
  Index cloth;
  const ImpulseWork<Real>& work;
  Index step;
  int part;

  ISOCLOTH_DEVICE ImpulseContactTerms<Real> contacts() const { return {cloths, cloth, step, part, work}; }
  /// terms(phase, item) does the phase to an item, and returns what it tells, if anything.
  template <class Phase>
  ISOCLOTH_DEVICE auto terms_of(const Phase&) const {
    const ImpulsePattern<Real>& pattern = cloths.pattern;
    const RowSets sets = cloths.row_sets(cloth);
    constexpr bool counts_holds = Holds && !std::is_same_v<Phase, phases::MeasureRows<Phase::items>>;
    if constexpr (Phase::needs == Meets::all)
      return ImpulseExternalTerms<Real>(cloths, cloth, step, work);
    else if constexpr (Phase::needs == Meets::obstacles)
      return contacts();
    else if constexpr (Phase::items == Items::metric_stencils)
      return StencilTerms<Real, 3, counts_holds>(pattern.metric_stencils, work, sets);
    else if constexpr (Phase::items == Items::scalar_stencils)
      return StencilTerms<Real, 1, counts_holds>(pattern.scalar_stencils, work, sets);
    else if constexpr (Phase::items == Items::edges)
      return EdgeTerms<Real, counts_holds>(pattern.edges, work, sets, cloths.parameters[cloth].longest_edge);
    else
      return ImpulseTerms<Real>(cloths, cloth, work);
  }
};

/// The largest of the values of all threads, which all of them get; `values`: shape [block.size()].
template <class Block>
ISOCLOTH_DEVICE double largest_in_block(const Block& block, double* values, double own) {
  if constexpr (!Block::is_solo) {
    block.sync();
    values[block.rank()] = own;
    block.sync();
    for (int i = 0; i < block.size(); ++i) own = values[i] > own ? values[i] : own;
  }
  return own;
}

/// Lists the obstacles that come near the nodes in a part of a step. Returns whether there are any.
template <class Real, class Block>
ISOCLOTH_DEVICE bool list_near_cloth(const Block& block, const ImpulseContactTerms<Real>& contacts,
                                     Index node_count, double* values) {
  Box<Real> box = contacts.box_of(0);
  share(block, node_count, [&](Index i) { box.add(contacts.box_of(i)); });
  for (Real* const least : {&box.least.x, &box.least.y, &box.least.z})
    *least = static_cast<Real>(-largest_in_block(block, values, -static_cast<double>(*least)));
  for (Real* const most : {&box.most.x, &box.most.y, &box.most.z})
    *most = static_cast<Real>(largest_in_block(block, values, static_cast<double>(*most)));
  if (block.rank() == 0) contacts.list(box);
  block.sync();
  return contacts.are_near();
}

}  // namespace isocloth::ISOCLOTH_BACKEND
