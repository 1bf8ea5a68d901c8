#include "host/linear/nodal_solver.hpp"

#include <type_traits>

#include "engine/core/errors.hpp"
#include "host/linear/device_cholesky.hpp"
#include "host/linear/host_system.hpp"
#include "host/linear/mixed_solver.hpp"
#include "host/linear/pcg_solver.hpp"
#include "host/linear/single_factor.hpp"

namespace isocloth {
namespace {

/// The outer iterations judge the rows themselves: an inner residual far below what they still change is
/// waste (bench/iterative_solver.md).
constexpr PcgOptions inexact{.rtol = 1e-3, .max_iterations = 1000, .preconditioner = {}};

template <class Real>
class HostNodalSolver final : public NodalSolver<Real> {
 public:
  explicit HostNodalSolver(std::unique_ptr<LinearSolver<Real>> solver) : system_(std::move(solver)) {}

  Factorization solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                      Buffer<Vec3<Real>>& solution) override {
    Factorization result = system_.factorize(blocks);
    if (result) result.ok = system_.solve(right_side, solution, right_side.size(), {0});
    return result;
  }
  bool solve_block(const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions, std::size_t size,
                   const std::vector<std::size_t>& begins) override {
    return system_.solve(right_sides, solutions, size, begins);
  }
  bool is_exact() const override { return system_.solver().is_exact(); }
  std::size_t memory_bytes() const override { return system_.solver().memory_bytes(); }
  std::string_view name() const override { return system_.solver().name(); }

 private:
  HostSystem<Real, Vec3<Real>> system_;
};

template <class Real>
std::unique_ptr<LinearSolver<Real>> make_host_solver(const Device& device, const BlockPattern& pattern,
                                                     StepSolver choice, bool is_soft) {
  if (choice == StepSolver::iterative) {
    Queue queue;
    queue.pool = device.queue().pool;
    queue.monitor = device.monitor();
    return std::make_unique<PcgSolver<Real>>(pattern, inexact, queue);
  }
  const InstructionSet set = instruction_set(device.simd());
  if constexpr (sizeof(Real) == sizeof(double)) {
    const auto make = [&]<class Solver>(std::type_identity<Solver>) {
      return std::make_unique<Solver>(pattern, device.queue().pool, *find_dense_kernels<float>(set),
                                      *find_dense_kernels<double>(set), device.monitor());
    };
    if (choice == StepSolver::mixed) return make(std::type_identity<MixedSolver>{});
    if (choice == StepSolver::automatic && is_soft) return make(std::type_identity<SingleFactor>{});
  } else if (choice == StepSolver::mixed) {
    throw DeviceError("solver: found \"mixed\" with precision float32, expected float64; or use \"direct\"");
  }
  return make_multifrontal<Real>(device, pattern, device.queue().pool);
}

}  // namespace

template <class Real>
std::unique_ptr<NodalSolver<Real>> make_nodal_solver(const Device& device, const BlockPattern& pattern,
                                                     StepSolver choice, bool is_soft) {
  const bool direct = choice != StepSolver::iterative && choice != StepSolver::mixed;
  if (direct && !device.backend().memory.host_accessible)
    return std::make_unique<DeviceCholesky<Real>>(device, pattern);
  return std::make_unique<HostNodalSolver<Real>>(make_host_solver<Real>(device, pattern, choice, is_soft));
}

template std::unique_ptr<NodalSolver<float>> make_nodal_solver(const Device&, const BlockPattern&, StepSolver,
                                                               bool);
template std::unique_ptr<NodalSolver<double>> make_nodal_solver(const Device&, const BlockPattern&,
                                                                StepSolver, bool);

}  // namespace isocloth
