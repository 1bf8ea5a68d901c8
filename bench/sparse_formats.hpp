// The engine's matrices of blocks in the formats of other libraries.
#pragma once

#include <vector>

#include "host/linear/block_pattern.hpp"

namespace isocloth::bench {

/// Rows of square blocks, both triangles: BSR with `block` scalars a side, CSR where that is 1.
struct BlockRows {
  Index size = 0;              ///< block rows
  int block = 3;               ///< scalars per block side
  std::vector<Index> begin;    ///< shape [size + 1]
  std::vector<Index> columns;  ///< ascending within a row, shape [begin[size]]
  std::vector<double> values;  ///< row-major blocks, shape [begin[size], block, block]
};

/// The symmetric matrix of a pattern and its values as LinearSolver::factorize takes them: shape
/// [block_count, block, block], of a diagonal block the lower triangle counts. Both triangles equal each
/// other to the bit. The pattern must pass check_pattern. O(block_count).
BlockRows block_rows(const BlockPattern& pattern, const std::vector<double>& values);

/// The same matrix by scalars, explicit zeros of the blocks included. O(scalars).
BlockRows scalar_rows(const BlockRows& matrix);

/// All its entries, shape [unknowns, unknowns]. O(unknowns^2).
std::vector<double> dense_matrix(const BlockRows& matrix);

}  // namespace isocloth::bench
