// The public class: create, step, read, reset, save, load.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/core/fields.hpp"
#include "engine/core/monitor.hpp"
#include "engine/model/scene.hpp"
#include "engine/model/separation.hpp"
#include "host/node_force.hpp"
#include "host/strain.hpp"

namespace isocloth {

enum class Precision { float32, float64 };
enum class StepStatus {
  converged,   ///< within the tolerances
  stalled,     ///< missed them; the step counts all the same
  non_finite,  ///< no step: a number overflowed, or a matrix has no factor
  diverged,    ///< no step: stretched or thrown beyond the bounds of kernels/divergence.hpp
};
const char* to_string(StepStatus status);
/// Whether a garment whose step ends so keeps the state before it and is frozen.
constexpr bool is_lost(StepStatus status) { return status >= StepStatus::non_finite; }
const char* to_string(Precision precision);

/// How the steps of a garment are solved.
enum class StepSolver {
  automatic,  ///< by the size of the mesh alone, so that a result does not depend on the batch; large elastic
              ///< ones by conjugate gradients with a factor in single precision
  batched,    ///< whole steps in one launch, garments of one pattern side by side: small meshes
  direct,     ///< kernel by kernel with a multifrontal factorisation: one large mesh at a time
  mixed,      ///< the same with a factor in single precision and refinement to double
  iterative,  ///< the same with preconditioned conjugate gradients instead: less memory, loose tolerances
};
/// Names as in the command's options.
const char* to_string(StepSolver solver);
/// Throws ShapeError for an unknown name.
StepSolver step_solver(const std::string& name);

/// Where and how a simulation computes.
struct ExecutionOptions {
  std::string backend = "cpu";  ///< "cpu" or "cuda"
  Precision precision = Precision::float64;
  StepSolver solver = StepSolver::automatic;
  std::string simd = "";   ///< CPU: "baseline", "avx2" or "avx512"; empty: the widest that the machine has
  int threads = 0;         ///< CPU threads, 0: all cores. Results do not depend on it
  int emulated_block = 0;  ///< for tests: run kernels in blocks of this many concurrent threads; 0: off
  int block_threads = 0;  ///< CUDA: threads per block, 0: what each kernel wants. Results do not depend on it
  Monitor* monitor =
      nullptr;  ///< ends set-up and steps within a second and hears how far they are; null: none
  /// Every step ends with strains in its report, and counts as stalled where pins tear an edge between them:
  /// rigid rows beyond the tolerance, elastic ones beyond a limit of strain (Tearing). Off: reports have
  /// none, and steps of a batch stay on the device until it is done.
  bool measure_strain = true;
};

/// What one step of one garment did.
struct StepReport {
  StepStatus status = StepStatus::converged;
  int iterations = 0;  ///< linear solves and sweeps of all substeps together
  int substeps = 1;
  int fallbacks = 0;    ///< impulse_system: substeps that no linear system could hold, and sweeps did
  double residual = 0;  ///< largest |scaled row| at the end of the step (worst substep), of a lost one, too;
                        ///< infinite: no number
  /// How far the cloth was pressed by an obstacle below its core, that no pressure of fibres takes away, or
  /// is nearer to cloth than it must be, at the end of the step [m]; what is eased out
  /// (contact.push_out_time) is counted as deep as it may be, eased_depth. With impulses, its deepest point
  /// in an obstacle.
  double penetration = 0;
  double compression =
      0;  ///< largest 1 - t / T of the thickness t at an obstacle; see engine/model/compression.hpp
  /// Greatest depth that is left to what started inside of obstacles and is eased out, at the end of the
  /// last step [m].
  double eased_depth = 0;
  Strain strain = {};        ///< at the end of the step; see ExecutionOptions::measure_strain
  Index cloth_contacts = 0;  ///< pairs of nodes, edges and faces of cloth near cloth, of all that meet
  Index cloth_loaded = 0;    ///< contacts that carry a force, of all that meet
  double cloth_force = 0;    ///< greatest force of one of them [N]
  double cloth_gap = 1;      ///< least distance of such a pair over its thickness, 1: none is nearer
  int cg_iterations = 0;     ///< most conjugate gradient iterations of a solve of all that meet
  Index held_back = 0;       ///< nodes held back, because cloth would have passed through cloth
  Index blocked = 0;  ///< of them those of pins, grippers, driven garments that would pass through such
  double wall_seconds = 0;
  Index bad_node = -1;  ///< where the matrix had a pivot that was not positive, -1: nowhere
};

/// Error measures of one garment at one instant.
struct Measures {
  double residual = 0;                ///< largest |scaled row|
  double area_error_total = 0;        ///< Coltraro 2022, (19)
  double area_error_mean = 0;         ///< (20)
  double area_error_dispersion = 0;   ///< (21)
  double area_error_element_max = 0;  ///< largest |(22)|
  double kinetic_energy = 0;          ///< [J], 1/2 rho v^T M v
  double potential_energy = 0;        ///< [J], delta g M z + 1/2 kappa phi^T K phi
  double bending_energy = 0;          ///< the second of these [J]
  double elastic_energy = 0;          ///< of rows that are not rigid [J]
  double hourglass_energy = 0;        ///< of it that of differences of triangles, see MembraneRows [J]
  double seam_opening = 0;            ///< largest distance of nodes sewn together [m]; not of press studs
  Vec3d linear_momentum;              ///< [kg m/s]
  Vec3d angular_momentum;             ///< [kg m^2/s], about the origin
  bool operator==(const Measures&) const = default;
};

/// Contacts of one garment with the obstacles and bodies at the end of its last step.
struct ContactMeasures {
  Index count = 0;            ///< nodes, edges and faces that an obstacle pushes; a node once per obstacle
  Index rubbing = 0;          ///< those that feel friction
  Index sticking = 0;         ///< those that friction holds in place
  Vec3d force;                ///< on the garment, friction included [N]
  std::vector<Vec3d> forces;  ///< the same by each obstacle, then by each body [N]
};

/// What grippers hold of one garment at the end of its last step.
struct HoldMeasures {
  Index count = 0;            ///< held nodes
  Vec3d force;                ///< of all grippers on the garment [N]
  std::vector<Vec3d> forces;  ///< the same by each gripper of the garment [N], shape [gripper_count]
};

/// What contacts between cloths do to one garment at the end of its last step.
struct ClothLoads {
  std::vector<Vec3d> forces;  ///< on its nodes, friction included [N], shape [node_count]
  /// Sums of the sizes of what `forces` adds up [N], same shape: a layer between two others is pressed by
  /// both, and the forces on it cancel.
  std::vector<double> loads;
};

enum class ContactMode : int;  ///< see kernels/contact/contact_arrays.hpp

/// What is kept of a contact from step to step.
struct ContactState {
  Index obstacle = -1;  ///< that is touched, bodies counted after the obstacles; -1: none
  ContactMode mode{};
  Vec3d force;      ///< of the obstacle on the garment times h^2 [kg m]
  double slip = 0;  ///< since it last stuck, in the steps of the projection [m]
  Vec2d place;      ///< (u, v) in its edge or face; impulses find it anew: 0
  static constexpr auto fields() {
    return std::tuple{Field{"obstacle", &ContactState::obstacle}, Field{"mode", &ContactState::mode},
                      Field{"force", &ContactState::force}, Field{"slip", &ContactState::slip},
                      Field{"place", &ContactState::place}};
  }
  bool operator==(const ContactState&) const = default;
};

/// What is kept of a sample that started inside of an obstacle (kernels/contact/easing.hpp).
struct EasedState {
  Index obstacle = -1;  ///< as ContactState::obstacle; -1: none, or out of it by now
  double depth = 0;     ///< at the start, or as deep as it would have been to be where it is now [m]
  static constexpr auto fields() {
    return std::tuple{Field{"obstacle", &EasedState::obstacle}, Field{"depth", &EasedState::depth}};
  }
  bool operator==(const EasedState&) const = default;
};

/// What is kept of a node that grippers may hold.
struct HoldState {
  Index gripper = -1;  ///< of the garment; -1: none
  Vec3d place;         ///< in the gripper's frame [m]
  Vec3d force;         ///< of the gripper on the garment times h^2 [kg m]
  static constexpr auto fields() {
    return std::tuple{Field{"gripper", &HoldState::gripper}, Field{"place", &HoldState::place},
                      Field{"force", &HoldState::force}};
  }
  bool operator==(const HoldState&) const = default;
};

/// What is kept of a contact between cloths.
struct ClothContactState {
  std::int64_t key = 0;  ///< what touches what, see FoundContact
  Vec3d force;           ///< of the second on the first times h^2 [kg m]
  static constexpr auto fields() {
    return std::tuple{Field{"key", &ClothContactState::key}, Field{"force", &ClothContactState::force}};
  }
  bool operator==(const ClothContactState&) const = default;
};

/// What is kept of the potential flow around a sheet (WindModel::panels); all empty: air at rest.
struct AirState {
  std::vector<double> circulations;       ///< of the panels [m^2/s], shape [panel_count]
  std::vector<double> wake_points;        ///< of the lines of the wake [m], shape [rows, columns + 1, 3]
  std::vector<double> wake_circulations;  ///< of its rows, the youngest first [m^2/s], shape [rows, columns]
  std::vector<double> pressures;          ///< behind the panels over that in front of them [Pa]
  std::vector<double> loads;              ///< on the nodes in the last step [N], shape [node_count, 3]
  std::vector<double> velocities;         ///< of the nodes before that step [m/s], shape [node_count, 3]
  static constexpr auto fields() {
    return std::tuple{Field{"circulations", &AirState::circulations},
                      Field{"wake_points", &AirState::wake_points},
                      Field{"wake_circulations", &AirState::wake_circulations},
                      Field{"pressures", &AirState::pressures},
                      Field{"loads", &AirState::loads},
                      Field{"velocities", &AirState::velocities}};
  }
  bool operator==(const AirState&) const = default;
};

/// Everything that a restart needs, bit for bit. Copies, checkpoints and checks go through fields().
struct GarmentState {
  std::vector<double> positions;   ///< [m], shape [node_count, 3]
  std::vector<double> velocities;  ///< [m/s], shape [node_count, 3]
  std::vector<double>
      multipliers;  ///< scaled rows' multipliers of the last step, shape [row_count]; impulses: none
  std::vector<ContactState> contacts;  ///< of the last step; a scene without obstacles has none
  /// One for each contact; a scene without contact.push_out, or at once (contact.push_out_time), has none.
  std::vector<EasedState> eased;
  std::vector<HoldState> holds;  ///< of every node; a garment without grippers has none
  /// The same a step ago, where the integrator remembers it (Integrator::bdf2); empty: there was none.
  std::vector<double> previous_positions, previous_velocities;
  double previous_step = 0;     ///< length of that step [s]; 0: there was none
  std::int64_t step_index = 0;  ///< steps of this garment since its start or last reset: its clock
  bool frozen = false;          ///< a step was lost: the garment keeps the state before it
  bool diverged = false;        ///< frozen: its step diverged, else it was not finite
  /// By keys, each with the first of its two garments; where cloth meets no cloth: none.
  std::vector<ClothContactState> cloth_contacts;
  /// Where springs yield: e_p of structural, shear and bend springs with a free end, each kind in the order
  /// of its pairs (engine/mesh/spring_pairs.hpp); else none.
  std::vector<double> plastic_strains;
  AirState air;
  static constexpr auto fields() {
    using State = GarmentState;
    return std::tuple{Field{"positions", &State::positions},
                      Field{"velocities", &State::velocities},
                      Field{"multipliers", &State::multipliers},
                      Field{"contacts", &State::contacts},
                      Field{"eased", &State::eased},
                      Field{"holds", &State::holds},
                      Field{"previous_positions", &State::previous_positions},
                      Field{"previous_velocities", &State::previous_velocities},
                      Field{"previous_step", &State::previous_step},
                      Field{"step_index", &State::step_index},
                      Field{"frozen", &State::frozen},
                      Field{"diverged", &State::diverged},
                      Field{"cloth_contacts", &State::cloth_contacts},
                      Field{"plastic_strains", &State::plastic_strains},
                      Field{"air", &State::air}};
  }
  bool operator==(const GarmentState&) const = default;
};

/// What can be seen of all garments at once. Forces are times h^2, as in GarmentState: see
/// Simulation::contacts.
enum class GarmentField {
  positions,   ///< [m], (tiles, lanes, nodes, 3)
  velocities,  ///< [m/s], (tiles, lanes, nodes, 3)
  strains,     ///< the numbers of Strain in their order, (tiles, lanes, 1, 11); as of the call of view()
  contact_obstacles,  ///< number of the obstacle, then of the body, -1: none; (tiles, lanes, contacts, 1)
  contact_forces,     ///< on the garment [kg m], (tiles, lanes, contacts, 3)
  hold_forces,        ///< of the grippers on the nodes [kg m], (tiles, lanes, nodes, 3)
};
const char* to_string(GarmentField field);

/// An array in the memory of a backend, as it lies there: what DLPack takes. Cloths that are stepped together
/// lie side by side in vector lanes, so that the cloth of garment garments[c] is [c / lanes, c % lanes, :,
/// :]; what follows the last of them is not to be touched. On a GPU and for single garments there is one
/// lane, and the array is (cloths, nodes, 3) in C order.
struct FieldView {
  void* data = nullptr;                      ///< element [0, 0, 0, 0]
  Precision precision = Precision::float64;  ///< of the elements; impulses keep positions in float64
  std::string backend;                       ///< whose memory it is: "cpu", or "cuda", device 0
  std::array<std::int64_t, 4> shape{};       ///< see GarmentField
  std::array<std::int64_t, 4> strides{};     ///< in elements
  std::vector<std::size_t> garments;         ///< numbers in the scene
};

/// Sizes of one garment's problem.
struct GarmentInfo {
  Index node_count = 0, face_count = 0, row_count = 0, free_node_count = 0;
  std::size_t memory_bytes = 0;  ///< arrays and matrix factor, estimated from their sizes; a batch's part
  std::string solver;            ///< what solves its nodal system
};

/// Where a simulation was: states and clocks of garments, bodies. What it was told is not part of it.
struct Snapshot {
  std::vector<GarmentState> garments;
  std::vector<BodyState> bodies;
  std::int64_t step_index = 0;
  /// Digest of what states belong to: recipe, rest shapes, names of obstacles and bodies; 0: not known, and
  /// not asked for.
  std::uint64_t scene = 0;
};

class GarmentSolver;
struct IntersectionReport;
struct KeptStep;

/// A running scene. Not thread-safe; distinct objects are independent. One that was moved from is for
/// assignment and destruction alone: all else throws ShapeError.
class Simulation {
 public:
  /// Throws SceneError (validate_scene, require_untangled), MeshError, DeviceError.
  explicit Simulation(Scene scene, ExecutionOptions options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// Advances every garment by scene().step; one report per garment. A garment whose step is lost keeps the
  /// state before it and is frozen; the others go on. Throws Interrupted when the monitor of the options says
  /// stop: everything is then as it was before the call, to the last bit.
  std::vector<StepReport> step();
  /// `steps` steps without a return to the caller in between. A report sums iterations and substeps and holds
  /// the worst status, residual, penetration and strain. Throws ShapeError when steps < 0, Interrupted as
  /// step() does: step_index() tells how many steps have then been done, 0 or more.
  std::vector<StepReport> advance(int steps);

  /// Whether each step leaves what it did for take_steps(), which costs a copy of the state.
  void keep_steps(bool are_kept);
  /// What the last step did, of every garment (host/kept_step.hpp); once, and after advance(1).
  std::vector<KeptStep> take_steps();

  const Scene& scene() const;
  const ExecutionOptions& options() const;
  std::int64_t step_index() const;  ///< steps done
  double time() const;              ///< step_index() * scene().step [s]
  std::size_t garment_count() const;
  /// What a garment's motions and files see: its time_offset plus its own steps since its last reset [s].
  double time(std::size_t garment) const;
  bool frozen(std::size_t garment) const;
  GarmentInfo info(std::size_t garment) const;

  std::vector<Vec3d> positions(std::size_t garment) const;   ///< [m], shape [node_count]
  std::vector<Vec3d> velocities(std::size_t garment) const;  ///< [m/s], shape [node_count]
  std::vector<std::vector<Vec3d>> positions() const;         ///< of every garment [m], one copy of a batch
  Measures measure(std::size_t garment) const;
  std::vector<Measures> measure() const;  ///< of every garment, one launch for a batch
  /// How deep its deepest node starts in an obstacle or body [m]; more than contact.tolerance only with
  /// contact.push_out.
  double start_penetration(std::size_t garment) const;
  /// What was done to cloth that would start nearer than its thickness (ContactSettings::initial).
  const Separation& separation() const;
  /// What was found in the scene before that: with contact.cloth it is looked for once, here; null: without.
  const IntersectionReport* start_intersections() const;
  /// Of every garment as it is, shape [garment_count]; one launch for those that are stepped together.
  std::vector<Strain> strains() const;
  /// Force of a contact: p / h^2 (ContactState::force); times rho + h alpha where the mass alone is the
  /// metric (Metric::mass). Those of a step in parts are of its last part. They are as good as the
  /// tolerances: see bench/README.md, Contact with obstacles. Costs a state(garment).
  ContactMeasures contacts(std::size_t garment) const;
  /// Forces of the grippers at the end of the last step. Costs a state(garment).
  HoldMeasures holds(std::size_t garment) const;
  /// Of every garment; 0 where cloth meets no cloth. A contact is shared out to nodes by where its two sides
  /// are nearest now; its force is as in contacts(). Costs a state() of every garment.
  std::vector<ClothLoads> cloth_loads() const;
  /// Of all bodies, shape [body_count].
  std::vector<BodyState> bodies() const;
  /// Throws ShapeError for another number of bodies, or axes that are not orthonormal.
  void set_bodies(const std::vector<BodyState>& states);
  /// The field where it lies, without a copy: one view for each set of garments that are stepped together, in
  /// no certain order; garments without obstacles, bodies or grippers are in none of their views. They
  /// are valid until the next call that steps; strains, until the next that measures them. Positions and
  /// velocities may be written until then, as write() does; whoever does so on a GPU in a stream of its own
  /// waits for it before the next step. A contact without a force is none, whatever its obstacle. Contacts
  /// are those of the nodes, up to three each, then of edges and faces. Forces of pins are not among the
  /// fields: the solvers eliminate pinned nodes and never compute them. Throws ShapeError where no garment
  /// has the field.
  std::vector<FieldView> view(GarmentField field);
  /// Positions or velocities of some garments, or of all, one after another in any order, in double; one copy
  /// from the device for each set of garments that are stepped together. `out`: shape [sum of their node
  /// counts]. Throws ShapeError for another field or size, or a garment that is none.
  void read(GarmentField field, const std::vector<std::size_t>& garments, ArrayView<Vec3d> out) const;
  void read(GarmentField field, ArrayView<Vec3d> out) const;
  /// The other way; each garment once. What else a garment keeps (multipliers, contacts, clock) stays;
  /// motions take pinned nodes back within the next step. Throws ShapeError as read(), and for what is not
  /// finite in the precision of the simulation; nothing has then changed.
  void write(GarmentField field, const std::vector<std::size_t>& garments, ArrayView<const Vec3d> values);
  void write(GarmentField field, ArrayView<const Vec3d> values);

  /// State in and out; set_state throws ShapeError when sizes do not fit. float32 states survive the way
  /// through double unchanged.
  GarmentState state(std::size_t garment) const;
  void set_state(std::size_t garment, const GarmentState& state);
  void set_step_index(std::int64_t step_index);
  /// Back to the initial state of the scene at step 0.
  void reset();
  /// The same for some garments; their clocks start again, that of the simulation and the bodies go on.
  void reset(const std::vector<std::size_t>& garments);

  Snapshot snapshot() const;
  /// Throws ShapeError where the snapshot is that of another scene: other rest shapes, recipe or solids.
  /// What commands change (fabrics, motions, forces) may be another.
  void restore(const Snapshot& snapshot);

  // Commands, given between steps; they act from the next step on, inside a batch and on a device, too, and
  // have the bits of a scene that said so from the start and came to the same state. reset() and restore() do
  // not take them back. They throw ShapeError for an index that is none and SceneError for a value that
  // validate_scene would refuse; nothing has then changed. Times are those of time(garment). Motions of
  // obstacles and gusts are read by each garment at its own time(garment): one that was reset later sees at
  // its time what the others saw at theirs. Bodies see obstacles by the clock of the first garment.

  /// A motion that has the nodes elsewhere than they are moves them there within the next step.
  void set_pin_motion(std::size_t garment, std::size_t pin, Motion motion);
  /// Evenly from where the nodes of the pin are to `targets` [m], shape [nodes of the pin], within `duration`
  /// [s]; there they stay.
  void move_pin(std::size_t garment, std::size_t pin, ArrayView<const Vec3d> targets, double duration);
  void set_gripper_motion(std::size_t garment, std::size_t gripper, ObstacleMotion motion);
  /// Takes hold in the next step, until it is opened; one that is closed stays so. Both put an end to what
  /// the scene has planned from now on.
  void close_gripper(std::size_t garment, std::size_t gripper);
  void open_gripper(std::size_t garment, std::size_t gripper);
  void set_obstacle_motion(std::size_t obstacle, ObstacleMotion motion);
  /// Of the centre of mass [m/s], and along the axes of the world [rad/s]; a change of the state, not of the
  /// scene: reset() and restore() take it back.
  void set_body_velocity(std::size_t body, const Vec3d& velocity, const Vec3d& angular_velocity);
  void set_wind(const Wind& wind);
  void set_gravity(std::size_t garment, double gravity);  ///< [m/s^2], along -z
  /// On the nodes of a garment until they are set anew [N], shape [node_count], or empty: none. On pinned
  /// nodes and those that grippers hold rigidly they do nothing. Not with Metric::mass.
  void set_forces(std::size_t garment, ArrayView<const Vec3d> forces);
  /// Terms (bending, springs, drag) may not come or go, nor the thickness change.
  void set_fabric(std::size_t garment, const Fabric& fabric);
  /// Of many garments at once, shape [garments]: what those that are stepped together share is refreshed
  /// once, not for each; each garment once. All are refused if one is.
  void set_fabrics(const std::vector<std::size_t>& garments, const std::vector<Fabric>& fabrics);

  /// A force of the program's own: from now on `function` is asked before each step what acts on the nodes of
  /// these garments, one call for all whose meshes have the same faces. Calls come from the thread that
  /// steps, one at a time, forces in the order in which they were added; all see the state that the step
  /// begins with. What they say acts throughout the step, as set_forces() would, and adds up with that:
  /// explicit, so that a spring k [N/m] or damper d [N s/m] on a node of mass m is stable for h < 2 sqrt(m /
  /// k) and h < 2 m / d; or, with the slopes of ForceOutput, implicit at any step.
  ///
  /// The state of a simulation knows nothing of it: what the function keeps to itself no reset() or restore()
  /// takes back. What it throws ends advance() as ForceError with its name (Interrupted: as it is), and so
  /// does what it says if that is not finite or of another size; the steps before have then been done, of
  /// this one nothing. It may read the simulation, but not step it. Throws ShapeError for a name that is
  /// there or empty, a garment that is none or there twice, and SceneError with Metric::mass.
  void add_force(const std::string& name, const std::vector<std::size_t>& garments, ForceFunction function);
  void add_force(const std::string& name, ForceFunction function);  ///< on all garments
  /// Throws ShapeError where there is none of that name.
  void remove_force(const std::string& name);
  std::vector<std::string> forces() const;  ///< names, in the order in which they are asked

 private:
  struct Members;
  /// Throws ShapeError in a simulation that was moved from.
  Members& members() const;
  std::unique_ptr<Members> members_;
};

}  // namespace isocloth
