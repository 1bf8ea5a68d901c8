#include "bench/lane_solver.hpp"

#include <numeric>
#include <utility>

#include "bench/runner.hpp"
#include "host/linear/cholesky_plan.hpp"
#include "host/linear/elimination.hpp"
#include "host/memory/buffer.hpp"

namespace isocloth::bench {
namespace {

constexpr int tile_count = 4;

template <class Real>
LaneFigures measure(const NodalSystem& system, double analysis, Simd simd, double budget) {
  ExecutionOptions options = one_thread();
  options.simd = to_string(simd);
  const Device device(options);
  const StepKernels<Real>& kernels = step_kernels<Real>(device.backend());
  LaneFigures figures{.width = kernels.lane_width(), .systems = tile_count * kernels.lane_width()};
  const int width = figures.width;
  CholeskyPlan plan;
  figures.analysis = analysis + time_of([&] { plan = plan_cholesky(system.pattern); }).wall;
  std::vector<Index> order(system.pattern.size);
  std::iota(order.begin(), order.end(), 0);
  const Elimination elimination = analyze_elimination(system.pattern, order);
  figures.nonzeros = elimination.nonzeros;
  figures.flops = elimination.flops;

  const auto scale = [](int c) { return 1 + 0.01 * c; };  // exact backward errors need no second matrix
  const auto tiled = [&](const std::vector<double>& values, bool scaled) {
    std::vector<Real> result(values.size() * figures.systems);
    for (int c = 0; c < figures.systems; ++c)
      for (std::size_t i = 0; i < values.size(); ++i)
        result[(c / width * values.size() + i) * width + c % width] =
            static_cast<Real>(scaled ? values[i] * scale(c) : values[i]);
    return Buffer<Real>(device, result);
  };
  const auto put = [&](const std::vector<Index>& values) { return Buffer<Index>(device, values); };
  const Buffer<Index> column_begin = put(plan.column_begin), block_rows = put(plan.block_rows),
                      block_columns = put(plan.block_columns), pair_begin = put(plan.pair_begin),
                      pairs = put(plan.pairs), is_twin = put(plan.is_twin),
                      twin_updates = put(plan.twin_updates), row_begin = put(plan.row_begin),
                      row_blocks = put(plan.row_blocks), level_begin = put(plan.level_begin),
                      level_columns = put(plan.level_columns),
                      level_block_begin = put(plan.level_block_begin), level_blocks = put(plan.level_blocks),
                      system_blocks = put(plan.system_blocks);
  const Buffer<Real> blocks = tiled(system.values, true), right_sides = tiled(system.right_side, false);
  Buffer<Real> solutions(device, right_sides.size()), bad_pivots(device, figures.systems);
  SolveBlocks<Real> args{.plan = {.column_begin = column_begin.view(),
                                  .block_rows = block_rows.view(),
                                  .block_columns = block_columns.view(),
                                  .pair_begin = pair_begin.view(),
                                  .pairs = pairs.view(),
                                  .is_twin = is_twin.view(),
                                  .twin_updates = twin_updates.view(),
                                  .row_begin = row_begin.view(),
                                  .row_blocks = row_blocks.view(),
                                  .level_begin = level_begin.view(),
                                  .level_columns = level_columns.view(),
                                  .level_block_begin = level_block_begin.view(),
                                  .level_blocks = level_blocks.view()},
                         .system_blocks = system_blocks.view(),
                         .system_block_count = static_cast<Index>(system.pattern.rows.size()),
                         .width = width,
                         .tile_count = tile_count,
                         .blocks = blocks.view(),
                         .right_sides = right_sides.view(),
                         .solutions = solutions.view(),
                         .bad_pivots = bad_pivots.view()};
  SolveBlocks<Real> factor_only = args;
  factor_only.right_sides = {};
  figures.memory_bytes = static_cast<double>(SolveScratch(args.plan).size * sizeof(Real));
  figures.factor = figures.both = {1e9, 1e9};
  const double begin = now().wall;
  for (int i = 0; i < 3 || now().wall - begin < budget; ++i) {
    figures.both = least(figures.both, time_of([&] { kernels.solve_blocks(device.queue(), args); }));
    figures.factor =
        least(figures.factor, time_of([&] { kernels.solve_blocks(device.queue(), factor_only); }));
  }
  for (Seconds* seconds : {&figures.both, &figures.factor})
    *seconds = {seconds->wall / figures.systems, seconds->cpu / figures.systems};
  for (const Real bad : bad_pivots.download()) figures.ok = figures.ok && bad == 0;
  const std::vector<Real> x = solutions.download();
  std::vector<double> own(system.unknowns());
  for (int c = 0; c < figures.systems; ++c) {
    for (std::size_t i = 0; i < own.size(); ++i)
      own[i] = scale(c) * static_cast<double>(x[(c / width * own.size() + i) * width + c % width]);
    figures.backward_error = std::max(figures.backward_error, backward_error(system, own.data()));
  }
  return figures;
}

}  // namespace

LaneFigures solve_in_lanes(const NodalSystem& system, double analysis, Simd simd, Precision precision,
                           double budget) {
  return precision == Precision::float32 ? measure<float>(system, analysis, simd, budget)
                                         : measure<double>(system, analysis, simd, budget);
}

}  // namespace isocloth::bench
