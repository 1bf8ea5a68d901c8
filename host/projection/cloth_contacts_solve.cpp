// What contacts between cloths add to the systems of the garments, and what comes of a correction.
#include <algorithm>
#include <numeric>
#include <utility>

#include "host/projection/cloth_contacts.hpp"

namespace isocloth {

template <class Real>
void ClothContacts<Real>::add() {
  for (const Member& member : members_) {
    if (member.solver->frozen()) continue;
    const NodesInStep<Real> nodes = member.solver->nodes_in_step();
    kernels_.add_cloth_contacts(device_.queue(), {.list = list(),
                                                  .responses = first(std::as_const(responses_), keys_.size()),
                                                  .free = nodes.free,
                                                  .first_node = member.first_node,
                                                  .node_blocks = member.node_blocks.view(),
                                                  .edge_blocks = member.edge_blocks.view(),
                                                  .blocks = nodes.blocks,
                                                  .right_side = nodes.right_side});
  }
}

template <class Real>
typename CoupledSystem<Real>::Contacts ClothContacts<Real>::product() {
  return MultiplyClothContacts<Real>{
      .responses = first(std::as_const(responses_), keys_.size()),
      .node_begin = node_begin_.view(),
      .node_entries = first(std::as_const(node_entries_), host_entries_.size()),
      .free_number = free_number_.view(),
      .free_nodes = free_nodes_.view(),
      .pulls = first(pulls_, 2 * keys_.size()),
      .direction = {},
      .product = {}};
}

template <class Real>
bool ClothContacts<Real>::solve(double rtol) {
  typename CoupledSystem<Real>::Members all;
  for (const Member& member : members_) {
    CoupledMember<Real>& own = all.emplace_back();
    if (member.solver->frozen()) continue;
    own = member.solver->coupled_member();
    own.matrix = {member.row_begin.view(), member.columns.view(), member.blocks.view(),
                  std::as_const(member.solver->blocks()).view()};
  }
  const int iterations = system_.solve(all, product(), rtol);
  if (iterations < 0) return false;
  cg_iterations_ += iterations;
  add_rigid_modes(all);
  return true;
}

/// What conjugate gradients leave is momentum that comes from nowhere, unless the six motions of what touches
/// as a rigid whole are solved exactly.
template <class Real>
void ClothContacts<Real>::add_rigid_modes(const typename CoupledSystem<Real>::Members& members) {
  const SurfaceFeatures& features = pairs_.features();
  std::vector<std::size_t> island(members_.size());
  std::iota(island.begin(), island.end(), std::size_t{0});
  const auto root = [&](std::size_t g) {
    while (island[g] != g) g = island[g] = island[island[g]];
    return g;
  };
  std::vector<char> touches(members_.size(), 0);
  for (const Index pair : host_chosen_) {
    const FeaturePair& p = host_pairs_[static_cast<std::size_t>(pair)];
    const auto garment_of = [&](bool is_edge, Index feature) {
      const Index node = is_edge ? features.edges[static_cast<std::size_t>(feature)][0]
                                 : features.triangles[static_cast<std::size_t>(feature)][0];
      return static_cast<std::size_t>(features.node_surfaces[static_cast<std::size_t>(node)]);
    };
    const std::size_t a = p.is_edges != 0 ? garment_of(true, p.first)
                                          : static_cast<std::size_t>(
                                                features.node_surfaces[static_cast<std::size_t>(p.first)]),
                      b = garment_of(p.is_edges != 0, p.second);
    touches[a] = touches[b] = 1;
    island[root(a)] = root(b);
  }
  const std::size_t all = free_nodes_.size();
  std::vector<Vec3<Real>> staging;
  for (std::size_t own = 0; own < members_.size(); ++own) {
    if (root(own) != own || touches[own] == 0) continue;
    const auto belongs = [&](std::size_t g) { return root(g) == own && members[g].factor != nullptr; };
    const auto for_each_free_node = [&](const auto& visit) {
      for (std::size_t g = 0; g < members_.size(); ++g) {
        if (!belongs(g)) continue;
        const std::vector<Index>& nodes = members_[g].solver->pattern().free_nodes;
        for (std::size_t i = 0; i < nodes.size(); ++i)
          visit(static_cast<std::size_t>(members_[g].first_free) + i,
                host_to_[static_cast<std::size_t>(members_[g].first_node + nodes[i])]);
      }
    };
    Vec3d center{};
    double count = 0;
    for_each_free_node([&](std::size_t, const Vec3d& x) {
      center += x;
      ++count;
    });
    if (count == 0) continue;
    center = (1 / count) * center;
    modes_.write(staging, [&](Vec3<Real>* modes) {
      std::fill(modes, modes + 6 * all, Vec3<Real>{});
      const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
      for_each_free_node([&](std::size_t i, const Vec3d& x) {
        for (std::size_t k = 0; k < 3; ++k) {
          const Vec3d turn = cross(axes[k], x - center);
          const auto narrow = [](const Vec3d& v) {
            return Vec3<Real>{static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)};
          };
          modes[k * all + i] = narrow(axes[k]);
          modes[(3 + k) * all + i] = narrow(turn);
        }
      });
    });
    system_.correct(members, product(), modes_, 6);
  }
}

template <class Real>
void ClothContacts<Real>::update() {
  if (!exist()) return;
  const std::size_t count = keys_.size();
  kernels_.update_cloth_contacts(device_.queue(), {.responses = first(std::as_const(responses_), count),
                                                   .node_garments = node_garments_.view(),
                                                   .friction = std::as_const(friction_).view(),
                                                   .garment_count = static_cast<Index>(members_.size()),
                                                   .free_number = std::as_const(free_number_).view(),
                                                   .correction = system_.solution().view(),
                                                   .forces = first(forces_, count)});
  std::vector<Vec3d> staging;
  const Vec3d* const forces = std::as_const(forces_).read(0, count, staging);
  work_.keys.clear();
  work_.forces.clear();
  for (std::size_t c = 0; c < count; ++c) {
    if (forces[c] == Vec3d{}) continue;
    work_.keys.push_back(keys_[c]);
    work_.forces.push_back(forces[c]);
  }
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
