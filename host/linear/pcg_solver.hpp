// Preconditioned conjugate gradients on the nodal system, for sizes past the memory of a direct solver or
// with a loose tolerance.
#pragma once

#include "host/linear/multilevel_preconditioner.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

struct PcgOptions {
  double rtol = 1e-6;         ///< stop at ||b - A x|| <= rtol ||b||, in [0, 1)
  int max_iterations = 1000;  ///< most iterations of one solve, >= 0
  MultilevelOptions preconditioner;
};

enum class PcgStatus {
  converged,   ///< the residual of x, computed anew, is within rtol
  truncated,   ///< max_iterations done; x is where they led
  stagnated,   ///< rounding holds the residual above rtol; x is the last iterate
  indefinite,  ///< p^T A p or r^T M^-1 r not positive: A is not positive definite; x is the iterate before
  non_finite,  ///< b is not finite, or a product or x overflowed; x is the last finite iterate, or 0
};
const char* to_string(PcgStatus status);

struct PcgReport {
  PcgStatus status = PcgStatus::converged;
  int iterations = 0;   ///< products with A but for those that check a residual
  double residual = 0;  ///< ||b - A x|| / ||b||, 0 for b = 0
};

/// Conjugate gradients (Hestenes and Stiefel 1952) with the two-level Schwarz preconditioner or block-Jacobi.
/// The number of iterations grows with eps^-1/2 rather than with the size: see bench/iterative_solver.md for
/// where that beats a direct solver. The same result for any number of threads.
template <class Real>
class PcgSolver final : public LinearSolver<Real> {
 public:
  /// Analyses the pattern, cost O(block_count log). `queue` says where kernels run; its pool must outlive
  /// this. Throws ShapeError for a bad pattern, blocks that are not 3x3, or options out of range.
  explicit PcgSolver(const BlockPattern& pattern, const PcgOptions& options = {}, const Queue& queue = {});

  /// Sets up the preconditioner. Not ok: a diagonal or a subdomain's pivot shows a matrix that is not
  /// positive definite or not finite. A slightly indefinite one is seen in solve() only.
  Factorization factorize(const Real* values) override;
  /// Starts each right side from zero; x is finite whatever the status. See last_report().
  void solve(const Real* right_side, Real* solution, int count) override;
  std::size_t memory_bytes() const override;
  std::string_view name() const override;

  /// Report of the last solve; with several right sides the worst status and residual, and all iterations.
  const PcgReport& last_report() const { return report_; }
  /// Throws ShapeError when rtol or max_iterations is out of range.
  void set_limits(double rtol, int max_iterations);

 private:
  using Vector = std::vector<Vec3<Real>>;
  SymmetricBlocksView<Real> matrix() const;
  PcgReport iterate();
  double dot(const Vector& a, const Vector& b);
  void multiply(const Vector& x, Vector& y);
  /// r = b - A x; returns its norm.
  double compute_residual();

  PcgOptions options_;
  Queue queue_;
  const StepKernels<Real>& kernels_;  ///< kernels of the host
  SymmetricRows rows_;
  std::vector<std::size_t> diagonals_;  ///< number of the stored block of each diagonal
  std::vector<Real> values_;
  MultilevelPreconditioner<Real> preconditioner_;
  bool ready_ = false;
  PcgReport report_;
  Vector right_side_, solution_, residual_, preconditioned_, direction_, product_;
  std::vector<double> partials_;
};

}  // namespace isocloth
