// Projection onto the isometric surfaces, kernel by kernel.
#pragma once

#include <memory>
#include <utility>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/projection/projection_system.hpp"
#include "host/projection/rest_watch.hpp"
#include "host/projection/step_gradient.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/state/execution_options.hpp"
#include "host/state/garment_field.hpp"
#include "host/state/garment_state.hpp"
#include "host/state/measures.hpp"
#include "host/state/step_report.hpp"
#include "host/state/strain.hpp"
#include "host/surroundings/surroundings.hpp"
#include "kernels/launch/side_by_side.hpp"
#include "kernels/projection/step_controller.hpp"

namespace isocloth {

/// A garment in a part of a step, for what acts between garments.
template <class Real>
struct NodesInStep {
  ArrayView<const Vec3<Real>> start, iterate;  ///< x^n and the iterate [m], shape [node_count]
  ArrayView<const Real> inverse_masses;        ///< 1 / m_i, 0: pinned or held rigidly [1/m^2]
  Real inertia{};                              ///< inertia of the metric [kg/m^2]
  FreeNodesView free;
  ArrayView<Real> blocks;            ///< blocks of the matrix, as assembled
  ArrayView<Vec3<Real>> right_side;  ///< right side of the system [kg m], shape [free_count]
};

/// Time stepping of one garment: unconstrained step, then iterations of
/// (B + G+ + J^T (eps D)^-1 J) d = -B (phi_j - phi~) - J^T (lambda_j + C_j / (eps D))   (proximal Newton), or
/// of (B + J^T (eps D)^-1 J) d = -J^T C_j / (eps D)   (fast projection; Coltraro 2022, section 7.1, in nodal
/// form) until max |C| <= tolerance, and no sample of the cloth is deeper in an obstacle than its own. Its
/// states are a ClothInStep, its rows RowsInStep, its system a ProjectionSystem; derivatives of a step are
/// those of StepAdjoint.
template <class Real>
class ProjectionSolver final : public GarmentSolver {
 public:
  /// `obstacles` of the scene, null: none.
  ProjectionSolver(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                   StepSolver choice = StepSolver::direct);

  /// Takes note: after each iteration the host decides on the next, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) override;
  std::size_t threads() const override { return threads_for(garment_.mesh.positions.size()); }
  std::vector<AdvanceReport> finish() override;
  void undo() override;
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<Strain> strains() override;
  /// strains() in two steps, so that one wait serves several garments.
  void begin_strains(Downloads& downloads);
  std::vector<Strain> end_strains();
  Inspection inspect(std::size_t member, double t, double h) override;
  void keep_parts(bool are_kept) override { keeps_parts_ = are_kept; }
  std::vector<SubstepRecord> take_parts(std::size_t) override { return std::exchange(parts_, {}); }
  void refresh() override;
  void refresh_motions() override { wake(); }
  void wake() override { rest_.wake(); }
  void forget_step_before(const std::vector<std::size_t>&) override { cloth_.state.previous_step = 0; }
  GarmentInfo info(std::size_t member) const override;
  std::vector<FieldView> views(GarmentField field) override;
  GarmentState state(std::size_t) const override { return state_of(cloth_.state); }
  void check(std::size_t member, const GarmentState& state) const override;
  void set_state(std::size_t member, const GarmentState& state) override;

  /// Finds where obstacles are in the steps of start(); returns a report that no step has been added to yet.
  AdvanceReport begin_request();
  /// Adds a step to a sum; a lost one freezes the garment.
  void note(const StepReport& report, AdvanceReport& sum);
  bool frozen() const { return has_failed(lost_); }

  // Sleep, see SleepSettings.
  /// Whether it has rested for long enough, and nothing disturbs it in a step of the request but, perhaps,
  /// cloth. A driven garment may where none of its nodes moves.
  bool may_sleep(int number);
  /// Whether it sleeps in the step that begins.
  void sleep(bool sleeps) { rest_.sleep(sleeps); }
  /// Adds a step that it has slept through.
  void sleep_through(AdvanceReport& sum);
  /// Whether it stays as it is in this step.
  bool stands() const { return frozen() || rest_.is_asleep(); }
  bool is_asleep() const { return rest_.is_asleep(); }
  /// A box around where its nodes are when a step of the request begins and where they may be when it ends,
  /// with some room [m].
  BoundingBox box(int number) const;
  /// Goes to where a step ended, with rows and contacts as they are there and multipliers that are the stress
  /// of places, for StepAdjoint. The state is then that before the step.
  void go_to_end(const FinishedStep& step);

  // The phases of a step, see StepController and StepParticipant.
  void begin_step(int number);
  bool begin_substep(const Substep<double>& part);
  /// Lets the part that begin_substep() has begun, and the next, take no notice of the step before; returns
  /// whether this one did.
  bool forget() { return cloth_.forget(); }
  /// Launches what evaluates rows and finds contacts at the iterate; rows().residual() and contact_fit() tell
  /// how it is once rows().fetch() has run.
  void assess(int iteration);
  /// How deep the cloth lies, of the last assess().
  ContactFit contact_fit() const;
  /// Solves for the correction at the iterate.
  bool solve() { return system_.solve(settings_.cg_tolerance); }
  double depenetration_depth() { return contacts_.depenetration_depth(rows_.evaluator()); }
  /// from_cloth: what other cloth exerts on the nodes [N], where parts are kept; empty: nothing.
  void end_part(const PartEnd<double, bool>& end, double residual, std::vector<Vec3d> from_cloth = {});
  bool keeps_parts() const { return keeps_parts_; }
  bool has_diverged(double residual);
  /// Launches what has_escaped() tells of the iterate, to be fetched.
  void launch_escape(Downloads& downloads) { launch_excess(cloth_.iterate, true, downloads); }
  /// Whether the iterate is farther away than anything but its pins takes a cloth
  /// (kernels/core/divergence.hpp).
  bool has_escaped() const { return *excess_at_ != 0; }
  void end_step(bool is_kept, const StepReport& report);

  RowsInStep<Real>& rows() { return rows_; }
  const RowsInStep<Real>& rows() const { return rows_; }
  ProjectionSystem<Real>& system() { return system_; }
  const GarmentContacts<Real>& contacts() const { return contacts_; }
  ObstacleTable<Real>& obstacles() { return surroundings_.obstacles; }

  // For what acts between garments.
  using NodeValue = typename ClothInStep<Real>::NodeValue;
  /// See ClothInStep.
  std::vector<Vec3d> velocities(bool at_iterate, double h) const { return cloth_.velocities(at_iterate, h); }
  /// See ClothInStep.
  void fetch_velocities(Downloads& downloads, std::vector<Vec3<Real>>& staging, const Vec3<Real>*& at) const {
    cloth_.fetch_velocities(downloads, staging, at);
  }
  /// See ClothInStep.
  void stop_nodes(const std::vector<NodeValue>& positions, std::vector<NodeValue> velocities, bool forgets) {
    cloth_.stop_nodes(positions, std::move(velocities), forgets);
  }
  NodesInStep<Real> nodes_in_step();
  CoupledMember<Real> coupled_member() { return system_.member(); }
  const NodalPattern& pattern() const { return arrays_.pattern; }
  double element_size() const { return arrays_.element_size; }  ///< mean size of an element [m]
  /// Where the last matrix had a pivot that was not positive, -1: nowhere.
  Index bad_node() const {
    return system_.bad_block() >= 0 ? arrays_.pattern.free_nodes[system_.bad_block()] : -1;
  }
  ThreadPool* pool() const { return device_.queue().pool; }

 private:
  using Rows = RowsInStep<Real>;
  bool has_strains() const { return !(scene_.contact.cloth && is_kinematic(garment_)); }
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
    bool undoable = false;
  };
  GarmentState state_of(const ClothState<Real>& cloth) const;
  /// Sets where the pinned nodes are at t [s].
  void set_targets(double t);
  /// Whether any pinned node moves between two times [s].
  bool pins_move(double from, double to) const;
  double fastest() const;  ///< greatest speed of a node [m/s]
  /// Finds out whether a node is there farther from where the step began than excess_displacement() has it;
  /// with_pins: and farther than any pin went.
  void launch_excess(const Buffer<Vec3<Real>>& to, bool with_pins, Downloads& downloads);

  const Device& device_;
  const Garment& garment_;
  const ResolvedScene resolved_;
  const Scene& scene_;
  const ProjectionSettings settings_;
  GarmentArrays<Real> arrays_;
  Surroundings<Real> surroundings_;
  GarmentContacts<Real> contacts_;
  std::vector<Vec3<Real>> host_targets_;
  Buffer<Vec3<Real>> targets_;  ///< where pinned nodes are when the step ends [m], shape [node_count]
  ClothInStep<Real> cloth_;
  RowsInStep<Real> rows_;
  ProjectionSystem<Real> system_;
  GarmentMeasures<Real> measures_;
  StrainMeter<Real> strain_meter_;
  RestWatch rest_;
  double rest_before_ = 0;  ///< RestWatch::time() when an undoable request began [s]
  bool has_views_ = false;  ///< others may wait for the device's queue in ways of their own

  Request request_;
  Real reach_;            ///< see excess_displacement() [m]
  Buffer<Index> excess_;  ///< see FindExcess
  std::vector<Index> excess_staging_;
  const Index* excess_at_ = nullptr;
  StepStatus lost_ = StepStatus::converged;  ///< what froze the garment, else converged
  StepStatus lost_before_ = StepStatus::converged;
  bool is_undoable_ = false;
  bool keeps_parts_ = false;
  std::vector<SubstepRecord> parts_;  ///< parts of the last step, where they are kept
};

}  // namespace isocloth
