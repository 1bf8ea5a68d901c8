// Conjugate gradients on nodal systems beside the direct solver, both in the instructions of any machine and
// the direct one in the widest, too.
#include "bench/commands.hpp"
#include "bench/nodal_system.hpp"
#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/text.hpp"
#include "host/linear/multifrontal_solver.hpp"
#include "host/linear/pcg_solver.hpp"

namespace isocloth::bench {
namespace {

/// Rows of one system.
struct Case {
  const NodalSystem& system;
  std::string mesh;
  double eps;
  Table& table;

  void add(LinearSolver<double>& solver, double setup, double solve, const Json& rtol = {},
           const Json& iterations = {}, const Json& residual = {}) const {
    table.rows.push_back({mesh, eps > 0 ? Json(eps) : Json("default"), std::string(solver.name()), rtol,
                          iterations, residual, 1000 * setup, 1000 * solve,
                          static_cast<double>(solver.memory_bytes()) / 1e6});
  }
};

void measure_direct(const Case& c, const DenseKernels<double>& kernels) {
  MultifrontalSolver<double> solver(c.system.pattern, nullptr, kernels);
  std::vector<double> solution(c.system.unknowns());
  double setup = 1e9, solve = 1e9;
  for (int i = 0; i < 3; ++i) {
    setup = std::min(setup, thread_cpu_seconds([&] { solver.factorize(c.system.values.data()); }));
    solve = std::min(
        solve, thread_cpu_seconds([&] { solver.solve(c.system.right_side.data(), solution.data(), 1); }));
  }
  c.add(solver, setup, solve);
}

void measure_gradients(const Case& c, const IterativeRequest& request, const MultilevelOptions& options) {
  PcgSolver<double> solver(c.system.pattern, {.preconditioner = options});
  std::vector<double> solution(c.system.unknowns());
  const double setup = thread_cpu_seconds([&] { solver.factorize(c.system.values.data()); });
  for (const double rtol : request.rtols) {
    solver.set_limits(rtol, request.max_iterations);
    const double solve =
        thread_cpu_seconds([&] { solver.solve(c.system.right_side.data(), solution.data(), 1); });
    const PcgReport& report = solver.last_report();
    const bool converged = report.status == PcgStatus::converged;
    c.add(solver, setup, solve, rtol,
          converged ? Json(report.iterations)
                    : Json(text(to_string(report.status), " after ", report.iterations)),
          report.residual);
    say(text(c.mesh, ", eps ", c.eps, ", ", solver.name(), ", rtol ", rtol, ": ", report.iterations, ", ",
             solve, " s"));
  }
}

}  // namespace

std::vector<Table> measure_iterative(const IterativeRequest& request) {
  Table table{
      .title = "Conjugate gradients beside factors, one thread, double precision",
      .columns = {"mesh", "eps", "solver", "rtol", "iterations", "residual", "setup, CPU [ms]",
                  "solve, CPU [ms]", "memory [MB]"},
      .rows = {},
      .notes = {"The systems of factor. rtol: of ||b - H x|| / ||b||, x from zero. Setup: what each new "
                "matrix costs; the analysis of the pattern is left out. Conjugate gradients are "
                "compiled for the instructions of any machine, factors for each set. Direct: the best "
                "of three; conjugate gradients: one run."}};
  for (const int side : request.sides) {
    const MovingSheet sheet = moving_sheet(side);
    for (const double eps : request.eps) {
      const NodalSystem system = next_system(sheet, eps, false);
      const Case c{system, grid_name(side), eps, table};
      for (const InstructionSet set : {InstructionSet::sse2, InstructionSet::avx512})
        if (const DenseKernels<double>* kernels = find_dense_kernels<double>(set))
          measure_direct(c, *kernels);
      for (const MultilevelOptions& options : {MultilevelOptions{}, block_jacobi})
        measure_gradients(c, request, options);
    }
  }
  return {table};
}

}  // namespace isocloth::bench
