// What is read from a garment and written back.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/core/flat_vectors.hpp"
#include "host/garment/contact_state.hpp"
#include "host/garment/state_views.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {

template <class Real>
std::vector<Measures> ProjectionSolver<Real>::measure(std::size_t, std::size_t) {
  if (scene_.contact.cloth && is_kinematic(garment_)) return {Measures{}};
  return measures_.measure(rest_view(arrays_), flat(std::as_const(state_.positions).view()),
                           flat(std::as_const(state_.velocities).view()),
                           {.stiffness = row_stiffness_.view(),
                            .bounds = row_bounds_.view(),
                            .curves = row_curves_.view(),
                            .curve_numbers = static_cast<Index>(row_curves_.size()),
                            .measure = resolved_.recipe.strain},
                           {&garment_}, 0, 1, scene_.gravity);
}

template <class Real>
std::vector<FieldView> ProjectionSolver<Real>::views(GarmentField field) {
  const StateArrays<Real> state{flat(state_.positions.view()).data(),
                                flat(state_.velocities.view()).data(),
                                state_.contacts.view().data(),
                                1,
                                1,
                                state_.positions.size(),
                                contacts_.layout()};
  return state_views(device_, state, field, [this] { return strains(), strain_meter_.view(); });
}

template <class Real>
std::vector<Strain> ProjectionSolver<Real>::strains() {
  if (scene_.contact.cloth && is_kinematic(garment_)) return {Strain{}};
  return strain_meter_.measure(flat(std::as_const(state_.positions).view()));
}

template <class Real>
GarmentInfo ProjectionSolver<Real>::info(std::size_t) const {
  GarmentInfo info{.node_count = arrays_.node_count(),
                   .face_count = arrays_.face_count(),
                   .row_count = static_cast<Index>(rows_.row_count()),
                   .free_node_count = arrays_.pattern.free_count(),
                   .memory_bytes = arrays_.memory_bytes() + nodal_solver_->memory_bytes() +
                                   rows_.memory_bytes() + coupled_.memory_bytes() + matrix_rows_.bytes() +
                                   translations_.bytes() + measures_.memory_bytes() +
                                   strain_meter_.memory_bytes() + contacts_.memory_bytes() +
                                   surroundings_.memory_bytes(),
                   .solver = std::string(nodal_solver_->name())};
  auto add = [&info](const auto&... buffers) { ((info.memory_bytes += buffers.bytes()), ...); };
  add(state_, work_, before_, row_stiffness_, mismatches_, row_bounds_, bound_growth_, row_curves_,
      row_viscosity_, strains_, quadratic_multipliers_, iterate_, predicted_, targets_, momentum_, base_,
      base_velocity_, stiffness_, stitch_stiffness_, stitch_rests_, blocks_, right_side_, correction_,
      row_forces_);
  return info;
}

template <class Real>
GarmentState ProjectionSolver<Real>::state(std::size_t) const {
  return state_of(state_);
}

template <class Real>
GarmentState ProjectionSolver<Real>::state_of(const ClothState<Real>& cloth) const {
  GarmentState state;
  const auto coordinates = [](const Buffer<Vec3<Real>>& vectors) {
    const auto all = vectors.download();
    return as_numbers(all.data(), all.size());
  };
  state.positions = coordinates(cloth.positions);
  state.velocities = coordinates(cloth.velocities);
  const auto multipliers = cloth.multipliers.download(), contacts = cloth.contacts.download();
  state.multipliers.assign(multipliers.begin(), multipliers.end());
  set_contacts({contacts.begin(), contacts.end()}, contacts_.layout(), state);
  state.previous_step = cloth.previous_step;
  if (state.previous_step > 0) {
    state.previous_positions = coordinates(cloth.previous_positions);
    state.previous_velocities = coordinates(cloth.previous_velocities);
  }
  set_lost(lost_, state);
  return state;
}

template <class Real>
void ProjectionSolver<Real>::check(std::size_t, const GarmentState& state) const {
  const ContactStateLayout layout = contacts_.layout();
  check_state(state, garment_.name,
              {.nodes = state_.positions.size(),
               .rows = rows_.row_count(),
               .contacts = layout.contacts,
               .eased = layout.eased,
               .obstacles = surroundings_.obstacles.size(),
               .holds = layout.holds,
               .grippers = garment_.grippers.size(),
               .has_history = has_history(),
               .meets_cloth = scene_.contact.cloth},
              static_cast<double>(std::numeric_limits<Real>::max()));
}

template <class Real>
void ProjectionSolver<Real>::set_state(std::size_t, const GarmentState& state) {
  lost_ = lost_by(state);
  const auto narrow = [](const std::vector<double>& all) {
    return std::vector<Real>(all.begin(), all.end());
  };
  state_.positions.upload(narrowed<Real>(as_vectors(state.positions)));
  state_.velocities.upload(narrowed<Real>(as_vectors(state.velocities)));
  state_.multipliers.upload(narrow(state.multipliers));
  state_.contacts.upload(narrow(flat_contacts(state, contacts_.layout())));
  state_.previous_step = static_cast<double>(static_cast<Real>(state.previous_step));
  if (!(state.previous_step > 0)) return;
  state_.previous_positions.upload(narrowed<Real>(as_vectors(state.previous_positions)));
  state_.previous_velocities.upload(narrowed<Real>(as_vectors(state.previous_velocities)));
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
