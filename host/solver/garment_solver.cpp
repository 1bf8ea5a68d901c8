#include "host/solver/garment_solver.hpp"

#include <cmath>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {

double start_eps(const ProjectionSettings& settings, Precision precision) {
  if (settings.eps > 0) return settings.eps;
  if (precision == Precision::float32) return 1e-4;
  return settings.method == ProjectionMethod::proximal_newton ? 1e-6 : 1e-7;
}

void check_state(const GarmentState& state, const std::string& garment, const StateSizes& sizes,
                 double largest) {
  auto require = [&](const char* name, const std::vector<double>& values, std::size_t expected) {
    const std::string where = "garment \"" + garment + "\": " + name + ": found ";
    if (values.size() != expected)
      throw ShapeError(where + std::to_string(values.size()) + " values, expected " +
                       std::to_string(expected));
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!(std::abs(values[i]) <= largest))
        throw ShapeError(where + std::to_string(values[i]) + " at " + std::to_string(i) +
                         ", expected a finite number in the precision of the simulation");
  };
  // The first of each `width` values counts something, -1: none.
  auto require_numbers = [&](const char* name, const std::vector<double>& values, std::size_t width,
                             std::size_t count) {
    for (std::size_t i = 0; i < values.size(); i += width)
      if (!(values[i] >= -1 && values[i] < static_cast<double>(count)))
        throw ShapeError("garment \"" + garment + "\": " + name + ": found number " +
                         std::to_string(values[i]) + " at " + std::to_string(i) +
                         ", expected -1 or one less than " + std::to_string(count));
  };
  require("positions", state.positions, 3 * sizes.nodes);
  require("velocities", state.velocities, 3 * sizes.nodes);
  require("multipliers", state.multipliers, sizes.rows);
  require("contacts", state.contacts, contact_width * sizes.contacts);
  require_numbers("contacts", state.contacts, contact_width, sizes.obstacles);
  require("holds", state.holds, hold_width * sizes.holds);
  require_numbers("holds", state.holds, hold_width, sizes.grippers);
  if (state.step_index < 0)
    throw ShapeError("garment \"" + garment + "\": step_index: found " + std::to_string(state.step_index) +
                     ", expected >= 0");
}

}  // namespace isocloth
