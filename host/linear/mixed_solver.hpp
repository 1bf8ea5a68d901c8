// A double-precision solve from a single-precision factor.
#pragma once

#include <string>

#include "host/linear/single_factor.hpp"

namespace isocloth {

/// How the last solve of a MixedSolver went, the worst of its right sides.
struct Refinement {
  int iterations = 0;         ///< number of solves with the float factor
  double backward_error = 0;  ///< max |b - A x| / (|A|_inf max |x| + max |b|)
  bool fell_back = false;     ///< refinement stagnated, or float could not factor: solved by a double factor
};

/// Iterative refinement (Wilkinson 1963; Higham 2002, chapter 12): corrects the solutions of a SingleFactor
/// by double residuals until the backward error is at most 100 eps of double. Where it stagnates above that
/// (a condition number beyond some 1e7), the matrix is factored in double, once, and every later solve uses
/// that factor until the next factorize().
class MixedSolver final : public LinearSolver<double> {
 public:
  MixedSolver(const BlockPattern& pattern, ThreadPool* pool,
              const DenseKernels<float>& single = dense_kernels<float>(),
              const DenseKernels<double>& whole = dense_kernels<double>(), MonitorView monitor = {});

  /// Falls back when the matrix is positive definite in double only.
  Factorization factorize(const double* values) override;
  /// Throws NumericalError without a factor, when a right side is not finite or a solution is past the range
  /// of double, and, naming the block row, when a fallback finds the matrix not positive definite; `solution`
  /// is then as it was.
  void solve(const double* right_side, double* solution, int count) override;
  std::size_t memory_bytes() const override;
  double factor_nonzeros() const override { return factor_.factor_nonzeros(); }
  double factor_flops() const override { return factor_.factor_flops(); }
  std::string_view name() const override { return name_; }
  const Refinement& last_refinement() const { return last_; }

 private:
  /// Refines each right side as far as it needs. magnitudes: largest |value| of each. False: one stagnates.
  bool refine(const double* right_side, const std::vector<double>& magnitudes, double* solution, int count);
  void subtract_product(const double* x, int count, double* residual) const;

  BlockPattern pattern_;
  SingleFactor factor_;
  std::string name_;
  std::vector<double> values_;    ///< A, shape [block_count, block, block]
  std::vector<double> residual_;  ///< residuals b - A x, shape [size, block, count]
  double norm_ = 0;               ///< |A|_inf
  bool has_factor_ = false;
  Refinement last_;
};

}  // namespace isocloth
