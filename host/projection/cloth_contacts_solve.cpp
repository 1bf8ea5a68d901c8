// What contacts between cloths add to the systems of the garments, and what comes of a correction.
#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "host/memory/growing_buffer.hpp"
#include "host/projection/cloth_contacts.hpp"
#include "host/surroundings/shape_views.hpp"

namespace isocloth {

template <class Real>
void ClothContacts<Real>::add() {
  respond();
  for (const Member& member : members_) {
    if (member.solver->frozen()) continue;
    const NodesInStep<Real> nodes = member.solver->nodes_in_step();
    kernels_.add_cloth_contacts(device_.queue(),
                                {.list = list(),
                                 .responses = first(std::as_const(responses_), contacts().keys.size()),
                                 .free = nodes.free,
                                 .first_node = member.first_node,
                                 .first_edge = member.first_edge,
                                 .node_blocks = member.node_blocks.view(),
                                 .edge_blocks = member.edge_blocks.view(),
                                 .blocks = nodes.blocks,
                                 .right_side = nodes.right_side});
  }
}

template <class Real>
template <class Visit>
void ClothContacts<Real>::for_each_force(const Visit& visit) const {
  const std::size_t count = contacts().keys.size();
  std::vector<ClothResponse> staged_responses;
  std::vector<Vec3d> staged_forces;
  const ClothResponse* const responses = responses_.read(0, count, staged_responses);
  const Vec3d* const forces = forces_.read(0, count, staged_forces);
  for (std::size_t c = 0; c < count; ++c)
    for (std::size_t i = 0; i < 4 && responses[c].acts(); ++i)
      visit(responses[c].nodes[i], responses[c].weights[i], forces[c]);
}

template <class Real>
void ClothContacts<Real>::sum_forces() {
  respond();
  std::vector<Index> staging;
  const Index* const numbers = std::as_const(free_number_).read(staging);
  std::vector<Vec3<Real>> sums(free_count());
  for_each_force([&](Index node, double weight, const Vec3d& force) {
    if (numbers[node] >= 0) sums[numbers[node]] += narrow<Real>(weight * force);
  });
  if (summed_forces_.size() != sums.size()) summed_forces_ = {device_, sums.size()};
  summed_forces_.upload(sums);
}

template <class Real>
ArrayView<const Vec3<Real>> ClothContacts<Real>::forces_on(const ProjectionSolver<Real>& garment) const {
  const auto first = static_cast<std::size_t>(first_free(garment));
  return slice(summed_forces_.view(), first, first + garment.pattern().free_nodes.size());
}

template <class Real>
std::vector<Vec3d> ClothContacts<Real>::forces_on_nodes(const ProjectionSolver<Real>& garment,
                                                        double h) const {
  const auto first = static_cast<std::size_t>(members_[number_of(garment)].first_node);
  std::vector<Vec3d> sums(garment.pattern().free_number.size());
  for_each_force([&](Index any_node, double weight, const Vec3d& force) {
    if (const std::size_t node = static_cast<std::size_t>(any_node) - first; node < sums.size())
      sums[node] += (weight / (h * h)) * force;
  });
  return sums;
}

template <class Real>
typename CoupledSystem<Real>::Contacts ClothContacts<Real>::product(std::size_t columns) {
  reserve(device_, 2 * columns * contacts().keys.size(), pulls_);
  return MultiplyClothContacts<Real>{
      .responses = first(std::as_const(responses_), contacts().keys.size()),
      .node_begin = node_begin_.view(),
      .node_entries = first(std::as_const(node_entries_), host_entries_.size()),
      .free_number = free_number_.view(),
      .free_nodes = free_nodes_.view(),
      .pulls = pulls_.view(),
      .direction = {},
      .product = {}};
}

template <class Real>
bool ClothContacts<Real>::solve(double rtol) {
  rtol_ = rtol;
  coupled_.clear();
  for (const Member& member : members_) {
    CoupledMember<Real>& own = coupled_.emplace_back();
    if (!member.solver->frozen()) own = member.solver->coupled_member();
  }
  const int iterations = system_.solve(coupled_, product(1), rtol);
  if (iterations < 0) return false;
  cg_iterations_ = std::max(cg_iterations_, iterations);
  has_modes_ = set_rigid_modes();
  if (has_modes_) system_.correct(coupled_, modes_);
  return true;
}

template <class Real>
bool ClothContacts<Real>::solve_block(const Buffer<Vec3<Real>>& columns, Buffer<Vec3<Real>>& solutions,
                                      std::size_t count) {
  const std::size_t together = std::min<std::size_t>(count, most_columns);
  const int iterations = system_.solve_block(coupled_, product(together), columns, solutions, count, rtol_,
                                             has_modes_ ? &modes_ : nullptr);
  cg_iterations_ = std::max(cg_iterations_, iterations);
  return iterations >= 0;
}

template <class Real>
Index ClothContacts<Real>::first_free(const ProjectionSolver<Real>& garment) const {
  return members_[number_of(garment)].first_free;
}

/// For each garment, the number of the group of garments that touch each other directly or through others,
/// -1: it touches nothing or stands still; shape [garment].
template <class Real>
std::vector<int> ClothContacts<Real>::islands() const {
  std::vector<std::size_t> parents(members_.size());
  std::iota(parents.begin(), parents.end(), std::size_t{0});
  const auto root = [&](std::size_t g) {
    while (parents[g] != g) g = parents[g] = parents[parents[g]];
    return g;
  };
  std::vector<char> touches(members_.size(), 0);
  for (const FeaturePair& pair : contacts().pairs) {
    const auto [a, b] = collision_.features().surfaces_of(pair);
    touches[a] = touches[b] = 1;
    parents[root(a)] = root(b);
  }
  std::vector<int> numbers(members_.size(), -1);
  std::map<std::size_t, int> known;
  for (std::size_t g = 0; g < members_.size(); ++g)
    if (touches[g] != 0 && coupled_[g].factor != nullptr && coupled_[g].solution->size() > 0)
      numbers[g] = known.emplace(root(g), static_cast<int>(known.size())).first->second;
  return numbers;
}

/// What conjugate gradients leave is momentum that comes from nowhere, unless the six motions of what touches
/// as a rigid whole are solved exactly.
template <class Real>
bool ClothContacts<Real>::set_rigid_modes() {
  const std::vector<int> numbers = islands();
  const std::size_t count = static_cast<std::size_t>(1 + *std::max_element(numbers.begin(), numbers.end()));
  if (count == 0) return false;
  const auto for_each_free_node = [&](const auto& visit) {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      if (numbers[g] < 0) continue;
      const std::vector<Index>& nodes = members_[g].solver->pattern().free_nodes;
      for (std::size_t i = 0; i < nodes.size(); ++i)
        visit(static_cast<std::size_t>(numbers[g]), static_cast<std::size_t>(members_[g].first_free) + i,
              collision_.nodes().to[members_[g].first_node + nodes[i]]);
    }
  };
  std::vector<Vec3d> centers(count);
  std::vector<double> nodes(count, 0.0);
  for_each_free_node([&](std::size_t island, std::size_t, const Vec3d& x) {
    centers[island] += x;
    ++nodes[island];
  });
  for (std::size_t i = 0; i < count; ++i) centers[i] = (1 / nodes[i]) * centers[i];
  const std::size_t all = free_nodes_.size();
  std::vector<Vec3<Real>> staging;
  modes_.write(staging, [&](Vec3<Real>* modes) {
    std::fill(modes, modes + 6 * all, Vec3<Real>{});
    const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for_each_free_node([&](std::size_t island, std::size_t i, const Vec3d& x) {
      for (std::size_t k = 0; k < 3; ++k) {
        modes[k * all + i] = narrow<Real>(axes[k]);
        modes[(3 + k) * all + i] = narrow<Real>(cross(axes[k], x - centers[island]));
      }
    });
  });
  system_.set_modes(coupled_, product(6), modes_, numbers);
  return true;
}

template <class Real>
void ClothContacts<Real>::update() {
  if (!exist()) return;
  const std::size_t count = contacts().keys.size();
  kernels_.update_cloth_contacts(device_.queue(),
                                 {.responses = first(std::as_const(responses_), count),
                                  .node_garments = collision_.geometry().device_features().node_garments,
                                  .friction = friction_.view(),
                                  .free_number = std::as_const(free_number_).view(),
                                  .correction = system_.solution().view(),
                                  .forces = first(forces_, count)});
  std::vector<Vec3d> staging;
  const Vec3d* const forces = std::as_const(forces_).read(0, count, staging);
  work_.keys.clear();
  work_.forces.clear();
  for (std::size_t c = 0; c < count; ++c) {
    if (forces[c] == Vec3d{}) continue;
    work_.keys.push_back(contacts().keys[c]);
    work_.forces.push_back(forces[c]);
  }
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
