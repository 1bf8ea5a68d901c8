#include "host/projection/cloth_contacts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "host/linear/pcg_rows.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {

template <class Real>
ClothContacts<Real>::ClothContacts(const Device& device, const Scene& scene,
                                   const std::vector<const Garment*>& garments, const Garments& solvers)
    : ClothPairs(device, scene, garments),
      kernels_(step_kernels<Real>(device.backend())),
      friction_(device, friction_classes(scene, garments)) {
  const SurfaceFeatures& features = pairs_.features();
  std::vector<Index> free_number, free_nodes;
  std::vector<std::size_t> sizes;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    const NodalPattern& pattern = solvers[g]->pattern();
    Member& member = members_.emplace_back();
    member.solver = solvers[g];
    member.first_node = features.node_begin[g];
    member.first_free = static_cast<Index>(free_nodes.size());
    sizes.push_back(static_cast<std::size_t>(pattern.free_count()));
    for (const Index number : pattern.free_number)
      free_number.push_back(number < 0 ? -1 : member.first_free + number);
    for (const Index node : pattern.free_nodes) free_nodes.push_back(member.first_node + node);
    // Blocks lie by columns, then rows, both ascending.
    const auto block_of = [&](Index a, Index b) {
      if (a < 0 || b < 0) return Index{-1};
      const Index column = std::min(a, b), row = std::max(a, b);
      const auto begin = std::lower_bound(pattern.block_columns.begin(), pattern.block_columns.end(), column),
                 end = std::upper_bound(begin, pattern.block_columns.end(), column);
      const auto from = pattern.block_rows.begin() + (begin - pattern.block_columns.begin()),
                 to = pattern.block_rows.begin() + (end - pattern.block_columns.begin());
      const auto found = std::lower_bound(from, to, row);
      return found != to && *found == row ? static_cast<Index>(found - pattern.block_rows.begin()) : -1;
    };
    std::vector<Index> node_blocks, edge_blocks;
    for (Index i = 0; i < pattern.free_count(); ++i) node_blocks.push_back(block_of(i, i));
    const auto local = [&](Index node) {
      return pattern.free_number[static_cast<std::size_t>(node - member.first_node)];
    };
    member.first_edge = features.edge_begin[g];
    for (Index e = member.first_edge; e < features.edge_begin[g + 1]; ++e)
      edge_blocks.push_back(block_of(local(features.edges[e][0]), local(features.edges[e][1])));
    member.node_blocks = {device, node_blocks};
    member.edge_blocks = {device, edge_blocks};
  }
  free_number_ = {device, free_number};
  free_nodes_ = {device, free_nodes};
  const auto nodes = static_cast<std::size_t>(features.node_count());
  sharing_ = {device, nodes};
  node_begin_ = {device, nodes + 1};
  system_ = {device, sizes};
  modes_ = {device, 6 * free_nodes.size()};
}

template <class Real>
ClothContactList ClothContacts<Real>::list() const {
  return {.features = features(),
          .pairs = first(device_pairs_, host_pairs_.size()),
          .contacts = first(touching_, touching().size()),
          .chosen = first(chosen_, keys_.size()),
          .node_begin = node_begin_.view(),
          .node_entries = first(node_entries_, host_entries_.size())};
}

template <class Real>
void ClothContacts<Real>::begin_step() {
  ClothPairs::begin_step();
  cg_iterations_ = 0;
}

template <class Real>
void ClothContacts<Real>::gather(bool at_start) {
  for (const Member& member : members_) {
    const std::size_t begin = static_cast<std::size_t>(member.first_node),
                      end = begin + member.solver->pattern().free_number.size();
    const auto own = [&](auto& buffer) { return slice(buffer.view(), begin, end); };
    const NodesInStep<Real> nodes = member.solver->nodes_in_step();
    kernels_.gather_cloth_nodes(
        device_.queue(),
        {.positions = at_start ? nodes.start : nodes.iterate,
         .inverse_masses = nodes.inverse_masses,
         // What is frozen gives way to nothing.
         .inertia = member.solver->frozen() ? std::numeric_limits<Real>::infinity() : nodes.inertia,
         .gathered = at_start ? own(from_) : own(to_),
         .inverse_inertia = own(inverse_inertia_)});
  }
  (at_start ? from_ : to_).copy_to(at_start ? host_from_ : host_to_);
}

template <class Real>
void ClothContacts<Real>::begin_substep() {
  has_stopped_ = false;
  gather(true);
  ClothPairs::begin_substep();
}

template <class Real>
double ClothContacts<Real>::find(int iteration) {
  within_memory([&] {
    gather(false);
    iteration_ = iteration;
    has_responses_ = false;
    detect_contacts();
  });
  if (keys_.empty()) work_ = {};
  return depth_;
}

template <class Real>
void ClothContacts<Real>::respond() {
  const std::size_t count = keys_.size();
  if (std::exchange(has_responses_, true) || count == 0) return;
  // The contacts of every node, by counting.
  host_begin_.assign(host_to_.size() + 1, 0);
  for (const Index index : host_chosen_)
    for (const Index node : pairs_.features().nodes_of(chosen_pair(index)))
      ++host_begin_[static_cast<std::size_t>(node) + 1];
  std::partial_sum(host_begin_.begin(), host_begin_.end(), host_begin_.begin());
  host_entries_.resize(4 * count);
  std::vector<Index> next(host_begin_.begin(), host_begin_.end() - 1);
  for (std::size_t c = 0; c < count; ++c) {
    const auto nodes = pairs_.features().nodes_of(chosen_pair(host_chosen_[c]));
    for (std::size_t i = 0; i < 4; ++i)
      host_entries_[static_cast<std::size_t>(next[static_cast<std::size_t>(nodes[i])]++)] =
          static_cast<Index>(4 * c + i);
  }
  // Forces that go on; both lists ascend.
  std::vector<Vec3d> forces(count);
  for (std::size_t c = 0, k = 0; c < count; ++c) {
    while (k < work_.keys.size() && work_.keys[k] < keys_[c]) ++k;
    if (k < work_.keys.size() && work_.keys[k] == keys_[c]) forces[c] = work_.forces[k];
  }
  fill(device_, host_chosen_, chosen_);
  fill(device_, host_begin_, node_begin_);
  fill(device_, host_entries_, node_entries_);
  fill(device_, forces, forces_);
  reserve(device_, count, active_);
  reserve(device_, count, responses_);
  // Both sides give way, and what is drawn over cloth snags where contacts are as firm as with obstacles.
  constexpr double softer = 4.0 / 7;
  contact_kernels_.respond_contacts(device_.queue(),
                                    {.list = list(),
                                     .from = std::as_const(from_).view(),
                                     .to = std::as_const(to_).view(),
                                     .inverse_inertia = std::as_const(inverse_inertia_).view(),
                                     .friction = friction_.view(),
                                     .tolerance = tolerance_,
                                     .stiffening = softer * contact_stiffening(iteration_, true),
                                     .reach = reach_,
                                     .active = first(active_, count),
                                     .sharing = sharing_.view(),
                                     .forces = first(forces_, count),
                                     .responses = first(responses_, count)});
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
