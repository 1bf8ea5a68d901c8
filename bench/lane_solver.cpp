#include "bench/lane_solver.hpp"

#include <numeric>

#include "bench/batched_systems.hpp"
#include "bench/runner.hpp"
#include "host/linear/elimination.hpp"

namespace isocloth::bench {
namespace {

constexpr int tile_count = 4;

template <class Real>
LaneFigures measure(const NodalSystem& system, double analysis, Simd simd, double budget) {
  ExecutionOptions options = one_thread();
  options.simd = to_string(simd);
  const Device device(options);
  CholeskyPlan plan;
  LaneFigures figures{.analysis = analysis + time_of([&] { plan = plan_cholesky(system.pattern); }).wall};
  std::vector<Index> order(system.pattern.size);
  std::iota(order.begin(), order.end(), 0);
  const Elimination elimination = analyze_elimination(system.pattern, order);
  figures.nonzeros = elimination.nonzeros;
  figures.flops = elimination.flops;

  const BatchedSystems<Real> systems(device, system, plan,
                                     tile_count * step_kernels<Real>(device.backend()).lane_width());
  figures.width = systems.width();
  figures.systems = systems.count();
  figures.memory_bytes = static_cast<double>(systems.scratch_bytes()) / figures.width;
  figures.factor = figures.both = {1e9, 1e9};
  const double begin = now().wall;
  for (int i = 0; i < 3 || now().wall - begin < budget; ++i) {
    figures.both = least(figures.both, time_of([&] { systems.factorize_and_solve(device.queue()); }));
    figures.factor = least(figures.factor, time_of([&] { systems.factorize(device.queue()); }));
  }
  for (Seconds* seconds : {&figures.both, &figures.factor})
    *seconds = {seconds->wall / figures.systems, seconds->cpu / figures.systems};
  figures.ok = systems.succeeded();
  figures.backward_error = worst_backward_error(system, systems.all_solutions());
  return figures;
}

}  // namespace

LaneFigures solve_in_lanes(const NodalSystem& system, double analysis, Simd simd, Precision precision,
                           double budget) {
  return precision == Precision::float32 ? measure<float>(system, analysis, simd, budget)
                                         : measure<double>(system, analysis, simd, budget);
}

}  // namespace isocloth::bench
