// Which linear solver serves a large mesh, and where it runs.
#pragma once

#include <memory>
#include <vector>

#include "host/linear/linear_solver.hpp"
#include "host/memory/transfers.hpp"
#include "host/state/execution_options.hpp"

namespace isocloth {

/// H d = b of one garment, all three in the device's memory.
template <class Real>
class NodalSolver {
 public:
  virtual ~NodalSolver() = default;
  /// blocks: as LinearSolver::factorize takes them; right_side, solution: shape [size]. Where the matrix is
  /// not positive definite, or an iterated solve finds that something is not finite, the outcome says so and
  /// the solution is worth nothing. Else a right side that is not finite gives a solution that is not.
  virtual Factorization solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                              Buffer<Vec3<Real>>& solution) = 0;
  /// solve() in two steps, so that one wait serves several solvers: what can be launched is, and `downloads`
  /// asked for what end_solve() must know, which has the same arguments.
  virtual void begin_solve(const Buffer<Real>& /*blocks*/, const Buffer<Vec3<Real>>& /*right_side*/,
                           Buffer<Vec3<Real>>& /*solution*/, Downloads& /*downloads*/) {}
  virtual Factorization end_solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                                  Buffer<Vec3<Real>>& solution) {
    return solve(blocks, right_side, solution);
  }
  /// Further right sides with the matrix of the last solve(), which was ok, each solved as it is alone.
  /// begins: where each of them, shape [size], begins among the right sides, and its solution among the
  /// solutions. False: the solutions are worth nothing.
  virtual bool solve_block(const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions,
                           std::size_t size, const std::vector<std::size_t>& begins) = 0;
  /// Whether solve_block() does nothing but launch kernels, always the same with the same arrays: it may be
  /// recorded, if there was a solve_block() of as many right sides before.
  virtual bool is_recordable() const { return false; }
  /// Work memory that recorded launches are bound to.
  virtual const void* recorded_work() const { return nullptr; }
  /// Whether the solutions are exact; false: conjugate gradients are to correct them.
  virtual bool is_exact() const { return true; }
  virtual std::size_t memory_bytes() const = 0;
  virtual std::string_view name() const = 0;
};

/// Where `count` vectors of a size begin that lie one after another.
inline std::vector<std::size_t> column_begins(std::size_t count, std::size_t size) {
  std::vector<std::size_t> begins(count);
  for (std::size_t k = 0; k < count; ++k) begins[k] = k * size;
  return begins;
}

/// Solver for every choice but `batched`. `automatic` is direct, where is_soft with a SingleFactor on the
/// host in double precision: see NodalSolver::is_exact(). The direct solver runs on the device where it has
/// memory of its own, all others on the host. Throws DeviceError for mixed in single precision: there is
/// nothing to refine to.
template <class Real>
std::unique_ptr<NodalSolver<Real>> make_nodal_solver(const Device& device, const BlockPattern& pattern,
                                                     StepSolver choice, bool is_soft = false);

}  // namespace isocloth
