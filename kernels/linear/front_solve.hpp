// Triangular solves with a multifrontal factor, front by front.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/linear/front_tiles.hpp"

namespace isocloth {

/// L x = b (forward) and L^T x = b (backward), parts of fronts as in FactorFronts. In forward part 0 solves
/// for the pivots and part 1 + t subtracts them from tile t of the rows; in backward part 1 + t gathers the
/// rows' share of pivot tile t and part 0 solves for the pivots.
template <class Real>
struct SolveFronts {
  MultifrontalPlan plan;
  ArrayView<const FrontTile> tiles;  ///< i: the part
  ArrayView<const Real> factor;
  ArrayView<const Real> right_side;  ///< shape [size, block]; backward: not used
  ArrayView<Real> solution;          ///< shape [size, block]; forward: not used
  ArrayView<Real> work;              ///< padded rows of all fronts
};

namespace ISOCLOTH_BACKEND {
/// One block per part.
template <class Real>
void forward_fronts(const Queue& queue, const SolveFronts<Real>& args);
template <class Real>
void backward_fronts(const Queue& queue, const SolveFronts<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
