// All rows of a cloth, family by family, in the order of the sweeps.
#pragma once

#include "kernels/impulse/edge_terms.hpp"
#include "kernels/impulse/stencil_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Calls visit(terms, packets) for each family of rows; terms: EdgeTerms or StencilTerms.
template <class Real, class Visit>
ISOCLOTH_DEVICE void for_each_row_family(const ImpulsePattern<Real>& pattern, const ImpulseWork<Real>& work,
                                         Index rest_shape, const Visit& visit) {
  visit(StencilTerms<Real, 3>(pattern.metric_stencils, work, rest_shape), pattern.metric_stencils);
  visit(StencilTerms<Real, 1>(pattern.scalar_stencils, work, rest_shape), pattern.scalar_stencils);
  visit(EdgeTerms<Real>(pattern.edges, work, rest_shape), pattern.edges);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
