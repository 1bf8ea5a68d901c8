#include "host/solver/nodal_solver.hpp"

#include <vector>

#include "engine/core/errors.hpp"
#include "host/linear/mixed_solver.hpp"
#include "host/linear/pcg_solver.hpp"
#include "host/solver/device_cholesky.hpp"

namespace isocloth {
namespace {

/// The outer iterations judge the rows themselves: an inner residual far below what they still change is
/// waste (bench/iterative_solver.md).
constexpr PcgOptions inexact{.rtol = 1e-3, .max_iterations = 1000, .preconditioner = {}};

InstructionSet instruction_set(Simd simd) {
  return simd == Simd::avx512 ? InstructionSet::avx512
         : simd == Simd::avx2 ? InstructionSet::avx2
                              : InstructionSet::sse2;
}

/// A solver of the host's; on other backends the system travels there and back.
template <class Real>
class HostNodalSolver final : public NodalSolver<Real> {
 public:
  explicit HostNodalSolver(std::unique_ptr<LinearSolver<Real>> solver) : solver_(std::move(solver)) {}

  Factorization solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                      Buffer<Vec3<Real>>& solution) override {
    Factorization result = solver_->factorize(blocks.read(blocks_));
    if (!result) return result;
    const Real* b = &right_side.read(right_side_)->x;
    try {
      solution.write(solution_, [&](Vec3<Real>* d) { solver_->solve(b, &d->x, 1); });
    } catch (const NumericalError&) {  // the right side is not finite, or a fallback's factor does not exist
      result.ok = false;
    }
    return result;
  }
  std::size_t memory_bytes() const override { return solver_->memory_bytes(); }
  std::string_view name() const override { return solver_->name(); }

 private:
  std::unique_ptr<LinearSolver<Real>> solver_;
  std::vector<Real> blocks_;
  std::vector<Vec3<Real>> right_side_, solution_;
};

template <class Real>
std::unique_ptr<LinearSolver<Real>> make_host_solver(const Device& device, const BlockPattern& pattern,
                                                     StepSolver choice) {
  if (choice == StepSolver::iterative) {
    Queue queue;
    queue.pool = device.queue().pool;
    return std::make_unique<PcgSolver<Real>>(pattern, inexact, queue);
  }
  const InstructionSet set = instruction_set(device.simd());
  if (choice == StepSolver::mixed) {
    if constexpr (sizeof(Real) == sizeof(double))
      return std::make_unique<MixedSolver>(pattern, device.queue().pool, *find_dense_kernels<float>(set),
                                           *find_dense_kernels<double>(set));
    else
      throw DeviceError(
          "solver: found \"mixed\" with precision float32, expected float64; or use \"direct\"");
  }
  return std::make_unique<MultifrontalSolver<Real>>(pattern, device.queue().pool,
                                                    *find_dense_kernels<Real>(set));
}

}  // namespace

template <class Real>
std::unique_ptr<NodalSolver<Real>> make_nodal_solver(const Device& device, const BlockPattern& pattern,
                                                     StepSolver choice) {
  const bool direct = choice != StepSolver::iterative && choice != StepSolver::mixed;
  if (direct && !device.backend().memory.host_accessible)
    return std::make_unique<DeviceCholesky<Real>>(device, pattern);
  return std::make_unique<HostNodalSolver<Real>>(make_host_solver<Real>(device, pattern, choice));
}

template std::unique_ptr<NodalSolver<float>> make_nodal_solver(const Device&, const BlockPattern&,
                                                               StepSolver);
template std::unique_ptr<NodalSolver<double>> make_nodal_solver(const Device&, const BlockPattern&,
                                                                StepSolver);

}  // namespace isocloth
