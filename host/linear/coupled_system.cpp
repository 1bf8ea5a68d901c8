#include "host/linear/coupled_system.hpp"

#include <utility>

#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

template <class Real>
CoupledSystem<Real>::CoupledSystem(const Device& device, std::size_t size)
    : device_(&device), partials_(device, static_cast<std::size_t>(dot_count(static_cast<Index>(size)))) {
  for (auto* vector : {&residual_, &preconditioned_, &direction_, &factor_product_, &product_})
    *vector = {device, size};
}

/// What conjugate_gradients() asks for.
template <class Real>
struct CoupledSystem<Real>::Iteration {
  using Vector = Buffer<Vec3<Real>>;
  CoupledSystem& of;
  const StepKernels<Real>& kernels;
  NodalSolver<Real>& factor;
  const Couplings<Real>& couplings;
  Vector& solution;
  std::vector<double> partials;
  bool is_first = true, solved = true;

  const Queue& queue() const { return of.device_->queue(); }
  void combine(const Vector& start, Real weight, Vector& direction) const {
    kernels.turn_direction(queue(), {.weight = weight, .start = start.view(), .direction = direction.view()});
  }
  double dot(const Vector& a, const Vector& b) {
    kernels.partial_dots(queue(), {.a = a.view(), .b = b.view(), .partials = of.partials_.view()});
    double sum = 0;
    const double* const all = std::as_const(of.partials_).read(partials);
    for (std::size_t i = 0; i < of.partials_.size(); ++i) sum += all[i];
    return sum;
  }

  void precondition() {
    if (!std::exchange(is_first, false))  // else the factorisation has solved
      solved = factor.solve_more(of.residual_, of.preconditioned_, of.residual_.size(), 1) && solved;
  }
  double energy() { return dot(of.residual_, of.preconditioned_); }
  void begin() const {
    for (Vector* v : {&of.direction_, &of.factor_product_, &solution}) {
      Vector& from = v == &of.factor_product_ ? of.residual_ : of.preconditioned_;
      kernels.scale_values(queue(), {.from = numbers(from), .factor = Real(1), .to = numbers(*v)});
    }
    combine(of.preconditioned_, -1, solution);
  }
  double curvature() {
    kernels.multiply_couplings(queue(), {.couplings = couplings,
                                         .direction = std::as_const(of.direction_).view(),
                                         .factor_product = std::as_const(of.factor_product_).view(),
                                         .product = of.product_.view()});
    return dot(of.direction_, of.product_);
  }
  void descend(double alpha) const {
    kernels.descend_along(queue(), {.length = static_cast<Real>(alpha),
                                    .direction = std::as_const(of.direction_).view(),
                                    .product = std::as_const(of.product_).view(),
                                    .solution = solution.view(),
                                    .residual = of.residual_.view()});
  }
  void turn(double beta) const {
    combine(of.preconditioned_, static_cast<Real>(beta), of.direction_);
    combine(of.residual_, static_cast<Real>(beta), of.factor_product_);
  }

  static ArrayView<Real> numbers(Vector& v) { return {&v.view().data()->x, 3 * v.size()}; }
};

template <class Real>
Factorization CoupledSystem<Real>::solve(NodalSolver<Real>& factor, const Buffer<Real>& blocks,
                                         const Couplings<Real>& couplings,
                                         const Buffer<Vec3<Real>>& right_side, double rtol,
                                         Buffer<Vec3<Real>>& solution) {
  const Factorization outcome = factor.solve(blocks, right_side, preconditioned_);
  if (!outcome.ok) return outcome;
  const StepKernels<Real>& kernels = step_kernels<Real>(device_->backend());
  kernels.scale_values(device_->queue(), {.from = {&right_side.view().data()->x, 3 * right_side.size()},
                                          .factor = Real(1),
                                          .to = Iteration::numbers(residual_)});
  Iteration iteration{*this, kernels, factor, couplings, solution, {}};
  cpu::conjugate_gradients<double>(iteration, rtol);
  return {.ok = iteration.solved};
}

template <class Real>
std::size_t CoupledSystem<Real>::memory_bytes() const {
  std::size_t bytes = partials_.bytes();
  for (const auto* vector : {&residual_, &preconditioned_, &direction_, &factor_product_, &product_})
    bytes += vector->bytes();
  return bytes;
}

template class CoupledSystem<float>;
template class CoupledSystem<double>;

}  // namespace isocloth
