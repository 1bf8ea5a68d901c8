// Projection onto the isometric surfaces, kernel by kernel.
#pragma once

#include <memory>

#include "engine/model/recipe.hpp"
#include "host/linear/linear_solver.hpp"
#include "host/solver/garment_arrays.hpp"
#include "host/solver/garment_solver.hpp"

namespace isocloth {

/// Time stepping of one garment: unconstrained step, then iterations of
/// (B + G+ + J^T (eps D)^-1 J) d = -B (phi_j - phi~) - J^T (lambda_j + C_j / (eps D))   (proximal Newton), or
/// of (B + J^T (eps D)^-1 J) d = -J^T C_j / (eps D)   (fast projection; Coltraro 2022, section 7.1, in nodal
/// form) until max |C| <= tolerance.
template <class Real>
class ProjectionSolver final : public GarmentSolver {
 public:
  ProjectionSolver(const Device& device, const Garment& garment, const Scene& scene);

  StepReport step(double t, double h) override;
  Measures measure() override;
  Inspection inspect(double t, double h) override;
  GarmentInfo info() const override;
  GarmentState state() const override;
  void set_state(const GarmentState& state) override;

 private:
  struct Substep {
    StepStatus status = StepStatus::converged;
    int iterations = 0;
    double residual = 0;
  };
  Substep substep(double t_end, double h);
  /// phi~ and the first iterate; false: B cannot be factorised.
  bool predict(double t_end, double h);
  void set_targets(double t);
  /// max |C| at `positions`; not finite if any row is not.
  double evaluate_rows(const Buffer<Vec3<Real>>& positions, double h);
  /// Follows the convergence with eps; true if it changed (the rows' scales must follow).
  bool adapt_eps(double before, double after);
  /// One solve; false: the matrix cannot be factorised.
  bool iterate(double h);
  void scale_multipliers(double factor);
  MetricView<Real> implicit_metric(double h) const;
  MetricView<Real> projection_metric(double h) const;
  Reduction<Real> reduce(ArrayView<const Real> values);
  /// Rows of the metric family are the first ones.
  template <class T>
  static ArrayView<T> part(ArrayView<T> all, std::size_t begin, std::size_t end) {
    return {all.data() + begin, end - begin};
  }

  const Device& device_;
  const StepKernels<Real>& kernels_;
  const Garment& garment_;
  const double gravity_;
  const ProjectionSettings settings_;
  const bool newton_;
  const double start_eps_;
  double eps_;  ///< softness of the rows in this iteration
  GarmentArrays<Real> arrays_;
  std::size_t metric_rows_, row_count_;

  std::unique_ptr<LinearSolver<Real>> nodal_solver_;
  std::unique_ptr<LinearSolver<Real>> velocity_solver_;  ///< of B_ff, with bending only
  double velocity_step_ = 0;                             ///< h of its factor, 0: none yet

  Buffer<Vec3<Real>> positions_, velocities_, iterate_, predicted_, targets_;
  Buffer<Real> multipliers_;
  Buffer<Real> residuals_, scales_, stiffness_, blocks_;
  Buffer<Vec3<Real>> metric_jacobian_, scalar_jacobian_;
  Buffer<Vec3<Real>> right_side_, correction_;
  Buffer<Real> areas_, area_errors_, strains_, node_values_;
  Buffer<Reduction<Real>> partials_;

  std::vector<Vec3<Real>> host_targets_, staging_right_side_, staging_correction_;
  std::vector<Real> staging_blocks_;
  std::vector<Reduction<Real>> staging_partials_;
};

}  // namespace isocloth
