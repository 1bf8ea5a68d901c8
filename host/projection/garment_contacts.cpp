#include "host/projection/garment_contacts.hpp"

#include <limits>
#include <utility>

#include "host/surroundings/compression_curve.hpp"
#include "kernels/contact/contact_law.hpp"

namespace isocloth {
namespace {

template <class Real>
Strided<const Real> numbers(ArrayView<const Vec3<Real>> vectors) {
  static_assert(sizeof(Vec3<Real>) == 3 * sizeof(Real));
  return {reinterpret_cast<const Real*>(vectors.data()), 1};
}
template <class Real>
Strided<Real> numbers(Buffer<Real>& buffer) {
  return {buffer.view().data(), 1};
}

}  // namespace

template <class Real>
GarmentContacts<Real>::GarmentContacts(const Device& device, const Garment& garment,
                                       const GarmentArrays<Real>& arrays, const Scene& scene)
    : offset(static_cast<Real>(contact_offset(garment, scene))),
      tolerance(static_cast<Real>(scene.contact.tolerance)),
      accuracy(static_cast<Real>(contact_accuracy(garment, scene))),
      device_(&device),
      kernels_(&step_kernels<Real>(device.backend())),
      garment_(&arrays),
      samples_(device, garment.mesh, arrays.pattern, scene),
      pattern_(samples_.view()) {
  const std::size_t contacts = layout().contacts, samples = static_cast<std::size_t>(pattern_.sample_count());
  for (Buffer<Real>* three : {&normals_, &pulls_}) *three = {device, 3 * contacts};
  stiffness_ = {device, 3 * contacts};
  began_ = {device, 4 * contacts};
  mismatches_ = {device, contacts};
  compression = compression_of(garment, scene);
  const CompressionCurve<double> own = compression_curve(garment, scene);
  curve = {static_cast<Real>(own.give), static_cast<Real>(own.offset), static_cast<Real>(own.linear_from),
           static_cast<Real>(own.largest_slope)};
  weights_ = {device, pattern_.slot_nodes.size()};
  depths_ = {device, samples};
  errors_ = {device, samples};
  shared_with_ = {device, samples};
  shared_areas_ = {device, pattern_.slot_nodes.size()};
  sample_stiffness_ = {device, 6 * samples};
  sample_forces_ = {device, 3 * samples};
  near_ = {device, 1 + static_cast<std::size_t>(most_near)};
  if (device.backend().memory.host_accessible &&
      scene.obstacles.size() + scene.bodies.size() <= Clearances<Real>::most_obstacles) {
    const std::size_t nodes = static_cast<std::size_t>(pattern_.node_count),
                      elements = static_cast<std::size_t>(pattern_.element_count());
    seen_at_ = {device, nodes};
    ways_ = {device, nodes};
    rooms_ = {device, nodes + elements};
    near_obstacles_ = {device, nodes + elements};
  }
  if (!garment.grippers.empty()) inverse_masses_ = {device, arrays.inverse_masses.download()};
}

template <class Real>
ArrayView<const Real> GarmentContacts<Real>::inverse_masses() const {
  return hold_count() > 0 ? inverse_masses_.view() : garment_->inverse_masses.view();
}

template <class Real>
void GarmentContacts<Real>::begin(const SurroundingsView<Real>& surroundings,
                                  const ContactControl<Real>& control, const Buffer<Vec3<Real>>& start,
                                  const Buffer<Vec3<Real>>& base, ArrayView<Real> state) {
  if (!exist()) return;
  state_ = state;
  if (std::exchange(obstacles_version_, surroundings.obstacles_version) != surroundings.obstacles_version)
    rooms_.upload(std::vector<Real>(rooms_.size()));
  const ContactStateLayout at = layout();
  const auto field = [&](std::size_t begin) { return Strided<Real>{state.data() + begin, 1}; };
  last_ = {.pattern = pattern_,
           .control = control,
           .positions = {.start = numbers<Real>(start.view()),
                         .base = numbers<Real>(base.view()),
                         .iterate = {},
                         .inverse_masses = {inverse_masses().data(), 1},
                         .rest_inverse_masses = {garment_->inverse_masses.view().data(), 1},
                         .masses = {garment_->masses.view().data(), 1}},
           .obstacles = surroundings.obstacles,
           .near = {numbers(near_), clearances()},
           .contacts = {.forces = field(at.forces()),
                        .obstacles = field(at.obstacles()),
                        .modes = field(at.modes()),
                        .slips = field(at.slips()),
                        .points = field(at.points()),
                        .normals = numbers(normals_),
                        .pulls = numbers(pulls_),
                        .stiffness = numbers(stiffness_),
                        .began = numbers(began_),
                        .mismatches = numbers(mismatches_),
                        .weights = numbers(weights_),
                        .depths = numbers(depths_),
                        .errors = numbers(errors_),
                        .shared_with = numbers(shared_with_),
                        .shared_areas = numbers(shared_areas_),
                        .sample_stiffness = numbers(sample_stiffness_),
                        .sample_forces = numbers(sample_forces_),
                        .eased = {field(at.eased_obstacles()), field(at.eased_depths())}},
           .grippers = surroundings.grippers,
           .holds = {.forces = field(at.hold_forces()),
                     .holders = field(at.holders()),
                     .local_positions = field(at.hold_positions()),
                     .inverse_masses = numbers(inverse_masses_)},
           .free = garment_->free_view(),
           .node_slots = samples_.node_slots.view(),
           .faces = surroundings.faces,
           .forces = surroundings.forces};
}

template <class Real>
void GarmentContacts<Real>::begin_step() {
  if (hold_count() > 0 || pattern_.element_count() > 0) kernels_->begin_samples(device_->queue(), last_);
}

template <class Real>
double GarmentContacts<Real>::depenetration_depth(RowEvaluator<Real>& rows) const {
  if (!pattern_.eases) return 0;
  const ArrayView<const Real> depths{last_.contacts.eased.depths.data, layout().eased};
  return static_cast<double>(last_.obstacles.ease_end * rows.reduce(depths).maximum);
}

template <class Real>
void GarmentContacts<Real>::place_held(Buffer<Vec3<Real>>& positions) {
  if (hold_count() == 0) return;
  kernels_->place_held(
      device_->queue(),
      {.samples = last_, .positions = {reinterpret_cast<Real*>(positions.view().data()), 1}});
}

template <class Real>
void GarmentContacts<Real>::act_without_contacts(const Buffer<Vec3<Real>>& positions) {
  last_.positions.iterate = numbers<Real>(positions.view());
  last_.without_contacts = true;
  kernels_->act_on_samples(device_->queue(), last_);
  last_.without_contacts = false;
}

template <class Real>
void GarmentContacts<Real>::find(const Buffer<Vec3<Real>>& iterate, int number) {
  if (!exist()) return;
  last_.control.iteration = number;
  last_.positions.iterate = numbers<Real>(iterate.view());
  if (last_.obstacles.size() > 0) kernels_->list_near_obstacles(device_->queue(), last_);
  kernels_->act_on_samples(device_->queue(), last_);
  last_.near.clearances.by_start = false;
}

template <class Real>
Clearances<Real> GarmentContacts<Real>::clearances() {
  return {.seen_at = seen_at_.view(),
          .ways = ways_.view(),
          .rooms = rooms_.view(),
          .obstacles = near_obstacles_.view(),
          .by_start = true};
}

template <class Real>
void GarmentContacts<Real>::go_to_end(Buffer<Vec3<Real>>& iterate, const std::vector<Vec3<Real>>& end,
                                      const std::vector<Real>& state) {
  if (!exist()) {
    iterate.upload(end);
    return;
  }
  began_.upload(std::vector<Real>(began_.size()));
  find(iterate, 0);
  first_ = {iterate.download(), weights_.download()};
  // What touched another obstacle, or none, when the step began kept nothing of this one.
  std::vector<Real> began = began_.download(), kept(state_.size());
  device_->check(device_->backend().memory.download(device_->queue(), kept.data(), state_.data(),
                                                    kept.size() * sizeof(Real)));
  const std::size_t obstacles = layout().obstacles();
  for (std::size_t c = 0; c < layout().contacts; ++c)
    if (kept[obstacles + c] != state[obstacles + c])
      std::fill_n(began.begin() + static_cast<std::ptrdiff_t>(4 * c), 4, Real(0));
  began_.upload(began);
  device_->check(device_->backend().memory.upload(device_->queue(), state_.data(), state.data(),
                                                  state.size() * sizeof(Real)));
  iterate.upload(end);
  find(iterate, patience);
}

template <class Real>
void GarmentContacts<Real>::update(const Buffer<Vec3<Real>>& correction, const BodyMoves<Real>& bodies) {
  if (!exist()) return;
  kernels_->update_samples(device_->queue(), {.samples = last_,
                                              .free = garment_->free_view(),
                                              .correction = correction.view(),
                                              .first_body = bodies.first,
                                              .centers = bodies.centers,
                                              .moves = bodies.moves});
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
KeptForces<Real> GarmentContacts<Real>::kept_forces() const {
  if (!exist()) return {};
  const std::size_t contacts = layout().contacts;
  return {.pattern = pattern_,
          .forces = {last_.contacts.forces.data, 3 * contacts},
          .pulls = pulls_.view(),
          .modes = {last_.contacts.modes.data, contacts}};
}

template <class Real>
std::size_t GarmentContacts<Real>::memory_bytes() const {
  std::size_t bytes = samples_.memory_bytes() + seen_at_.bytes() + near_obstacles_.bytes();
  for (const Buffer<Real>* buffer :
       {&normals_, &pulls_, &stiffness_, &began_, &mismatches_, &weights_, &depths_, &errors_, &shared_with_,
        &shared_areas_, &sample_stiffness_, &sample_forces_, &near_, &inverse_masses_, &ways_, &rooms_})
    bytes += buffer->bytes();
  return bytes;
}

template class GarmentContacts<float>;
template class GarmentContacts<double>;

}  // namespace isocloth
