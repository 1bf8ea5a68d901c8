// The static equilibrium of the cloth of a scene, by pseudo-transient continuation.
#pragma once

#include "host/simulation/simulation.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

struct EquilibriumSettings {
  double tolerance = 1e-3;  ///< largest force on a node that is not balanced, over its weight
  double longest_step = 1;  ///< longest step [s]
  std::int64_t most_steps = 2000;
};

/// (rho / h + alpha) |v| over the weight per area, of the node for which it is largest: what moved it in a
/// step from standstill. velocities: of the nodes of all garments [m/s], one after another.
double largest_imbalance(const Scene& scene, const std::vector<Vec3d>& velocities);

/// Throws SceneError naming what the search cannot do: bodies, grippers, motions, gusts, impulses.
void require_equilibrium(const Scene& scene);

/// Goes downhill: steps of backward Euler, each from standstill,
///   minimum over x of E(x) + |x - x_n|^2 / (2 h^2) in the norm of mass and damping,
/// which become longer as long as they converge quickly (pseudo-transient continuation; Kelley, Keyes 1998).
/// What moves a node in such a step is the force on it that nothing balances,
///   (rho / h + alpha) |x - x_n| / h = |F| / m,
/// and it rests where that is at most `tolerance` of its weight per area (without gravity: of rho 9.81
/// m/s^2).
class EquilibriumSearch {
 public:
  /// The simulation, which must outlive the search, is replaced as its steps change. Throws SceneError, see
  /// require_equilibrium().
  EquilibriumSearch(Simulation& simulation, const EquilibriumSettings& settings);
  /// What a scene's steps must be converged to, so that strains stand for balanced stresses: the least of its
  /// own tolerance and tolerance delta g dx / k of each garment with elastic rows, dx^2 the area of an
  /// element.
  static double step_tolerance(const Scene& scene, const EquilibriumSettings& settings);

  /// Takes one step; one that does not converge is taken back and tried again shorter.
  std::vector<StepReport> step();
  bool has_converged() const { return residual_ <= settings_.tolerance; }
  /// Largest unbalanced force over weight after the last step, infinite before the first.
  double residual() const { return residual_; }

 private:
  void change_step(double h, double tolerance);

  Simulation& simulation_;
  const EquilibriumSettings settings_;
  double residual_;
  bool has_final_tolerance_ = false;  ///< steps have step_tolerance()
  int quick_steps_ = 0;
};

}  // namespace isocloth
