#include "host/garment/contact_state.hpp"

namespace isocloth {
namespace {

/// Calls visit(rows of the state, field of a row, where its numbers begin) for every field of the layout.
template <class State, class Visit>
void for_each_array(State& state, const ContactStateLayout& at, const Visit& visit) {
  visit(state.contacts, &ContactState::force, at.forces());
  visit(state.holds, &HoldState::force, at.hold_forces());
  visit(state.contacts, &ContactState::obstacle, at.obstacles());
  visit(state.contacts, &ContactState::mode, at.modes());
  visit(state.contacts, &ContactState::slip, at.slips());
  visit(state.contacts, &ContactState::uv, at.points());
  visit(state.holds, &HoldState::gripper, at.holders());
  visit(state.holds, &HoldState::local_position, at.hold_positions());
  visit(state.eased, &EasedState::obstacle, at.eased_obstacles());
  visit(state.eased, &EasedState::depth, at.eased_depths());
}

}  // namespace

std::vector<double> no_contacts(const ContactStateLayout& layout) {
  GarmentState none;
  none.contacts.resize(layout.contacts);
  none.holds.resize(layout.holds);
  none.eased.resize(layout.eased);
  return flat_contacts(none, layout);
}

std::vector<double> flat_contacts(const GarmentState& state, const ContactStateLayout& layout) {
  std::vector<double> flat(layout.size());
  for_each_array(state, layout, [&](const auto& rows, auto field, std::size_t at) {
    for (const auto& row : rows)
      for_each_number(row.*field, [&](const auto& number) { flat[at++] = static_cast<double>(number); });
  });
  return flat;
}

void set_contacts(const std::vector<double>& flat, const ContactStateLayout& layout, GarmentState& state) {
  state.contacts.resize(layout.contacts);
  state.holds.resize(layout.holds);
  state.eased.resize(layout.eased);
  for_each_array(state, layout, [&](auto& rows, auto field, std::size_t at) {
    for (auto& row : rows)
      for_each_number(row.*field,
                      [&]<class Number>(Number& number) { number = static_cast<Number>(flat[at++]); });
  });
}

}  // namespace isocloth
