// The swinging sheets of Bender and Bayer, section 4, and what a run of one tells.
#pragma once

#include <array>
#include <string>

#include "engine/model/recipe.hpp"
#include "host/simulation/simulation.hpp"

namespace isocloth::bench {

/// A square sheet of 1 m, rho = delta = 1 kg/m^2, g = 9.81 m/s^2, two corners of one side static.
struct SheetCase {
  Index side = 10;          ///< nodes a side
  double pin_ratio = 0.95;  ///< distance of the pins at the start over that at rest, in (2/pi, 1]
  double inclination = 0;   ///< of the sheet at the start, downwards from the pinned side [degrees]
  bool springs = true;  ///< one diagonal per quad and bend springs, k and c in proportion to a node's mass
  double moving_nodes =
      0.1;           ///< share of the free nodes that start with a random velocity below 1 m/s a side
  double alpha = 0;  ///< [kg/(m^2 s)]
  std::uint64_t seed = 1;
};

/// The scene with the recipe `bender_iterative`, h = 1/30 s. A sheet whose pins are nearer than at rest
/// starts as a circular arc between them, hanging down, in which every edge has its length at rest.
Scene swinging_sheet(const SheetCase& sheet);

/// The same without springs and random velocities, inclined by 45 degrees, alpha = 0.5.
Scene sheet_from_45_degrees(Index side);

/// Over the edges of a mesh, from positions alone.
struct EdgeStrain {
  double largest = 0;  ///< of ||d| / l - 1|; infinite where not finite
  double mean = 0;
};
class EdgeLengths {
 public:
  explicit EdgeLengths(const Mesh& mesh);
  EdgeStrain strain(const std::vector<Vec3d>& positions) const;
  std::size_t count() const { return edges_.size(); }
  double rest_length(std::size_t edge) const { return lengths_[edge]; }

 private:
  std::vector<std::array<Index, 2>> edges_;
  std::vector<double> lengths_;  ///< [m]
};

/// Of one run of a scene with one garment.
struct SheetFigures {
  int steps = 0;              ///< done
  double cpu_seconds = 0;     ///< of the calling thread in the steps
  double sweeps_mean = 0;     ///< per step, all parts together; for systems: linear solves
  int sweeps_max = 0;         ///< of one step
  int parts = 0;              ///< of a step
  int fallbacks = 0;          ///< steps, or parts of them, that a system left to sweeps
  int missed = 0;             ///< steps that the solver says missed their tolerance
  int contradicted = 0;       ///< steps whose status the positions contradict (recipes with edge rows)
  double strain_final = 0;    ///< largest over edges, from positions, after the last step
  double strain_worst = 0;    ///< the same over all steps
  double strain_mean = 0;     ///< mean over steps of the largest over edges
  double residual_worst = 0;  ///< what the solver says
  bool finite = true;         ///< false: the run ended early

  double step_seconds() const { return cpu_seconds / (steps > 0 ? steps : 1); }
  double real_time_factor(double h) const { return h / step_seconds(); }
};

/// At most `steps` steps, no more once they took `budget` seconds of processor time.
SheetFigures run_sheet(const Scene& scene, int steps, double budget,
                       Precision precision = Precision::float64);

}  // namespace isocloth::bench
