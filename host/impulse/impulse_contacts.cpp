#include "host/impulse/impulse_contacts.hpp"

#include <algorithm>
#include <utility>

#include "engine/mesh/colouring.hpp"
#include "engine/mesh/topology.hpp"
#include "host/memory/field_view.hpp"

namespace isocloth {

template <class Real>
ImpulseContactBuffers<Real>::ImpulseContactBuffers(const Device& device,
                                                   std::shared_ptr<const ObstacleShapes<Real>> obstacles,
                                                   const std::vector<const Garment*>& garments)
    : device_(&device),
      tolerance_(static_cast<Real>(obstacles->scene.contact.tolerance)),
      eases_(eases_out(obstacles->scene)) {
  const Mesh& mesh = garments.front()->mesh;
  const auto edges = build_topology(mesh).edges;
  node_count_ = mesh.node_count();
  edge_count_ = static_cast<Index>(edges.size());
  face_count_ = mesh.face_count();
  contacts_per_node_ =
      static_cast<Index>(std::min(obstacles->size(), static_cast<std::size_t>(most_contacts_per_node)));

  std::vector<Index> begin{0}, nodes;
  NodeSets elements;
  const auto add = [&](const auto& corners) {
    nodes.insert(nodes.end(), corners.begin(), corners.end());
    begin.push_back(static_cast<Index>(nodes.size()));
  };
  for (Index node = 0; node < node_count_; ++node) add(std::array{node});
  for (const auto& edge : edges) add(edge);
  for (Index f = 0; f < face_count_; ++f) add(mesh.face(f));
  const Index first_slot = begin[static_cast<std::size_t>(node_count_)];
  for (std::size_t s = static_cast<std::size_t>(node_count_) + 1; s < begin.size(); ++s)
    elements.begin.push_back(begin[s] - first_slot);
  elements.nodes.assign(nodes.begin() + first_slot, nodes.end());

  // Edges and faces lie no deeper in planes than their corners.
  const std::vector<Obstacle>& all = obstacles->scene.obstacles;
  const bool only_planes = std::all_of(
      all.begin(), all.end(), [](const Obstacle& o) { return std::holds_alternative<PlaneShape>(o.shape); });
  const Colouring colouring = only_planes ? Colouring{{0}, {}} : colour_greedily(elements, node_count_);
  std::vector<Index> order;
  for (const Index element : colouring.items) order.push_back(node_count_ + element);
  for (Index node = 0; node < node_count_; ++node) order.push_back(node);
  colours_ = colouring.begin;
  colours_.push_back(static_cast<Index>(order.size()));

  sample_begin_ = {device, begin};
  slot_nodes_ = {device, nodes};
  colour_begin_ = {device, colours_};
  order_ = {device, order};
  work_ = {device, garments.size() * ImpulseContactLayout(samples()).count};
  obstacles_ = {device, std::move(obstacles), garments};
  for (std::size_t member = 0; member < garments.size(); ++member)
    set_state(member, no_contacts(), no_eased());
}

namespace {

/// Counts without arrays.
SamplePattern count_samples(const Mesh& mesh, std::size_t obstacle_count, bool eases) {
  const std::size_t edges = build_topology(mesh).edges.size();
  const std::size_t slots = mesh.positions.size() + 2 * edges + mesh.face_nodes.size();
  return {.node_count = mesh.node_count(),
          .edge_count = static_cast<Index>(edges),
          .face_count = mesh.face_count(),
          .contacts_per_node =
              static_cast<Index>(std::min(obstacle_count, static_cast<std::size_t>(most_contacts_per_node))),
          .eases = eases,
          .sample_begin = {},
          .slot_nodes = {nullptr, slots}};
}

}  // namespace

template <class Real>
std::size_t ImpulseContactBuffers<Real>::bytes_each(const Mesh& mesh, std::size_t obstacle_count,
                                                    std::size_t moving_count, bool eases) {
  const ImpulseContactLayout layout(count_samples(mesh, obstacle_count, eases));
  return layout.count * sizeof(Real) + largest_start * moving_count * sizeof(Placement<Real>) +
         obstacle_count * sizeof(FrictionView<Real>) + 2 * sizeof(Index);
}

template <class Real>
std::size_t ImpulseContactBuffers<Real>::bytes_fixed(const Mesh& mesh) {
  const SamplePattern samples = count_samples(mesh, 1, false);
  // Samples, their order and, at most, a colour each.
  return (3 * static_cast<std::size_t>(samples.sample_count()) + 2 + samples.slot_nodes.size()) *
         sizeof(Index);
}

template <class Real>
SamplePattern ImpulseContactBuffers<Real>::samples() const {
  return {.node_count = node_count_,
          .edge_count = edge_count_,
          .face_count = face_count_,
          .contacts_per_node = contacts_per_node_,
          .contacts_per_element = 1,
          .eases = eases_,
          .sample_begin = sample_begin_.view(),
          .slot_nodes = slot_nodes_.view()};
}

template <class Real>
ImpulseContacts<Real> ImpulseContactBuffers<Real>::view() {
  if (node_count_ == 0) return {};
  return {.samples = samples(),
          .colour_begin = std::as_const(colour_begin_).view(),
          .order = std::as_const(order_).view(),
          .obstacles = obstacles_.sets(),
          .tolerance = tolerance_,
          .work = work_.view()};
}

template <class Real>
std::vector<ContactState> ImpulseContactBuffers<Real>::state(std::size_t member) const {
  if (node_count_ == 0) return {};
  const ImpulseContactLayout at(samples());
  std::vector<Real> staging;
  const Real* const own = work_.read(member * at.count, at.impulses, staging);
  std::vector<ContactState> state = no_contacts();
  for (std::size_t c = 0; c < state.size(); ++c) {
    const Real* const p = own + at.forces + 3 * c;
    state[c].force = {p[0], p[1], p[2]};
    if (state[c].force == Vec3d{}) continue;
    state[c].obstacle = static_cast<Index>(own[at.obstacles + c]);
    state[c].mode = static_cast<ContactMode>(own[at.modes + c]);
  }
  return state;
}

template <class Real>
std::vector<EasedState> ImpulseContactBuffers<Real>::eased(std::size_t member) const {
  if (node_count_ == 0) return {};
  const ImpulseContactLayout at(samples());
  std::vector<Real> staging;
  const Real* const own = work_.read(member * at.count, at.impulses, staging);
  std::vector<EasedState> state = no_eased();
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] = {static_cast<Index>(own[at.eased_obstacles + i]),
                static_cast<double>(own[at.eased_depths + i])};
  return state;
}

template <class Real>
void ImpulseContactBuffers<Real>::set_state(std::size_t member, const std::vector<ContactState>& state,
                                            const std::vector<EasedState>& eased) {
  if (node_count_ == 0) return;
  const ImpulseContactLayout at(samples());
  work_.edit(member * at.count, at.impulses, [&](Real* own) {
    for (std::size_t c = 0; c < contact_count(); ++c) {
      own[at.obstacles + c] = static_cast<Real>(state[c].obstacle);
      own[at.modes + c] = static_cast<Real>(state[c].mode);
      std::size_t k = at.forces + 3 * c;
      for_each_number(state[c].force, [&](double number) { own[k++] = static_cast<Real>(number); });
    }
    for (std::size_t i = 0; i < eased.size(); ++i) {
      own[at.eased_obstacles + i] = static_cast<Real>(eased[i].obstacle);
      own[at.eased_depths + i] = static_cast<Real>(eased[i].depth);
    }
  });
}

template <class Real>
std::vector<FieldView> ImpulseContactBuffers<Real>::views(GarmentField field) {
  if (node_count_ == 0) return {};
  const ImpulseContactLayout at(samples());
  const bool are_forces = field == GarmentField::contact_forces;
  return {field_view(*device_, work_.view().data() + (are_forces ? at.forces : at.obstacles),
                     work_.size() / at.count, 1, at.count, contact_count(), are_forces ? 3 : 1)};
}

template <class Real>
void ImpulseContactBuffers<Real>::copy_to(std::vector<Real>& copy) const {
  if (node_count_ == 0) return;
  const ImpulseContactLayout at(samples());
  const std::size_t members = work_.size() / at.count;
  copy.resize(members * at.impulses);
  std::vector<Real> staging;
  for (std::size_t m = 0; m < members; ++m)
    std::copy_n(work_.read(m * at.count, at.impulses, staging), at.impulses,
                copy.begin() + static_cast<std::ptrdiff_t>(m * at.impulses));
}

template <class Real>
void ImpulseContactBuffers<Real>::put_back(const std::vector<Real>& copy) {
  if (node_count_ == 0) return;
  const ImpulseContactLayout at(samples());
  for (std::size_t m = 0; m * at.impulses < copy.size(); ++m)
    work_.edit(m * at.count, at.impulses,
               [&](Real* own) { std::copy_n(copy.data() + m * at.impulses, at.impulses, own); });
}

template <class Real>
std::size_t ImpulseContactBuffers<Real>::memory_bytes() const {
  return sample_begin_.bytes() + slot_nodes_.bytes() + colour_begin_.bytes() + order_.bytes() +
         work_.bytes() + obstacles_.memory_bytes();
}

template class ImpulseContactBuffers<float>;
template class ImpulseContactBuffers<double>;

}  // namespace isocloth
