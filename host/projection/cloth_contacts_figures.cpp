// What contacts between cloths are worth in figures.
#include <algorithm>
#include <cmath>
#include <utility>

#include "host/projection/cloth_contacts.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {
namespace {

/// Nodes that a contact acts on, with weights: 0 behind the last of them.
struct LoadedNodes {
  std::array<Index, 4> nodes{};
  std::array<double, 4> weights{};
};

/// Where the sides of a contact are nearest.
LoadedNodes loaded_nodes(const ContactKey& key, const SurfaceFeatures& features,
                         const std::vector<Vec3d>& positions) {
  const auto at = [&](Index node) { return positions[static_cast<std::size_t>(node)]; };
  if (key.kind == ContactKey::two_nodes) return {{key.first, key.second}, {1, -1}};
  if (key.kind == ContactKey::node_and_edge) {
    const auto [a, b] = features.edges[static_cast<std::size_t>(key.second)];
    const Vec3d along = at(b) - at(a);
    const double place = std::clamp(dot(at(key.first) - at(a), along) / dot(along, along), 0.0, 1.0);
    return {{key.first, a, b}, {1, place - 1, -place}};
  }
  LoadedNodes found;
  cpu::PointPair pair;
  if (key.kind == ContactKey::two_edges) {
    const auto [a, b] = features.edges[static_cast<std::size_t>(key.first)];
    const auto [c, d] = features.edges[static_cast<std::size_t>(key.second)];
    found.nodes = {a, b, c, d};
    pair.first_count = 2;
  } else {
    const auto [a, b, c] = features.triangles[static_cast<std::size_t>(key.second)];
    found.nodes = {key.first, a, b, c};
  }
  for (std::size_t i = 0; i < 4; ++i) pair.points[i] = at(found.nodes[i]);
  const cpu::NearestPoints nearest = cpu::nearest_points(pair);
  std::copy_n(nearest.weights, 4, found.weights.begin());
  return found;
}

}  // namespace

double KeptContacts::largest() const {
  double most = 0;
  for (const Vec3d& force : forces) most = std::max(most, dot(force, force));
  return std::sqrt(most);
}

template <class Real>
double ClothContacts<Real>::least_gap() const {
  if (keys_.empty()) return 1;
  std::vector<FoundContact> found_staging;
  std::vector<double> thickness_staging, inertia_staging;
  const FoundContact* const found = found_.read(0, host_sifted_.size(), found_staging);
  const double* const thicknesses = pair_thicknesses_.read(0, host_pairs_.size(), thickness_staging);
  const double* const inverse_inertia = inverse_inertia_.read(0, rooms_.size(), inertia_staging);
  double least = 1;
  for (const Index place : host_chosen_) {
    const FoundContact& contact = found[place];
    // What passed was held back, and is elsewhere.
    if (contact.status == PairStatus::passing) continue;
    const double gap = 1 + contact.gap / thicknesses[contact.pair];
    if (gap < least && can_part(contact, inverse_inertia)) least = gap;
  }
  return least;
}

template <class Real>
std::vector<ClothLoads> ClothContacts<Real>::loads(const std::vector<Vec3d>& positions) const {
  const SurfaceFeatures& features = pairs_.features();
  std::vector<ClothLoads> all(members_.size());
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto count = static_cast<std::size_t>(features.node_begin[g + 1] - features.node_begin[g]);
    all[g].forces.resize(count);
    all[g].loads.resize(count);
  }
  for (std::size_t c = 0; c < state_.keys.size(); ++c) {
    const ContactKey key = ContactKey::of(state_.keys[c]);
    const LoadedNodes loaded = loaded_nodes(key, features, positions);
    Vec3d force = state_.forces[c];
    // Of two nodes the key does not tell which is the first; contacts push.
    if (key.kind == ContactKey::two_nodes &&
        dot(force, positions[static_cast<std::size_t>(key.first)] -
                       positions[static_cast<std::size_t>(key.second)]) < 0)
      force = -1.0 * force;
    for (std::size_t i = 0; i < 4; ++i) {
      if (loaded.weights[i] == 0) continue;
      const Index node = loaded.nodes[i];
      const auto g = static_cast<std::size_t>(features.node_surfaces[static_cast<std::size_t>(node)]);
      const auto own = static_cast<std::size_t>(node - features.node_begin[g]);
      all[g].forces[own] += loaded.weights[i] * force;
      all[g].loads[own] += std::fabs(loaded.weights[i]) * norm(force);
    }
  }
  return all;
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
