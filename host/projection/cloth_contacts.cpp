#include "host/projection/cloth_contacts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "host/cloth_collision/max_step_fractions.hpp"
#include "host/linear/pcg_rows.hpp"
#include "host/memory/growing_buffer.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {

template <class Real>
ClothContacts<Real>::ClothContacts(const Device& device, const Scene& scene,
                                   const std::vector<const Garment*>& garments, const Garments& solvers)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      collision_(device, scene, garments),
      friction_(device, friction_classes(scene, garments)),
      stopped_(garments.size()) {
  const SurfaceFeatures& features = collision_.features();
  std::vector<Index> free_number, free_nodes;
  std::vector<std::size_t> sizes;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    const NodalPattern& pattern = solvers[g]->pattern();
    Member& member = members_.emplace_back();
    member.solver = solvers[g];
    member.density = garments[g]->fabric.density;
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
    const auto local = [&](Index node) { return pattern.free_number[node - member.first_node]; };
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
  return {.features = collision_.geometry().device_features(),
          .pairs = collision_.candidates().on_device(),
          .contacts = contacts().on_device(),
          .chosen = first(chosen_, contacts().keys.size()),
          .node_begin = node_begin_.view(),
          .node_entries = first(node_entries_, host_entries_.size())};
}

template <class Real>
void ClothContacts<Real>::begin_step() {
  collision_.begin_step();
  set_work(kept());
  stopped_.clear();
  cg_iterations_ = 0;
}

template <class Real>
void ClothContacts<Real>::gather(Buffer<Vec3d>& positions, bool at_start) {
  NodalTrajectories& ways = collision_.nodes();
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
         .inertia = member.solver->stands() ? std::numeric_limits<Real>::infinity() : nodes.inertia,
         .gathered = own(positions),
         .inverse_inertia = own(ways.inverse_inertia)});
  }
}

template <class Real>
void ClothContacts<Real>::begin_substep() {
  has_stopped_ = false;
  NodalTrajectories& ways = collision_.nodes();
  gather(ways.device_from, true);
  ways.begin_substep();
  has_new_part_ = !is_on_host();
  if (is_on_host()) ways.device_from.copy_to(ways.from);
  collision_.begin_substep();
}

template <class Real>
void ClothContacts<Real>::begin_find(Downloads& downloads) {
  if (is_on_host()) return;
  NodalTrajectories& ways = collision_.nodes();
  if (std::exchange(has_new_part_, false)) {
    downloads.add(ways.device_from, ways.from);
    ways.begin_substep(&downloads);
  }
  // What a step ends with is known with the iterate that ends it.
  if (device_forces_.are_latest && !device_forces_.are_fetched) fetch_forces(downloads);
  gather(ways.begin_next(), false);
  collision_.begin_detection(downloads);
}

template <class Real>
double ClothContacts<Real>::find(int iteration) {
  NodalTrajectories& ways = collision_.nodes();
  if (is_on_host()) {
    gather(ways.device_to, false);
    ways.device_to.copy_to(ways.to);
  }
  iteration_ = iteration;
  has_responses_ = false;
  collision_.detect_contacts();
  if (!exist()) set_work({});
  return contacts().depth;
}

template <class Real>
void ClothContacts<Real>::respond() {
  const std::vector<FeaturePair>& pairs = contacts().pairs;
  const SurfaceFeatures& features = collision_.features();
  NodalTrajectories& ways = collision_.nodes();
  const std::size_t count = pairs.size();
  if (std::exchange(has_responses_, true) || count == 0) return;
  // The contacts of every node, by counting.
  host_begin_.assign(ways.from.size() + 1, 0);
  for (const FeaturePair& pair : pairs)
    for (const Index node : features.nodes_of(pair)) ++host_begin_[static_cast<std::size_t>(node) + 1];
  std::partial_sum(host_begin_.begin(), host_begin_.end(), host_begin_.begin());
  host_entries_.resize(4 * count);
  std::vector<Index> next(host_begin_.begin(), host_begin_.end() - 1);
  for (std::size_t c = 0; c < count; ++c) {
    const auto nodes = features.nodes_of(pairs[c]);
    for (std::size_t i = 0; i < 4; ++i) host_entries_[next[nodes[i]]++] = static_cast<Index>(4 * c + i);
  }
  reserve(device_, count, chosen_);
  reserve(device_, host_entries_.size(), node_entries_);
  reserve(device_, count, forces_);
  upload_contacts();
  reserve(device_, count, active_);
  reserve(device_, count, responses_);
  // Both sides give way, and what is drawn over cloth snags where contacts are as firm as with obstacles.
  constexpr double softer = 4.0 / 7;
  device_.backend().cloth_contact.respond_contacts(
      device_.queue(), {.list = list(),
                        .from = ways.device_from.view(),
                        .to = ways.device_to.view(),
                        .inverse_inertia = ways.inverse_inertia.view(),
                        .friction = friction_.view(),
                        .tolerance = collision_.geometry().tolerance(),
                        .stiffening = softer * contact_stiffening(iteration_, true),
                        .reach = collision_.geometry().reach(),
                        .active = first(active_, count),
                        .sharing = sharing_.view(),
                        .forces = first(forces_, count),
                        .responses = first(responses_, count)});
}

template <class Real>
void ClothContacts<Real>::upload_contacts() {
  DeviceForces& own = device_forces_;
  const std::size_t count = contacts().keys.size();
  Uploads uploads(device_);
  uploads.add(contacts().chosen, first(chosen_, count));
  uploads.add(host_begin_, node_begin_.view());
  uploads.add(host_entries_, first(node_entries_, host_entries_.size()));
  if (is_on_host()) {
    const std::vector<Vec3d> forces = work_.forces_of(contacts().keys);
    uploads.add(forces, first(forces_, count));
    return uploads.run();
  }
  if (std::exchange(own.are_updated, false)) {
    std::swap(forces_, own.before);
    std::swap(own.keys, own.keys_before);
  }
  if (!own.are_latest) {
    own.count = work_.keys.size();
    reserve(device_, own.count, own.before);
    reserve(device_, own.count, own.keys_before);
    uploads.add(work_.forces, first(own.before, own.count));
    uploads.add(work_.keys, first(own.keys_before, own.count));
  }
  uploads.run();
  reserve(device_, count, forces_);
  reserve(device_, count, own.keys);
  device_.backend().cloth_contact.carry_forces(
      device_.queue(), {.list = list(),
                        .keys_before = first(std::as_const(own.keys_before), own.count),
                        .forces_before = first(std::as_const(own.before), own.count),
                        .keys = first(own.keys, count),
                        .forces = first(forces_, count)});
}

template <class Real>
ContactWarmStart& ClothContacts<Real>::work() {
  DeviceForces& own = device_forces_;
  if (!std::exchange(own.are_latest, false)) return work_;
  if (!own.are_fetched) {
    Downloads downloads(device_);
    fetch_forces(downloads);
    downloads.run();
  }
  own.are_updated = false;
  work_.assign(own.host_keys.data(), own.host_forces.data(), own.count);
  return work_;
}

template <class Real>
void ClothContacts<Real>::fetch_forces(Downloads& downloads) {
  DeviceForces& own = device_forces_;
  downloads.add(own.are_updated ? own.keys : own.keys_before, own.count, own.host_keys);
  downloads.add(own.are_updated ? forces_ : own.before, own.count, own.host_forces);
  own.are_fetched = true;
}

template <class Real>
bool ClothContacts<Real>::end_part(const PartEnd<double, bool>& end, bool is_warm,
                                   const std::vector<const ProjectionSolver<Real>*>& failed_garments) {
  const double parts = end.part.parts;
  if (end.retry) {
    set_work(kept());
    work_.scale(is_warm ? 1 / (4 * parts * parts) : 0);
    stopped_.clear();
    return false;
  }
  const bool holds = end.accept && may_penetrate();
  if (holds) {
    apply_ccd_limits(failed_garments, end.part.h);
    if (!failed_garments.empty()) {  // forces of a broken iterate are none to go on with
      set_work(kept());
      work_.scale(1 / (parts * parts));
    }
  }
  if (end.step_done && parts > 1) work().scale(parts * parts);
  return holds;
}

template <class Real>
void ClothContacts<Real>::end_step(bool is_kept) {
  if (!is_kept) return;
  ContactWarmStart now = std::move(work());
  std::vector<char> sleeps;
  for (const Member& member : members_) sleeps.push_back(member.solver->is_asleep());
  if (std::ranges::find(sleeps, 1) != sleeps.end())
    keep_forces_between(collision_.features(), sleeps, kept(), now);
  collision_.set_kept(std::move(now));
}

template <class Real>
std::vector<char> ClothContacts<Real>::with_neighbours(
    const std::vector<const ProjectionSolver<Real>*>& garments) const {
  std::vector<char> found(members_.size(), 0);
  for (std::size_t g = 0; g < members_.size(); ++g)
    found[g] = std::find(garments.begin(), garments.end(), members_[g].solver) != garments.end();
  const auto moves = [&](std::size_t g) {
    return members_[g].solver->pattern().free_count() > 0 && !members_[g].solver->stands();
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const FeaturePair& pair : contacts().pairs) {
      const auto [one, other] = collision_.features().surfaces_of(pair);
      if (found[one] == found[other] || !moves(one) || !moves(other)) continue;
      found[one] = found[other] = 1;
      grows = true;
    }
  }
  return found;
}

template <class Real>
void ClothContacts<Real>::apply_ccd_limits(const std::vector<const ProjectionSolver<Real>*>& failed_garments,
                                           double h) {
  NodalTrajectories& ways = collision_.nodes();
  const std::vector<Index>& node_begin = collision_.features().node_begin;
  const std::vector<char> stays = with_neighbours(failed_garments);
  std::vector<Vec3d> velocities, predicted = ways.host_to();  // where what stays would go on its own
  std::vector<double> inverse_masses;
  const double* const inverse_inertia = ways.host_inertia();
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const auto begin = static_cast<std::size_t>(node_begin[g]),
               end = static_cast<std::size_t>(node_begin[g + 1]);
    ProjectionSolver<Real>& solver = *members_[g].solver;
    std::vector<Vec3d> own(end - begin);
    if (!solver.stands()) own = solver.velocities(stays[g] == 0, h);
    // What is frozen has no inertia that is finite, and no inverse.
    const double inertia = solver.stands() ? 0 : static_cast<double>(solver.nodes_in_step().inertia);
    for (std::size_t i = begin; i < end; ++i) {
      velocities.push_back(own[i - begin]);
      inverse_masses.push_back(inverse_inertia[i] * inertia / members_[g].density);
      if (stays[g] == 0) continue;
      ways.to[i] = ways.from[i];
      predicted[i] = ways.from[i] + (inverse_masses[i] > 0 ? h : 0) * velocities[i];
    }
  }
  auto [shares, met] = collision_.ccd_limits(predicted, inverse_masses, velocities);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (stays[g] != 0) std::fill(shares.begin() + node_begin[g], shares.begin() + node_begin[g + 1], 0.0);
    using NodeValue = typename ProjectionSolver<Real>::NodeValue;
    std::vector<NodeValue> positions, speeds;
    for (Index i = node_begin[g]; i < node_begin[g + 1]; ++i) {
      const auto node = static_cast<std::size_t>(i);
      const Index own = i - node_begin[g];
      const bool is_held = shares[node] < 1;
      if (is_held)
        positions.push_back({own, shares[node] > 0
                                      ? ways.from[node] + shares[node] * (ways.to[node] - ways.from[node])
                                      : ways.from[node]});
      if (is_held || std::binary_search(met.begin(), met.end(), i)) speeds.push_back({own, velocities[node]});
    }
    stopped_.held_back[g] += static_cast<Index>(positions.size());
    if (!members_[g].solver->stands()) members_[g].solver->stop_nodes(positions, speeds, stays[g] != 0);
  }
}

template <class Real>
bool ClothContacts<Real>::stop_blocked_kinematic_nodes() {
  if (!may_penetrate() || !exist() || has_stopped_) return false;
  const SurfaceFeatures& features = collision_.features();
  NodalTrajectories& ways = collision_.nodes();
  const double* const inverse_inertia = ways.host_inertia();
  const auto only_driven = [&](const FeaturePair& pair) {
    return std::ranges::all_of(features.nodes_of(pair),
                               [&](Index node) { return inverse_inertia[node] == 0; });
  };
  bool any = false;
  for (std::size_t c = 0; c < contacts().keys.size() && !any; ++c)
    any = contacts()[c].status == PairStatus::passing && only_driven(contacts().pairs[c]);
  if (!any) return false;
  has_stopped_ = true;
  ways.host_to();
  std::vector<FeaturePair> pairs;
  std::ranges::copy_if(collision_.candidates().pairs, std::back_inserter(pairs), only_driven);
  const std::vector<double> shares =
      max_step_fractions(features, pairs, ways.from, ways.to, collision_.geometry().thicknesses());
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (members_[g].solver->stands()) continue;
    std::vector<typename ProjectionSolver<Real>::NodeValue> positions;
    for (Index i = features.node_begin[g]; i < features.node_begin[g + 1]; ++i) {
      const auto node = static_cast<std::size_t>(i);
      if (shares[node] < 1)
        positions.push_back(
            {i - features.node_begin[g], ways.from[node] + shares[node] * (ways.to[node] - ways.from[node])});
    }
    const auto count = static_cast<Index>(positions.size());
    stopped_.held_back[g] += count;
    stopped_.blocked[g] += count;
    members_[g].solver->stop_nodes(positions, {}, false);
  }
  return true;
}

template <class Real>
std::size_t ClothContacts<Real>::memory_bytes() const {
  std::size_t bytes = collision_.memory_bytes() + system_.memory_bytes();
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(free_number_, free_nodes_, sharing_, modes_, chosen_, node_begin_, node_entries_, active_, forces_,
      pulls_, responses_, device_forces_.keys, device_forces_.keys_before, device_forces_.before);
  for (const Member& member : members_) add(member.node_blocks, member.edge_blocks);
  return bytes;
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
