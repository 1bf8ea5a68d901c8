#include "host/solver/projection_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace isocloth {
namespace {

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
      gravity_(garment.gravity.value_or(scene.gravity)),
      settings_(scene.projection),
      newton_(scene.projection.method == ProjectionMethod::proximal_newton),
      start_eps_(start_eps(scene.projection,
                           sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64)),
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
  eps_ = start_eps_;
  if (!predict(t_end, h)) {
    result.status = StepStatus::non_finite;
    return result;
  }
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

double start_eps(const ProjectionSettings& settings, Precision precision) {
  if (settings.eps > 0) return settings.eps;
  if (precision == Precision::float32) return 1e-4;
  return settings.method == ProjectionMethod::proximal_newton ? 1e-6 : 1e-7;
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
