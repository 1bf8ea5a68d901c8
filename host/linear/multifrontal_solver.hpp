// Multifrontal Cholesky of one system on the CPU.
#pragma once

#include <atomic>
#include <new>
#include <string>

#include "engine/core/monitor.hpp"
#include "host/linear/linear_solver.hpp"
#include "host/linear/multifrontal_plan.hpp"
#include "host/linear/ordering.hpp"

namespace isocloth {

/// P A P^T = L L^T by fronts along the elimination tree (Duff and Reid 1983), subtrees and tiles of large
/// fronts on all threads of the pool. Bit-identical for any number of threads, one instruction set given.
template <class Real>
class MultifrontalSolver final : public LinearSolver<Real> {
 public:
  /// pool: null: the calling thread alone. Throws as make_direct_solver does, and Interrupted, as
  /// factorize().
  MultifrontalSolver(const BlockPattern& pattern, ThreadPool* pool,
                     const DenseKernels<Real>& dense = dense_kernels<Real>(), MonitorView monitor = {});

  Factorization factorize(const Real* values) override;
  /// Throws DeviceError, too, when there is no memory for so many right sides.
  void solve(const Real* right_side, Real* solution, int count) override;
  std::size_t memory_bytes() const override;
  double factor_nonzeros() const override { return plan_.nonzeros; }
  double factor_flops() const override { return plan_.flops; }
  /// Cost O(size).
  double least_pivot() const override;
  std::string_view name() const override { return name_; }

 private:
  struct Release {
    std::align_val_t alignment{};
    void operator()(Real* p) const;
  };
  using Memory = std::unique_ptr<Real[], Release>;
  Memory allocate(std::size_t count, const char* what);
  bool inherits_failure(Index f);
  void run_factor_task(int worker, const FrontTask& task, const Real* values);

  ThreadPool* pool_;
  MonitorView monitor_;
  const DenseKernels<Real>& dense_;
  MultifrontalArrays plan_;
  std::string name_;
  int workers_;
  Memory factor_, shared_, local_, vectors_;
  int vector_count_ = 0;                    ///< right sides that vectors_ has room for
  std::vector<std::atomic<Index>> failed_;  ///< per front: place of the block row, -1: none
  bool has_factor_ = false;
};

}  // namespace isocloth
