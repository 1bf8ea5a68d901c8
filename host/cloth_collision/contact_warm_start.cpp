#include "host/cloth_collision/contact_warm_start.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "kernels/cloth_contact/cloth_contact.hpp"
#include "kernels/cloth_contact/pair_geometry.hpp"

namespace isocloth {
namespace {

/// The two garments of a contact; either their number where a key is none of these features.
std::array<std::size_t, 2> garments_of(const SurfaceFeatures& features, std::uint64_t packed) {
  const ContactKey key = ContactKey::of(packed);
  const std::size_t none = features.node_begin.size() - 1, first = static_cast<std::size_t>(key.first),
                    second = static_cast<std::size_t>(key.second);
  const auto of_node = [&](std::size_t node) {
    return node < features.node_surfaces.size() ? static_cast<std::size_t>(features.node_surfaces[node])
                                                : none;
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
  return {one, other};
}

/// The first garment of a contact; their number where a key is none of these features.
std::size_t owner_of(const SurfaceFeatures& features, std::uint64_t packed) {
  const auto [one, other] = garments_of(features, packed);
  const std::size_t none = features.node_begin.size() - 1;
  return one == none || other == none ? none : std::min(one, other);
}

}  // namespace

void ContactWarmStart::assign(const std::uint64_t* all_keys, const Vec3d* all_forces, std::size_t count) {
  keys.clear();
  forces.clear();
  for (std::size_t c = 0; c < count; ++c) {
    if (all_forces[c] == Vec3d{}) continue;
    keys.push_back(all_keys[c]);
    forces.push_back(all_forces[c]);
  }
}

double ContactWarmStart::largest() const {
  double most = 0;
  for (const Vec3d& force : forces) most = std::max(most, dot(force, force));
  return std::sqrt(most);
}

void ContactWarmStart::scale(double factor) {
  for (Vec3d& force : forces) force = factor * force;
}

std::vector<Vec3d> ContactWarmStart::forces_of(const std::vector<std::uint64_t>& contacts) const {
  std::vector<Vec3d> found(contacts.size());
  for (std::size_t c = 0, k = 0; c < contacts.size(); ++c) {
    while (k < keys.size() && keys[k] < contacts[c]) ++k;
    if (k < keys.size() && keys[k] == contacts[c]) found[c] = forces[k];
  }
  return found;
}

std::vector<ClothContactState> contacts_of(const SurfaceFeatures& features, const ContactWarmStart& kept,
                                           std::size_t garment) {
  std::vector<ClothContactState> own;
  for (std::size_t c = 0; c < kept.keys.size(); ++c)
    if (owner_of(features, kept.keys[c]) == garment)
      own.push_back({.key = static_cast<std::int64_t>(kept.keys[c]), .force = kept.forces[c]});
  return own;
}

void set_contacts_of(const SurfaceFeatures& features, std::size_t garment,
                     const std::vector<ClothContactState>& own, ContactWarmStart& kept) {
  std::map<std::uint64_t, Vec3d> all;  // by ascending keys
  for (std::size_t c = 0; c < kept.keys.size(); ++c)
    if (owner_of(features, kept.keys[c]) != garment) all[kept.keys[c]] = kept.forces[c];
  for (std::size_t c = 0; c < own.size(); ++c) {
    const auto key = static_cast<std::uint64_t>(own[c].key);
    if (owner_of(features, key) != garment)
      throw ShapeError(text("cloth_contacts[", c, "].key: found ", key,
                            ", expected what the garment or a later one of its world has"));
    all[key] = own[c].force;
  }
  kept = {};
  for (const auto& [key, force] : all) {
    kept.keys.push_back(key);
    kept.forces.push_back(force);
  }
}

void keep_forces_between(const SurfaceFeatures& features, const std::vector<char>& sleeps,
                         const ContactWarmStart& before, ContactWarmStart& now) {
  const auto both_sleep = [&](std::uint64_t key) {
    const auto [one, other] = garments_of(features, key);
    return sleeps[one] != 0 && sleeps[other] != 0;
  };
  std::map<std::uint64_t, Vec3d> all;  // by ascending keys
  const auto add = [&](const ContactWarmStart& from, bool of_sleepers) {
    for (std::size_t c = 0; c < from.keys.size(); ++c)
      if (both_sleep(from.keys[c]) == of_sleepers) all[from.keys[c]] = from.forces[c];
  };
  add(before, true);
  add(now, false);
  now = {};
  for (const auto& [key, force] : all) {
    now.keys.push_back(key);
    now.forces.push_back(force);
  }
}

ContactLoad contact_load(const SurfaceFeatures& features, std::uint64_t packed, const Vec3d& force,
                         const std::vector<Vec3d>& positions) {
  const ContactKey key = ContactKey::of(packed);
  const auto at = [&](Index node) { return positions[node]; };
  ContactLoad load{.nodes = {key.first, key.second}, .weights = {1, -1}, .force = force};
  if (key.kind == ContactKey::two_nodes) {
    // The key does not tell which is the first; contacts push.
    if (dot(force, at(key.first) - at(key.second)) < 0) load.force = -1.0 * force;
    return load;
  }
  if (key.kind == ContactKey::node_and_edge) {
    const auto [a, b] = features.edges[key.second];
    const Vec3d along = at(b) - at(a);
    const double share = std::clamp(dot(at(key.first) - at(a), along) / dot(along, along), 0.0, 1.0);
    load.nodes = {key.first, a, b};
    load.weights = {1, share - 1, -share};
    return load;
  }
  cpu::PointPair pair;
  if (key.kind == ContactKey::two_edges) {
    const auto [a, b] = features.edges[key.first];
    const auto [c, d] = features.edges[key.second];
    load.nodes = {a, b, c, d};
    pair.first_count = 2;
  } else {
    const auto [a, b, c] = features.triangles[key.second];
    load.nodes = {key.first, a, b, c};
  }
  for (std::size_t i = 0; i < 4; ++i) pair.points[i] = at(load.nodes[i]);
  const cpu::NearestPoints nearest = cpu::nearest_points(pair);
  std::copy_n(nearest.weights, 4, load.weights.begin());
  return load;
}

std::vector<ClothLoads> contact_loads(const SurfaceFeatures& features, const ContactWarmStart& kept,
                                      const std::vector<Vec3d>& positions) {
  std::vector<ClothLoads> all(features.node_begin.size() - 1);
  for (std::size_t g = 0; g < all.size(); ++g) {
    const auto count = static_cast<std::size_t>(features.node_begin[g + 1] - features.node_begin[g]);
    all[g].forces.resize(count);
    all[g].loads.resize(count);
  }
  for (std::size_t c = 0; c < kept.keys.size(); ++c) {
    const ContactLoad load = contact_load(features, kept.keys[c], kept.forces[c], positions);
    for (std::size_t i = 0; i < 4; ++i) {
      if (load.weights[i] == 0) continue;
      const Index node = load.nodes[i];
      const auto g = static_cast<std::size_t>(features.node_surfaces[node]);
      const auto own = static_cast<std::size_t>(node - features.node_begin[g]);
      all[g].forces[own] += load.weights[i] * load.force;
      all[g].loads[own] += std::fabs(load.weights[i]) * norm(load.force);
    }
  }
  return all;
}

}  // namespace isocloth
