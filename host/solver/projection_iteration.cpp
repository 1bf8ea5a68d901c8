// The kernels of one iteration, in order.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/solver/projection_solver.hpp"

namespace isocloth {

template <class Real>
MetricView<Real> ProjectionSolver<Real>::implicit_metric(double h) const {
  const Fabric& f = garment_.fabric;
  return {.inertia = static_cast<Real>(f.rho + h * f.alpha),
          .stiffness = static_cast<Real>(h * f.beta + h * h * f.kappa),
          .masses = arrays_.masses.view(),
          .pattern = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
          .bending = arrays_.bending.view()};
}

template <class Real>
MetricView<Real> ProjectionSolver<Real>::projection_metric(double h) const {
  if (settings_.metric == Metric::implicit_b) return implicit_metric(h);
  return {.inertia = 1, .stiffness = 0, .masses = arrays_.masses.view(), .pattern = {}, .bending = {}};
}

template <class Real>
Reduction<Real> ProjectionSolver<Real>::reduce(ArrayView<const Real> values) {
  const Index count = reduction_count(values.size());
  kernels_.reduce(device_.queue(), {.values = values, .partials = part(partials_.view(), 0, count)});
  const Reduction<Real>* partials = partials_.read(staging_partials_);
  Reduction<Real> total;
  for (Index i = 0; i < count; ++i) {
    total.maximum = std::max(total.maximum, partials[i].maximum);
    total.sum += partials[i].sum;
    total.magnitude_sum += partials[i].magnitude_sum;
    total.square_sum += partials[i].square_sum;
    if (total.first_bad < 0) total.first_bad = partials[i].first_bad;
  }
  return total;
}

template <class Real>
double ProjectionSolver<Real>::evaluate_rows(const Buffer<Vec3<Real>>& positions, double h) {
  // D = diag(J M^-1 J^T) with the metric's mass; the kernel knows 1/m, the rest goes into eps.
  const Real eps = static_cast<Real>(eps_) / projection_metric(h).inertia;
  kernels_.evaluate_metric_rows(
      device_.queue(), {.stencils = arrays_.metric.view(),
                        .tensors = arrays_.metric.tensors.view(),
                        .rest_values = part(std::as_const(arrays_.rest_values).view(), 0, metric_rows_),
                        .positions = positions.view(),
                        .inverse_masses = arrays_.inverse_masses.view(),
                        .eps = eps,
                        .residuals = part(residuals_.view(), 0, metric_rows_),
                        .scales = part(scales_.view(), 0, metric_rows_),
                        .jacobian = metric_jacobian_.view()});
  kernels_.evaluate_scalar_rows(
      device_.queue(),
      {.stencils = arrays_.scalar.view(),
       .tensors = arrays_.scalar.tensors.view(),
       .rest_values = part(std::as_const(arrays_.rest_values).view(), metric_rows_, row_count_),
       .positions = positions.view(),
       .inverse_masses = arrays_.inverse_masses.view(),
       .eps = eps,
       .residuals = part(residuals_.view(), metric_rows_, row_count_),
       .scales = part(scales_.view(), metric_rows_, row_count_),
       .jacobian = scalar_jacobian_.view()});
  const Reduction<Real> r = reduce(std::as_const(residuals_).view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::quiet_NaN();
}

template <class Real>
void ProjectionSolver<Real>::set_targets(double t) {
  bool moved = false;
  const auto& start =
      garment_.initial_positions.empty() ? garment_.mesh.positions : garment_.initial_positions;
  for (const Pin& pin : garment_.pins) {
    if (std::holds_alternative<FixedMotion>(pin.motion)) continue;
    moved = true;
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Vec3d p = evaluate_motion(pin.motion, start[pin.nodes[i]], i, t);
      host_targets_[pin.nodes[i]] = {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
    }
  }
  if (moved) targets_.upload(host_targets_);
}

template <class Real>
bool ProjectionSolver<Real>::predict(double t_end, double h) {
  set_targets(t_end);
  const Fabric& f = garment_.fabric;
  const MetricView<Real> metric = implicit_metric(h);
  kernels_.unconstrained_right_side(device_.queue(), {.metric = metric,
                                                      .free = arrays_.free_view(),
                                                      .rho = static_cast<Real>(f.rho),
                                                      .kappa = static_cast<Real>(f.kappa),
                                                      .weight = static_cast<Real>(f.delta * gravity_),
                                                      .step = static_cast<Real>(h),
                                                      .positions = std::as_const(positions_).view(),
                                                      .velocities = std::as_const(velocities_).view(),
                                                      .targets = std::as_const(targets_).view(),
                                                      .right_side = right_side_.view()});
  if (velocity_solver_) {
    if (velocity_step_ != h) {  // B changes with the step alone
      const std::vector<Real> bending = arrays_.bending.download(), masses = arrays_.masses.download();
      std::vector<Real> values;
      const NodalPattern& p = arrays_.pattern;
      for (std::size_t b = 0; b < p.block_rows.size(); ++b) {
        if (p.block_bending[b] < 0) continue;
        const bool diagonal = p.block_rows[b] == p.block_columns[b];
        values.push_back(metric.stiffness * bending[p.block_bending[b]] +
                         (diagonal ? metric.inertia * masses[p.free_nodes[p.block_rows[b]]] : Real(0)));
      }
      velocity_step_ = 0;
      if (!velocity_solver_->factorize(values.data())) return false;
      velocity_step_ = h;
    }
    const Real* b = &right_side_.read(staging_right_side_)->x;
    correction_.write(staging_correction_, [&](Vec3<Real>* v) { velocity_solver_->solve(b, &v->x, 3); });
  }
  kernels_.predict_positions(
      device_.queue(),
      {.metric = metric,
       .free = arrays_.free_view(),
       .step = static_cast<Real>(h),
       .positions = std::as_const(positions_).view(),
       .targets = std::as_const(targets_).view(),
       .velocities = newton_ ? std::as_const(velocities_).view() : ArrayView<const Vec3<Real>>{},
       .solution = std::as_const(velocity_solver_ ? correction_ : right_side_).view(),
       .predicted = predicted_.view(),
       .iterate = iterate_.view()});
  return true;
}

template <class Real>
bool ProjectionSolver<Real>::iterate(double h) {
  const Queue& queue = device_.queue();
  const MetricView<Real> metric = projection_metric(h);
  const ArrayView<const Real> multipliers =
      newton_ ? std::as_const(multipliers_).view() : ArrayView<const Real>{};
  if (newton_)
    kernels_.geometric_stiffness(queue, {.metric_terms = arrays_.pair_metric.view(),
                                         .scalar_terms = arrays_.pair_scalar.view(),
                                         .metric_tensors = arrays_.metric.tensors.view(),
                                         .scalar_tensors = arrays_.scalar.tensors.view(),
                                         .multipliers = multipliers,
                                         .stiffness = stiffness_.view()});
  kernels_.assemble_system(queue,
                           {.metric = metric,
                            .free = arrays_.free_view(),
                            .block_rows = arrays_.block_rows.view(),
                            .block_columns = arrays_.block_columns.view(),
                            .block_pairs = arrays_.block_pairs.view(),
                            .block_bending = arrays_.block_bending.view(),
                            .metric_terms = arrays_.block_metric.view(),
                            .scalar_terms = arrays_.block_scalar.view(),
                            .metric_jacobian = metric_jacobian_.view(),
                            .scalar_jacobian = scalar_jacobian_.view(),
                            .node_pair_begin = arrays_.node_pair_begin.view(),
                            .node_pairs = arrays_.node_pairs.view(),
                            .stiffness = newton_ ? std::as_const(stiffness_).view() : ArrayView<const Real>{},
                            .blocks = blocks_.view()});
  kernels_.assemble_gradient(queue, {.metric = metric,
                                     .free = arrays_.free_view(),
                                     .metric_terms = arrays_.node_metric.view(),
                                     .scalar_terms = arrays_.node_scalar.view(),
                                     .metric_jacobian = metric_jacobian_.view(),
                                     .scalar_jacobian = scalar_jacobian_.view(),
                                     .residuals = residuals_.view(),
                                     .scales = scales_.view(),
                                     .multipliers = multipliers,
                                     .positions = iterate_.view(),
                                     .predicted = predicted_.view(),
                                     .right_side = right_side_.view()});
  if (!nodal_solver_->factorize(blocks_.read(staging_blocks_))) return false;
  const Real* b = &right_side_.read(staging_right_side_)->x;
  correction_.write(staging_correction_, [&](Vec3<Real>* d) { nodal_solver_->solve(b, &d->x, 1); });
  // Before the clamp: multipliers belong to the whole correction, which alone balances C.
  if (newton_) {
    kernels_.update_metric_multipliers(queue,
                                       {.stencils = arrays_.metric.view(),
                                        .free = arrays_.free_view(),
                                        .jacobian = metric_jacobian_.view(),
                                        .residuals = part(std::as_const(residuals_).view(), 0, metric_rows_),
                                        .scales = part(std::as_const(scales_).view(), 0, metric_rows_),
                                        .correction = correction_.view(),
                                        .multipliers = part(multipliers_.view(), 0, metric_rows_)});
    kernels_.update_scalar_multipliers(
        queue, {.stencils = arrays_.scalar.view(),
                .free = arrays_.free_view(),
                .jacobian = scalar_jacobian_.view(),
                .residuals = part(std::as_const(residuals_).view(), metric_rows_, row_count_),
                .scales = part(std::as_const(scales_).view(), metric_rows_, row_count_),
                .correction = correction_.view(),
                .multipliers = part(multipliers_.view(), metric_rows_, row_count_)});
  }
  kernels_.apply_correction(queue, {.free = arrays_.free_view(),
                                    .clamp = static_cast<Real>(settings_.clamp * arrays_.element_size),
                                    .correction = correction_.view(),
                                    .positions = iterate_.view()});
  return true;
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
