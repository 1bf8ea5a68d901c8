// Where the state of garments of one kind lies, as the public face shows it.
#pragma once

#include <vector>

#include "host/memory/field_view.hpp"
#include "host/state/garment_field.hpp"
#include "kernels/samples/contact_state.hpp"

namespace isocloth {

/// Arrays of `cloths`, `lanes` side by side.
template <class Real>
struct StateArrays {
  Real *positions, *velocities, *contacts;
  std::size_t cloths, lanes, nodes;
  ContactStateLayout layout;
};

/// measured_strains(): their view, once measured.
template <class Real, class MeasuredStrains>
std::vector<FieldView> state_views(const Device& device, const StateArrays<Real>& state, GarmentField field,
                                   const MeasuredStrains& measured_strains) {
  const auto of_nodes = [&](Real* data) -> std::vector<FieldView> {
    return {field_view(device, data, state.cloths, state.lanes, 3 * state.nodes, state.nodes, 3)};
  };
  const ContactStateLayout& layout = state.layout;
  const auto of_contacts = [&](std::size_t begin, std::size_t items,
                               std::size_t components) -> std::vector<FieldView> {
    if (items == 0) return {};
    return {field_view(device, state.contacts + begin * state.lanes, state.cloths, state.lanes, layout.size(),
                       items, components)};
  };
  switch (field) {
    case GarmentField::positions:
      return of_nodes(state.positions);
    case GarmentField::velocities:
      return of_nodes(state.velocities);
    case GarmentField::strains:
      return {measured_strains()};
    case GarmentField::contact_obstacles:
      return of_contacts(layout.obstacles(), layout.contacts, 1);
    case GarmentField::contact_forces:
      return of_contacts(layout.forces(), layout.contacts, 3);
    case GarmentField::hold_forces:
      return of_contacts(layout.hold_forces(), layout.holds, 3);
  }
  return {};
}

}  // namespace isocloth
