#include "host/solver/garment_contacts.hpp"

#include <limits>
#include <utility>

namespace isocloth {
namespace {

template <class Real>
Strided<const Real> numbers(ArrayView<const Vec3<Real>> vectors) {
  static_assert(sizeof(Vec3<Real>) == 3 * sizeof(Real));
  return {reinterpret_cast<const Real*>(vectors.data()), 1};
}

}  // namespace

template <class Real>
GarmentContacts<Real>::GarmentContacts(const Device& device, const Garment& garment,
                                       const GarmentArrays<Real>& arrays, const Scene& scene)
    : offset(static_cast<Real>(contact_offset(garment, scene))),
      tolerance(static_cast<Real>(scene.contact.tolerance)),
      device_(&device),
      kernels_(&step_kernels<Real>(device.backend())),
      garment_(&arrays),
      samples_(device, garment.mesh, arrays.pattern, scene.obstacles.size()),
      pattern_(samples_.view()) {
  const std::size_t contacts = contact_count(), samples = static_cast<std::size_t>(pattern_.sample_count());
  for (Buffer<Real>* three : {&forces_, &normals_, &pulls_}) *three = {device, 3 * contacts};
  obstacles_ = {device, std::vector<Real>(contacts, Real(-1))};
  stiffness_ = {device, 2 * contacts};
  modes_ = {device, contacts};
  weights_ = {device, pattern_.slot_nodes.size()};
  depths_ = {device, samples};
  sample_stiffness_ = {device, 6 * samples};
  sample_forces_ = {device, 3 * samples};
  near_ = {device, 1 + static_cast<std::size_t>(most_near)};
}

template <class Real>
double GarmentContacts<Real>::find(const ObstaclesView<Real>& obstacles, const ContactControl<Real>& control,
                                   const Buffer<Vec3<Real>>& start, const Buffer<Vec3<Real>>& iterate,
                                   RowEvaluator<Real>& rows) {
  if (!exist()) return 0;
  auto all = [](Buffer<Real>& buffer) { return Strided<Real>{buffer.view().data(), 1}; };
  last_ = {.pattern = pattern_,
           .obstacles = obstacles,
           .control = control,
           .places = {.start = numbers<Real>(start.view()),
                      .iterate = numbers<Real>(iterate.view()),
                      .inverse_masses = {garment_->inverse_masses.view().data(), 1}},
           .near = {all(near_)},
           .arrays = {.forces = all(forces_),
                      .obstacles = all(obstacles_),
                      .normals = all(normals_),
                      .pulls = all(pulls_),
                      .stiffness = all(stiffness_),
                      .modes = all(modes_),
                      .weights = all(weights_),
                      .depths = all(depths_),
                      .sample_stiffness = all(sample_stiffness_),
                      .sample_forces = all(sample_forces_)}};
  kernels_->list_near_obstacles(device_->queue(), last_);
  kernels_->find_contacts(device_->queue(), last_);
  return static_cast<double>(rows.reduce(std::as_const(depths_).view()).maximum);
}

template <class Real>
void GarmentContacts<Real>::update(const Buffer<Vec3<Real>>& correction) {
  if (!exist()) return;
  kernels_->update_contacts(device_->queue(),
                            {.found = last_, .free = garment_->free_view(), .correction = correction.view()});
}

template <class Real>
SampleForces<Real> GarmentContacts<Real>::forces() const {
  if (!exist()) return {};
  return {.block_slots = samples_.block_slots.view(),
          .node_slots = samples_.node_slots.view(),
          .slot_samples = samples_.slot_samples.view(),
          .weights = weights_.view(),
          .stiffness = sample_stiffness_.view(),
          .forces = sample_forces_.view()};
}

template <class Real>
std::vector<double> GarmentContacts<Real>::state() const {
  const std::vector<Real> obstacles = obstacles_.download(), forces = forces_.download();
  std::vector<double> state;
  for (std::size_t c = 0; c < obstacles.size(); ++c)
    state.insert(state.end(), {obstacles[c], forces[3 * c], forces[3 * c + 1], forces[3 * c + 2]});
  return state;
}

template <class Real>
void GarmentContacts<Real>::set_state(const std::vector<double>& state) {
  std::vector<Real> obstacles, forces;
  for (std::size_t c = 0; c < contact_count(); ++c) {
    obstacles.push_back(static_cast<Real>(state[4 * c]));
    for (std::size_t k = 1; k < 4; ++k) forces.push_back(static_cast<Real>(state[4 * c + k]));
  }
  if (!exist()) return;
  obstacles_.upload(obstacles);
  forces_.upload(forces);
}

template <class Real>
void GarmentContacts<Real>::scale(double factor) {
  std::vector<Real> forces = forces_.download();
  for (Real& p : forces) p *= static_cast<Real>(factor);
  forces_.upload(forces);
}

template <class Real>
std::size_t GarmentContacts<Real>::memory_bytes() const {
  std::size_t bytes = samples_.memory_bytes();
  for (const Buffer<Real>* buffer : {&forces_, &obstacles_, &normals_, &pulls_, &stiffness_, &modes_,
                                     &weights_, &depths_, &sample_stiffness_, &sample_forces_, &near_})
    bytes += buffer->bytes();
  return bytes;
}

template class GarmentContacts<float>;
template class GarmentContacts<double>;

}  // namespace isocloth
