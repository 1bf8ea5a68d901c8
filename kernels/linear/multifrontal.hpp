// One front on a CPU: assembled from the matrix and from what its children pass on, factored in tiles, and
// the same for the triangular solves.
#pragma once

#include "kernels/linear/fronts.hpp"

namespace isocloth {

/// Rows and columns of the tiles that a front is factored in.
constexpr Index front_tile = 96;
constexpr Index tile_count(Index scalars) { return (scalars + front_tile - 1) / front_tile; }

template <class Real>
struct FrontMemory {
  const Real* values;  ///< values of the matrix, shape [block_count, block, block]
  Real* factor;        ///< panels of all fronts
  Real* shared;        ///< update matrices read by other workers
  Real* local;         ///< the worker's own update matrices
};

/// Assembles and factors tile (i, j), i >= j, of front f; tiles are counted over the padded pivots, then anew
/// over the padded rows. Needs: the children's update matrices, tiles (i, k) and (j, k) of pivot columns k <
/// j, and (j, j). Returns the first pivot column of the front that is not positive and finite, or -1.
template <class Real>
Index process_tile(const MultifrontalPlan& plan, const FrontMemory<Real>& memory,
                   const DenseKernels<Real>& dense, Index f, Index i, Index j);

/// Every tile of a front in order. Returns as process_tile.
template <class Real>
Index process_front(const MultifrontalPlan& plan, const FrontMemory<Real>& memory,
                    const DenseKernels<Real>& dense, Index f);

/// Vectors of a solve: right side and solution of shape [size, block, count] in the pattern's order; `work`:
/// per front its padded rows, `count` times.
template <class Real>
struct FrontVectors {
  const Real* right_side;
  Real* solution;
  Real* work;
  int count;
};

/// L x = b in front f, after its children.
template <class Real>
void solve_front_forward(const MultifrontalPlan& plan, const Real* factor, const DenseKernels<Real>& dense,
                         const FrontVectors<Real>& vectors, Index f);
/// L^T x = b in front f, after its parent.
template <class Real>
void solve_front_backward(const MultifrontalPlan& plan, const Real* factor, const DenseKernels<Real>& dense,
                          const FrontVectors<Real>& vectors, Index f);

}  // namespace isocloth
