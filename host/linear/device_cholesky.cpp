#include "host/linear/device_cholesky.hpp"

#include <utility>

#include "host/linear/ordering.hpp"

namespace isocloth {

template <class Real>
typename DeviceCholesky<Real>::Launches DeviceCholesky<Real>::upload(const Device& device,
                                                                     TileLaunches launches) {
  return {.tiles = {device, launches.tiles}, .begin = std::move(launches.begin)};
}

template <class Real>
DeviceCholesky<Real>::DeviceCholesky(const Device& device, const BlockPattern& pattern)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      block_(pattern.block),
      recording_(device) {
  const OrderedElimination ordered = analyze_best_order(pattern);
  constexpr Index strip = strip_height<Real>;
  FrontArrays arrays = build_front_arrays(pattern, build_front_tree(ordered.elimination, strip), strip);
  FrontSchedule schedule = schedule_fronts(arrays, strip);
  name_ = "multifrontal Cholesky, " + std::string(isocloth::name(ordered.ordering)) + ", " +
          std::string(device.backend().name);
  fronts_ = {device, arrays.fronts};
  children_ = {device, arrays.children};
  relative_ = {device, arrays.relative};
  block_rows_ = {device, arrays.block_rows};
  entries_ = {device, arrays.entries};
  factor_launches_ = upload(device, std::move(schedule.factor));
  forward_ = upload(device, std::move(schedule.forward));
  backward_ = upload(device, std::move(schedule.backward));
  factor_ = {device, arrays.factor_size};
  updates_ = {device, schedule.update_size};
  vector_size_ = arrays.vector_size;
  work_ = {device, vector_size_};
  failed_ = {device, arrays.fronts.size()};
  first_failed_ = {device, 1};
  host_block_rows_ = std::move(arrays.block_rows);
}

template <class Real>
MultifrontalPlan DeviceCholesky<Real>::view() const {
  return {block_, fronts_.view(), children_.view(), entries_.view(), relative_.view(), block_rows_.view()};
}

template <class Real>
Factorization DeviceCholesky<Real>::solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                                          Buffer<Vec3<Real>>& solution) {
  Downloads downloads(device_);
  begin_solve(blocks, right_side, solution, downloads);
  downloads.run();
  return end_solve(blocks, right_side, solution);
}

template <class Real>
void DeviceCholesky<Real>::begin_solve(const Buffer<Real>& blocks, const Buffer<Vec3<Real>>& right_side,
                                       Buffer<Vec3<Real>>& solution, Downloads& downloads) {
  const std::array<const void*, 3> arrays{blocks.view().data(), right_side.view().data(),
                                          solution.view().data()};
  if (arrays != recorded_) recording_.forget();
  recorded_ = arrays;
  recording_.run([&](const Queue& queue) { launch(queue, blocks, right_side, solution); });
  downloads.add(std::as_const(first_failed_).view(), failure_staging_, failure_);
}

template <class Real>
Factorization DeviceCholesky<Real>::end_solve(const Buffer<Real>&, const Buffer<Vec3<Real>>&,
                                              Buffer<Vec3<Real>>&) {
  const Index place = *failure_;
  return {.ok = place < 0, .block_row = place < 0 ? -1 : host_block_rows_[place]};
}

template <class Real>
void DeviceCholesky<Real>::launch(const Queue& queue, const Buffer<Real>& blocks,
                                  const Buffer<Vec3<Real>>& right_side, Buffer<Vec3<Real>>& solution) {
  for (std::size_t i = 0; i < factor_launches_.count(); ++i)
    kernels_.factor_fronts(queue, {.plan = view(),
                                   .tiles = factor_launches_[i],
                                   .values = blocks.view(),
                                   .factor = factor_.view(),
                                   .updates = updates_.view(),
                                   .failed = failed_.view()});
  kernels_.find_failure(queue, {.failed = std::as_const(failed_).view(), .first = first_failed_.view()});
  launch_solves(queue, right_side.view(), solution.view(), {});
}

template <class Real>
bool DeviceCholesky<Real>::solve_block(const Buffer<Vec3<Real>>& right_sides, Buffer<Vec3<Real>>& solutions,
                                       std::size_t, const std::vector<std::size_t>& begins) {
  for (auto begin = begins.begin(); begin != begins.end();) {
    Columns columns{.count = 0};
    for (; begin != begins.end() && columns.count < most_columns; ++begin)
      columns.begin[columns.count++] = static_cast<Index>(*begin);
    if (const std::size_t room = static_cast<std::size_t>(columns.count) * vector_size_;
        work_.size() < room) {
      recording_.forget();  // it works in the room that was
      work_ = {device_, room};
    }
    launch_solves(device_.queue(), right_sides.view(), solutions.view(), columns);
  }
  return true;
}

template <class Real>
void DeviceCholesky<Real>::launch_solves(const Queue& queue, ArrayView<const Vec3<Real>> right_sides,
                                         ArrayView<Vec3<Real>> solutions, const Columns& columns) {
  SolveFronts<Real> args{.plan = view(),
                         .tiles = {},
                         .factor = std::as_const(factor_).view(),
                         .right_side = {&right_sides.data()->x, right_sides.size() * 3},
                         .solution = {&solutions.data()->x, solutions.size() * 3},
                         .work = work_.view(),
                         .work_size = vector_size_,
                         .columns = columns};
  for (std::size_t i = 0; i < forward_.count(); ++i) {
    args.tiles = forward_[i];
    kernels_.forward_fronts(queue, args);
  }
  for (std::size_t i = 0; i < backward_.count(); ++i) {
    args.tiles = backward_[i];
    kernels_.backward_fronts(queue, args);
  }
}

template <class Real>
std::size_t DeviceCholesky<Real>::memory_bytes() const {
  return fronts_.bytes() + children_.bytes() + relative_.bytes() + block_rows_.bytes() + entries_.bytes() +
         factor_launches_.tiles.bytes() + forward_.tiles.bytes() + backward_.tiles.bytes() + factor_.bytes() +
         updates_.bytes() + work_.bytes() + failed_.bytes() + first_failed_.bytes();
}

template class DeviceCholesky<float>;
template class DeviceCholesky<double>;

}  // namespace isocloth
