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
  /// False: there is no factor, or an iterated solve met something that is not finite; the solution is worth
  /// nothing then.
  bool solve(const Buffer<Value>& right_side, Buffer<Value>& solution) {
    const Real* const b = reinterpret_cast<const Real*>(right_side.read(right_side_));
    bool solved = true;
    solution.write(solution_, [&](Value* x) {
      try {
        solver_->solve(b, reinterpret_cast<Real*>(x), 1);
      } catch (const NumericalError&) {
        solved = false;
      }
    });
    return solved;
  }

  /// The same for several at once, see NodalSolver::solve_more().
  bool solve(const Buffer<Value>& right_sides, Buffer<Value>& solutions, std::size_t size,
             const std::vector<std::size_t>& begins) {
    const std::size_t count = begins.size(), numbers = size * sizeof(Value) / sizeof(Real);
    interleaved_.resize(count * numbers);
    for (std::size_t k = 0; k < count; ++k) {
      const Real* const b = reinterpret_cast<const Real*>(right_sides.read(begins[k], size, right_side_));
      for (std::size_t i = 0; i < numbers; ++i) interleaved_[i * count + k] = b[i];
    }
    try {
      solver_->solve(interleaved_.data(), interleaved_.data(), static_cast<int>(count));
    } catch (const NumericalError&) {
      return false;
    }
    for (std::size_t k = 0; k < count; ++k)
      solutions.write(begins[k], size, solution_, [&](Value* x) {
        for (std::size_t i = 0; i < numbers; ++i) reinterpret_cast<Real*>(x)[i] = interleaved_[i * count + k];
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
