// Solvers of the nodal system; the pattern never changes, so it is analysed once.
#pragma once

#include <cstddef>
#include <memory>

#include "host/linear/block_pattern.hpp"

namespace isocloth {

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
