// The air around the cloth.
#pragma once

#include <cstdint>
#include <string>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Drag of still or moving air on each element, per area: with the slip w = u - v, u the velocity of the air,
/// its part w_n = (n . w) n across and w_t = w - w_n along an element of normal n,
///   (q_n + 1/2 rho C_n |w_n|) w_n + (q_t + 1/2 rho C_t |w_t|) w_t,   rho: Wind::density.
/// Linear in speed is the drag of Provot 1995 and Volino 2009, section 4. Quadratic is that of flow that
/// separates (Taylor, Proc. R. Soc. A 214, 1952: what comes across and along acts by itself); C_n of a square
/// plate is 1.17, C_t that of friction on both sides, some hundredths (Hoerner, Fluid-Dynamic Drag, 1965).
struct Drag {
  double normal = 0;                  ///< q_n [kg/(m^2 s)], >= 0
  double tangential = 0;              ///< q_t [kg/(m^2 s)], >= 0
  double normal_coefficient = 0;      ///< C_n, >= 0
  double tangential_coefficient = 0;  ///< C_t, >= 0
  bool exists() const { return normal > 0 || tangential > 0 || is_quadratic(); }
  bool is_quadratic() const { return normal_coefficient > 0 || tangential_coefficient > 0; }
};

/// Force per area [Pa] of the slip w [m/s] on an element of unit normal n, in air of that density [kg/m^3].
Vec3d drag_per_area(const Drag& drag, double air_density, const Vec3d& n, const Vec3d& w);

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
  double density = 1.2;  ///< density of the air, of quadratic drag and around panels [kg/m^3], > 0
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
