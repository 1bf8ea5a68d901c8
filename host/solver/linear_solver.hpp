// Solvers of the nodal system; the pattern never changes, so it is analysed once.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// A symmetric matrix of square blocks, the lower triangle by columns.
struct BlockPattern {
  Index size = 0;              ///< block rows
  int block = 3;               ///< scalars per block side, 3 or 1
  std::vector<Index> rows;     ///< shape [block_count]
  std::vector<Index> columns;  ///< <= row, ascending; shape [block_count]
};

/// Direct solver of a symmetric positive definite block matrix.
template <class Real>
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// Factorises; values: row-major blocks, shape [block_count, block, block]. Returns false when the matrix
  /// is not positive definite or not finite; the solver then solves nothing.
  virtual bool factorize(const Real* values) = 0;
  /// Solves for `count` right sides stored as [size, block, count]; in and out may be the same.
  virtual void solve(const Real* right_side, Real* solution, int count) = 0;
  virtual std::size_t memory_bytes() const = 0;
};

/// Sparse Cholesky with a fill-reducing ordering of the blocks.
template <class Real>
std::unique_ptr<LinearSolver<Real>> make_direct_solver(const BlockPattern& pattern);

}  // namespace isocloth
