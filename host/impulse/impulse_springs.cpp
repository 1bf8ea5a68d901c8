#include "host/impulse/impulse_springs.hpp"

#include <algorithm>
#include <utility>

namespace isocloth {

template <class Real>
ImpulseSpringBuffers<Real>::ImpulseSpringBuffers(const Device& device, const Garment& first,
                                                 std::size_t garment_count, bool yield,
                                                 const std::vector<const std::vector<Vec3d>*>& rest,
                                                 const std::vector<char>& is_free, int lane_width)
    : yield_(yield) {
  const Topology topology = build_topology(first.mesh);
  const Fabric& fabric = first.fabric;
  if (fabric.structural_spring.exists()) kinds_[0].pairs = topology.edges;
  if (fabric.shear_spring.exists()) kinds_[1].pairs = shear_pairs(first.mesh, fabric.shear_diagonals);
  if (fabric.bend_spring.exists()) kinds_[2].pairs = bend_pairs(first.mesh, topology);
  for (Kind& kind : kinds_) {
    if (kind.pairs.empty()) continue;
    std::erase_if(kind.pairs, [&](const auto& pair) { return !is_free[pair[0]] && !is_free[pair[1]]; });
    const PacketPlan plan = plan_packets(kind.pairs, first.mesh.node_count(), lane_width);
    kind.packets = PacketBuffers<Real>(device, plan, rest, {});
    kind.numbers = plan.pairs;
    if (!yield) continue;
    kind.kept = {device, garment_count * plan.pairs.size()};
    kind.now = {device, garment_count * plan.pairs.size()};
  }
}

template <class Real>
void ImpulseSpringBuffers<Real>::take_over(ImpulsePattern<Real>& pattern) const {
  pattern.structural_springs = kinds_[0].packets.view();
  pattern.shear_springs = kinds_[1].packets.view();
  pattern.bend_springs = kinds_[2].packets.view();
}

template <class Real>
SpringStrains<Real> ImpulseSpringBuffers<Real>::strains() {
  const auto view = [](Kind& kind) { return PlasticStrains<Real>{kind.kept.view(), kind.now.view()}; };
  return {view(kinds_[0]), view(kinds_[1]), view(kinds_[2])};
}

template <class Real>
std::array<std::vector<Index>, 3> ImpulseSpringBuffers<Real>::colours() const {
  std::array<std::vector<Index>, 3> all;
  for (std::size_t k = 0; k < 3; ++k) all[k] = kinds_[k].packets.colour_begin.download();
  return all;
}

template <class Real>
void ImpulseSpringBuffers<Real>::count_into(ForceBounds& bounds, std::size_t node_count) const {
  std::vector<double>* const counts[] = {&bounds.structural_springs, &bounds.shear_springs,
                                         &bounds.bend_springs};
  for (std::size_t k = 0; k < 3; ++k) {
    counts[k]->assign(node_count, 0.0);
    for (const auto& pair : kinds_[k].pairs)
      for (const Index node : pair) ++(*counts[k])[node];
  }
}

template <class Real>
std::size_t ImpulseSpringBuffers<Real>::bytes_each() const {
  std::size_t slots = 0;
  for (const Kind& kind : kinds_) slots += yield_ ? kind.numbers.size() : 0;
  return 2 * slots * sizeof(Real);
}

template <class Real>
std::size_t ImpulseSpringBuffers<Real>::memory_bytes() const {
  std::size_t bytes = 0;
  for (const Kind& kind : kinds_) bytes += kind.packets.memory_bytes() + kind.kept.bytes() + kind.now.bytes();
  return bytes;
}

template <class Real>
std::size_t ImpulseSpringBuffers<Real>::strain_count() const {
  std::size_t count = 0;
  for (const Kind& kind : kinds_) count += yield_ ? kind.pairs.size() : 0;
  return count;
}

template <class Real>
std::vector<double> ImpulseSpringBuffers<Real>::state(std::size_t member) const {
  std::vector<double> state(strain_count());
  auto own = state.begin();
  for (const Kind& kind : kinds_) {
    if (!yield_) break;
    const std::size_t slots = kind.numbers.size();
    std::vector<Real> staging;
    const Real* const kept = kind.kept.read(member * slots, slots, staging);
    for (std::size_t slot = 0; slot < slots; ++slot)
      if (kind.numbers[slot] >= 0) own[kind.numbers[slot]] = static_cast<double>(kept[slot]);
    own += static_cast<std::ptrdiff_t>(kind.pairs.size());
  }
  return state;
}

template <class Real>
void ImpulseSpringBuffers<Real>::set_state(std::size_t member, const std::vector<double>& state) {
  auto own = state.begin();
  for (Kind& kind : kinds_) {
    if (!yield_) break;
    const std::size_t slots = kind.numbers.size();
    kind.kept.edit(member * slots, slots, [&](Real* kept) {
      for (std::size_t slot = 0; slot < slots; ++slot)
        if (kind.numbers[slot] >= 0) kept[slot] = static_cast<Real>(own[kind.numbers[slot]]);
    });
    own += static_cast<std::ptrdiff_t>(kind.pairs.size());
  }
}

template <class Real>
void ImpulseSpringBuffers<Real>::copy_to(Copy& copy) const {
  for (std::size_t k = 0; k < 3; ++k) kinds_[k].kept.copy_to(copy[k]);
}

template <class Real>
void ImpulseSpringBuffers<Real>::put_back(const Copy& copy) {
  for (std::size_t k = 0; k < 3; ++k) kinds_[k].kept.upload(copy[k]);
}

template class ImpulseSpringBuffers<float>;
template class ImpulseSpringBuffers<double>;

}  // namespace isocloth
