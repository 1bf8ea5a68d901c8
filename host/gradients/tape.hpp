// Derivatives of a loss of a run by what the run began with and was told: reverse mode, step by step.
#pragma once

#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/core/fields.hpp"
#include "host/cloth_collision/contact_warm_start.hpp"
#include "host/projection/step_gradient.hpp"
#include "host/simulation/simulation.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/step_report.hpp"

namespace isocloth {

/// Of a loss by what a garment's run began with and was told.
struct RunGradient {
  std::vector<Vec3d> positions;   ///< by the initial places [1/m], shape [node_count]
  std::vector<Vec3d> velocities;  ///< by the initial velocities [s/m], shape [node_count]
  /// By where pinned nodes are after each step [1/m], 0: free nodes, shape [step_count][node_count].
  std::vector<std::vector<Vec3d>> targets;
  /// By forces on nodes during each step (Simulation::set_forces) [1/N], shape [step_count][node_count].
  std::vector<std::vector<Vec3d>> forces;
  /// By numbers of the fabric, under their names in a scene: those that are not 0, and rho, delta, alpha.
  std::vector<std::pair<std::string, double>> fabric;
  double gravity = 0;  ///< by the garment's gravity [s^2/m]
  /// By where obstacles of the scene and grippers of the garment are at the start and after each step, shape
  /// [step_count + 1][count]; of obstacles through all garments that may meet.
  std::vector<std::vector<PoseGradient>> obstacles, grippers;
  /// By the static and the dynamic coefficient of the garment's friction with each obstacle.
  std::vector<std::array<double, 2>> friction;
  /// By the dynamic coefficients of friction between all cloths that may meet, all of them together; the
  /// static ones say no more than which contacts stick.
  double cloth_friction = 0;
  /// Steps that end where cloth is about to buckle: what pushes is left out of their second derivatives, or
  /// there would be no gradient.
  int buckling_steps = 0;
};

/// How contacts of a garment, those that push, changed in a step. Each is a place where motion is not smooth,
/// and where a gradient says what it is on the side that the run took.
struct ContactChanges {
  /// Contacts that push after the step and did not before, and the other way; those of two garments count
  /// with the first.
  int began = 0, ended = 0;
  int stuck = 0, slid = 0;  ///< of those with obstacles that go on: which slid and stick, and the other way
  static constexpr auto fields() {
    using C = ContactChanges;
    return std::tuple{Field{"began", &C::began}, Field{"ended", &C::ended}, Field{"stuck", &C::stuck},
                      Field{"slid", &C::slid}};
  }
  bool operator==(const ContactChanges&) const = default;
};

/// Takes a simulation's steps and remembers their states, then goes back through them. The simulation must
/// outlive it; what other code does to it between steps (commands that move pins, obstacles and grippers,
/// forces) is seen, a change of fabric, gravity or friction refused.
///
/// Every step is differentiated as if it had converged exactly (StepAdjoint::gradient): derivatives are
/// those of the motion for projection.force_tolerance -> 0, and differ from differences of runs by about what
/// the balance leaves. By stiffnesses they are differences of the balance of forces, exact to 1e-6.
class Tape {
 public:
  /// Throws SceneError, naming the key, for what has no derivative here: impulses and fast projection, metric
  /// mass, single precision; bodies, air, pressure, seams, strain limits, cloth that starts inside of
  /// obstacles, and forces that the program computes (Simulation::add_force).
  explicit Tape(Simulation& simulation);

  /// Simulation::step(). Throws NumericalError for a step that is lost, misses its tolerance, is taken in
  /// parts or holds cloth back from cloth, which is then not on the tape; SceneError where a fabric, gravity
  /// or friction has changed or a force has been added.
  std::vector<StepReport> step();
  std::size_t step_count() const { return told_.size(); }
  /// Of a garment after so many steps [m], shape [node_count].
  std::vector<Vec3d> positions(std::size_t garment, std::size_t step) const;
  std::vector<Vec3d> velocities(std::size_t garment, std::size_t step) const;
  /// Of each obstacle on a garment after each step, shape [step_count][obstacle].
  std::vector<std::vector<Wrench>> wrenches(std::size_t garment) const;
  /// Of each step, shape [step_count]. Throws ShapeError for a garment that is none.
  std::vector<ContactChanges> contact_changes(std::size_t garment) const;

  /// loss: dL/dx, dL/dv and, but of the start, those by wrenches(), of the states, shape [step_count + 1];
  /// empty vectors are zeros, and of what else a state keeps nothing is to be said. Throws ShapeError for
  /// other sizes, NumericalError where it is not finite, Interrupted when the simulation's monitor says stop.
  RunGradient gradient(std::size_t garment, const std::vector<StateGradient>& loss) const {
    return gradient(garment, loss, garment);
  }
  /// Of a loss of one garment's states by what another, which it may have met, began with and was told; 0:
  /// they may not meet.
  RunGradient gradient(std::size_t garment, const std::vector<StateGradient>& loss, std::size_t by) const;

 private:
  const GarmentState& state(std::size_t garment, std::size_t step) const;
  ExecutionOptions single_options() const;
  /// Numbers of the garments that may meet this one, and its own.
  std::vector<std::size_t> met_by(std::size_t garment) const;
  /// Forces of contacts between these after so many steps.
  ContactWarmStart cloth_forces(const std::vector<std::size_t>& group, std::size_t step) const;
  /// A garment alone, with what acted on it.
  Scene scene_of(std::size_t garment) const;
  FinishedStep finished(std::size_t garment, std::size_t step) const;
  /// Lets obstacles stand still that do so in all steps, and others be where FinishedStep says.
  void stop_obstacles(Scene& scene, std::size_t garment) const;

  Simulation& simulation_;
  std::vector<Fabric> fabrics_;
  std::vector<double> gravities_;
  std::vector<std::vector<double>>
      frictions_;  ///< static and dynamic, of obstacles, then of cloths; shape [garment][number]
  std::vector<std::vector<GarmentState>> states_;  ///< shape [garment][step_count + 1]
  /// What a step was told, of each garment.
  struct Told {
    double time = 0;                               ///< when it began [s]
    std::vector<SolidMotion> obstacles, grippers;  ///< see FinishedStep
  };
  std::vector<std::vector<Told>> told_;  ///< shape [step_count][garment]
};

}  // namespace isocloth
