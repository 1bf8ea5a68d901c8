// Systems in a device's memory that are solved on the host.
#pragma once

#include <memory>

#include "engine/core/errors.hpp"
#include "host/linear/multifrontal_solver.hpp"
#include "host/memory/buffer.hpp"

namespace isocloth {

/// The dense kernels' instruction set that goes with a device's.
inline InstructionSet instruction_set(Simd simd) {
  return simd == Simd::avx512 ? InstructionSet::avx512
         : simd == Simd::avx2 ? InstructionSet::avx2
                              : InstructionSet::sse2;
}

/// The direct solver with the instruction set of the device, on the threads of `pool` (null: the calling
/// thread).
template <class Real>
std::unique_ptr<LinearSolver<Real>> make_multifrontal(const Device& device, const BlockPattern& pattern,
                                                      ThreadPool* pool) {
  return std::make_unique<MultifrontalSolver<Real>>(
      pattern, pool, *find_dense_kernels<Real>(instruction_set(device.simd())), device.monitor());
}

/// A solver of the host's for matrices and vectors in a device's memory: where the host cannot read them in
/// place, they travel there and back. Value: what a block row of a vector holds, Real or Vec3<Real>.
template <class Real, class Value>
class HostSystem {
 public:
  explicit HostSystem(std::unique_ptr<LinearSolver<Real>> solver) : solver_(std::move(solver)) {}

  const LinearSolver<Real>& solver() const { return *solver_; }
  /// values: as LinearSolver::factorize takes them.
  Factorization factorize(const Buffer<Real>& values) { return solver_->factorize(values.read(values_)); }
  /// Right sides of shape [size], each solved as it is alone; begins: where each begins among the right
  /// sides, and its solution among the solutions. False: there is no factor, or an iterated solve met
  /// something that is not finite; the solutions are worth nothing then.
  bool solve(const Buffer<Value>& right_sides, Buffer<Value>& solutions, std::size_t size,
             const std::vector<std::size_t>& begins) {
    const std::size_t count = begins.size(), numbers = size * sizeof(Value) / sizeof(Real);
    const auto right_side = [&](std::size_t k) {
      return reinterpret_cast<const Real*>(right_sides.read(begins[k], size, right_side_));
    };
    const auto write = [&](std::size_t k, const auto& fill) {
      solutions.write(begins[k], size, solution_, [&](Value* x) { fill(reinterpret_cast<Real*>(x)); });
    };
    try {
      if (count == 1) {
        const Real* const b = right_side(0);
        write(0, [&](Real* x) { solver_->solve(b, x, 1); });
        return true;
      }
      interleaved_.resize(count * numbers);
      for (std::size_t k = 0; k < count; ++k) {
        const Real* const b = right_side(k);
        for (std::size_t i = 0; i < numbers; ++i) interleaved_[i * count + k] = b[i];
      }
      solver_->solve(interleaved_.data(), interleaved_.data(), static_cast<int>(count));
    } catch (const NumericalError&) {
      return false;
    }
    for (std::size_t k = 0; k < count; ++k)
      write(k, [&](Real* x) {
        for (std::size_t i = 0; i < numbers; ++i) x[i] = interleaved_[i * count + k];
      });
    return true;
  }

 private:
  static_assert(sizeof(Value) % sizeof(Real) == 0);
  std::unique_ptr<LinearSolver<Real>> solver_;
  std::vector<Real> values_, interleaved_;
  std::vector<Value> right_side_, solution_;
};

}  // namespace isocloth
