// What garments of impulses are asked for and told between steps.
#include <algorithm>
#include <limits>

#include "engine/core/flat_vectors.hpp"
#include "host/impulse/impulse_garments.hpp"

namespace isocloth {

template <class Real>
GarmentState ImpulseGarments<Real>::state(std::size_t member) const {
  const std::size_t nodes = arrays_.node_count(), first = member * nodes;
  std::vector<Vec3d> positions;
  std::vector<Vec3<Real>> velocities;
  const Vec3d* const x = positions_.read(first, nodes, positions);
  const Vec3<Real>* const v = velocities_.read(first, nodes, velocities);
  GarmentState state;
  state.positions = as_numbers(x, nodes);
  state.velocities = as_numbers(v, nodes);
  state.contacts = contacts_.state(member);
  state.eased = contacts_.eased(member);
  state.holds = holds_.state(member);
  state.plastic_strains = springs_.state(member);
  set_lost(lost_[member], state);
  return state;
}

template <class Real>
void ImpulseGarments<Real>::check(std::size_t member, const GarmentState& state) const {
  check_state(state, garments_[member]->name,
              {.nodes = static_cast<std::size_t>(arrays_.node_count()),
               .contacts = contacts_.contact_count(),
               .eased = contacts_.no_eased().size(),
               .obstacles = scene_.obstacles.size(),
               .holds = holds_.hold_count(),
               .grippers = garments_[member]->grippers.size(),
               .meets_cloth = scene_.contact.cloth,
               .plastic = springs_.strain_count()},
              static_cast<double>(std::numeric_limits<Real>::max()));
}

template <class Real>
void ImpulseGarments<Real>::set_state(std::size_t member, const GarmentState& state) {
  const std::size_t nodes = arrays_.node_count(), first = member * nodes;
  const auto put = [&](auto& buffer, const auto& values) {
    buffer.edit(first, nodes, [&](auto* own) { std::copy(values.begin(), values.end(), own); });
  };
  put(positions_, as_vectors(state.positions));
  put(velocities_, narrowed<Real>(as_vectors(state.velocities)));
  contacts_.set_state(member, state.contacts, state.eased);
  holds_.set_state(member, state.holds);
  springs_.set_state(member, state.plastic_strains);
  lost_[member] = lost_by(state);
}

template class ImpulseGarments<float>;
template class ImpulseGarments<double>;

}  // namespace isocloth
