// What contacts keep from step to step, and how a part of a step ends.
#include <algorithm>
#include <map>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/projection/cloth_contacts.hpp"
#include "host/projection/way_shares.hpp"

namespace isocloth {

template <class Real>
std::size_t ClothContacts<Real>::keeper_of(std::uint64_t packed) const {
  const SurfaceFeatures& features = pairs_.features();
  const ContactKey key = ContactKey::of(packed);
  const std::size_t none = members_.size(), first = static_cast<std::size_t>(key.first),
                    second = static_cast<std::size_t>(key.second);
  const auto of_node = [&](std::size_t node) {
    return node < rooms_.size() ? static_cast<std::size_t>(features.node_surfaces[node]) : none;
  };
  const auto of_edge = [&](std::size_t edge) {
    return edge < features.edges.size() ? of_node(static_cast<std::size_t>(features.edges[edge][0])) : none;
  };
  const auto of_triangle = [&](std::size_t triangle) {
    return triangle < features.triangles.size()
               ? of_node(static_cast<std::size_t>(features.triangles[triangle][0]))
               : none;
  };
  const std::size_t one = key.kind == ContactKey::two_edges ? of_edge(first) : of_node(first);
  const std::size_t other = key.kind == ContactKey::node_and_face ? of_triangle(second)
                            : key.kind == ContactKey::two_nodes   ? of_node(second)
                                                                  : of_edge(second);
  return one == none || other == none ? none : std::min(one, other);
}

template <class Real>
KeptContacts ClothContacts<Real>::kept(std::size_t garment) const {
  KeptContacts own;
  for (std::size_t c = 0; c < state_.keys.size(); ++c) {
    if (keeper_of(state_.keys[c]) != garment) continue;
    own.keys.push_back(state_.keys[c]);
    own.forces.push_back(state_.forces[c]);
  }
  return own;
}

template <class Real>
void ClothContacts<Real>::set_kept(std::size_t garment, const KeptContacts& kept) {
  std::map<std::uint64_t, Vec3d> all;  // by ascending keys
  for (std::size_t c = 0; c < state_.keys.size(); ++c)
    if (keeper_of(state_.keys[c]) != garment) all[state_.keys[c]] = state_.forces[c];
  for (std::size_t c = 0; c < kept.keys.size(); ++c) {
    if (keeper_of(kept.keys[c]) != garment)
      throw ShapeError(text("cloth_contacts[", c, "].key: found ", kept.keys[c],
                            ", expected what the garment or a later one of its world has"));
    all[kept.keys[c]] = kept.forces[c];
  }
  state_ = {};
  for (const auto& [key, force] : all) {
    state_.keys.push_back(key);
    state_.forces.push_back(force);
  }
}

template <class Real>
bool ClothContacts<Real>::end_part(const PartEnd<double, bool>& end, bool is_warm,
                                   const std::vector<const ProjectionSolver<Real>*>& astray) {
  const double parts = end.part.parts;
  if (end.again) {
    work_ = state_;
    work_.scale(is_warm ? 1 / (4 * parts * parts) : 0);
    return false;
  }
  const bool holds = end.onward && passes();
  if (holds) {
    hold_back(astray);
    if (!astray.empty()) {  // forces of a broken iterate are none to go on with
      work_ = state_;
      work_.scale(1 / (parts * parts));
    }
  }
  if (end.finished && parts > 1) work_.scale(parts * parts);
  return holds;
}

template <class Real>
void ClothContacts<Real>::end_step(bool is_kept) {
  if (is_kept) state_ = std::move(work_);
}

template <class Real>
void ClothContacts<Real>::hold_back(const std::vector<const ProjectionSolver<Real>*>& astray) {
  const SurfaceFeatures& features = pairs_.features();
  const auto stays = [&](std::size_t g) {
    return std::find(astray.begin(), astray.end(), members_[g].solver) != astray.end();
  };
  for (std::size_t g = 0; g < members_.size(); ++g)
    if (stays(g))
      std::copy(host_from_.begin() + features.node_begin[g], host_from_.begin() + features.node_begin[g + 1],
                host_to_.begin() + features.node_begin[g]);
  std::vector<FeaturePair> pairs;
  std::vector<double> shares(host_to_.size(), 0.0);  // where all is near all, all stays
  if (find_pairs(host_from_, host_to_, false, pairs))
    shares = way_shares(features, pairs, host_from_, host_to_, thicknesses_);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const std::size_t begin = static_cast<std::size_t>(features.node_begin[g]),
                      end = static_cast<std::size_t>(features.node_begin[g + 1]);
    if (stays(g))
      std::fill(shares.begin() + features.node_begin[g], shares.begin() + features.node_begin[g + 1], 0.0);
    std::vector<Index> held;
    std::vector<Vec3d> places;
    for (std::size_t i = begin; i < end; ++i) {
      if (!(shares[i] < 1)) continue;
      held.push_back(static_cast<Index>(i - begin));
      places.push_back(shares[i] > 0 ? host_from_[i] + shares[i] * (host_to_[i] - host_from_[i])
                                     : host_from_[i]);
    }
    held_back_[g] += static_cast<Index>(held.size());
    if (!members_[g].solver->frozen()) members_[g].solver->hold_back(held, places, stays(g));
  }
}

template <class Real>
Index ClothContacts<Real>::held_back(const ProjectionSolver<Real>& garment) const {
  for (std::size_t g = 0; g < members_.size(); ++g)
    if (members_[g].solver == &garment) return held_back_[g];
  return 0;
}

template <class Real>
std::size_t ClothContacts<Real>::memory_bytes() const {
  std::size_t bytes = system_.memory_bytes();
  const auto add = [&bytes](const auto&... buffers) { ((bytes += buffers.bytes()), ...); };
  add(triangles_, sides_, edges_, node_garments_, free_number_, free_nodes_, inverse_inertia_, ways_,
      sharing_, rest_, from_, to_, modes_, kept_corrections_, device_pairs_, sought_at_, pair_thicknesses_,
      pair_rooms_, pair_nodes_, statuses_, found_, chosen_, node_begin_, node_entries_, active_, forces_,
      pulls_, responses_);
  for (const Member& member : members_)
    add(member.node_blocks, member.edge_blocks, member.row_begin, member.columns, member.blocks);
  return bytes;
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
