// The linear system of a garment whose factor leaves couplings out.
#pragma once

#include "host/linear/nodal_solver.hpp"
#include "kernels/kernel_table.hpp"

namespace isocloth {

/// (P + E) x = b by conjugate gradients with the factor of P; see conjugate_gradients().
template <class Real>
class CoupledSystem {
 public:
  CoupledSystem() = default;
  CoupledSystem(const Device& device, std::size_t size);

  /// blocks: P, as NodalSolver::solve takes them. Where P is not positive definite the outcome says so and
  /// the solution is worth nothing.
  Factorization solve(NodalSolver<Real>& factor, const Buffer<Real>& blocks, const Couplings<Real>& couplings,
                      const Buffer<Vec3<Real>>& right_side, double rtol, Buffer<Vec3<Real>>& solution);
  std::size_t memory_bytes() const;

 private:
  struct Iteration;

  const Device* device_ = nullptr;
  Buffer<Vec3<Real>> residual_, preconditioned_, direction_, factor_product_, product_;
  Buffer<double> partials_;
};

}  // namespace isocloth
