// Systems of one pattern solved side by side, as the engine does with small cloths.
#pragma once

#include "bench/nodal_system.hpp"
#include "host/linear/device_cholesky_plan.hpp"
#include "host/memory/buffer.hpp"

namespace isocloth::bench {

/// What the matrix of system number c is multiplied by.
inline double batch_scale(int c) { return 1 + 0.01 * (c % 100); }

/// `count` systems on a device, number c the given one with its matrix multiplied by batch_scale(c): exact
/// backward errors need no second matrix.
template <class Real>
class BatchedSystems {
 public:
  /// The block rows of `system` are in the order of elimination; both it and the device outlive this. count:
  /// made whole tiles. Throws DeviceError when memory runs out.
  BatchedSystems(const Device& device, const NodalSystem& system, const CholeskyPlan& plan, int count);

  /// Factorisation and solve; launches on `queue`.
  void factorize_and_solve(const Queue& queue) const { kernels_.solve_blocks(queue, args_); }
  void factorize(const Queue& queue) const;

  int width() const { return args_.width; }  ///< systems in a tile
  int count() const { return static_cast<int>(bad_pivots_.size()); }
  /// Work memory of a tile [bytes].
  std::size_t scratch_bytes() const;
  bool succeeded() const;
  /// The last solutions, shape [count, unknowns].
  std::vector<double> all_solutions() const;

 private:
  const StepKernels<Real>& kernels_;
  const NodalSystem& system_;
  DeviceCholeskyPlan plan_;
  Buffer<Real> blocks_, right_sides_, solutions_, bad_pivots_;
  SolveBlocks<Real> args_;
};

/// Worst backward error of solutions of BatchedSystems, shape [count, unknowns]; `system` is what their
/// matrices are multiples of. NaN where a solution is not finite.
double worst_backward_error(const NodalSystem& system, const std::vector<double>& solutions);

}  // namespace isocloth::bench
