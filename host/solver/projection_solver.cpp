#include "host/solver/projection_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace isocloth {
namespace {

double start_eps(const ProjectionSettings& settings) {
  if (settings.eps > 0) return settings.eps;
  return settings.method == ProjectionMethod::proximal_newton ? 1e-4 : 1e-7;
}

template <class Real>
std::vector<Vec3<Real>> narrowed(const std::vector<Vec3d>& values) {
  std::vector<Vec3<Real>> result;
  for (const Vec3d& v : values)
    result.push_back({static_cast<Real>(v.x), static_cast<Real>(v.y), static_cast<Real>(v.z)});
  return result;
}

/// The lower triangle of B_ff as scalars.
BlockPattern velocity_pattern(const NodalPattern& pattern) {
  BlockPattern result{.size = pattern.free_count(), .block = 1, .rows = {}, .columns = {}};
  for (std::size_t b = 0; b < pattern.block_rows.size(); ++b)
    if (pattern.block_bending[b] >= 0) {
      result.rows.push_back(pattern.block_rows[b]);
      result.columns.push_back(pattern.block_columns[b]);
    }
  return result;
}

}  // namespace

template <class Real>
ProjectionSolver<Real>::ProjectionSolver(const Device& device, const Garment& garment, const Scene& scene)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      gravity_(scene.gravity),
      settings_(scene.projection),
      newton_(scene.projection.method == ProjectionMethod::proximal_newton),
      start_eps_(start_eps(scene.projection)),
      eps_(start_eps_),
      arrays_(device, garment, find_recipe(scene.recipe).rows),
      metric_rows_(arrays_.rows.metric.row_count()),
      row_count_(arrays_.rows.row_count()) {
  const NodalPattern& p = arrays_.pattern;
  nodal_solver_ = make_direct_solver<Real>(
      {.size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns});
  if (arrays_.has_bending) velocity_solver_ = make_direct_solver<Real>(velocity_pattern(p));

  const std::size_t nodes = arrays_.node_count(), faces = arrays_.face_count(), free = p.free_count();
  const std::size_t slots3 = arrays_.rows.metric.slot_count(), slots1 = arrays_.rows.scalar.slot_count();
  const std::size_t strain_count = arrays_.rows.metric.stencil_count() + arrays_.rows.edges.size();
  for (auto* buffer : {&positions_, &velocities_, &iterate_, &predicted_, &targets_})
    *buffer = {device, nodes};
  for (auto* buffer : {&multipliers_, &residuals_, &scales_}) *buffer = {device, row_count_};
  for (auto* buffer : {&right_side_, &correction_}) *buffer = {device, free};
  for (auto* buffer : {&areas_, &area_errors_}) *buffer = {device, faces};
  metric_jacobian_ = {device, slots3 * 3};
  scalar_jacobian_ = {device, slots1};
  stiffness_ = {device, p.pairs.size()};
  blocks_ = {device, p.block_rows.size() * 9};
  strains_ = {device, strain_count};
  node_values_ = {device, 8 * nodes};
  partials_ = {device, static_cast<std::size_t>(
                           reduction_count(std::max({8 * nodes, faces, row_count_, strain_count})))};

  // The rest shape measured by the same kernels that will measure the moving one.
  positions_.upload(narrowed<Real>(garment.mesh.positions));
  evaluate_rows(positions_, scene.step);
  arrays_.rest_values.upload(residuals_.download());
  kernels_.measure_areas(device_.queue(), {.face_begin = arrays_.face_begin.view(),
                                           .face_nodes = arrays_.face_nodes.view(),
                                           .positions = std::as_const(positions_).view(),
                                           .rest_areas = {},
                                           .areas = arrays_.rest_areas.view(),
                                           .errors = {}});
  const auto& start = garment.initial_positions.empty() ? garment.mesh.positions : garment.initial_positions;
  host_targets_ = narrowed<Real>(start);
  positions_.upload(host_targets_);
  targets_.upload(host_targets_);
  if (!garment.initial_velocities.empty()) velocities_.upload(narrowed<Real>(garment.initial_velocities));
}

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
void ProjectionSolver<Real>::predict(double t_end, double h) {
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
      velocity_solver_->factorize(values.data());
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
  kernels_.apply_correction(queue, {.free = arrays_.free_view(),
                                    .clamp = static_cast<Real>(settings_.clamp * arrays_.element_size),
                                    .correction = correction_.view(),
                                    .positions = iterate_.view()});
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
  return true;
}

template <class Real>
bool ProjectionSolver<Real>::adapt_eps(double before, double after) {
  // Residuals in directions where J M^-1 J^T is nearly singular (the sheet is nearly flat there) shrink by
  // eps D / (sigma + eps D) per iteration: slowly, unless eps follows. Far from the surface a small eps
  // overshoots, hence only where the rows are nearly linear, and back again when the residual grows.
  constexpr double nearly_linear = 3e-3, slow = 0.1, factor = 10;
  constexpr double least =
      sizeof(Real) == sizeof(float) ? 1e-6 : 1e-9;  // the conditioning the factor can take
  const double old = eps_;
  if (after > before)
    eps_ = std::min(start_eps_, eps_ * factor);
  else if (after > slow * before && after < nearly_linear)
    eps_ = std::max(std::min(least, start_eps_), eps_ / factor);
  return eps_ != old;
}

template <class Real>
typename ProjectionSolver<Real>::Substep ProjectionSolver<Real>::substep(double t_end, double h) {
  Substep result;
  predict(t_end, h);
  eps_ = start_eps_;
  for (;;) {
    const double before = result.residual;
    result.residual = evaluate_rows(iterate_, h);
    if (!std::isfinite(result.residual)) {
      result.status = StepStatus::non_finite;
      return result;
    }
    // The first iterate has not felt this step's forces yet: the rows alone do not tell that it is done.
    if (result.residual <= settings_.tolerance && (result.iterations > 0 || !newton_)) break;
    if (result.iterations == settings_.max_iterations) {
      result.status = StepStatus::stalled;
      break;
    }
    if (newton_ && result.iterations > 0 && adapt_eps(before, result.residual)) evaluate_rows(iterate_, h);
    ++result.iterations;
    if (!iterate(h)) {
      result.status = StepStatus::non_finite;
      return result;
    }
  }
  kernels_.update_velocities(device_.queue(), {.inverse_step = static_cast<Real>(1 / h),
                                               .from = std::as_const(positions_).view(),
                                               .to = std::as_const(iterate_).view(),
                                               .velocities = velocities_.view()});
  std::swap(positions_, iterate_);
  return result;
}

template <class Real>
void ProjectionSolver<Real>::scale_multipliers(double factor) {
  std::vector<Real> values = multipliers_.download();
  for (Real& v : values) v *= static_cast<Real>(factor);
  multipliers_.upload(values);
}

template <class Real>
StepReport ProjectionSolver<Real>::step(double t, double h) {
  const auto begin = std::chrono::steady_clock::now();
  // A failed step must leave no trace.
  const auto positions = positions_.download(), velocities = velocities_.download();
  const auto multipliers = multipliers_.download();
  StepReport report;
  report.iterations = 0;
  for (int parts = 1;; parts *= 2) {
    report.status = StepStatus::converged;
    report.residual = 0;
    report.substeps = parts;
    if (parts > 1) scale_multipliers(1.0 / (parts * parts));  // lambda carries h^2
    for (int i = 0; i < parts; ++i) {
      const Substep s = substep(t + h * (i + 1) / parts, h / parts);
      report.iterations += s.iterations;
      report.residual = std::isfinite(s.residual) ? std::max(report.residual, s.residual) : s.residual;
      report.status = std::max(report.status, s.status);
      if (s.status == StepStatus::non_finite ||
          (s.status == StepStatus::stalled && 2 * parts <= settings_.max_substeps))
        break;
    }
    if (report.status == StepStatus::converged ||
        (report.status == StepStatus::stalled && 2 * parts > settings_.max_substeps)) {
      if (parts > 1) scale_multipliers(parts * parts);
      break;
    }
    positions_.upload(positions);
    velocities_.upload(velocities);
    multipliers_.upload(multipliers);
    if (2 * parts > settings_.max_substeps) break;
  }
  report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

template <class Real>
Measures ProjectionSolver<Real>::measure() {
  const Queue& queue = device_.queue();
  Measures m;
  m.residual = evaluate_rows(positions_, 1);
  kernels_.measure_strains(queue,
                           {.residuals = residuals_.view(),
                            .metric_stencils = arrays_.rows.metric.stencil_count(),
                            .first_edge_row = static_cast<Index>(row_count_ - arrays_.rows.edges.size()),
                            .strains = strains_.view()});
  const Reduction<Real> strain = reduce(std::as_const(strains_).view());
  m.strain_max = strain.maximum;
  m.strain_mean = strains_.size() > 0 ? strain.magnitude_sum / static_cast<double>(strains_.size()) : 0;

  kernels_.measure_areas(queue, {.face_begin = arrays_.face_begin.view(),
                                 .face_nodes = arrays_.face_nodes.view(),
                                 .positions = std::as_const(positions_).view(),
                                 .rest_areas = arrays_.rest_areas.view(),
                                 .areas = areas_.view(),
                                 .errors = area_errors_.view()});
  const double rest = reduce(std::as_const(arrays_.rest_areas).view()).sum;
  const double faces = static_cast<double>(areas_.size());
  m.area_error_total = std::fabs(reduce(std::as_const(areas_).view()).sum - rest) / rest;
  const Reduction<Real> error = reduce(std::as_const(area_errors_).view());
  m.area_error_mean = error.magnitude_sum / faces;
  m.area_error_dispersion =
      m.area_error_mean +
      2 * std::sqrt(std::max(0.0, error.square_sum / faces - m.area_error_mean * m.area_error_mean));
  m.area_error_element_max = error.maximum;

  const Fabric& f = garment_.fabric;
  kernels_.measure_nodes(queue, {.metric = implicit_metric(0),
                                 .rho = static_cast<Real>(f.rho),
                                 .weight = static_cast<Real>(f.delta * gravity_),
                                 .kappa = static_cast<Real>(f.kappa),
                                 .positions = std::as_const(positions_).view(),
                                 .velocities = std::as_const(velocities_).view(),
                                 .values = node_values_.view()});
  double sums[8];
  const std::size_t n = arrays_.node_count();
  for (std::size_t i = 0; i < 8; ++i)
    sums[i] = reduce(part(std::as_const(node_values_).view(), i * n, (i + 1) * n)).sum;
  m.kinetic_energy = sums[0];
  m.potential_energy = sums[1];
  m.linear_momentum = {sums[2], sums[3], sums[4]};
  m.angular_momentum = {sums[5], sums[6], sums[7]};
  return m;
}

template <class Real>
GarmentInfo ProjectionSolver<Real>::info() const {
  GarmentInfo info{.node_count = arrays_.node_count(),
                   .face_count = arrays_.face_count(),
                   .row_count = static_cast<Index>(row_count_),
                   .free_node_count = arrays_.pattern.free_count(),
                   .memory_bytes = arrays_.memory_bytes() + nodal_solver_->memory_bytes()};
  if (velocity_solver_) info.memory_bytes += velocity_solver_->memory_bytes();
  auto add = [&info](const auto&... buffers) { ((info.memory_bytes += buffers.bytes()), ...); };
  add(positions_, velocities_, iterate_, predicted_, targets_, multipliers_, residuals_, scales_, stiffness_,
      blocks_, metric_jacobian_, scalar_jacobian_, right_side_, correction_, areas_, area_errors_, strains_,
      node_values_, partials_);
  return info;
}

template <class Real>
GarmentState ProjectionSolver<Real>::state() const {
  GarmentState state;
  for (const Vec3<Real>& p : positions_.download())
    state.positions.insert(state.positions.end(), {p.x, p.y, p.z});
  for (const Vec3<Real>& v : velocities_.download())
    state.velocities.insert(state.velocities.end(), {v.x, v.y, v.z});
  const auto multipliers = multipliers_.download();
  state.multipliers.assign(multipliers.begin(), multipliers.end());
  return state;
}

template <class Real>
void ProjectionSolver<Real>::set_state(const GarmentState& state) {
  const std::size_t nodes = positions_.size();
  auto require = [&](const char* name, std::size_t found, std::size_t expected) {
    if (found != expected)
      throw ShapeError("garment \"" + garment_.name + "\": " + name + ": found " + std::to_string(found) +
                       " values, expected " + std::to_string(expected));
  };
  require("positions", state.positions.size(), 3 * nodes);
  require("velocities", state.velocities.size(), 3 * nodes);
  require("multipliers", state.multipliers.size(), row_count_);
  auto vectors = [nodes](const std::vector<double>& flat) {
    std::vector<Vec3<Real>> result(nodes);
    for (std::size_t i = 0; i < nodes; ++i)
      result[i] = {static_cast<Real>(flat[3 * i]), static_cast<Real>(flat[3 * i + 1]),
                   static_cast<Real>(flat[3 * i + 2])};
    return result;
  };
  positions_.upload(vectors(state.positions));
  velocities_.upload(vectors(state.velocities));
  multipliers_.upload(std::vector<Real>(state.multipliers.begin(), state.multipliers.end()));
}

std::unique_ptr<GarmentSolver> make_garment_solver(const Device& device, Precision precision,
                                                   const Garment& garment, const Scene& scene) {
  if (precision == Precision::float32)
    return std::make_unique<ProjectionSolver<float>>(device, garment, scene);
  return std::make_unique<ProjectionSolver<double>>(device, garment, scene);
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
