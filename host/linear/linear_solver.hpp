// Solvers of the nodal system; the pattern never changes, so it is analysed once.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "host/linear/block_pattern.hpp"

namespace isocloth {

class ThreadPool;

/// What a factorisation found.
struct Factorization {
  bool ok = true;
  Index block_row = -1;  ///< not ok: a block row where the matrix is not positive definite or not finite
  explicit operator bool() const { return ok; }
};

/// Solver of a symmetric positive definite block matrix of a fixed pattern.
template <class Real>
class LinearSolver {
 public:
  virtual ~LinearSolver() = default;
  /// Takes a matrix; values: row-major blocks in the pattern's order, shape [block_count, block, block]; of a
  /// diagonal block the lower triangle counts. When the matrix is not positive definite, solve() throws until
  /// the next factorize() succeeds.
  virtual Factorization factorize(const Real* values) = 0;
  /// Solves for `count` right sides stored as [size, block, count]; in and out may be the same. Throws
  /// NumericalError without a factor.
  virtual void solve(const Real* right_side, Real* solution, int count) = 0;
  virtual std::size_t memory_bytes() const = 0;
  virtual double factor_nonzeros() const { return 0; }  ///< scalars of L; 0: has no factor
  virtual double factor_flops() const { return 0; }     ///< additions and multiplications of a factorisation
  virtual bool is_exact() const { return true; }        ///< solves to the precision of Real, or its own goal
  /// Least pivot of the factor; 0: there is none, or not known.
  virtual double least_pivot() const { return 0; }
  virtual std::string_view name() const = 0;  ///< name of the solver for reports
};

/// Multifrontal Cholesky in a fill-reducing order of the blocks. Runs on the threads of `pool` (null: the
/// calling thread), which must outlive it; the result is the same for any number. Throws ShapeError when the
/// pattern is not one of a symmetric matrix with every diagonal block, DeviceError when its factor does not
/// fit in memory.
template <class Real>
std::unique_ptr<LinearSolver<Real>> make_direct_solver(const BlockPattern& pattern,
                                                       ThreadPool* pool = nullptr);

}  // namespace isocloth
