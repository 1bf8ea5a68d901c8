// Many symmetric positive definite systems of one sparse pattern of 3x3 blocks: factorised and solved side by
// side.
#pragma once

#include "kernels/batch/block_cholesky.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// A x = b of every system. Systems lie in tiles of `width`, lane by lane innermost: element i of system c
/// lies at ((c / width) * count + i) * width + c % width. Spare lanes of the last tile need a definite matrix
/// or are ignored.
template <class Real>
struct SolveBlocks {
  CholeskyPlanView plan;
  ArrayView<const Index>
      system_blocks;             ///< block of A at each block of L, -1: fill; shape [block_count of L]
  Index system_block_count = 0;  ///< blocks of A's lower triangle
  int width = 1;  ///< systems per tile: 1, or the lane width of the backend (StepKernels::lane_width)
  Index tile_count = 0;
  ArrayView<const Real> blocks;       ///< A, row-major blocks, shape [tile, system_block_count, 9, width]
  ArrayView<const Real> right_sides;  ///< b, shape [tile, column, 3, width]; empty: factorise only
  ArrayView<Real> solutions;          ///< x, shape of right_sides; meaningless where bad_pivots is not 0
  ArrayView<Real> bad_pivots;  ///< 1 + first column whose pivot is not positive, 0: none; shape [tile, width]
};

/// Offsets of a tile's work arrays in lane values.
struct SolveScratch {
  std::size_t blocks = 0, diagonals, pivots, solution, size;
  ISOCLOTH_HD explicit SolveScratch(const CholeskyPlanView& plan)
      : diagonals(9 * plan.block_rows.size()),
        pivots(diagonals + 6 * static_cast<std::size_t>(plan.column_count())),
        solution(pivots + static_cast<std::size_t>(plan.column_count())),
        size(solution + 3 * static_cast<std::size_t>(plan.column_count())) {}
};

namespace ISOCLOTH_BACKEND {
/// L L^T = A by block_cholesky.hpp and x = L^-T L^-1 b. One block per tile; the factor stays in the block's
/// scratch. A system's result does not depend on the tile's others.
template <class Real>
void solve_blocks(const Queue& queue, const SolveBlocks<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
