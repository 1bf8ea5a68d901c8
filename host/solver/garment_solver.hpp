// One garment in motion: its rows, its matrix, its state.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/model/resolved_scene.hpp"
#include "engine/model/taut_pins.hpp"
#include "host/state/advance_report.hpp"
#include "host/state/external_motion.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_record.hpp"
#include "host/state/strain.hpp"

namespace isocloth {

class Device;

/// What the kernels compute on the way through one step, in double whatever their precision.
struct Inspection {
  std::vector<double> masses;               ///< m_i [m^2], shape [node_count]
  std::vector<Index> bending_begin;         ///< rows of K, shape [node_count + 1]; empty: no bending
  std::vector<Index> bending_columns;       ///< columns of the entries of K, shape [entries of K]
  std::vector<double> bending;              ///< K [1/m^2], shape [entries of K]
  std::vector<double> predicted;            ///< phi~ [m], shape [node_count, 3]
  std::vector<double> start;                ///< phi_0 [m], shape [node_count, 3]
  std::vector<double> row_values;           ///< C(phi_0), shape [row_count]
  std::vector<double> row_d;                ///< D = diag(J W J^T) at phi_0 [1/(kg m^2)], shape [row_count]
  std::vector<std::array<Index, 2>> pairs;  ///< nodes that some row couples, lower first
  std::vector<double> stiffness;            ///< G+ of each pair [kg]; empty: the method has none
  std::vector<Index> free_nodes;            ///< nodes that are free, ascending
  std::vector<double> correction;           ///< d of the first iteration, clamped [m], shape [free_count, 3]
  std::vector<double> multipliers;          ///< multipliers after that iteration [kg m^2], shape [row_count]
};

/// Adds a step to the sum of those before it.
void add_up(const StepReport& step, StepReport& sum);

/// Time of a garment, by counting steps so that it does not depend on how many are taken at once.
struct Clock {
  double offset = 0;       ///< time at which steps are counted from [s]
  std::int64_t steps = 0;  ///< number of steps since then
  double lead = 0;         ///< by how much it is ahead of the clock of the simulation [s]
  double time(double h, int ahead) const { return offset + static_cast<double>(steps + ahead) * h; }
  auto operator<=>(const Clock&) const = default;
  Moment moment(double h, int ahead) const { return {time(h, ahead), time(h, ahead) - lead}; }
};

/// Most steps of one start(): bounds the memory of targets on the device.
constexpr int largest_start = 64;

/// A state for one of the garments of a solver.
struct MemberState {
  std::size_t member = 0;
  const GarmentState* state = nullptr;
};

/// One garment, or several that step together, of either precision on either backend. Steps, clocks and
/// resets of one do not show in the others, bit for bit.
class GarmentSolver {
 public:
  virtual ~GarmentSolver() = default;
  virtual std::size_t size() const { return 1; }
  /// Most steps of one start() of this solver.
  virtual int most_steps() const { return largest_start; }
  /// Begins `steps` steps of h [s], at most most_steps(), of every member that is not frozen; one clock per
  /// member, shape [size()]. undoable: undo() may follow. Nothing else may be asked of the solver before
  /// finish(). Garments on a device run on while the next solver starts.
  virtual void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable = false) = 0;
  /// Most steps of one start_measured(); 0: strains are measured by strains(), between steps.
  virtual int most_measured_steps() const { return 0; }
  /// start() of steps whose strains are measured, each at its end; tearing: what tears each member, shape
  /// [size()]. Nothing is undone.
  virtual void start_measured([[maybe_unused]] const std::vector<Clock>& clocks, [[maybe_unused]] double h,
                              [[maybe_unused]] int steps,
                              [[maybe_unused]] const std::vector<Tearing>& tearing) {}
  /// CPU threads that its steps have work for. What several solvers do may be done by several threads at
  /// once.
  virtual std::size_t threads() const = 0;
  /// Ends the request; returns one report per member. A step that misses its tolerance is tried again in
  /// parts if settings allow. A lost step leaves the state as it was and freezes the member. Where the
  /// device's monitor says stop, it throws Interrupted or returns reports that are worth nothing; only undo()
  /// may follow.
  virtual std::vector<AdvanceReport> finish() = 0;
  /// Puts everything back as it was before an undoable start(), whatever became of that and of finish().
  virtual void undo() = 0;
  /// Whether the steps of a request can end before they are done.
  virtual bool can_stop() const { return true; }
  /// Measures of `count` members from `first` on, shape [count].
  virtual std::vector<Measures> measure(std::size_t first, std::size_t count) = 0;
  /// Strains of every member as it is, shape [size()].
  virtual std::vector<Strain> strains() = 0;
  /// Whether the ends of the parts of steps are kept from now on.
  virtual void keep_parts(bool) {}
  /// Parts of a member's last step of the last request; none where the solver keeps none, or the step was
  /// lost.
  virtual std::vector<SubstepRecord> take_parts(std::size_t) { return {}; }
  /// Predicts the step from t to t + h [s] and does one iteration from there, with every quantity kept; the
  /// state stays as it was. Throws NumericalError when the matrix cannot be factorised.
  virtual Inspection inspect(std::size_t member, double t, double h) = 0;
  /// Takes note that fabrics, gravity or whether there are forces (Garment::forces) have changed; throws
  /// SceneError where a step cannot bear them.
  virtual void refresh() = 0;
  /// Takes note that friction between cloths has changed.
  virtual void refresh_cloth_friction() {}
  /// refresh() where fabrics and gravity of these members alone have changed.
  virtual void refresh_members(const std::vector<std::size_t>&) { refresh(); }
  /// Takes note that motions of pins have changed.
  virtual void refresh_motions() {}
  /// Wakes all members that sleep, after changes that no refresh() tells of: of the air, of what a program
  /// wrote.
  virtual void wake() {}
  /// Lets the next step of these members take no notice of the one before, whose motion is no longer theirs.
  virtual void forget_step_before(const std::vector<std::size_t>&) {}
  virtual GarmentInfo info(std::size_t member) const = 0;
  /// Where the field of the members lies, each in one view at most; FieldView::garments are their numbers.
  virtual std::vector<FieldView> views(GarmentField field) = 0;
  /// Positions, velocities, multipliers and `frozen`; the clock is kept elsewhere.
  virtual GarmentState state(std::size_t member) const = 0;
  /// States of all members, shape [size()]; of a batch one copy of each of its arrays.
  virtual std::vector<GarmentState> states() const;
  /// Throws ShapeError unless set_state() can take the state.
  virtual void check(std::size_t member, const GarmentState& state) const = 0;
  virtual void set_state(std::size_t member, const GarmentState& state) = 0;
  /// set_state() of several members, which copies as states() does.
  virtual void set_states(const std::vector<MemberState>& states);
  /// Loads of contacts between cloths on every member, forces times h^2 [kg m], shape [size()]; empty arrays
  /// where cloth meets no cloth.
  virtual std::vector<ClothLoads> cloth_loads() const { return std::vector<ClothLoads>(size()); }
  /// States of the scene's bodies, where the solver has them.
  virtual std::vector<BodyState> bodies() const { return {}; }
  virtual void set_bodies(const std::vector<BodyState>&) {}
  /// Says how external bodies move in the next step; checked (host/bodies/external_bodies.hpp).
  virtual void set_external(const ExternalMotion&) {}
  /// What bodies felt in the last step, torques about the origins of their shapes; shape [body_count].
  virtual std::vector<Wrench> body_wrenches() const { return {}; }

  /// Takes one step of h [s] from t [s] on of a garment that is alone in its solver.
  StepReport step(double t, double h) {
    start({{.offset = t, .steps = 0}}, h, 1);
    return finish().front().total;
  }
  GarmentState state() const { return state(0); }
};

/// Says in the state what froze the garment; converged: nothing.
inline void set_lost(StepStatus lost, GarmentState& state) {
  state.frozen = has_failed(lost);
  state.diverged = lost == StepStatus::diverged;
}
/// What froze a garment of that state, else converged.
inline StepStatus lost_by(const GarmentState& state) {
  if (!state.frozen) return StepStatus::converged;
  return state.diverged ? StepStatus::diverged : StepStatus::non_finite;
}

/// Sizes that the state of a garment must have.
struct StateSizes {
  std::size_t nodes = 0, rows = 0;
  /// Numbers of contacts and of eased samples, and of obstacles that there are.
  std::size_t contacts = 0, eased = 0, obstacles = 0;
  std::size_t holds = 0, grippers = 0;  ///< numbers of nodes that may be held, and of grippers that there are
  bool has_history = false;             ///< a step before may be remembered
  bool meets_cloth = false;             ///< contacts between cloths may be kept, any number of them
  std::size_t plastic = 0;              ///< number of plastic strains
};
/// Throws ShapeError unless the arrays of `state` have these sizes, hold no number beyond `largest`, name
/// obstacles and grippers that exist, and the clock is not negative.
void check_state(const GarmentState& state, const std::string& garment, const StateSizes& sizes,
                 double largest);
/// The last step up to which every step has a time of its own.
constexpr std::int64_t last_step_index = std::int64_t{1} << 53;

}  // namespace isocloth
