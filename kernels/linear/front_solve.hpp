// Triangular solves with a multifrontal factor, front by front.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/linear/columns.hpp"
#include "kernels/linear/front_tiles.hpp"

namespace isocloth {

/// L x = b (forward) and L^T x = b (backward), parts of fronts as in FactorFronts. In forward part 0 solves
/// for the pivots and part 1 + t subtracts them from tile t of the rows; in backward part 1 + t gathers the
/// rows' share of pivot tile t and part 0 solves for the pivots. The columns are solved for side by side,
/// each as it is alone.
template <class Real>
struct SolveFronts {
  MultifrontalPlan plan;
  ArrayView<const FrontTile> tiles;  ///< i: the part
  ArrayView<const Real> factor;
  ArrayView<const Real> right_side;  ///< columns of shape [size, block]; backward: not used
  ArrayView<Real> solution;          ///< columns of shape [size, block]; forward: not used
  ArrayView<Real> work;              ///< padded rows of all fronts, shape [column, work_size]
  std::size_t work_size = 0;
  Columns columns{};  ///< where they begin [block rows]
};

namespace ISOCLOTH_BACKEND {
/// One block per part and column.
template <class Real>
void forward_fronts(const Queue& queue, const SolveFronts<Real>& args);
template <class Real>
void backward_fronts(const Queue& queue, const SolveFronts<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
