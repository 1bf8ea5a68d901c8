#include "engine/material/wind.hpp"

#include <cmath>
#include <numbers>

#include "engine/core/checks.hpp"
#include "engine/core/enum_check.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"

namespace isocloth {

Vec3d drag_per_area(const Drag& drag, double air_density, const Vec3d& n, const Vec3d& w) {
  const Vec3d across = dot(n, w) * n, along = w - across;
  return (drag.normal + 0.5 * air_density * drag.normal_coefficient * norm(across)) * across +
         (drag.tangential + 0.5 * air_density * drag.tangential_coefficient * norm(along)) * along;
}

Vec3d wind_velocity(const Wind& wind, std::uint64_t seed, double t) {
  if (wind.gusts == 0) return wind.velocity;
  constexpr int sines = 8;
  Random random(seed);
  double sum = 0;
  for (int k = 0; k < sines; ++k) {
    const double frequency = std::exp2(0.5 * k - 0.25 * (sines - 1)) / wind.gust_period;
    const double phase = random.uniform();
    sum += std::sin(2 * std::numbers::pi * (frequency * t + phase));
  }
  return (1 + wind.gusts * std::sqrt(2.0 / sines) * sum) * wind.velocity;
}

void validate_wind(const Wind& wind, const std::string& key) {
  require_enum(key + ".model", wind.model, WindModel::panels);
  require_finite(key + ".velocity", wind.velocity);
  require_not_negative(key + ".gusts", wind.gusts);
  require_positive(key + ".gust_period", wind.gust_period);
  require_positive(key + ".density", wind.density);
  require_not_negative(key + ".permeability", wind.permeability);
  if (wind.wake_rows < 0 || wind.wake_rows > most_wake_rows)
    refuse(key + ".wake_rows", wind.wake_rows, text("0 to ", most_wake_rows));
}

}  // namespace isocloth
