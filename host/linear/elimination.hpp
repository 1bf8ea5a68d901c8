// What Cholesky's method will do to a sparse block matrix in a given order, found from the pattern alone.
#pragma once

#include "host/linear/block_pattern.hpp"

namespace isocloth {

/// Elimination tree of L (Liu 1990, "The role of elimination trees in sparse factorization"), its nodes the
/// block columns in postorder: a subtree is a range of columns that ends with its root.
struct Elimination {
  int block = 3;                 ///< scalars per block side
  std::vector<Index> position;   ///< place of each block row of the pattern, shape [size]
  std::vector<Index> block_row;  ///< block row of the pattern at each place, shape [size]
  BlockLists rows;               ///< rows of the matrix in this order: columns j < i of each row i
  std::vector<Index> parent;     ///< > child, -1: root; shape [size]
  std::vector<Index> counts;     ///< block rows of each column of L, the diagonal included; shape [size]
  std::vector<Index> levels;     ///< 0: leaf, else 1 + greatest level of the children; shape [size]
  Index level_count = 0;
  double nonzeros = 0;  ///< scalars of L's lower triangle
  double flops = 0;     ///< sum over scalar columns of (their nonzeros)^2

  Index size() const { return static_cast<Index>(parent.size()); }
};

/// Analyses the elimination in the order `position` (a permutation: place of each block row), made a
/// postorder, which changes no fill. Cost O(blocks of L), memory O(block_count).
Elimination analyze_elimination(const BlockPattern& pattern, const std::vector<Index>& position);

/// Block columns of L: block rows of each, ascending, the diagonal first. Cost and memory O(blocks of L).
/// Throws ShapeError when L has more blocks than an Index counts.
BlockLists factor_columns(const Elimination& elimination);

}  // namespace isocloth
