// What contacts between cloths are worth in figures.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/cloth_collision/cloth_pairs.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {
double ContactWarmStart::largest() const {
  double most = 0;
  for (const Vec3d& force : forces) most = std::max(most, dot(force, force));
  return std::sqrt(most);
}

double ClothPairs::least_gap() const {
  if (keys_.empty()) return 1;
  std::vector<double> inertia_staging;
  const double* const inverse_inertia = inverse_inertia_.read(0, motion_bounds_.size(), inertia_staging);
  double least = 1;
  for (const Index index : host_chosen_) {
    const FoundContact& contact = touching()[static_cast<std::size_t>(index)];
    // What passed was held back, and is elsewhere.
    if (contact.status == PairStatus::passing) continue;
    const double gap = 1 + contact.gap / contact.thickness;
    if (gap < least && can_part(contact, inverse_inertia)) least = gap;
  }
  return least;
}

std::size_t ClothPairs::owner_of(std::uint64_t packed) const {
  const SurfaceFeatures& features = pairs_.features();
  const ContactKey key = ContactKey::of(packed);
  const std::size_t none = thicknesses_.size(), first = static_cast<std::size_t>(key.first),
                    second = static_cast<std::size_t>(key.second);
  const auto of_node = [&](std::size_t node) {
    return node < motion_bounds_.size() ? static_cast<std::size_t>(features.node_surfaces[node]) : none;
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

std::vector<ClothContactState> ClothPairs::kept(std::size_t garment) const {
  std::vector<ClothContactState> own;
  for (std::size_t c = 0; c < state_.keys.size(); ++c)
    if (owner_of(state_.keys[c]) == garment)
      own.push_back({.key = static_cast<std::int64_t>(state_.keys[c]), .force = state_.forces[c]});
  return own;
}

void ClothPairs::set_kept(std::size_t garment, const std::vector<ClothContactState>& kept) {
  std::map<std::uint64_t, Vec3d> all;  // by ascending keys
  for (std::size_t c = 0; c < state_.keys.size(); ++c)
    if (owner_of(state_.keys[c]) != garment) all[state_.keys[c]] = state_.forces[c];
  for (std::size_t c = 0; c < kept.size(); ++c) {
    const auto key = static_cast<std::uint64_t>(kept[c].key);
    if (owner_of(key) != garment)
      throw ShapeError(text("cloth_contacts[", c, "].key: found ", key,
                            ", expected what the garment or a later one of its world has"));
    all[key] = kept[c].force;
  }
  state_ = {};
  for (const auto& [key, force] : all) {
    state_.keys.push_back(key);
    state_.forces.push_back(force);
  }
}

ClothPairs::Load ClothPairs::load_of(std::uint64_t packed, const Vec3d& force,
                                     const std::vector<Vec3d>& positions) const {
  const SurfaceFeatures& features = pairs_.features();
  const ContactKey key = ContactKey::of(packed);
  const auto at = [&](Index node) { return positions[static_cast<std::size_t>(node)]; };
  Load load{.nodes = {key.first, key.second}, .weights = {1, -1}, .force = force};
  if (key.kind == ContactKey::two_nodes) {
    // The key does not tell which is the first; contacts push.
    if (dot(force, at(key.first) - at(key.second)) < 0) load.force = -1.0 * force;
    return load;
  }
  if (key.kind == ContactKey::node_and_edge) {
    const auto [a, b] = features.edges[static_cast<std::size_t>(key.second)];
    const Vec3d along = at(b) - at(a);
    const double share = std::clamp(dot(at(key.first) - at(a), along) / dot(along, along), 0.0, 1.0);
    load.nodes = {key.first, a, b};
    load.weights = {1, share - 1, -share};
    return load;
  }
  cpu::PointPair pair;
  if (key.kind == ContactKey::two_edges) {
    const auto [a, b] = features.edges[static_cast<std::size_t>(key.first)];
    const auto [c, d] = features.edges[static_cast<std::size_t>(key.second)];
    load.nodes = {a, b, c, d};
    pair.first_count = 2;
  } else {
    const auto [a, b, c] = features.triangles[static_cast<std::size_t>(key.second)];
    load.nodes = {key.first, a, b, c};
  }
  for (std::size_t i = 0; i < 4; ++i) pair.points[i] = at(load.nodes[i]);
  const cpu::NearestPoints nearest = cpu::nearest_points(pair);
  std::copy_n(nearest.weights, 4, load.weights.begin());
  return load;
}

std::vector<ClothLoads> ClothPairs::loads(const std::vector<Vec3d>& positions) const {
  const SurfaceFeatures& features = pairs_.features();
  std::vector<ClothLoads> all(thicknesses_.size());
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto count = static_cast<std::size_t>(features.node_begin[g + 1] - features.node_begin[g]);
    all[g].forces.resize(count);
    all[g].loads.resize(count);
  }
  for (std::size_t c = 0; c < state_.keys.size(); ++c) {
    const Load load = load_of(state_.keys[c], state_.forces[c], positions);
    for (std::size_t i = 0; i < 4; ++i) {
      if (load.weights[i] == 0) continue;
      const Index node = load.nodes[i];
      const auto g = static_cast<std::size_t>(features.node_surfaces[static_cast<std::size_t>(node)]);
      const auto own = static_cast<std::size_t>(node - features.node_begin[g]);
      all[g].forces[own] += load.weights[i] * load.force;
      all[g].loads[own] += std::fabs(load.weights[i]) * norm(load.force);
    }
  }
  return all;
}

}  // namespace isocloth
