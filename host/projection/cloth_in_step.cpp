#include "host/projection/cloth_in_step.hpp"

#include "engine/core/flat_vectors.hpp"
#include "host/garment/contact_state.hpp"
#include "host/garment/garment_arrays.hpp"
#include "host/surroundings/shape_views.hpp"
#include "kernels/projection/integrator.hpp"

namespace isocloth {

template <class Real>
ClothInStep<Real>::ClothInStep(const Device& device, Integrator integrator,
                               const std::vector<Vec3<Real>>& start, std::size_t rows,
                               const ContactStateLayout& layout, std::size_t plastic)
    : iterate(device, start.size()),
      device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      integrator_(integrator),
      layout_(layout) {
  state = empty_state(start.size(), rows, plastic);
  work = empty_state(start.size(), rows, plastic);
  state.positions.upload(start);
  if (has_history())
    for (auto* buffer : {&base_, &base_velocity_}) *buffer = {device, start.size()};
}

template <class Real>
ClothState<Real> ClothInStep<Real>::empty_state(std::size_t nodes, std::size_t rows,
                                                std::size_t plastic) const {
  const std::vector<double> none = no_contacts(layout_);
  return {.positions = {device_, nodes},
          .velocities = {device_, nodes},
          .multipliers = {device_, rows},
          .contacts = {device_, std::vector<Real>(none.begin(), none.end())},
          .plastic = {device_, std::vector<Real>(plastic)},
          .previous_positions = {device_, has_history() ? nodes : 0},
          .previous_velocities = {device_, has_history() ? nodes : 0}};
}

template <class Real>
std::size_t ClothInStep<Real>::bytes() const {
  return state.bytes() + work.bytes() + before_.bytes() + iterate.bytes() + base_.bytes() +
         base_velocity_.bytes();
}

template <class Real>
void ClothInStep<Real>::scale(ArrayView<const Real> from, double factor, ArrayView<Real> to) const {
  kernels_.scale_values(device_.queue(), {.from = from, .factor = static_cast<Real>(factor), .to = to});
}

template <class Real>
void ClothInStep<Real>::copy(const ClothState<Real>& from, ClothState<Real>& to) const {
  ArrayCopies copies(device_);
  copies.add(from.positions.view(), to.positions.view());
  copies.add(from.velocities.view(), to.velocities.view());
  copies.add(from.multipliers.view(), to.multipliers.view());
  copies.add(from.contacts.view(), to.contacts.view());
  if (from.plastic.size() > 0) copies.add(from.plastic.view(), to.plastic.view());
  if (has_history()) {
    copies.add(from.previous_positions.view(), to.previous_positions.view());
    copies.add(from.previous_velocities.view(), to.previous_velocities.view());
    to.previous_step = from.previous_step;
  }
  copies.launch();
}

template <class Real>
GarmentState ClothInStep<Real>::download(const ClothState<Real>& from) const {
  GarmentState to;
  const bool has_previous = from.previous_step > 0;
  std::vector<Vec3<Real>> vectors[4];
  std::vector<Real> multipliers, contacts, plastic;
  Downloads downloads(device_);
  downloads.add(from.positions, vectors[0]);
  downloads.add(from.velocities, vectors[1]);
  downloads.add(from.multipliers, multipliers);
  downloads.add(from.contacts, contacts);
  if (from.plastic.size() > 0) downloads.add(from.plastic, plastic);
  if (has_previous) downloads.add(from.previous_positions, vectors[2]);
  if (has_previous) downloads.add(from.previous_velocities, vectors[3]);
  downloads.run();
  const auto coordinates = [](const std::vector<Vec3<Real>>& all) {
    return as_numbers(all.data(), all.size());
  };
  to.positions = coordinates(vectors[0]);
  to.velocities = coordinates(vectors[1]);
  to.multipliers.assign(multipliers.begin(), multipliers.end());
  set_contacts({contacts.begin(), contacts.end()}, layout_, to);
  to.plastic_strains.assign(plastic.begin(), plastic.end());
  to.previous_step = from.previous_step;
  if (has_previous) {
    to.previous_positions = coordinates(vectors[2]);
    to.previous_velocities = coordinates(vectors[3]);
  }
  return to;
}

template <class Real>
void ClothInStep<Real>::upload(const GarmentState& from) {
  const auto reals = [](const std::vector<double>& all) { return std::vector<Real>(all.begin(), all.end()); };
  state.positions.upload(narrowed<Real>(as_vectors(from.positions)));
  state.velocities.upload(narrowed<Real>(as_vectors(from.velocities)));
  state.multipliers.upload(reals(from.multipliers));
  state.contacts.upload(reals(flat_contacts(from, layout_)));
  if (state.plastic.size() > 0) state.plastic.upload(reals(from.plastic_strains));
  state.previous_step = static_cast<double>(static_cast<Real>(from.previous_step));
  if (!(from.previous_step > 0)) return;
  state.previous_positions.upload(narrowed<Real>(as_vectors(from.previous_positions)));
  state.previous_velocities.upload(narrowed<Real>(as_vectors(from.previous_velocities)));
}

template <class Real>
void ClothInStep<Real>::note() {
  if (before_.positions.size() == 0)
    before_ = empty_state(node_count(), state.multipliers.size(), state.plastic.size());
  copy(state, before_);
}

template <class Real>
void ClothInStep<Real>::begin_step() {
  copy(state, work);
  forgets_ = false;
}

template <class Real>
void ClothInStep<Real>::begin_part(double h) {
  step_ = h;
  if (!has_history()) return;
  const IntegratorCoefficients<double> now = cpu::coefficients(integrator_, h, work.previous_step);
  rate_ = now.rate;
  const auto extrapolate = [&](const Buffer<Vec3<Real>>& value, const Buffer<Vec3<Real>>& previous,
                               Buffer<Vec3<Real>>& to) {
    kernels_.extrapolate_nodes(device_.queue(), {.memory = static_cast<Real>(now.memory),
                                                 .now = value.view(),
                                                 .before = previous.view(),
                                                 .extrapolated = to.view()});
  };
  extrapolate(work.positions, work.previous_positions, base_);
  extrapolate(work.velocities, work.previous_velocities, base_velocity_);
}

template <class Real>
double ClothInStep<Real>::memory(double previous_step) const {
  return has_history() ? cpu::coefficients(integrator_, step_, previous_step).memory : 0;
}

template <class Real>
bool ClothInStep<Real>::forget() {
  forgets_ = true;
  return has_history() && std::exchange(work.previous_step, 0) > 0;
}

template <class Real>
std::vector<Vec3d> ClothInStep<Real>::velocities(bool at_iterate, double h) const {
  const auto widen = [](const Vec3<Real>& v) {
    return Vec3d{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
  };
  std::vector<Vec3<Real>> staging[2];
  std::vector<Vec3d> all;
  if (!at_iterate) {
    const Vec3<Real>* const v = work.velocities.read(staging[0]);
    for (std::size_t i = 0; i < work.velocities.size(); ++i) all.push_back(widen(v[i]));
    return all;
  }
  const Vec3<Real>*const x = iterate.read(staging[0]), *const from = base().read(staging[1]);
  for (std::size_t i = 0; i < iterate.size(); ++i)
    all.push_back((rate_ / h) * (widen(x[i]) - widen(from[i])));
  return all;
}

template <class Real>
void ClothInStep<Real>::write_nodes(const std::vector<NodeValue>& values, Buffer<Vec3<Real>>& to) const {
  std::vector<Vec3<Real>> narrowed_values;
  for (const NodeValue& own : values) narrowed_values.push_back(narrow<Real>(own.value));
  Uploads uploads(device_);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto node = static_cast<std::size_t>(values[i].node);
    uploads.add(&narrowed_values[i], slice(to.view(), node, node + 1));
  }
  uploads.run();
}

template <class Real>
void ClothInStep<Real>::stop_nodes(const std::vector<NodeValue>& positions, std::vector<NodeValue> velocities,
                                   bool forgets) {
  if (forgets) scale(work.multipliers.view(), 0, work.multipliers.view());
  write_nodes(positions, iterate);
  stopped_velocities_ = std::move(velocities);
}

template <class Real>
void ClothInStep<Real>::scale_forces(const ClothState<Real>& from, double factor) {
  const std::size_t forces = layout_.force_count();
  scale(from.multipliers.view(), factor, work.multipliers.view());
  scale(slice(from.contacts.view(), 0, forces), factor, slice(work.contacts.view(), 0, forces));
}

template <class Real>
void ClothInStep<Real>::clear_contact_forces() {
  const ArrayView<Real> forces = slice(work.contacts.view(), 0, layout_.force_count());
  scale(forces, 0, forces);
}

template <class Real>
void ClothInStep<Real>::begin_again(double share) {
  forgets_ = false;
  copy(state, work);
  scale_forces(state, share);
}

template <class Real>
typename ClothInStep<Real>::Accepted ClothInStep<Real>::accept_part() {
  Accepted part{.stopped = {}, .forgot = std::exchange(forgets_, false)};
  if (has_history()) std::swap(work.velocities, work.previous_velocities);
  kernels_.update_velocities(device_.queue(), {.inverse_step = static_cast<Real>(rate_ / step_),
                                               .from = base().view(),
                                               .to = std::as_const(iterate).view(),
                                               .velocities = work.velocities.view()});
  const std::vector<NodeValue> held = std::exchange(stopped_velocities_, {});
  write_nodes(held, work.velocities);
  for (const NodeValue& own : held) part.stopped.push_back(own.node);
  if (has_history()) {
    std::swap(work.positions, work.previous_positions);
    // As lanes keep it.
    work.previous_step =
        part.forgot || !part.stopped.empty() ? 0 : static_cast<double>(static_cast<Real>(step_));
  }
  std::swap(work.positions, iterate);
  return part;
}

template <class Real>
void ClothInStep<Real>::end_step(bool keeps_multipliers) {
  std::swap(state.positions, work.positions);
  std::swap(state.velocities, work.velocities);
  std::swap(state.contacts, work.contacts);
  std::swap(state.plastic, work.plastic);
  std::swap(state.previous_positions, work.previous_positions);
  std::swap(state.previous_velocities, work.previous_velocities);
  std::swap(state.previous_step, work.previous_step);
  if (keeps_multipliers) std::swap(state.multipliers, work.multipliers);
}

template class ClothInStep<float>;
template class ClothInStep<double>;

}  // namespace isocloth
