// The schedule of a Cholesky factorisation by 3x3 blocks; see kernels/batch/block_cholesky.hpp.
#pragma once

#include "host/linear/block_pattern.hpp"

namespace isocloth {

/// The arrays of CholeskyPlanView, and where the matrix's own blocks lie in L.
struct CholeskyPlan {
  std::vector<Index> column_begin, block_rows, block_columns;
  std::vector<Index> pair_begin, pairs, is_twin, twin_updates;
  std::vector<Index> row_begin, row_blocks;
  std::vector<Index> level_begin, level_columns, level_block_begin, level_blocks;
  std::vector<Index> update_begin, update_runs, forward_begin, forward_runs, backward_begin, backward_blocks;
  std::vector<Index> system_blocks;  ///< block of the pattern at each block of L, -1: fill
};

/// Plans the factorisation of `pattern` in the order of its own block rows, which should be an order of
/// elimination already (host/linear/elimination.hpp). Blocks of the pattern by column, then row. Cost
/// O(pairs).
CholeskyPlan plan_cholesky(const BlockPattern& pattern);

}  // namespace isocloth
