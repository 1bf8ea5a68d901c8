// The public class: create, step, read, reset, save, load.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/model/scene.hpp"
#include "engine/model/separation.hpp"
#include "host/state/advance_report.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/external_motion.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/node_force.hpp"
#include "host/state/steering.hpp"

namespace isocloth {

class GarmentSolver;
struct IntersectionReport;
struct StepRecord;

/// A running scene. Not thread-safe; distinct objects are independent. One that was moved from is for
/// assignment and destruction alone: all else throws ShapeError.
class Simulation {
 public:
  /// Throws SceneError (validate_scene, require_intersection_free), MeshError, DeviceError.
  explicit Simulation(Scene scene, ExecutionOptions options = {});
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// Advances every garment by scene().step; one report per garment. A garment whose step is lost keeps the
  /// state before it and is frozen; the others go on. Throws Interrupted when the monitor of the options says
  /// stop: everything is then as it was before the call, to the last bit.
  std::vector<StepReport> step();
  /// Does `steps` steps without a return to the caller in between. A report sums iterations and substeps and
  /// holds the worst status, residual, penetration and strain. Throws ShapeError when steps < 0, Interrupted
  /// as step() does: step_index() tells how many steps have then been done, 0 or more.
  std::vector<StepReport> advance(int steps);
  /// Most steps of one advance_at_once(): more than 1 where all garments are stepped in batches on a device,
  /// strain is measured, and nothing is asked between steps.
  int most_steps_at_once() const;
  /// advance() of 1 to most_steps_at_once() steps that tells steps apart (host/state/advance_report.hpp),
  /// shape [garment_count]. Throws ShapeError for another number.
  std::vector<AdvanceReport> advance_at_once(int steps);

  /// Whether each step leaves what it did for take_step_records(), which costs a copy of the state.
  void keep_step_records(bool are_kept);
  /// What the last step did, of every garment (host/state/step_record.hpp); once, and after advance(1).
  std::vector<StepRecord> take_step_records();

  const Scene& scene() const;
  const ExecutionOptions& options() const;
  std::int64_t step_index() const;  ///< number of steps done
  double time() const;              ///< step_index() * scene().step [s]
  std::size_t garment_count() const;
  /// What a garment's motions and files see: its time_offset plus its own steps since its last reset [s].
  double time(std::size_t garment) const;
  bool frozen(std::size_t garment) const;
  GarmentInfo info(std::size_t garment) const;

  /// Positions of the nodes [m], shape [node_count].
  std::vector<Vec3d> positions(std::size_t garment) const;
  /// Velocities of the nodes [m/s], shape [node_count].
  std::vector<Vec3d> velocities(std::size_t garment) const;
  /// Positions of the nodes of every garment [m], shape [garment_count][node_count]; one copy of a batch.
  std::vector<std::vector<Vec3d>> positions() const;
  Measures measure(std::size_t garment) const;
  /// Measures of every garment, shape [garment_count]; one launch for a batch.
  std::vector<Measures> measure() const;
  /// How deep the garment's deepest node starts in an obstacle or body [m]; more than contact.tolerance only
  /// with contact.resolve_initial_penetration.
  double start_penetration(std::size_t garment) const;
  /// How surfaces of obstacles were taken that are no closed ones, a line each.
  const std::vector<std::string>& obstacle_notes() const;
  /// What was done to cloth that would start nearer than its thickness (ContactSettings::initial).
  const Separation& separation() const;
  /// What was found in the scene before cloth was separated: with contact.cloth it is looked for once, here;
  /// null: without contact.cloth.
  const IntersectionReport* start_intersections() const;
  /// Strains of every garment as it is, shape [garment_count]; one launch for those that are stepped
  /// together.
  std::vector<Strain> strains() const;
  /// Force of a contact: p / h^2 (ContactState::force); times rho + h alpha where the mass alone is the
  /// metric (Metric::mass). Those of a step in parts are of its last part. They are as good as the
  /// tolerances: see bench/README.md, Contact with obstacles. Costs a state(garment).
  ContactMeasures contacts(std::size_t garment) const;
  std::vector<ContactMeasures> contacts() const;  ///< of every garment; costs a state() of all at once
  /// Forces of the grippers at the end of the last step. Costs a state(garment).
  HoldMeasures holds(std::size_t garment) const;
  std::vector<HoldMeasures> holds() const;  ///< of every garment, as contacts()
  /// Loads of contacts between cloths on every garment, shape [garment_count]; 0 where cloth meets no cloth.
  /// A contact is shared out to nodes by where its two sides are nearest now; its force is as in contacts().
  /// Costs a state() of every garment.
  std::vector<ClothLoads> cloth_loads() const;
  /// Points at which obstacles and bodies push a garment at the end of its last step; forces are as in
  /// contacts(). Costs a state(garment).
  std::vector<ContactPoint> contact_points(std::size_t garment) const;
  /// What garments do to obstacles and bodies, torques about the origins of their shapes; forces are minus
  /// those of contacts(). Shape [garment_count][obstacles, then bodies]. Costs a state() of every garment.
  std::vector<std::vector<Wrench>> wrenches() const;
  /// Means over the last step of all that pushed each body, without gravity: cloth, obstacles, other bodies;
  /// torques about the origins of their shapes. Shape [body_count]; 0 before the first step.
  std::vector<Wrench> body_wrenches() const;
  /// Poses of the shapes of obstacles, as garments of a world see them that were never reset, then of bodies.
  std::vector<Pose> poses(Index world = Garment::every_world) const;
  /// States of all bodies, shape [body_count].
  std::vector<BodyState> bodies() const;
  /// Sets the states of all bodies. Throws ShapeError for another number of bodies, or axes that are not
  /// orthonormal.
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
  /// Writes what read() reads; each garment once. What else a garment keeps (multipliers, contacts, clock)
  /// stays; motions take pinned nodes back within the next step. Throws ShapeError as read(), and for what is
  /// not finite in the precision of the simulation; nothing has then changed.
  void write(GarmentField field, const std::vector<std::size_t>& garments, ArrayView<const Vec3d> values);
  void write(GarmentField field, ArrayView<const Vec3d> values);

  /// State in and out; set_state throws ShapeError when sizes do not fit. float32 states survive the way
  /// through double unchanged.
  GarmentState state(std::size_t garment) const;
  void set_state(std::size_t garment, const GarmentState& state);
  void set_step_index(std::int64_t step_index);
  /// Goes back to the initial state of the scene at step 0.
  void reset();
  /// Puts some garments back to their initial state; their clocks start again, that of the simulation and the
  /// bodies go on.
  void reset(const std::vector<std::size_t>& garments);

  Snapshot snapshot() const;
  /// Goes back to a snapshot. Throws ShapeError where it is that of another scene: other rest shapes, recipe
  /// or solids. What commands change (fabrics, motions, forces) may be another.
  void restore(const Snapshot& snapshot);

  // Commands, given between steps; they act from the next step on, inside a batch and on a device, too, and
  // have the bits of a scene that said so from the start and came to the same state. reset() and restore() do
  // not take them back. They throw ShapeError for an index that is none and SceneError for a value that
  // validate_scene would refuse; nothing has then changed. Times are those of time(), the clock of the
  // simulation, whatever was reset: what a program steers moves alike for all. What the scene alone has said,
  // of pins, grippers and obstacles, and gusts, each garment sees at its own time(garment), which starts
  // again when it is reset; bodies see obstacles by the clock of the first garment.

  /// Gives a pin another motion; one that has the nodes elsewhere than they are moves them there within the
  /// next step.
  void set_pin_motion(std::size_t garment, std::size_t pin, Motion motion);
  /// Moves the nodes of a pin evenly from where they are to `targets` [m], shape [nodes of the pin], within
  /// `duration` [s]; there they stay.
  void move_pin(std::size_t garment, std::size_t pin, ArrayView<const Vec3d> targets, double duration);
  void set_gripper_motion(std::size_t garment, std::size_t gripper, ObstacleMotion motion);
  /// Closes a gripper: it takes hold in the next step, until it is opened; one that is closed stays so.
  /// close_gripper() and open_gripper() put an end to what the scene has planned from now on.
  void close_gripper(std::size_t garment, std::size_t gripper);
  void open_gripper(std::size_t garment, std::size_t gripper);
  /// For garments of a world, or of all.
  void set_obstacle_motion(std::size_t obstacle, ObstacleMotion motion, Index world = Garment::every_world);
  /// Moves obstacles, for all worlds or some, and grippers evenly from where they are to these poses within
  /// `duration` [s], axes about one axis by the shorter way; then they go on with the velocities of the
  /// targets. 0: they are there at once, whatever is in between. Throws SceneError for an obstacle that would
  /// go farther in a step than it is long, and further than 0.05 m.
  void move_frames(const std::vector<FrameTarget>& targets, double duration);
  /// Says how external bodies move in the next step, and how they give way; in a step for which nothing was
  /// said they rest. Throws ShapeError, see check_external_motion().
  void set_external_motion(const ExternalMotion& motion);
  /// Sets friction of some garments with an obstacle or, by numbers after these, a body.
  void set_friction(std::size_t obstacle, const std::vector<std::size_t>& garments, const Friction& friction);
  /// Sets friction of cloths that meet, each with another and with itself, but for pairs of which the scene
  /// has said it. Throws SceneError without contact.cloth.
  void set_cloth_friction(const Friction& friction);
  /// Sets the velocity of a body's centre of mass [m/s], and its angular velocity along the axes of the world
  /// [rad/s]; a change of the state, not of the scene: reset() and restore() take it back.
  void set_body_velocity(std::size_t body, const Vec3d& velocity, const Vec3d& angular_velocity);
  void set_wind(const Wind& wind);
  /// Moves the slider of a zipper: its seam is closed up to a share of its length from the next step on,
  /// whatever its motion said; a change of the state, not of the scene: reset() and restore() take it back.
  void set_zipper(std::size_t garment, std::size_t zipper, double closed);
  /// Draws a string in or lets it out to a share of its edge's length, > 0, likewise.
  void set_drawstring(std::size_t garment, std::size_t drawstring, double share);
  void set_gravity(std::size_t garment, double gravity);  ///< sets gravity [m/s^2], along -z
  /// Sets forces on the nodes of a garment until they are set anew [N], shape [node_count], or empty: none.
  /// On pinned nodes and those that grippers hold rigidly they do nothing. Not with Metric::mass.
  void set_forces(std::size_t garment, ArrayView<const Vec3d> forces);
  /// Sets the fabric of a garment; terms (bending, springs, drag) may not come or go, nor the thickness
  /// change.
  void set_fabric(std::size_t garment, const Fabric& fabric);
  /// Sets the fabrics of many garments at once, shape [garments]: what those that are stepped together share
  /// is refreshed once, not for each; each garment once. All are refused if one is.
  void set_fabrics(const std::vector<std::size_t>& garments, const std::vector<Fabric>& fabrics);

  /// Sets the numbers that scene().keyframes has to those of the next step, for each garment by its own
  /// clock; step() and advance() do so before each step, and what commands have said of these numbers then
  /// ends.
  void follow_keyframes();

  /// What programs have steered, shape [garment_count].
  const std::vector<Steering>& steering() const;
  /// Takes over what commands have said to another simulation of the same scene, by its scene() and
  /// steering(): fabrics, gravity, forces, motions, holds, friction and wind. At the other's snapshot() both
  /// then go on alike, to the last bit. Throws ShapeError for other numbers of garments, pins, grippers or
  /// obstacles, SceneError as the commands do.
  void take_commands(const Scene& said, const std::vector<Steering>& steering);

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
  void add_force(const std::string& name, ForceFunction function);  ///< adds a force on all garments
  /// Removes a force of add_force(). Throws ShapeError where there is none of that name.
  void remove_force(const std::string& name);
  std::vector<std::string> forces() const;  ///< names of the forces, in the order in which they are asked

 private:
  struct Members;
  /// Throws ShapeError in a simulation that was moved from.
  Members& members() const;
  std::unique_ptr<Members> members_;
};

}  // namespace isocloth
