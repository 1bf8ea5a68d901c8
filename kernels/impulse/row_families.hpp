// All rows of a cloth, family by family, in the order of the sweeps.
#pragma once

#include "kernels/impulse/edge_terms.hpp"
#include "kernels/impulse/stencil_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Calls visit(terms, packets) for each family of rows; terms: EdgeTerms or StencilTerms. Holds: grippers may
/// hold nodes.
template <bool Holds, class Real, class Visit>
ISOCLOTH_DEVICE void for_each_row_family(const ImpulsePattern<Real>& pattern, const ImpulseWork<Real>& work,
                                         RowSets sets, const Visit& visit) {
  visit(StencilTerms<Real, 3, Holds>(pattern.metric_stencils, work, sets), pattern.metric_stencils);
  visit(StencilTerms<Real, 1, Holds>(pattern.scalar_stencils, work, sets), pattern.scalar_stencils);
  visit(EdgeTerms<Real, Holds>(pattern.edges, work, sets), pattern.edges);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
