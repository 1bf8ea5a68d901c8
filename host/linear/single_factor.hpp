// Systems in double precision solved with a factor in single precision.
#pragma once

#include <string>

#include "host/linear/multifrontal_solver.hpp"

namespace isocloth {

/// For what corrects its solutions, conjugate gradients or refinement: their relative error is about the
/// condition number times 6e-8. Factors S A S in float, S the powers of two that bring the diagonal near 1,
/// in half the time and memory of a factor in double. Where float finds no positive definite matrix, A is
/// factored in double, until the next factorize().
class SingleFactor final : public LinearSolver<double> {
 public:
  /// A solver with arguments as MultifrontalSolver takes them.
  SingleFactor(const BlockPattern& pattern, ThreadPool* pool,
               const DenseKernels<float>& single = dense_kernels<float>(),
               const DenseKernels<double>& whole = dense_kernels<double>(), MonitorView monitor = {});

  Factorization factorize(const double* values) override;
  /// Factorises in double without a try in float.
  Factorization factorize_whole(const double* values);
  /// Whether the factor is one in double.
  bool is_whole() const { return is_whole_; }
  /// A right side that is not finite gives a solution that is not.
  void solve(const double* right_side, double* solution, int count) override;
  std::size_t memory_bytes() const override;
  double factor_nonzeros() const override { return single_.factor_nonzeros(); }
  double factor_flops() const override { return single_.factor_flops(); }
  bool is_exact() const override { return false; }
  std::string_view name() const override { return name_; }
  std::string_view single_name() const { return single_.name(); }

 private:
  BlockPattern pattern_;
  ThreadPool* pool_;
  MonitorView monitor_;
  const DenseKernels<double>& whole_kernels_;
  MultifrontalSolver<float> single_;
  std::unique_ptr<MultifrontalSolver<double>> whole_;  ///< made when first needed
  std::string name_;
  std::vector<double> scales_;         ///< S, shape [size * block]
  std::vector<float> scaled_, small_;  ///< S A S; right sides
  bool is_whole_ = false;
};

}  // namespace isocloth
