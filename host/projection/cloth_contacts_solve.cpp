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
    if (member.solver->stands()) continue;
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
      visit(responses[c].nodes[i], responses[c].weights[i], forces[c], responses[c]);
}

template <class Real>
bool ClothContacts<Real>::sum_forces() {
  respond();
  bool are_settled = true;
  std::vector<Index> staging;
  const Index* const numbers = std::as_const(free_number_).read(staging);
  std::vector<Vec3<Real>> sums(free_count());
  for_each_force([&](Index node, double weight, const Vec3d& force, const ClothResponse& response) {
    if (numbers[node] >= 0) sums[numbers[node]] += narrow<Real>(weight * force);
    are_settled =
        are_settled && norm(response.pull - force) <= response.along * collision_.geometry().tolerance();
  });
  if (summed_forces_.size() != sums.size()) summed_forces_ = {device_, sums.size()};
  summed_forces_.upload(sums);
  return are_settled;
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
  for_each_force([&](Index any_node, double weight, const Vec3d& force, const ClothResponse&) {
    if (const std::size_t node = static_cast<std::size_t>(any_node) - first; node < sums.size())
      sums[node] += (weight / (h * h)) * force;
  });
  return sums;
}

template <class Real>
typename CoupledSystem<Real>::Contacts ClothContacts<Real>::product(std::size_t columns) {
  // A device takes all that there is room for, so that arguments are the same in every iteration: what is no
  // contact any more is in no node's list.
  const std::size_t count =
      device_.backend().memory.host_accessible ? contacts().keys.size() : responses_.size();
  reserve(device_, 2 * columns * count, pulls_);
  return MultiplyClothContacts<Real>{.responses = first(std::as_const(responses_), count),
                                     .node_begin = node_begin_.view(),
                                     .node_entries = std::as_const(node_entries_).view(),
                                     .free_number = free_number_.view(),
                                     .free_nodes = free_nodes_.view(),
                                     .pulls = pulls_.view(),
                                     .direction = {},
                                     .product = {}};
}

template <class Real>
bool ClothContacts<Real>::solve(double rtol, Downloads* outcomes) {
  rtol_ = rtol;
  coupled_.clear();
  for (const Member& member : members_) {
    CoupledMember<Real>& own = coupled_.emplace_back();
    if (!member.solver->stands()) own = member.solver->coupled_member();
  }
  has_modes_ = set_rigid_modes();
  const int iterations = system_.solve(coupled_, product(1), rtol, outcomes);
  if (iterations < 0) return false;
  cg_iterations_ = std::max(cg_iterations_, iterations);
  if (has_modes_) system_.correct(coupled_);
  return true;
}

template <class Real>
bool ClothContacts<Real>::solve_block(const Buffer<Vec3<Real>>& columns, Buffer<Vec3<Real>>& solutions,
                                      std::size_t count) {
  const std::size_t together = std::min<std::size_t>(count, most_columns);
  const int iterations =
      system_.solve_block(coupled_, product(together), columns, solutions, count, rtol_, has_modes_);
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
  // What lies near will do for a centre: of a device the host knows where nodes began.
  const NodalTrajectories& ways = collision_.nodes();
  const std::vector<Vec3d>& positions = is_on_host() ? ways.to : ways.from;
  std::vector<Vec3d> centers(count);
  std::vector<double> nodes(count, 0.0);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    if (numbers[g] < 0) continue;
    const std::size_t island = static_cast<std::size_t>(numbers[g]);
    for (const Index node : members_[g].solver->pattern().free_nodes) {
      centers[island] += positions[members_[g].first_node + node];
      ++nodes[island];
    }
  }
  for (std::size_t i = 0; i < count; ++i) centers[i] = (1 / nodes[i]) * centers[i];
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const Member& member = members_[g];
    const auto first_node = static_cast<std::size_t>(member.first_node);
    const ArrayView<const Vec3d> all = ways.device_to.view();
    kernels_.write_rigid_modes(
        device_.queue(),
        {.positions = slice(all, first_node, all.size()),
         .free = member.solver->nodes_in_step().free,
         .is_zero = numbers[g] < 0,
         .center = numbers[g] < 0 ? Vec3d{} : centers[static_cast<std::size_t>(numbers[g])],
         .stride = free_nodes_.size(),
         .modes = slice(modes_.view(), static_cast<std::size_t>(member.first_free), modes_.size())});
  }
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
  if (is_on_host()) {
    work_.assign(contacts().keys.data(), forces_.view().data(), count);
    return;
  }
  device_forces_.are_latest = device_forces_.are_updated = true;
  device_forces_.are_fetched = false;
  device_forces_.count = count;
}

template class ClothContacts<float>;
template class ClothContacts<double>;

}  // namespace isocloth
