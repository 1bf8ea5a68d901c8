// Projection onto the isometric surfaces, kernel by kernel.
#pragma once

#include <memory>
#include <utility>

#include "engine/model/recipe.hpp"
#include "engine/model/scene.hpp"
#include "host/garment/reach.hpp"
#include "host/linear/coupled_system.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/projection/garment_contacts.hpp"
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
#include "kernels/projection/integrator.hpp"
#include "kernels/projection/step_controller.hpp"

namespace isocloth {

/// What a garment keeps from step to step.
template <class Real>
struct ClothState {
  /// Positions [m] and velocities [m/s] of the nodes, shape [node_count].
  Buffer<Vec3<Real>> positions, velocities;
  Buffer<Real> multipliers;  ///< lambda [kg m^2], shape [row_count]
  Buffer<Real> contacts;     ///< state of contacts, see ContactStateLayout
  // Of the step before, where the integrator remembers it, shape [node_count] or empty.
  Buffer<Vec3<Real>> previous_positions, previous_velocities;
  double previous_step = 0;  ///< duration of the step before [s], 0: there was none

  std::size_t bytes() const {
    return positions.bytes() + velocities.bytes() + multipliers.bytes() + contacts.bytes() +
           previous_positions.bytes() + previous_velocities.bytes();
  }
};

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
/// form) until max |C| <= tolerance, and no sample of the cloth is deeper in an obstacle than its own.
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
  Inspection inspect(std::size_t member, double t, double h) override;
  void keep_parts(bool are_kept) override { keeps_parts_ = are_kept; }
  std::vector<SubstepRecord> take_parts(std::size_t) override { return std::exchange(parts_, {}); }
  void refresh() override;
  GarmentInfo info(std::size_t member) const override;
  std::vector<FieldView> views(GarmentField field) override;
  GarmentState state(std::size_t member) const override;
  void check(std::size_t member, const GarmentState& state) const override;
  void set_state(std::size_t member, const GarmentState& state) override;

  /// Finds where obstacles are in the steps of start(); returns a report that no step has been added to yet.
  AdvanceReport begin_request();
  /// Adds a step to a sum; a lost one freezes the garment.
  void note(const StepReport& report, AdvanceReport& sum);
  bool frozen() const { return has_failed(lost_); }

  // Derivatives of a step, in double on the CPU, of a garment without surroundings but forces on nodes, by
  // the implicit function theorem: a step from x_n, v_n that has converged ends where
  //   R(x) = B (phi~ - x^) - B (x - x^) - J^T lambda = 0
  // on free nodes, lambda the stress of compliant rows times h^2, and C = 0 of rigid ones.
  /// R, with multipliers that are the stress of places, [kg m], shape [node_count], 0: pinned. The solver's
  /// state is then that before the step.
  std::vector<Vec3d> balance(const FinishedStep& step);
  /// Derivatives of a loss by what a step began with, from dL/dx and dL/dv after the step. w solves the
  /// transposed system of dR/dx, with second derivatives of all rows as they are: A w = dL/dx + (r / h) dL/dv
  /// on free nodes, J w = 0 of rigid rows (r the integrator's rate). Where A is not positive definite along
  /// the way, because cloth is about to buckle, it is taken without what pushes, as steps take it
  /// (StepGradient::buckles).
  StepGradient gradient(const FinishedStep& step, const StateGradient& loss);

  // The phases of a step, see StepController.
  void begin_step(int number);
  bool begin_substep(const Substep<double>& part);
  /// Largest mismatch of a row at the iterate (RowLaws); not finite if any is not.
  double evaluate_rows(int iteration);
  /// Finds contacts at the iterate; returns how deep the cloth lies [m].
  ContactFit find_contacts(int iteration) { return contacts_.find(iterate_, iteration, rows_); }
  double depenetration_depth() { return contacts_.depenetration_depth(rows_); }
  /// Largest imbalance of a node at the iterate, see FindImbalances; from_cloth: times h^2, empty: none.
  double imbalance(ArrayView<const Vec3<Real>> from_cloth);
  void follow(double before, double after);
  /// Solves for the correction: assemble(), factor(), and what the factor leaves out.
  bool solve();
  void assemble();
  /// Solves for the correction by the factor alone; false: the matrix cannot be factorised.
  bool factor();
  void correct(const BodyMoves<Real>& bodies);
  /// Lets the part that begin_substep() has begun, and the next, take no notice of the step before; returns
  /// whether this one did.
  bool forget();
  /// Whether a residual is near its tolerance, see cpu::is_near().
  bool is_near(double residual) const {
    return cpu::is_near(residual, part_.h, most_mismatch_.rate, most_mismatch_.rounding,
                        strain_rounding(sizeof(Real) == sizeof(float)));
  }
  /// Energy of the mismatches at the iterate over what it may be, see MismatchEnergy.
  double mismatch_excess();
  bool can_project_again() const { return rows_.jacobian_before.size() > 0; }
  /// Corrects what the rows miss at the iterate, by the matrix of the last solve(), where that works.
  void project_again();
  /// from_cloth: what other cloth exerts on the nodes [N], where parts are kept; empty: nothing.
  void end_part(const PartEnd<double, bool>& end, double residual, std::vector<Vec3d> from_cloth = {});
  bool keeps_parts() const { return keeps_parts_; }
  bool has_diverged(double residual) const;
  /// Whether the iterate is farther away than anything but its pins takes a cloth
  /// (kernels/core/divergence.hpp).
  bool has_escaped() const;
  void end_step(bool is_kept, double residual);

  /// Velocities of all nodes when the part of h [s] began, or when it would end at the iterate [m/s], shape
  /// [node_count].
  std::vector<Vec3d> velocities(bool at_iterate, double h) const;
  /// A node, and where it is or how fast.
  struct NodeValue {
    Index node;
    Vec3d value;
  };
  /// Puts nodes elsewhere than the iterate has them, and has others go on at other velocities when the part
  /// ends; forgets: the multipliers, too, are of no use.
  void stop_nodes(const std::vector<NodeValue>& positions, std::vector<NodeValue> velocities, bool forgets);

  const NodalPattern& pattern() const { return arrays_.pattern; }
  NodesInStep<Real> nodes_in_step();
  const Buffer<Real>& blocks() const { return blocks_; }
  /// The system that has been assembled and factorised.
  CoupledMember<Real> coupled_member();
  const ProjectionSettings& settings() const { return settings_; }
  double element_size() const { return arrays_.element_size; }  ///< mean size of an element [m]
  /// Where the last matrix had a pivot that was not positive, -1: nowhere.
  Index bad_node() const { return bad_block_ >= 0 ? arrays_.pattern.free_nodes[bad_block_] : -1; }
  ThreadPool* pool() const { return device_.queue().pool; }
  ObstacleTable<Real>& obstacles() { return surroundings_.obstacles; }
  const GarmentContacts<Real>& contacts() const { return contacts_; }
  NodalSolver<Real>& nodal_solver() { return *nodal_solver_; }
  Buffer<Vec3<Real>>& correction() { return correction_; }

 private:
  struct Request {
    Clock clock;
    double step = 0;
    int steps = 0;
    bool undoable = false;
  };
  /// Builds obstacles, grippers and forces; `obstacles`: null: none.
  void build_surroundings(const std::shared_ptr<const ObstacleShapes<Real>>& obstacles);
  /// Computes to = factor from.
  void scale(ArrayView<const Real> from, double factor, ArrayView<Real> to) const;
  void copy(const ClothState<Real>& from, ClothState<Real>& to) const;
  ClothState<Real> empty_state() const;
  GarmentState state_of(const ClothState<Real>& cloth) const;
  /// Computes the integrator's coefficients, x^ and v^ of the part that is under way.
  void integrate();
  bool forgets_ = false;  ///< whether the part takes no notice of the step before, see forget()
  bool has_history() const { return remembers_step(resolved_.integrator); }
  const Buffer<Vec3<Real>>& base() const { return has_history() ? base_ : work_.positions; }
  const Buffer<Vec3<Real>>& base_velocity() const {
    return has_history() ? base_velocity_ : work_.velocities;
  }
  /// Finds the first iterate, and phi~ where the method or the caller needs it; false: B cannot be
  /// factorised.
  bool predict(bool with_predicted = false);
  void correct(const BodyMoves<Real>& bodies, const Buffer<Vec3<Real>>& jacobian);
  /// Sets where the pinned nodes are at t [s].
  void set_targets(double t);
  /// Assembles H and the right side, both of B alone without rows, with what `samples` add.
  void assemble_system(const MetricView<Real>& metric, bool with_rows, const SampleForces<Real>& samples);
  /// Arguments that assemble the right side, and that alone.
  AssembleGradient<Real> right_side(const MetricView<Real>& metric, bool with_rows,
                                    const SampleForces<Real>& samples);
  void assemble_right_side(const MetricView<Real>& metric, bool with_rows, const SampleForces<Real>& samples);
  /// Adds to the correction of the factor what that leaves out; false: not finite.
  bool couple(const MetricView<Real>& metric, double rtol);
  /// Metric of the step's matrix B in the part that is under way.
  MetricView<Real> implicit_metric() const;
  MetricView<Real> projection_metric() const;
  RowLaws<Real> laws();
  Stitches<Real> stitches() const;
  /// Notes the strains with which viscous rows compare theirs.
  void note_strains();
  /// Goes to where a step ended, with rows and contacts as they are there.
  void go_to_end(const FinishedStep& step);
  /// Returns x of A x = b by conjugate gradients; the factor is that of A without `pushing`. `is_convex`: set
  /// to false where A was not positive definite along the way, and x is worth nothing.
  std::vector<Vec3d> solve_whole(const std::vector<Vec3d>& right_side, const std::vector<double>& pushing,
                                 bool& is_convex);
  /// G_ab where positive [kg], 0 else, shape [pair_count]: what steps leave out of the geometric stiffness.
  std::vector<double> pushing_pairs();
  /// The multipliers of quadratic rows: those of the step, or see QuadraticMultipliers.
  ArrayView<const Real> quadratic_multipliers();
  /// Adds to `sum` what second derivatives of rows by the polar decomposition are along w beyond the
  /// geometric stiffness, 2 F dM of QuadraticMultipliers; shapes [node_count].
  void add_stretch_curvature(const std::vector<Vec3d>& w, std::vector<Vec3d>& sum);
  /// Whether a node is there farther from where the step began than excess_displacement() has it; with_pins:
  /// and farther than any pin went.
  bool is_beyond(const Buffer<Vec3<Real>>& to, bool with_pins) const;
  /// Finds what threads are in the part that is under way.
  void begin_stitches();

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Garment& garment_;
  const ResolvedScene resolved_;
  const Scene& scene_;
  const ProjectionSettings settings_;
  const bool newton_;
  const double start_eps_;
  double eps_;  ///< softness of the rows in this iteration
  Real reach_;  ///< see excess_displacement() [m]
  Request request_;
  Substep<double> part_;                     ///< the part of a step that is under way
  bool is_inspection_ = false;               ///< wants all digits
  double rate_ = 1;                          ///< see IntegratorCoefficients
  StepStatus lost_ = StepStatus::converged;  ///< what froze the garment, else converged
  bool has_driven_nodes_ = false;
  Index bad_block_ = -1;  ///< block row where the last factorisation stopped, -1: it did not
  GarmentArrays<Real> arrays_;
  RowEvaluator<Real> rows_;
  GarmentMeasures<Real> measures_;
  StrainMeter<Real> strain_meter_;
  Surroundings<Real> surroundings_;
  GarmentContacts<Real> contacts_;

  std::unique_ptr<NodalSolver<Real>> nodal_solver_;
  bool keeps_parts_ = false;
  std::vector<SubstepRecord> parts_;  ///< parts of the last step, where they are kept
  std::vector<NodeValue>
      ccd_stopped_velocities_;   ///< velocities with which nodes leave the part, see stop_nodes()
  CoupledSystem<Real> coupled_;  ///< system of the couplings that the factor leaves out
  /// Columns along x, y, z where a factor of less precision must not push the cloth, shape [3, free_count];
  /// else empty.
  Buffer<Vec3<Real>> translations_;
  MatrixRows matrix_rows_;  ///< whole rows of the matrix of blocks_

  // The state, that of a step under way, and what an undoable request began with.
  ClothState<Real> state_, work_, before_;
  StepStatus lost_before_ = StepStatus::converged;
  bool is_undoable_ = false;
  /// Stiffness and mismatches of compliant rows; empty: all rows are rigid.
  Buffer<Real> row_stiffness_, mismatches_, scaled_mismatches_;
  MismatchEnergy most_mismatch_;
  Buffer<Real> imbalances_;  ///< imbalances of the nodes; empty: nobody asks
  /// Bounds of rows and growth of their penalties; empty: no row has a bound.
  Buffer<Real> row_bounds_, bound_growth_;
  Buffer<Real> row_curves_, row_viscosity_, strains_;  ///< see RowLaws; C when the part of a step began
  Buffer<Real> quadratic_multipliers_;  ///< multipliers of quadratic rows; empty: all rows are quadratic
  int iteration_ = 0;
  Buffer<Vec3<Real>> iterate_, predicted_, targets_, momentum_;
  Buffer<Vec3<Real>> base_, base_velocity_;  ///< x^, v^ of integrators that remember
  Buffer<Real> stiffness_, blocks_;
  Buffer<Real> stitch_stiffness_;  ///< stiffness of stitches in the part under way, see Stitches
  Buffer<Vec3<Real>> stitch_rests_;
  Buffer<Vec3<Real>> right_side_, correction_;
  Buffer<Real> row_forces_;  ///< see AssembleGradient

  std::vector<Vec3<Real>> host_targets_;
};

}  // namespace isocloth
