// Factorisation of fronts, tile by tile.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/linear/front_tiles.hpp"

namespace isocloth {

/// Work of every tile: children's update matrices and the matrix are added up, earlier pivot columns are
/// subtracted, a diagonal tile is factored, a tile below one is solved against it. Diagonals of L hold
/// reciprocals.
template <class Real>
struct FactorFronts {
  MultifrontalPlan plan;
  ArrayView<const FrontTile> tiles;  ///< tiles of one launch: whatever they read is there
  ArrayView<const Real> values;      ///< values of the matrix, shape [block_count, block, block]
  ArrayView<Real> factor;            ///< panels of all fronts
  ArrayView<Real> updates;           ///< update matrices of all fronts
  ArrayView<Index> failed;  ///< place of the first block row whose pivot is not positive and finite, -1:
                            ///< none; shape [front_count]
};

/// Smallest of FactorFronts::failed that is not -1, else -1.
struct FindFailure {
  ArrayView<const Index> failed;
  ArrayView<Index> first;  ///< shape [1]
};

namespace ISOCLOTH_BACKEND {
/// One block per tile.
template <class Real>
void factor_fronts(const Queue& queue, const FactorFronts<Real>& args);
/// One block.
void find_failure(const Queue& queue, const FindFailure& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
