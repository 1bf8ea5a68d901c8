// The air around the cloth.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Drag of still or moving air on each element (Provot 1995; Volino 2009, section 4), per area:
/// q_n (n . (u - v)) n + q_t (u - v - (n . (u - v)) n), u: velocity of the air, n: normal of the element.
struct Drag {
  double normal = 0;      ///< q_n [kg/(m^2 s)], >= 0
  double tangential = 0;  ///< q_t [kg/(m^2 s)], >= 0
  bool exists() const { return normal > 0 || tangential > 0; }
};

/// What the air does to cloth: drag on each element by Drag of its fabric, or potential flow around each
/// sheet (engine/models/air, host/docs/AIR.md).
enum class WindModel { drag, panels };

/// Velocity of the air, the same everywhere: u(t) = velocity (1 + gusts g(t)). g is a sum of eight sines of
/// equal size whose frequencies lie half an octave apart around 1 / gust_period, phases random from the
/// scene's seed: its root mean square is 1.
struct Wind {
  Vec3d velocity;          ///< mean velocity of the air [m/s]
  double gusts = 0;        ///< root mean square of the gusts in parts of the mean, >= 0
  double gust_period = 1;  ///< [s], > 0
  WindModel model = WindModel::drag;
  double density = 1.2;  ///< density of the air that flows around panels [kg/m^3], > 0
  /// Permeability of the cloth to air that flows around panels: velocity through it per pressure [m/(s Pa)],
  /// >= 0.
  double permeability = 0;
  int wake_rows = 40;  ///< rows of the wake of panels that are kept, one a step; 0: quasi-steady flow
};

constexpr int most_wake_rows = 10000;

/// u(t) [m/s] at the scene's time t [s].
Vec3d wind_velocity(const Wind& wind, std::uint64_t seed, double t);

/// Throws SceneError; messages begin with `key`.
void validate_wind(const Wind& wind, const std::string& key);

}  // namespace isocloth
