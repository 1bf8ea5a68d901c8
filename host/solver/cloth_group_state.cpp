// What is read from the members of a group and written back.
#include <cmath>
#include <limits>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/solver/cloth_group.hpp"

namespace isocloth {
namespace {

/// Numbers of the nodes of an elimination order, ascending.
std::vector<Index> ascending_nodes(const NodalPattern& pattern) {
  std::vector<Index> nodes;
  for (std::size_t node = 0; node < pattern.free_number.size(); ++node)
    if (pattern.free_number[node] >= 0) nodes.push_back(static_cast<Index>(node));
  return nodes;
}

template <class Real>
std::vector<Vec3<Real>> as_vectors(const std::vector<double>& flat) {
  std::vector<Vec3<Real>> result(flat.size() / 3);
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = {static_cast<Real>(flat[3 * i]), static_cast<Real>(flat[3 * i + 1]),
                 static_cast<Real>(flat[3 * i + 2])};
  return result;
}

}  // namespace

template <class Real>
std::vector<double> ClothGroup<Real>::gather(const Buffer<Real>& tiled, std::size_t member,
                                             std::size_t count) const {
  std::vector<Real> staging;
  const Real* tile = tiled.read(member / width_ * count * width_, count * width_, staging);
  std::vector<double> result(count);
  for (std::size_t i = 0; i < count; ++i) result[i] = tile[i * width_ + member % width_];
  return result;
}

template <class Real>
GarmentState ClothGroup<Real>::state(std::size_t member) const {
  const std::size_t nodes = arrays_.node_count(), contacts = contact_count();
  const std::vector<double> kept = gather(contacts_, member, 4 * contacts);
  std::vector<double> own;
  for (std::size_t c = 0; c < contacts; ++c)
    own.insert(own.end(), {kept[3 * contacts + c], kept[3 * c], kept[3 * c + 1], kept[3 * c + 2]});
  return {.positions = gather(positions_, member, 3 * nodes),
          .velocities = gather(velocities_, member, 3 * nodes),
          .multipliers = gather(multipliers_, member, row_count_),
          .contacts = own,
          .step_index = 0,
          .frozen = frozen_[member] != 0};
}

template <class Real>
void ClothGroup<Real>::set_state(std::size_t member, const GarmentState& state) {
  check_state(state, garments_[member]->name, arrays_.node_count(), row_count_, contact_count(),
              static_cast<double>(std::numeric_limits<Real>::max()));
  auto scatter = [&](Buffer<Real>& tiled, const std::vector<double>& values) {
    const std::size_t count = values.size();
    tiled.edit(member / width_ * count * width_, count * width_, [&](Real* tile) {
      for (std::size_t i = 0; i < count; ++i)
        tile[i * width_ + member % width_] = static_cast<Real>(values[i]);
    });
  };
  scatter(positions_, state.positions);
  scatter(velocities_, state.velocities);
  scatter(multipliers_, state.multipliers);
  const std::size_t contacts = contact_count();
  std::vector<double> kept(4 * contacts);
  for (std::size_t c = 0; c < contacts; ++c) {
    kept[3 * contacts + c] = state.contacts[4 * c];
    for (std::size_t k = 0; k < 3; ++k) kept[3 * c + k] = state.contacts[4 * c + 1 + k];
  }
  scatter(contacts_, kept);
  scatter(alive_, {state.frozen ? 0.0 : 1.0});
  frozen_[member] = state.frozen;
}

template <class Real>
Measures ClothGroup<Real>::measure(std::size_t member) {
  if (!rows_) {
    rows_ = std::make_unique<RowEvaluator<Real>>(device_, arrays_);
    measures_ = std::make_unique<GarmentMeasures<Real>>(device_, arrays_);
  }
  shapes_.load(member, arrays_);
  const GarmentState own = state(member);
  const Buffer<Vec3<Real>> positions(device_, as_vectors<Real>(own.positions)),
      velocities(device_, as_vectors<Real>(own.velocities));
  return measures_->measure(*rows_, positions, velocities, garments_[member]->fabric,
                            garments_[member]->gravity.value_or(gravity_));
}

template <class Real>
GarmentInfo ClothGroup<Real>::info(std::size_t) const {
  return {
      .node_count = arrays_.node_count(),
      .face_count = arrays_.face_count(),
      .row_count = static_cast<Index>(row_count_),
      .free_node_count = arrays_.pattern.free_count(),
      .memory_bytes = memory_bytes() / size(),
      .solver =
          "batched Cholesky, " + (width_ > 1 ? std::to_string(width_) + " lanes, " : std::string()) +
          (device_.backend().memory.host_accessible ? to_string(device_.simd()) : device_.backend().name)};
}

template <class Real>
std::size_t ClothGroup<Real>::memory_bytes() const {
  std::size_t bytes = arrays_.memory_bytes() + samples_.memory_bytes() + obstacles_.memory_bytes();
  auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(plan_.column_begin, plan_.block_rows, plan_.block_columns, plan_.pair_begin, plan_.pairs,
      plan_.row_begin, plan_.row_blocks, plan_.level_begin, plan_.level_columns, plan_.level_block_begin,
      plan_.level_blocks, plan_.is_twin, plan_.twin_updates, plan_.system_blocks, plan_.pinned_nodes,
      plan_.driven_nodes);
  add(metric_tensors_, scalar_tensors_, rest_values_, masses_, inverse_masses_, bending_);
  add(positions_, velocities_, multipliers_, contacts_, alive_, parameters_, targets_, reports_);
  // Work arrays: one tile per thread of the host, or what lies in a device's memory.
  if (!device_.backend().memory.host_accessible) return bytes + queue_.get().workspace_bytes;
  return bytes + scratch_bytes() * std::min(tiles_, static_cast<std::size_t>(device_.threads()));
}

template <class Real>
Inspection ClothGroup<Real>::inspect(std::size_t member, double t, double h) {
  const StepScratch at = step_scratch(pattern());
  Buffer<Real> work(device_, tiles_ * at.size * width_);
  set_targets(std::vector<Clock>(size(), {.offset = t, .steps = 0}), h, 1);
  StepCloths<Real> args = arguments(h, 1);
  args.inspection = work.view();
  kernels_.step_cloths(queue_.get(), args);
  queue_.wait();
  const std::vector<double> all = gather(work, member, at.size);
  const double status = gather(reports_, member, sizeof(ClothReport<Real>) / sizeof(Real)).front();
  if (status > 1)
    throw NumericalError(
        "garment \"" + garments_[member]->name +
        "\": matrix of the first iteration at t = " + std::to_string(t) +
        " s: found a pivot that is not positive, expected a positive definite matrix; raise projection.eps");
  auto taken = [&all](std::size_t begin, std::size_t count) {
    return std::vector<double>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                               all.begin() + static_cast<std::ptrdiff_t>(begin + count));
  };
  auto widened = [](const std::vector<Real>& values) {
    return std::vector<double>(values.begin(), values.end());
  };
  const RestShape<Real>& shape = shapes_.shapes[shapes_.of[member]];
  const std::size_t nodes = 3 * static_cast<std::size_t>(arrays_.node_count());
  Inspection result{.masses = widened(shape.masses),
                    .bending_begin = arrays_.bending_begin.download(),
                    .bending_columns = arrays_.bending_columns.download(),
                    .bending = widened(shape.bending),
                    .predicted = taken(at.predicted, nodes),
                    .start = taken(at.velocity, nodes),
                    .row_values = taken(at.residuals, row_count_),
                    .row_d = {},
                    .pairs = arrays_.pattern.pairs,
                    .stiffness = {},
                    .free_nodes = ascending_nodes(arrays_.pattern),
                    .correction = {},
                    .multipliers = taken(at.multipliers, row_count_)};
  for (const double s : taken(at.scales, row_count_))
    result.row_d.push_back(s > 0 ? 1 / (args.control.eps * s * s) : 0);
  if (args.control.newton) result.stiffness = taken(at.stiffness, result.pairs.size());
  for (const Index node : result.free_nodes) {
    const auto d = taken(at.correction + 3 * arrays_.pattern.free_number[node], 3);
    result.correction.insert(result.correction.end(), d.begin(), d.end());
  }
  return result;
}

template class ClothGroup<float>;
template class ClothGroup<double>;

}  // namespace isocloth
