// What of the bending matrix K goes into a factor whose pattern is narrower than K's.
#pragma once

#include <vector>

#include "host/garment/nodal_pattern.hpp"

namespace isocloth {

/// K = K_P + K_E between free nodes: K_P has blocks, K_E is what NodalPattern couples beyond them.
template <class Real>
struct FactoredBending {
  std::vector<Real> factored;  ///< K_P at each block [1/m^2], shape [block_count]
  std::vector<Real> beyond;    ///< K_E at each coupling [1/m^2], shape [coupling_count]
};

/// K_P >= K, so that P = A - E is positive definite and conjugate gradients on A with its factor see
/// eigenvalues in (0, 1]; and K_P resists no translation where K does not, or every smooth motion would be
/// far stiffer in P than in A. With x^T K x = - sum_{i<j} K_ij |x_i - x_j|^2, a pair without a block
/// - is left out where K_ij > 0: it pulled the two apart;
/// - where K_ij < 0 becomes springs through the n nodes m that both have blocks with, since
///   |x_i - x_j|^2 <= 2 / n sum_m (|x_i - x_m|^2 + |x_m - x_j|^2); without such a node |K_ij| goes onto both
///   diagonals.
/// Where every entry has a block K_P = K. values: K, shape [entries of bending]. Cost O(entries x degree).
template <class Real>
FactoredBending<Real> factored_bending(const NodalPattern& pattern, const NodeMatrixPattern& bending,
                                       const std::vector<Real>& values);

}  // namespace isocloth
