#include "host/impulse/impulse_holds.hpp"

#include <algorithm>

namespace isocloth {

template <class Real>
ImpulseHoldBuffers<Real>::ImpulseHoldBuffers(const Device& device,
                                             const std::vector<const Garment*>& garments,
                                             const ImpulsePattern<Real>& pattern, int lane_width)
    : node_count_(static_cast<std::size_t>(pattern.node_count)), grippers_(device, garments) {
  if (!exist()) return;
  const std::size_t cloths = garments.size(), width = static_cast<std::size_t>(lane_width);
  holders_ = {device, std::vector<Index>(cloths * node_count_, -1)};
  local_positions_ = {device, cloths * node_count_};
  forces_ = {device, cloths * node_count_};
  loads_ = {device, cloths * (node_count_ + 1)};
  inverse_masses_ = {device, cloths * node_count_};
  const auto make_rows = [&](RowBuffers& rows, std::size_t packets, std::size_t masses) {
    if (packets == 0) return;
    rows.masses = {device, cloths * masses * width};
    rows.is_held = {device, cloths * packets};
  };
  const auto edge_packets = static_cast<std::size_t>(pattern.edges.packet_count());
  make_rows(edges_, edge_packets, 3 * edge_packets);
  make_rows(metric_stencils_, static_cast<std::size_t>(pattern.metric_stencils.packet_count()),
            pattern.metric_stencils.pairs.size() / (2 * width));
  make_rows(scalar_stencils_, static_cast<std::size_t>(pattern.scalar_stencils.packet_count()),
            pattern.scalar_stencils.pairs.size() / (2 * width));
}

template <class Real>
std::size_t ImpulseHoldBuffers<Real>::bytes_each(const ImpulsePattern<Real>& pattern, int lane_width,
                                                 std::size_t gripper_count) {
  const auto nodes = static_cast<std::size_t>(pattern.node_count),
             width = static_cast<std::size_t>(lane_width),
             edges = static_cast<std::size_t>(pattern.edges.packet_count());
  const std::size_t packets = edges + static_cast<std::size_t>(pattern.metric_stencils.packet_count() +
                                                               pattern.scalar_stencils.packet_count());
  const std::size_t slots = (pattern.metric_stencils.pairs.size() + pattern.scalar_stencils.pairs.size()) / 2;
  const std::size_t of_node =
      sizeof(Index) + sizeof(Vec3d) + sizeof(Vec3<Real>) + sizeof(Vec4<Real>) + sizeof(Real);
  const std::size_t of_gripper = sizeof(GripperView<double>) +
                                 (largest_start + 1) * sizeof(PoseView<double>) +
                                 largest_start * sizeof(double);
  return nodes * of_node + sizeof(Vec4<Real>) + packets * sizeof(Index) +
         (3 * edges * width + slots) * sizeof(Real) + gripper_count * of_gripper;
}

template <class Real>
ImpulseHolds<Real> ImpulseHoldBuffers<Real>::view() {
  if (!exist()) return {};
  return {.grippers = grippers_.sets(),
          .holders = holders_.view(),
          .local_positions = local_positions_.view(),
          .forces = forces_.view(),
          .loads = loads_.view(),
          .inverse_masses = inverse_masses_.view(),
          .edges = edges_.view(),
          .metric_stencils = metric_stencils_.view(),
          .scalar_stencils = scalar_stencils_.view()};
}

template <class Real>
void ImpulseHoldBuffers<Real>::take_over(ImpulsePattern<Real>& pattern) const {
  if (!exist()) return;
  const auto take = [](auto& mine, const RowBuffers& rows, ArrayView<const Real>& masses) {
    masses = rows.masses.view();
    mine.is_held = rows.is_held.view();
  };
  take(pattern.edges, edges_, pattern.edges.shares);
  take(pattern.metric_stencils, metric_stencils_, pattern.metric_stencils.inverse_masses);
  take(pattern.scalar_stencils, scalar_stencils_, pattern.scalar_stencils.inverse_masses);
}

template <class Real>
std::vector<HoldState> ImpulseHoldBuffers<Real>::state(std::size_t member) const {
  if (!exist()) return {};
  const std::size_t first = member * node_count_;
  std::vector<Index> holders;
  std::vector<Vec3d> local_positions;
  std::vector<Vec3<Real>> forces;
  const Index* const holder = holders_.read(first, node_count_, holders);
  const Vec3d* const local_position = local_positions_.read(first, node_count_, local_positions);
  const Vec3<Real>* const force = forces_.read(first, node_count_, forces);
  std::vector<HoldState> state;
  for (std::size_t i = 0; i < node_count_; ++i)
    state.push_back({.gripper = holder[i],
                     .local_position = local_position[i],
                     .force = {force[i].x, force[i].y, force[i].z}});
  return state;
}

template <class Real>
void ImpulseHoldBuffers<Real>::set_state(std::size_t member, const std::vector<HoldState>& state) {
  if (!exist()) return;
  const std::size_t first = member * node_count_;
  const auto put = [&](auto& buffer, const auto& value_of) {
    buffer.edit(first, node_count_, [&](auto* own) {
      for (std::size_t i = 0; i < node_count_; ++i) own[i] = value_of(state[i]);
    });
  };
  put(holders_, [](const HoldState& kept) { return kept.gripper; });
  put(local_positions_, [](const HoldState& kept) { return kept.local_position; });
  put(forces_, [](const HoldState& kept) {
    const Vec3d& f = kept.force;
    return Vec3<Real>{static_cast<Real>(f.x), static_cast<Real>(f.y), static_cast<Real>(f.z)};
  });
}

template <class Real>
void ImpulseHoldBuffers<Real>::copy_to(Copy& copy) const {
  if (!exist()) return;
  holders_.copy_to(copy.holders);
  local_positions_.copy_to(copy.local_positions);
  forces_.copy_to(copy.forces);
}

template <class Real>
void ImpulseHoldBuffers<Real>::put_back(const Copy& copy) {
  if (!exist()) return;
  holders_.upload(copy.holders);
  local_positions_.upload(copy.local_positions);
  forces_.upload(copy.forces);
}

template <class Real>
std::size_t ImpulseHoldBuffers<Real>::memory_bytes() const {
  std::size_t bytes = grippers_.memory_bytes();
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(holders_, local_positions_, forces_, loads_, inverse_masses_);
  for (const RowBuffers* rows : {&edges_, &metric_stencils_, &scalar_stencils_})
    add(rows->masses, rows->is_held);
  return bytes;
}

template class ImpulseHoldBuffers<float>;
template class ImpulseHoldBuffers<double>;

}  // namespace isocloth
