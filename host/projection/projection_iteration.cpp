// The kernels of one iteration, in order.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/core/errors.hpp"
#include "host/projection/projection_solver.hpp"

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
double ProjectionSolver<Real>::evaluate_rows(const Buffer<Vec3<Real>>& positions, double h) {
  // D = diag(J M^-1 J^T) with the metric's mass; the kernel knows 1/m, the rest goes into eps.
  const Real eps = static_cast<Real>(eps_) / projection_metric(h).inertia;
  return contacts_.hold_count() > 0 ? rows_.evaluate(positions, eps, contacts_.inverse_masses())
                                    : rows_.evaluate(positions, eps);
}

template <class Real>
void ProjectionSolver<Real>::set_targets(double t) {
  for (const Pin& pin : garment_.pins) {
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Vec3d p = pin_position(garment_, pin, i, t);
      host_targets_[pin.nodes[i]] = {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
    }
  }
}

template <class Real>
void ProjectionSolver<Real>::upload_targets(const std::vector<Vec3<Real>>& from, int part, int parts) {
  if (!has_driven_nodes_) return;
  if (part == parts) {
    targets_.upload(host_targets_);
    return;
  }
  std::vector<Vec3<Real>> between = host_targets_;
  const Real done = static_cast<Real>(part) / static_cast<Real>(parts);
  for (std::size_t i = 0; i < between.size(); ++i) between[i] = from[i] + done * (between[i] - from[i]);
  targets_.upload(between);
}

template <class Real>
bool ProjectionSolver<Real>::predict(double h, bool with_predicted) {
  const Fabric& f = garment_.fabric;
  const Queue& queue = device_.queue();
  const MetricView<Real> metric = implicit_metric(h);
  const bool metric_is_mass = settings_.metric == Metric::mass;
  kernels_.assemble_momentum(
      queue, {.metric = metric,
              .free = arrays_.free_view(),
              .rho = static_cast<Real>(f.rho),
              .kappa = static_cast<Real>(f.kappa),
              .weight = static_cast<Real>(f.delta * garment_.gravity.value_or(scene_.gravity)),
              .step = static_cast<Real>(h),
              .positions = std::as_const(positions_).view(),
              .velocities = std::as_const(velocities_).view(),
              .momentum = momentum_.view()});
  const auto start = [&](double step) {
    kernels_.start_iteration(queue, {.free = arrays_.free_view(),
                                     .step = static_cast<Real>(step),
                                     .positions = std::as_const(positions_).view(),
                                     .velocities = std::as_const(velocities_).view(),
                                     .targets = std::as_const(targets_).view(),
                                     .iterate = iterate_.view()});
  };
  if (!newton_ || metric_is_mass || with_predicted) {
    // Of proximal Newton they act in the iterations.
    const bool is_pulled = !newton_ && contacts_.has_outer_forces(),
               is_solved = arrays_.has_bending || is_pulled;
    if (is_solved) {
      start(0);
      if (is_pulled) contacts_.act_without_contacts(iterate_);
      if (!solve_system(metric, false, is_pulled ? contacts_.forces() : SampleForces<Real>{})) return false;
      if (is_pulled) contacts_.update(correction_, {});
    }
    for (Buffer<Vec3<Real>>* target : {&predicted_, &iterate_})
      kernels_.predict_positions(
          queue, {.metric = metric,
                  .free = arrays_.free_view(),
                  .positions = std::as_const(positions_).view(),
                  .targets = std::as_const(targets_).view(),
                  .momentum = std::as_const(momentum_).view(),
                  .moves = is_solved ? std::as_const(correction_).view() : ArrayView<const Vec3<Real>>{},
                  .predicted = target->view()});
    // M (phi~ - phi_j) is taken from phi~ itself: momentum_ is B's.
    if (metric_is_mass) momentum_.upload(std::vector<Vec3<Real>>(momentum_.size()));
  }
  if (newton_) start(h);
  contacts_.place_held(iterate_);
  return true;
}

template <class Real>
bool ProjectionSolver<Real>::solve_system(const MetricView<Real>& metric, bool with_rows,
                                          const SampleForces<Real>& samples) {
  const Queue& queue = device_.queue();
  const bool pulled = newton_ || !with_rows;
  kernels_.assemble_system(queue,
                           {.metric = metric,
                            .free = arrays_.free_view(),
                            .block_rows = arrays_.block_rows.view(),
                            .block_columns = arrays_.block_columns.view(),
                            .block_pairs = arrays_.block_pairs.view(),
                            .block_bending = arrays_.block_bending.view(),
                            .metric_terms = arrays_.block_metric.view(),
                            .scalar_terms = arrays_.block_scalar.view(),
                            .metric_jacobian = rows_.metric_jacobian.view(),
                            .scalar_jacobian = rows_.scalar_jacobian.view(),
                            .node_pair_begin = arrays_.node_pair_begin.view(),
                            .node_pairs = arrays_.node_pairs.view(),
                            .stiffness = newton_ ? std::as_const(stiffness_).view() : ArrayView<const Real>{},
                            .samples = samples,
                            .with_rows = with_rows,
                            .blocks = blocks_.view()});
  const bool from_predicted = with_rows && settings_.metric == Metric::mass;
  kernels_.assemble_gradient(
      queue, {.metric = metric,
              .free = arrays_.free_view(),
              .metric_terms = arrays_.node_metric.view(),
              .scalar_terms = arrays_.node_scalar.view(),
              .metric_jacobian = rows_.metric_jacobian.view(),
              .scalar_jacobian = rows_.scalar_jacobian.view(),
              .residuals = rows_.residuals.view(),
              .scales = rows_.scales.view(),
              .multipliers = newton_ ? std::as_const(multipliers_).view() : ArrayView<const Real>{},
              .positions = iterate_.view(),
              .start = std::as_const(from_predicted ? predicted_ : positions_).view(),
              .momentum = pulled ? std::as_const(momentum_).view() : ArrayView<const Vec3<Real>>{},
              .samples = samples,
              .with_rows = with_rows,
              .right_side = right_side_.view()});
  const Factorization outcome = nodal_solver_->solve(blocks_, right_side_, correction_);
  bad_block_ = outcome.ok ? -1 : outcome.block_row;
  return outcome.ok;
}

template <class Real>
void ProjectionSolver<Real>::set_surroundings(const Clock& clock, double h, int steps) {
  obstacles_.set_ways({clock}, h, steps);
  grippers_.set_ways({clock}, h, steps);
  air_.set_winds({clock}, h, steps);
}

template <class Real>
void ProjectionSolver<Real>::enter(const StepPart& part) {
  contacts_.begin({.obstacles = obstacles_.view(0, part.number),
                   .grippers = grippers_.view(0, part.number),
                   .drag = air_.view(0, part.number),
                   .faces = air_.faces(arrays_)},
                  {.offset = contacts_.offset,
                   .tolerance = contacts_.tolerance,
                   .inertia = projection_metric(part.h).inertia,
                   .step = static_cast<Real>(part.h),
                   .mean_mass = static_cast<Real>(arrays_.element_size * arrays_.element_size),
                   .from = static_cast<Real>(part.part) / static_cast<Real>(part.parts),
                   .to = static_cast<Real>(part.part + 1) / static_cast<Real>(part.parts),
                   .carries = newton_,
                   .stiffening = static_cast<Real>(contact_stiffening(0, newton_))},
                  positions_);
}

template <class Real>
bool ProjectionSolver<Real>::solve_iteration(double h) {
  if (newton_)
    kernels_.geometric_stiffness(device_.queue(), {.metric_terms = arrays_.pair_metric.view(),
                                                   .scalar_terms = arrays_.pair_scalar.view(),
                                                   .metric_tensors = arrays_.metric.tensors.view(),
                                                   .scalar_tensors = arrays_.scalar.tensors.view(),
                                                   .multipliers = std::as_const(multipliers_).view(),
                                                   .stiffness = stiffness_.view()});
  return solve_system(projection_metric(h), true, contacts_.forces());
}

template <class Real>
void ProjectionSolver<Real>::correct(int number, const BodyMoves<Real>& bodies) {
  const Queue& queue = device_.queue();
  // Before the clamp: multipliers belong to the whole correction, which alone balances C.
  if (newton_) {
    kernels_.update_metric_multipliers(
        queue, {.stencils = arrays_.metric.view(),
                .free = arrays_.free_view(),
                .jacobian = rows_.metric_jacobian.view(),
                .residuals = part(std::as_const(rows_.residuals).view(), 0, rows_.metric_row_count()),
                .scales = part(std::as_const(rows_.scales).view(), 0, rows_.metric_row_count()),
                .correction = correction_.view(),
                .multipliers = part(multipliers_.view(), 0, rows_.metric_row_count())});
    kernels_.update_scalar_multipliers(
        queue,
        {.stencils = arrays_.scalar.view(),
         .free = arrays_.free_view(),
         .jacobian = rows_.scalar_jacobian.view(),
         .residuals =
             part(std::as_const(rows_.residuals).view(), rows_.metric_row_count(), rows_.row_count()),
         .scales = part(std::as_const(rows_.scales).view(), rows_.metric_row_count(), rows_.row_count()),
         .correction = correction_.view(),
         .multipliers = part(multipliers_.view(), rows_.metric_row_count(), rows_.row_count())});
  }
  contacts_.update(correction_, bodies);
  double clamp = settings_.clamp;
  if (const double own = obstacles_.size() > 0 ? contact_clamp(number) : 0; own > 0)
    clamp = clamp > 0 ? std::min(clamp, own) : own;
  kernels_.apply_correction(queue, {.free = arrays_.free_view(),
                                    .clamp = static_cast<Real>(clamp * arrays_.element_size),
                                    .correction = correction_.view(),
                                    .positions = iterate_.view()});
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
