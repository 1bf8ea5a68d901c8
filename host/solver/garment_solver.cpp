#include "host/solver/garment_solver.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "kernels/contact/contact_arrays.hpp"

namespace isocloth {

void add_up(const StepReport& step, StepReport& sum) {
  add_by_rule(Further::step, step, sum);
  if (step.bad_node >= 0) sum.bad_node = step.bad_node;
}

std::vector<GarmentState> GarmentSolver::states() const {
  std::vector<GarmentState> all;
  for (std::size_t member = 0; member < size(); ++member) all.push_back(state(member));
  return all;
}

void GarmentSolver::set_states(const std::vector<MemberState>& states) {
  for (const MemberState& each : states) set_state(each.member, *each.state);
}

void check_state(const GarmentState& state, const std::string& garment, const StateSizes& sizes,
                 double largest) {
  const auto require = [&](bool is_so, const auto&... found_and_expected) {
    if (!is_so) throw ShapeError(text("garment \"", garment, "\": ", found_and_expected...));
  };
  const std::size_t coordinates = 3 * sizes.nodes,
                    previous = sizes.has_history && state.previous_step > 0 ? coordinates : 0;
  const std::size_t expected[] = {
      coordinates,    coordinates, sizes.rows,
      sizes.contacts, sizes.eased, sizes.holds,
      previous,       previous,    sizes.meets_cloth ? state.cloth_contacts.size() : 0,
      sizes.plastic};
  std::size_t count = 0;
  for_each_field<GarmentState>([&](const char* name, auto member) {
    if constexpr (requires { (state.*member).size(); }) {
      const std::size_t found = (state.*member).size();
      require(count < std::size(expected) && found == expected[count], name, ": found ", found,
              " values, expected ", expected[count]);
      ++count;
    }
  });
  if (const auto found = find_beyond(state, largest))
    require(false, "found ", *found, ", expected a finite number in the precision of the simulation");
  const auto require_number = [&](const char* name, std::size_t i, Index found, std::size_t below) {
    require(found >= -1 && found < static_cast<Index>(below), name, ": found number ", found, " at ", i,
            ", expected -1 or one less than ", below);
  };
  for (std::size_t c = 0; c < state.contacts.size(); ++c) {
    require_number("contacts", c, state.contacts[c].obstacle, sizes.obstacles);
    const ContactMode mode = state.contacts[c].mode;
    require(mode >= ContactMode::none && mode <= ContactMode::slide_on, "contacts: found mode ",
            static_cast<int>(mode), " at ", c, ", expected one of ContactMode");
  }
  for (std::size_t i = 0; i < state.eased.size(); ++i) {
    require_number("eased", i, state.eased[i].obstacle, sizes.obstacles);
    require(state.eased[i].depth >= 0, "eased: found depth ", state.eased[i].depth, " at ", i,
            ", expected >= 0");
  }
  for (std::size_t i = 0; i < state.holds.size(); ++i)
    require_number("holds", i, state.holds[i].gripper, sizes.grippers);
  require(state.previous_step >= 0, "previous_step: found ", state.previous_step, ", expected >= 0");
  require(sizes.has_history || state.previous_step == 0, "previous_step: found ", state.previous_step,
          ", expected 0 with an integrator that remembers no step");
  require(state.rest_time >= 0, "rest_time: found ", state.rest_time, ", expected >= 0");
  require(state.step_index >= 0 && state.step_index <= last_step_index, "step_index: found ",
          state.step_index, ", expected 0 to ", last_step_index);
}

}  // namespace isocloth
