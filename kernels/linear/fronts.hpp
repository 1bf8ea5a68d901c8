// The fronts of the multifrontal method (Duff and Reid 1983; Liu 1992) as kernels see them.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/linear/dense_kernels.hpp"

namespace isocloth {

/// A dense lower triangle: `padded_pivots` + `padded_rows` rows, each part padded with zeros to whole strips
/// of strip_height rows. The panel (all rows, pivot columns) becomes L; the update matrix (the other columns)
/// goes to the parent.
struct Front {
  Index pivots, padded_pivots;   ///< [scalars]
  Index rows, padded_rows;       ///< past the pivots [scalars]
  Index parent;                  ///< -1: root
  Index first_pivot;             ///< place of the first pivot's block row
  Index entry_begin, entry_end;  ///< blocks of the matrix, by column
  Index child_begin, child_end;  ///< children, from and to in MultifrontalPlan::children
  bool in_subtree;               ///< its update matrix lies in the worker's memory, else in the shared one
  std::size_t panel;             ///< first scalar in the factor: strips of all rows, padded_pivots columns
  std::size_t update;            ///< first scalar of the update matrix: strip i has i + 1 squares
  std::size_t relative;          ///< first in MultifrontalPlan::relative
  std::size_t vector;            ///< first scalar of its part of a work vector

  ISOCLOTH_HD Index padded_size() const { return padded_pivots + padded_rows; }
};

/// A block of the matrix in a front.
struct FrontEntry {
  Index block;        ///< number of the block in the pattern
  Index row, column;  ///< first row and column of the block in the front, padding counted
  Index transposed;   ///< 1: the pattern holds the transposed block
};

struct MultifrontalPlan {
  int block;                        ///< scalars per block side
  ArrayView<const Front> fronts;    ///< in postorder
  ArrayView<const Index> children;  ///< fronts
  ArrayView<const FrontEntry> entries;
  ArrayView<const Index> relative;    ///< per row of an update matrix: row in the parent, padding counted
  ArrayView<const Index> block_rows;  ///< block row of the pattern at each place
};

/// Scalars before strip i of an update matrix.
ISOCLOTH_HD constexpr std::size_t update_strip(std::size_t i, std::size_t height) {
  return i * (i + 1) / 2 * height * height;
}

}  // namespace isocloth
