#include "bench/batched_systems.hpp"

#include <utility>

namespace isocloth::bench {

template <class Real>
BatchedSystems<Real>::BatchedSystems(const Device& device, const NodalSystem& system,
                                     const CholeskyPlan& plan, int count)
    : kernels_(step_kernels<Real>(device.backend())), system_(system), plan_(device, plan) {
  const int width = kernels_.lane_width(), tiles = (count + width - 1) / width, systems = tiles * width;
  const auto tiled = [&](const std::vector<double>& values, bool scaled) {
    std::vector<Real> result(values.size() * static_cast<std::size_t>(systems));
    for (int c = 0; c < systems; ++c)
      for (std::size_t i = 0; i < values.size(); ++i)
        result[(static_cast<std::size_t>(c / width) * values.size() + i) * width + c % width] =
            static_cast<Real>(scaled ? values[i] * batch_scale(c) : values[i]);
    return Buffer<Real>(device, result);
  };
  blocks_ = tiled(system.values, true);
  right_sides_ = tiled(system.right_side, false);
  solutions_ = {device, right_sides_.size()};
  bad_pivots_ = {device, static_cast<std::size_t>(systems)};
  args_ = {.plan = plan_.view(),
           .system_blocks = plan_.system_blocks(),
           .system_block_count = static_cast<Index>(system.pattern.rows.size()),
           .width = width,
           .tile_count = tiles,
           .blocks = std::as_const(blocks_).view(),
           .right_sides = std::as_const(right_sides_).view(),
           .solutions = solutions_.view(),
           .bad_pivots = bad_pivots_.view()};
}

template <class Real>
void BatchedSystems<Real>::factorize(const Queue& queue) const {
  SolveBlocks<Real> args = args_;
  args.right_sides = {};
  kernels_.solve_blocks(queue, args);
}

template <class Real>
std::size_t BatchedSystems<Real>::scratch_bytes() const {
  return SolveScratch(args_.plan).size * sizeof(Real) * static_cast<std::size_t>(args_.width);
}

template <class Real>
bool BatchedSystems<Real>::succeeded() const {
  for (const Real bad : bad_pivots_.download())
    if (bad != 0) return false;
  return true;
}

template <class Real>
std::vector<double> BatchedSystems<Real>::all_solutions() const {
  const std::vector<Real> tiled = solutions_.download();
  const std::size_t size = system_.unknowns(), width = static_cast<std::size_t>(args_.width);
  std::vector<double> all(tiled.size());
  for (std::size_t c = 0; c < tiled.size() / size; ++c)
    for (std::size_t i = 0; i < size; ++i)
      all[c * size + i] = static_cast<double>(tiled[(c / width * size + i) * width + c % width]);
  return all;
}

double worst_backward_error(const NodalSystem& system, const std::vector<double>& solutions) {
  const std::size_t size = system.unknowns();
  double worst = 0;
  std::vector<double> x(size);
  for (std::size_t c = 0; c < solutions.size() / size; ++c) {
    for (std::size_t i = 0; i < size; ++i) x[i] = batch_scale(static_cast<int>(c)) * solutions[c * size + i];
    worst = larger_or_nan(worst, backward_error(system, x.data()));
  }
  return worst;
}

template class BatchedSystems<float>;
template class BatchedSystems<double>;

}  // namespace isocloth::bench
