// Projection onto the isometric surfaces, kernel by kernel.
#pragma once

#include <memory>
#include <optional>

#include "engine/model/recipe.hpp"
#include "host/garment/reach.hpp"
#include "host/linear/nodal_solver.hpp"
#include "host/measures/garment_measures.hpp"
#include "host/measures/strain_meter.hpp"
#include "host/projection/garment_contacts.hpp"
#include "host/solver/garment_solver.hpp"
#include "host/surroundings/air_table.hpp"
#include "host/surroundings/gripper_table.hpp"
#include "host/surroundings/obstacle_table.hpp"

namespace isocloth {

/// One of equal parts of a step.
struct StepPart {
  double h = 0;    ///< of the part [s]
  int number = 0;  ///< of the step in its request
  int part = 0, parts = 1;
};

/// How a part of a step goes.
struct PartReport {
  StepStatus status = StepStatus::converged;
  int iterations = 0;
  double residual = 0, previous_residual = 0;
  double penetration = 0;  ///< [m]
};

/// Time stepping of one garment: unconstrained step, then iterations of
/// (B + G+ + J^T (eps D)^-1 J) d = -B (phi_j - phi~) - J^T (lambda_j + C_j / (eps D))   (proximal Newton), or
/// of (B + J^T (eps D)^-1 J) d = -J^T C_j / (eps D)   (fast projection; Coltraro 2022, section 7.1, in nodal
/// form) until max |C| <= tolerance, and no sample of the cloth is deeper in an obstacle than its own.
template <class Real>
class ProjectionSolver final : public GarmentSolver {
 public:
  /// `obstacles` of the scene, null: none.
  ProjectionSolver(const Device& device, const Garment& garment, const Scene& scene,
                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                   StepSolver choice = StepSolver::direct);

  /// Takes note: after each iteration the host decides on the next, so that all work is done in finish().
  void start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) override;
  std::vector<AdvanceReport> finish() override;
  void undo() override;
  std::vector<Measures> measure(std::size_t first, std::size_t count) override;
  std::vector<Strain> strains() override;
  Inspection inspect(std::size_t member, double t, double h) override;
  void refresh() override { reach_ = static_cast<Real>(reach(garment_, scene_)); }
  GarmentInfo info(std::size_t member) const override;
  std::vector<std::vector<Vec3d>> positions() const override;
  GarmentState state(std::size_t member) const override;
  void set_state(std::size_t member, const GarmentState& state) override;

  // The phases of a step, for take_step (host/projection/projection_step.hpp).

  /// What a failed step puts back.
  struct SavedStep {
    std::vector<Vec3<Real>> positions, velocities;
    std::vector<Real> multipliers;
    std::vector<double> contacts, holds;
  };
  /// Where obstacles are in the steps of start(), and a report that no step has been added to yet.
  AdvanceReport begin_request();
  /// Adds a step to a sum; a lost one freezes the garment.
  void note(const StepReport& report, AdvanceReport& sum);
  bool frozen() const { return is_lost(lost_); }
  /// Whether a step from `saved` to where the garment is has diverged (kernels/divergence.hpp).
  bool has_diverged(const SavedStep& saved, double h, double residual) const;
  SavedStep save() const;
  void restore(const SavedStep& saved);
  /// Multipliers alone: those of rows that cannot be met are worth nothing.
  void restore_multipliers(const SavedStep& saved) { multipliers_.upload(saved.multipliers); }
  /// Where the motions lead in the step.
  void begin_step(double h, int number);
  /// The first iterate; false: B cannot be factorised. `saved`: when the step began.
  bool begin_part(const StepPart& part, const SavedStep& saved);
  /// Rows and contacts at the iterate; true: both are within their tolerances.
  bool assess(const StepPart& part, PartReport& report);
  /// The next iteration's correction; false: the matrix cannot be factorised, or a row is not finite.
  bool solve(const StepPart& part, PartReport& report);
  /// Multipliers, contacts and the iterate after it; `number`: of the iteration in its part, from 0.
  void correct(int number, const BodyMoves<Real>& bodies);
  /// The iterate is where the part ends.
  void accept(double h);
  /// Multipliers and contact forces carry h^2.
  void scale_multipliers(double factor);
  const ProjectionSettings& settings() const { return settings_; }
  /// Where the last matrix had a pivot that was not positive, -1: nowhere.
  Index bad_node() const { return bad_block_ >= 0 ? arrays_.pattern.free_nodes[bad_block_] : -1; }
  double element_size() const { return arrays_.element_size; }
  const MonitorView& monitor() const { return device_.monitor(); }
  ObstacleTable<Real>& obstacles() { return obstacles_; }
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
  struct Before {
    SavedStep state;
    StepStatus lost;
  };
  /// The first iterate, and phi~ where the method or the caller needs it; false: B cannot be factorised.
  bool predict(double h, bool with_predicted = false);
  /// Where the pinned nodes are at t.
  void set_targets(double t);
  /// Within a step they move evenly from where they were: here to the end of `part` (from 1) of `parts`.
  void upload_targets(const std::vector<Vec3<Real>>& from, int part, int parts);
  /// max |C| at `positions`; not finite if any row is not.
  double evaluate_rows(const Buffer<Vec3<Real>>& positions, double h);
  /// Follows the convergence with eps; true if it changed (the rows' scales must follow).
  bool adapt_eps(double before, double after);
  /// Assembles H and the right side, both of B alone without rows, with what `samples` add, and solves into
  /// correction_; false: the matrix cannot be factorised.
  bool solve_system(const MetricView<Real>& metric, bool with_rows, const SampleForces<Real>& samples);
  /// The correction of an iteration; false: the matrix cannot be factorised.
  bool solve_iteration(double h);
  /// What surrounds the cloth in the next steps of h [s].
  void set_surroundings(const Clock& clock, double h, int steps);
  /// What surrounds the cloth in a part of a step.
  void enter(const StepPart& part);
  MetricView<Real> implicit_metric(double h) const;
  MetricView<Real> projection_metric(double h) const;

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Garment& garment_;
  const Scene& scene_;
  const ProjectionSettings settings_;
  const bool newton_;
  const double start_eps_;
  double eps_;  ///< softness of the rows in this iteration
  Real reach_;  ///< see excess_way() [m]
  Request request_;
  std::optional<Before> before_;             ///< an undoable request
  StepStatus lost_ = StepStatus::converged;  ///< what froze the garment, else converged
  bool has_driven_nodes_ = false;
  Index bad_block_ = -1;  ///< block row where the last factorisation stopped, -1: it did not
  GarmentArrays<Real> arrays_;
  RowEvaluator<Real> rows_;
  GarmentMeasures<Real> measures_;
  StrainMeter<Real> strain_meter_;
  ObstacleTable<Real> obstacles_;
  GripperTable<Real> grippers_;
  AirTable<Real> air_;
  GarmentContacts<Real> contacts_;

  std::unique_ptr<NodalSolver<Real>> nodal_solver_;

  Buffer<Vec3<Real>> positions_, velocities_, iterate_, predicted_, targets_, momentum_;
  Buffer<Real> multipliers_;
  Buffer<Real> stiffness_, blocks_;
  Buffer<Vec3<Real>> right_side_, correction_;

  std::vector<Vec3<Real>> host_targets_;
};

}  // namespace isocloth
