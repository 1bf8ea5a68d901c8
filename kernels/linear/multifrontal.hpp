// One front of the multifrontal method (Duff and Reid 1983; Liu 1992): assembled from the matrix and from
// what its children pass on, factored in tiles, and the same for the triangular solves.
#pragma once

#include "engine/core/array_view.hpp"
#include "kernels/linear/dense_kernels.hpp"

namespace isocloth {

/// A dense lower triangle: `padded_pivots` + `padded_rows` rows, each part padded with zeros to whole strips.
/// The panel (all rows, pivot columns) becomes L; the update matrix (the other columns) goes to the parent.
struct Front {
  Index pivots, padded_pivots;   ///< [scalars]
  Index rows, padded_rows;       ///< past the pivots [scalars]
  Index parent;                  ///< -1: root
  Index first_pivot;             ///< place of the first pivot's block row
  Index entry_begin, entry_end;  ///< blocks of the matrix, by column
  Index child_begin, child_end;  ///< in MultifrontalPlan::children
  bool in_subtree;               ///< its update matrix lies in the worker's memory, else in the shared one
  std::size_t panel;             ///< first scalar in the factor: strips of all rows, padded_pivots columns
  std::size_t update;            ///< first scalar of the update matrix: strip i has i + 1 squares
  std::size_t relative;          ///< first in MultifrontalPlan::relative
  std::size_t vector;            ///< first scalar of its part of a work vector

  Index padded_size() const { return padded_pivots + padded_rows; }
};

/// A block of the matrix in a front.
struct FrontEntry {
  Index block;        ///< in the pattern
  Index row, column;  ///< its first ones in the front, padding counted
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

/// Rows and columns of the tiles that a front is factored in.
constexpr Index front_tile = 96;
constexpr Index tile_count(Index scalars) { return (scalars + front_tile - 1) / front_tile; }

template <class Real>
struct FrontMemory {
  const Real* values;  ///< of the matrix, shape [block_count, block, block]
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
