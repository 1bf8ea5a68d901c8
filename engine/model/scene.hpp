// A scene as plain data: what is simulated, how long, how exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/material/fabric.hpp"
#include "engine/material/wind.hpp"
#include "engine/mesh/driven_fasteners.hpp"
#include "engine/mesh/mesh.hpp"
#include "engine/model/force_slope.hpp"
#include "engine/model/gripper.hpp"
#include "engine/model/integrator.hpp"
#include "engine/model/keyframes.hpp"
#include "engine/model/rigid_body.hpp"
#include "engine/model/sewing.hpp"
#include "engine/shapes/motion.hpp"
#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// A set of nodes of one garment with a prescribed motion.
struct Pin {
  std::string name;          ///< for messages
  std::vector<Index> nodes;  ///< distinct; a node belongs to one pin at most
  Motion motion;
  /// Time over which the nodes are brought from where they start to where the motion has them [s], >= 0.
  double ramp = 0;
};

/// One piece of cloth.
struct Garment {
  std::string name;
  Mesh mesh;                              ///< rest shape, valid (validate_mesh)
  std::vector<Vec3d> initial_positions;   ///< [m], shape [node_count]; empty: the rest shape
  std::vector<Vec3d> initial_velocities;  ///< [m/s], shape [node_count]; empty: zero
  Fabric fabric;
  std::vector<Pin> pins;
  std::vector<Gripper> grippers;
  std::vector<Zipper> zippers;          ///< seams of its mesh that open and close
  std::vector<Drawstring> drawstrings;  ///< bands of its mesh that are drawn in and let out
  Sewing sewing;                        ///< how the stitches of its mesh are drawn together and hold
  std::optional<double> gravity;        ///< [m/s^2], along -z; none: that of the scene
  double time_offset = 0;               ///< time of its motions at step 0 [s]
  std::vector<Vec3d> forces;            ///< from outside, constant [N], shape [node_count]; empty: none
  /// How `forces` go with places and velocities, shape [node_count]; empty: not at all. With them `forces`
  /// must have a value for each node.
  std::vector<ForceSlope> force_slopes;
  double pressure = 0;  ///< behind the cloth over that in front of it [Pa]
  /// Cloths of one world meet each other (ContactSettings::cloth), those of every_world meet all.
  Index world = every_world;
  static constexpr Index every_world = -1;
};

/// Whether a force from outside acts on the nodes of a garment, by kernels/forces/node_forces.hpp.
inline bool has_node_forces(const Garment& garment) {
  return garment.fabric.drag.exists() || !garment.forces.empty() || garment.pressure != 0;
}

enum class ProjectionMethod { proximal_newton, fast_projection };
/// The inner product of the projection: B = rho M + h (alpha M + beta K) + h^2 kappa K, or the mass M alone
/// (the paper's choice, for which the rest state depends on the step when kappa > 0).
enum class Metric { implicit_b, mass };
enum class OnViolation { stop, go_on };

/// What of a step's matrix is factorised: all of it, or what lies in the pattern of rows and contacts.
/// Bending beyond that, two rings of elements around a node where rows of edges couple one, is then left to
/// conjugate gradients with that factor: faster where bending is soft. automatic: see
/// ResolvedScene::factor().
enum class FactorPattern { automatic, whole, rows };

/// What a step may cost at most, for scenes in real time. A step that has spent it ends where it is, whatever
/// its tolerances say, in one part and without passing through cloth: it is cut (StepStatus::cut).
struct StepBudget {
  int solves = 0;  ///< linear solves, as many everywhere: results have the same bits; 0: no bound
  double milliseconds =
      0;  ///< wall time: results depend on the machine; a solve is always taken; 0: no bound
  bool exists() const { return solves > 0 || milliseconds > 0; }
};

/// When garments that rest are no longer stepped, until something near them moves.
struct SleepSettings {
  double after = 0;     ///< time for which a garment and all that it touches must rest [s]; 0: never
  double speed = 5e-3;  ///< speed below which every node must stay [m/s], > 0
};

/// How each step is brought back to the isometric surfaces.
struct ProjectionSettings {
  ProjectionMethod method = ProjectionMethod::proximal_newton;
  Metric metric = Metric::implicit_b;
  Integrator integrator = Integrator::automatic;
  FactorPattern factorization = FactorPattern::automatic;
  /// Share of the residual, in the norm of the preconditioned one, that conjugate gradients leave: what is
  /// left the next iteration takes up.
  double cg_tolerance = 1e-2;
  double tolerance = 1e-3;  ///< bound on the largest |scaled row| at the end of a step, > 0
  /// Bound on the largest force on a node that nothing balances at the end of a step, over the weight of the
  /// node (its inertia times 9.81 m/s^2 where it has none), >= 0; 0: none. Of proximal_newton.
  double force_tolerance = 0;
  int max_iterations = 0;  ///< per (sub)step; 0: see ResolvedScene
  /// Relative softness of the rows at the start of a step; 0: 1e-6 (proximal_newton), 1e-7 (fast_projection),
  /// 1e-4 in single precision.
  double eps = 0;
  /// A step that misses its tolerance is tried again in 2, 4, ... parts up to this; 0: see ResolvedScene.
  int max_substeps = 0;
  StepBudget budget;
  SleepSettings sleep;
  OnViolation on_violation = OnViolation::stop;
};

enum class ImpulseMode {
  substeps,  ///< many short parts of a step, a fixed number of sweeps in each: known price
  converge,  ///< sweeps until the tolerance is met
};
enum class VelocityPass { automatic, on, off };

/// How impulses hold the rows; read by the recipes of the impulse solvers.
struct ImpulseSettings {
  ImpulseMode mode = ImpulseMode::substeps;
  double tolerance = 1e-2;  ///< bound on the largest |d/l - 1| (isometry: |scaled row|) after a step, > 0
  int substeps = 0;         ///< equal parts of a step; 0: see ResolvedScene::impulse
  int max_sweeps = 0;       ///< per part; 0: 1 (substeps), 10,000 (converge)
  double relaxation =
      0;  ///< factor on every impulse, below 2; 0: 1 (substeps), chosen and watched (converge)
  /// Impulses that also take the rows' velocities away (3); automatic: in mode `converge`, and on isometry
  /// rows, whose short parts would crumple the sheet without it.
  VelocityPass velocity_pass = VelocityPass::automatic;
  int max_solves = 8;  ///< impulse_system: linear solves per part before it falls back on sweeps, >= 1
  OnViolation on_violation = OnViolation::go_on;
};

/// Friction of one garment with one obstacle or body, in place of the obstacle's or body's own.
struct FrictionPair {
  std::size_t garment = 0, obstacle = 0;  ///< numbers in the scene; bodies are counted after the obstacles
  Friction friction;
};
/// Friction of one body with an obstacle or another body, in place of the geometric mean of both.
struct BodyFrictionPair {
  std::size_t body = 0, other = 0;  ///< numbers in the scene; `other`: as FrictionPair::obstacle
  Friction friction;
};

/// Friction of one garment with another one or with itself, in place of ContactSettings::cloth_friction.
struct ClothFrictionPair {
  std::size_t garment = 0, other = 0;  ///< numbers in the scene, in any order
  Friction friction;
};

/// What becomes of cloth that starts nearer to cloth than its thickness, without passing through it: it is
/// pushed apart in the first steps and keeps the speed, or parted before them and starts at rest.
enum class ClothStart { refuse, separate };

/// How cloth is kept out of obstacles and of other cloth.
struct ContactSettings {
  /// By how much, at most a hundredth of it, the thickness of cloth at an obstacle or body may differ from
  /// that of the force; how much nearer than it must be cloth may come to cloth, a body to another [m], > 0.
  double tolerance = 1e-4;
  /// Further distance between cloth and obstacles, beyond half the thickness of the cloth [m], >= 0.
  double margin = 0;
  std::vector<FrictionPair> pairs;
  std::vector<BodyFrictionPair> body_pairs;
  /// A cloth that starts inside of an obstacle is an error, or is moved out within initial_penetration_time.
  bool resolve_initial_penetration = false;
  double initial_penetration_time =
      0.5;                  ///< [s], >= 0; 0: at once, half of what is left of a depth in each step
  bool cloth = false;       ///< cloth meets itself and other cloth
  Friction cloth_friction;  ///< friction of cloth with cloth
  std::vector<ClothFrictionPair> cloth_pairs;
  ClothStart initial = ClothStart::refuse;  ///< with either, cloth must not pass through cloth at the start
};

struct Scene {
  std::string name;
  std::string recipe = "membrane";  ///< see engine/model/recipe.hpp
  std::vector<Garment> garments;
  std::vector<Obstacle> obstacles;  ///< each garment meets all of them, at the time of its own clock
  std::vector<RigidBody> bodies;    ///< fall, and meet all garments
  Wind wind;                        ///< felt by fabrics with drag, at the time of the garment's clock
  double gravity = 9.8;             ///< [m/s^2], along -z (the value of the paper)
  double step = 0.01;               ///< h [s], > 0
  double duration = 1;              ///< [s], > 0; a whole number of steps
  double frame_interval = 0;        ///< [s], a whole number of steps; 0: every step
  std::uint64_t seed = 0;           ///< seed of everything random in the scene
  ProjectionSettings projection;
  ImpulseSettings impulse;
  ContactSettings contact;
  std::vector<Keyframes> keyframes;  ///< numbers that change while time runs; each number once
};

/// Throw SceneError as validate_scene does; messages begin with `key`.
void validate_motion(const std::string& key, const Motion& motion, std::size_t node_count);
void validate_fabric(const std::string& key, const Fabric& fabric);
/// Checks the `forces` of a garment of the scene; throws SceneError, messages begin with `key`.
void validate_forces(const std::string& key, const std::vector<Vec3d>& forces, std::size_t node_count,
                     const Scene& scene);
/// Checks the `force_slopes` of a garment; throws SceneError, messages begin with `key`.
void validate_force_slopes(const std::string& key, const Garment& garment);

/// Checks everything that the members promise (ranges, sizes, pins distinct and in range, motions well
/// formed, at least one garment, a known recipe, duration and frame_interval whole steps); throws
/// SceneError naming the key path in the notation of the scene file, e.g. "garments[0].fabric.density", or
/// MeshError for an invalid mesh.
void validate_scene(const Scene& scene);

/// Checks one garment as validate_scene does; messages begin with `key`.
void validate_garment(const Garment& garment, const std::string& key);

/// Whether cloth that starts inside of obstacles or bodies is eased out of them over a time.
bool eases_out(const Scene& scene);

/// Where the garment's nodes start: initial_positions, else the rest shape.
inline const std::vector<Vec3d>& start_positions(const Garment& garment) {
  return garment.initial_positions.empty() ? garment.mesh.positions : garment.initial_positions;
}

/// Whether every node is pinned: a surface that moves and deforms as its pins do. Where cloth meets cloth
/// (ContactSettings::cloth) it is a body, which cloth meets and which is no cloth itself: nothing of it is
/// measured, it may pass through itself and other such surfaces.
bool is_kinematic(const Garment& garment);

/// Where the i-th node of a pin of the garment is at time t of the garment's clock [s]: its motion, and with
/// a ramp T, at the time s T after the start, s < 1, further by (1 - s^2 (3 - 2 s)) (start - motion at the
/// start).
Vec3d pin_position(const Garment& garment, const Pin& pin, std::size_t i, double t);
/// The same as a view, which neither may outlive: position(start of the i-th node, i, t).
PinView view_of(const Garment& garment, const Pin& pin);

/// The largest distance between where nodes of a pin start and where its motion has them then [m], and the
/// place of that node in the pin.
struct PinGap {
  double distance = 0;
  std::size_t i = 0;
};
PinGap find_pin_gap(const Garment& garment, const Pin& pin);

/// Throws SceneError where a pin without a ramp would jump in the first step: by more than 1 % of the mean
/// element size (mean_element_size); names the node and the distance. What is less is the rounding of a file.
void require_pins_at_start(const Garment& garment, const std::string& key);

/// Whether anything but gravity acts on the nodes from outside: obstacles, grippers, air, forces.
bool has_surroundings(const Scene& scene);

/// Steps in the scene's duration, and per frame.
std::int64_t step_count(const Scene& scene);
std::int64_t steps_per_frame(const Scene& scene);

}  // namespace isocloth
