// Sparsity of a symmetric matrix of square blocks, and its graph.
#pragma once

#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// A symmetric matrix of square blocks, the lower triangle by columns.
struct BlockPattern {
  Index size = 0;              ///< block rows
  int block = 3;               ///< scalars per block side, 3 or 1
  std::vector<Index> rows;     ///< row of each block, shape [block_count]
  std::vector<Index> columns;  ///< column of each block, <= row, ascending; shape [block_count]
};

/// Sorted lists of block rows, one list per block row.
struct BlockLists {
  std::vector<Index> begin;  ///< where the list of each block row begins, shape [size + 1]
  std::vector<Index> items;  ///< the lists, one after another, shape [begin[size]]
  ArrayView<const Index> operator[](Index i) const {
    return {items.data() + begin[i], static_cast<std::size_t>(begin[i + 1] - begin[i])};
  }
};

/// Throws ShapeError, naming the block, unless sizes agree, indices are in range and in the lower triangle,
/// no block comes twice and every diagonal block is there.
void check_pattern(const BlockPattern& pattern);

/// Neighbours of each block row in the graph of the matrix, itself left out. Cost O(block_count).
BlockLists block_graph(const BlockPattern& pattern);

/// Lower triangle by rows in another order: for place i the places j < i with a block (i, j). `position`:
/// place of each block row, shape [size]. Cost O(block_count log).
BlockLists ordered_rows(const BlockPattern& pattern, const std::vector<Index>& position);

}  // namespace isocloth
