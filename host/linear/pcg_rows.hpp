// Whole rows of a symmetric matrix of which the lower triangle is stored.
#pragma once

#include "host/linear/block_pattern.hpp"

namespace isocloth {

/// For each block row its columns in ascending order, and where the block is stored: transposed if column >
/// row.
struct SymmetricRows {
  std::vector<Index> begin;    ///< where each block row begins, shape [size + 1]
  std::vector<Index> columns;  ///< columns of the block rows, shape [2 block_count - size]
  std::vector<Index> blocks;   ///< places of the stored blocks, shape [2 block_count - size]
  Index size() const { return static_cast<Index>(begin.size()) - 1; }
};

/// Cost O(block_count). The pattern must pass check_pattern.
SymmetricRows symmetric_rows(const BlockPattern& pattern);

}  // namespace isocloth
