#include "host/solver/nodal_solver.hpp"

#include "engine/core/errors.hpp"
#include "host/linear/mixed_solver.hpp"
#include "host/linear/pcg_solver.hpp"

namespace isocloth {
namespace {

/// The outer iterations judge the rows themselves: an inner residual far below what they still change is
/// waste (bench/iterative_solver.md).
constexpr PcgOptions inexact{.rtol = 1e-3, .max_iterations = 1000, .preconditioner = {}};

}  // namespace

template <class Real>
std::unique_ptr<LinearSolver<Real>> make_nodal_solver(const Device& device, const BlockPattern& pattern,
                                                      StepSolver choice) {
  if (choice == StepSolver::iterative) {
    Queue queue;
    queue.pool = device.queue().pool;
    return std::make_unique<PcgSolver<Real>>(pattern, inexact, queue);
  }
  if (choice == StepSolver::mixed) {
    if constexpr (sizeof(Real) == sizeof(double))
      return std::make_unique<MixedSolver>(pattern, device.queue().pool);
    else
      throw DeviceError(
          "solver: found \"mixed\" with precision float32, expected float64; or use \"direct\"");
  }
  return make_direct_solver<Real>(pattern, device.queue().pool);
}

template std::unique_ptr<LinearSolver<float>> make_nodal_solver(const Device&, const BlockPattern&,
                                                                StepSolver);
template std::unique_ptr<LinearSolver<double>> make_nodal_solver(const Device&, const BlockPattern&,
                                                                 StepSolver);

}  // namespace isocloth
