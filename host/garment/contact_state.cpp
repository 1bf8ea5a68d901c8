#include "host/garment/contact_state.hpp"

#include <algorithm>
#include <array>

namespace isocloth {
namespace {

/// A field of the layout, and its place in the rows of a GarmentState.
struct Field {
  std::vector<double> GarmentState::*rows;
  std::size_t row_width, first, width;  ///< numbers of a row that go into the field: [first, first + width)
  std::size_t begin;                    ///< in the layout
};
std::array<Field, 7> fields(const ContactStateLayout& at) {
  return {{{&GarmentState::contacts, contact_width, 2, 3, at.forces()},
           {&GarmentState::holds, hold_width, 4, 3, at.hold_forces()},
           {&GarmentState::contacts, contact_width, 0, 1, at.obstacles()},
           {&GarmentState::contacts, contact_width, 1, 1, at.modes()},
           {&GarmentState::contacts, contact_width, 5, 2, at.points()},
           {&GarmentState::holds, hold_width, 0, 1, at.holders()},
           {&GarmentState::holds, hold_width, 1, 3, at.places()}}};
}

}  // namespace

std::vector<double> no_contacts(const ContactStateLayout& layout) {
  std::vector<double> flat(layout.size());
  const auto begin = flat.begin();
  std::fill_n(begin + static_cast<std::ptrdiff_t>(layout.obstacles()), layout.contacts, -1.0);
  std::fill_n(begin + static_cast<std::ptrdiff_t>(layout.holders()), layout.holds, -1.0);
  return flat;
}

std::vector<double> flat_contacts(const GarmentState& state, const ContactStateLayout& layout) {
  std::vector<double> flat(layout.size());
  for (const Field& field : fields(layout)) {
    const std::vector<double>& rows = state.*field.rows;
    for (std::size_t i = 0; i < rows.size() / field.row_width; ++i)
      for (std::size_t k = 0; k < field.width; ++k)
        flat[field.begin + i * field.width + k] = rows[i * field.row_width + field.first + k];
  }
  return flat;
}

void set_contacts(const std::vector<double>& flat, const ContactStateLayout& layout, GarmentState& state) {
  state.contacts.assign(contact_width * layout.contacts, 0.0);
  state.holds.assign(hold_width * layout.holds, 0.0);
  for (const Field& field : fields(layout)) {
    std::vector<double>& rows = state.*field.rows;
    for (std::size_t i = 0; i < rows.size() / field.row_width; ++i)
      for (std::size_t k = 0; k < field.width; ++k)
        rows[i * field.row_width + field.first + k] = flat[field.begin + i * field.width + k];
  }
}

}  // namespace isocloth
