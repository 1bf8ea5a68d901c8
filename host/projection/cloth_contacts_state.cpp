// What contacts keep from step to step, and how a part of a step ends.
#include <algorithm>
#include <iterator>

#include "host/cloth_collision/max_step_fractions.hpp"
#include "host/projection/cloth_contacts.hpp"

namespace isocloth {

template <class Real>
bool ClothContacts<Real>::end_part(const PartEnd<double, bool>& end, bool is_warm,
                                   const std::vector<const ProjectionSolver<Real>*>& failed_garments) {
  const double parts = end.part.parts;
  if (end.retry) {
    work_ = state_;
    work_.scale(is_warm ? 1 / (4 * parts * parts) : 0);
    std::fill(ccd_stopped_nodes_.begin(), ccd_stopped_nodes_.end(), 0);
    std::fill(blocked_kinematic_nodes_.begin(), blocked_kinematic_nodes_.end(), 0);
    return false;
  }
  const bool holds = end.accept && may_penetrate();
  if (holds) {
    within_memory([&] { apply_ccd_limits(failed_garments, end.part.h); });
    if (!failed_garments.empty()) {  // forces of a broken iterate are none to go on with
      work_ = state_;
      work_.scale(1 / (parts * parts));
    }
  }
  if (end.step_done && parts > 1) work_.scale(parts * parts);
  return holds;
}

template <class Real>
void ClothContacts<Real>::end_step(bool is_kept) {
  if (is_kept) state_ = std::move(work_);
}

template <class Real>
std::vector<char> ClothContacts<Real>::with_neighbours(
    const std::vector<const ProjectionSolver<Real>*>& garments) const {
  std::vector<char> found(members_.size(), 0);
  for (std::size_t g = 0; g < members_.size(); ++g)
    found[g] = std::find(garments.begin(), garments.end(), members_[g].solver) != garments.end();
  const auto moves = [&](std::size_t g) {
    return members_[g].solver->pattern().free_count() > 0 && !members_[g].solver->frozen();
  };
  for (bool grows = true; grows;) {
    grows = false;
    for (const Index index : host_chosen_) {
      const auto nodes = pairs_.features().nodes_of(chosen_pair(index));
      const auto garment_of = [&](Index node) {
        return static_cast<std::size_t>(pairs_.features().node_surfaces[static_cast<std::size_t>(node)]);
      };
      const std::size_t one = garment_of(nodes.front()), other = garment_of(nodes.back());
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
  const SurfaceFeatures& features = pairs_.features();
  const std::vector<char> stays = with_neighbours(failed_garments);
  std::vector<Vec3d> velocities, predicted = host_to_;  // where what stays would go on its own
  std::vector<double> inverse_masses;
  std::vector<double> staging;
  const double* const inverse_inertia = std::as_const(inverse_inertia_).read(0, host_to_.size(), staging);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const auto begin = static_cast<std::size_t>(features.node_begin[g]),
               end = static_cast<std::size_t>(features.node_begin[g + 1]);
    ProjectionSolver<Real>& solver = *members_[g].solver;
    std::vector<Vec3d> own(end - begin);
    if (!solver.frozen()) own = solver.velocities(stays[g] == 0, h);
    // What is frozen has no inertia that is finite, and no inverse.
    const double inertia = solver.frozen() ? 0 : static_cast<double>(solver.nodes_in_step().inertia);
    for (std::size_t i = begin; i < end; ++i) {
      velocities.push_back(own[i - begin]);
      inverse_masses.push_back(inverse_inertia[i] * inertia / densities_[g]);
      if (stays[g] == 0) continue;
      host_to_[i] = host_from_[i];
      predicted[i] = host_from_[i] + (inverse_masses[i] > 0 ? h : 0) * velocities[i];
    }
  }
  auto [shares, met] = ccd_limits(predicted, inverse_masses, velocities);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (stays[g] != 0)
      std::fill(shares.begin() + features.node_begin[g], shares.begin() + features.node_begin[g + 1], 0.0);
    using NodeValue = typename ProjectionSolver<Real>::NodeValue;
    std::vector<NodeValue> positions, speeds;
    for (Index i = features.node_begin[g]; i < features.node_begin[g + 1]; ++i) {
      const auto node = static_cast<std::size_t>(i);
      const Index own = i - features.node_begin[g];
      const bool is_held = shares[node] < 1;
      if (is_held)
        positions.push_back({own, shares[node] > 0
                                      ? host_from_[node] + shares[node] * (host_to_[node] - host_from_[node])
                                      : host_from_[node]});
      if (is_held || std::binary_search(met.begin(), met.end(), i)) speeds.push_back({own, velocities[node]});
    }
    ccd_stopped_nodes_[g] += static_cast<Index>(positions.size());
    if (!members_[g].solver->frozen()) members_[g].solver->stop_nodes(positions, speeds, stays[g] != 0);
  }
}

template <class Real>
bool ClothContacts<Real>::stop_blocked_kinematic_nodes() {
  if (passing_ == 0 || keys_.empty() || has_stopped_) return false;
  const SurfaceFeatures& features = pairs_.features();
  std::vector<double> inertia_staging;
  const double* const inverse_inertia =
      std::as_const(inverse_inertia_).read(0, host_to_.size(), inertia_staging);
  const auto only_driven = [&](const FeaturePair& pair) {
    return std::ranges::all_of(features.nodes_of(pair), [&](Index node) {
      return inverse_inertia[static_cast<std::size_t>(node)] == 0;
    });
  };
  if (std::ranges::none_of(touching(), [&](const FoundContact& found) {
        return found.status == PairStatus::passing && only_driven(pair_of(found));
      }))
    return false;
  has_stopped_ = true;
  std::vector<FeaturePair> pairs;
  std::ranges::copy_if(host_pairs_, std::back_inserter(pairs), only_driven);
  const std::vector<double> shares = max_step_fractions(features, pairs, host_from_, host_to_, thicknesses_);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (members_[g].solver->frozen()) continue;
    std::vector<typename ProjectionSolver<Real>::NodeValue> positions;
    for (Index i = features.node_begin[g]; i < features.node_begin[g + 1]; ++i) {
      const auto node = static_cast<std::size_t>(i);
      if (shares[node] < 1)
        positions.push_back({i - features.node_begin[g],
                             host_from_[node] + shares[node] * (host_to_[node] - host_from_[node])});
    }
    const auto count = static_cast<Index>(positions.size());
    ccd_stopped_nodes_[g] += count;
    blocked_kinematic_nodes_[g] += count;
    members_[g].solver->stop_nodes(positions, {}, false);
  }
  return true;
}

template <class Real>
std::size_t ClothContacts<Real>::memory_bytes() const {
  std::size_t bytes = pair_bytes() + system_.memory_bytes();
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(free_number_, free_nodes_, sharing_, modes_, chosen_, node_begin_, node_entries_, active_, forces_,
      pulls_, responses_);
  for (const Member& member : members_) add(member.node_blocks, member.edge_blocks);
  return bytes;
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
