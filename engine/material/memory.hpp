// What cloth remembers of being bent, sheared and pulled: friction between its threads, and plastic flow.
//
// A law p(x) of rows (engine/material/stress_curve.hpp; of hinges x is the curvature) has two of Prandtl's
// elements beside it, springs in series with friction (Prandtl 1928; Iwan 1966), so that the stress is
//   (1 - s) p(x) + k_1 q_1 + k_2 q_2,  q_i = x - x_i,
// x_i the strain at which the element has no stress: its plastic strain. It stays while |q_i| is less than
// l_i + g_i |x|, and follows beyond: what is more flows with the time t_i, d x_i / dt = (|q_i| - l_i - g_i
// |x|) / t_i, at once where that is 0. A step of h ends with the q_i of backward Euler, which are those of
// the return mapping: of the trial x - x_i all that is within the limit, and t / (t + h) of what is beyond.
//
// The first element is friction: a closed loop comes back higher than it went by twice k_1 l_1, the
// hysteresis 2HB, 2HG of Kawabata's instruments. The second is plastic flow of the law itself: s is the share
// of the stiffness that yields, k_2 = s, and a strain that was beyond l_2 leaves s (x - l_2) behind:
// kinematic hardening (Prager 1956), in which 1 - s of the stiffness goes on.
#pragma once

#include <vector>

namespace isocloth {

struct Fabric;

/// Numbers of a fabric's memory; all 0: it forgets. Slips are the strains within which friction builds up.
struct FabricMemory {
  /// Moment per width that friction of bending holds [N], half of 2HB; >= 0.
  double bending_friction = 0;
  double bending_slip = 10;  ///< slip of bending [1/m], > 0
  /// Curvature from which on bending is plastic [1/m], >= 0; 0: never.
  double bending_yield = 0;
  double stretch_friction = 0;  ///< force per width that friction along the threads holds [N/m], >= 0
  double stretch_slip = 1e-3;   ///< slip of threads, > 0
  double stretch_yield = 0;     ///< strain of threads from which on it is plastic, >= 0; 0: never
  /// Force per width that friction of shear holds [N/m], half of 2HG, >= 0; and how much more of it per angle
  /// [N/m], >= 0.
  double shear_friction = 0, shear_friction_growth = 0;
  double shear_slip = 4e-3;  ///< slip of shear, > 0
  double shear_yield = 0;    ///< shear from which on it is plastic, >= 0; 0: never
  double hardening = 0.1;    ///< share of a stiffness that is left beyond yield, in [0.01, 1]
  /// Time in which 63 % of what is beyond yield flows [s], >= 0; 0: at once.
  double flow_time = 0;

  bool bends() const { return bending_friction > 0 || bending_yield > 0; }
  bool yields() const { return bending_yield > 0 || stretch_yield > 0 || shear_yield > 0; }
  bool exists() const {
    return bends() || stretch_friction > 0 || stretch_yield > 0 || shear_friction > 0 || shear_yield > 0;
  }
};

/// Elements of a law, and numbers of all: 1 - s, then k, l, g and t of each.
constexpr int memory_elements = 2, memory_numbers = 1 + 4 * memory_elements;

/// The numbers of all laws, in units of their strains and of the stiffness of their rows, shape
/// [RowLaw::count, memory_numbers]; of a fabric that forgets none, or if `always` those of laws alone.
std::vector<double> memory_laws(const Fabric& fabric, bool always = false);

}  // namespace isocloth
