#include "host/solver/projection_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

namespace isocloth {
template <class Real>
ProjectionSolver<Real>::ProjectionSolver(const Device& device, const Garment& garment, const Scene& scene,
                                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                         StepSolver choice)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      gravity_(garment.gravity.value_or(scene.gravity)),
      settings_(scene.projection),
      newton_(scene.projection.method == ProjectionMethod::proximal_newton),
      start_eps_(start_eps(scene.projection,
                           sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64)),
      eps_(start_eps_),
      arrays_(device, garment, find_recipe(scene.recipe).rows, false, obstacles != nullptr),
      rows_(device, arrays_),
      measures_(device, arrays_) {
  if (obstacles != nullptr) obstacles_ = ObstacleTable<Real>(device, obstacles, {&garment});
  if (has_surroundings(scene)) {
    grippers_ = GripperTable<Real>(device, {&garment});
    air_ = AirTable<Real>(device, scene, {&garment});
    contacts_ = GarmentContacts<Real>(device, garment, arrays_, scene);
  }
  const NodalPattern& p = arrays_.pattern;
  nodal_solver_ = make_nodal_solver<Real>(
      device, {.size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns}, choice);

  const std::size_t nodes = arrays_.node_count(), free = p.free_count();
  for (auto* buffer : {&positions_, &velocities_, &iterate_, &predicted_, &targets_})
    *buffer = {device, nodes};
  for (auto* buffer : {&right_side_, &correction_, &momentum_}) *buffer = {device, free};
  multipliers_ = {device, rows_.row_count()};
  stiffness_ = {device, p.pairs.size()};
  blocks_ = {device, p.block_rows.size() * 9};
  const auto& start = garment.initial_positions.empty() ? garment.mesh.positions : garment.initial_positions;
  host_targets_ = narrowed<Real>(start);
  positions_.upload(host_targets_);
  targets_.upload(host_targets_);
  for (const Pin& pin : garment.pins)
    has_driven_nodes_ = has_driven_nodes_ || !std::holds_alternative<FixedMotion>(pin.motion);
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
typename ProjectionSolver<Real>::Substep ProjectionSolver<Real>::substep(double h, int number, int part,
                                                                         int parts) {
  constexpr Substep not_finite{.status = StepStatus::non_finite,
                               .iterations = 0,
                               .residual = std::numeric_limits<double>::infinity(),
                               .penetration = 0};
  const double deepest = static_cast<double>(contacts_.tolerance);
  Substep result;
  if (!newton_ && contacts_.exist()) contacts_.scale(0);  // the step starts without them
  eps_ = start_eps_;
  bad_block_ = -1;
  enter(h, number, part, parts);
  if (part == 0) contacts_.grasp();
  if (!predict(h)) return not_finite;
  for (;;) {
    const double before = result.residual;
    result.residual = evaluate_rows(iterate_, h);
    if (obstacles_.size() > 0 && newton_ && settings_.eps == 0 && result.iterations == 0 &&
        result.residual <= contact_eps_range * settings_.tolerance && eps_ < contact_eps) {
      eps_ = contact_eps;
      evaluate_rows(iterate_, h);
    }
    result.penetration = contacts_.find(iterate_, rows_);
    // The first iterate has not felt this step's forces yet: the rows alone do not tell that it is done.
    if (result.residual <= settings_.tolerance && result.penetration <= deepest &&
        (result.iterations > 0 || !newton_))
      break;
    if (std::isfinite(result.residual) && result.iterations == settings_.max_iterations) {
      result.status = StepStatus::stalled;
      break;
    }
    bool worked = std::isfinite(result.residual);
    if (worked) {
      if (newton_ && result.iterations > 0 && adapt_eps(before, result.residual)) evaluate_rows(iterate_, h);
      ++result.iterations;
      worked = iterate(h, result.iterations - 1);
    }
    if (!worked) {
      const int iterations = result.iterations;
      result = not_finite;
      result.iterations = iterations;
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
  if (contacts_.exist()) contacts_.scale(factor);
}

template <class Real>
StepReport ProjectionSolver<Real>::step_once(int number, double h) {
  const auto begin = std::chrono::steady_clock::now();
  // A failed step must leave no trace.
  const auto positions = positions_.download(), velocities = velocities_.download();
  const auto multipliers = multipliers_.download();
  const auto contacts = contacts_.contacts(), holds = contacts_.holds();
  set_targets(request_.clock.time(h, number + 1));
  StepReport report;
  report.iterations = 0;
  for (int parts = 1;; parts *= 2) {
    report.status = StepStatus::converged;
    report.residual = 0;
    report.substeps = parts;
    report.penetration = 0;
    if (parts > 1) scale_multipliers(1.0 / (parts * parts));  // lambda carries h^2
    for (int i = 0; i < parts; ++i) {
      upload_targets(positions, i + 1, parts);
      const Substep s = substep(h / parts, number, i, parts);
      report.iterations += s.iterations;
      report.residual = std::max(report.residual, s.residual);
      report.penetration = std::max(report.penetration, s.penetration);
      report.status = std::max(report.status, s.status);
      if (s.status == StepStatus::non_finite ||
          (s.status == StepStatus::stalled && 2 * parts <= settings_.max_substeps))
        break;
    }
    if (report.status == StepStatus::converged ||
        (report.status == StepStatus::stalled && 2 * parts > settings_.max_substeps)) {
      if (parts > 1) scale_multipliers(parts * parts);
      if (report.residual > unmet_range * settings_.tolerance) multipliers_.upload(multipliers);
      break;
    }
    positions_.upload(positions);
    velocities_.upload(velocities);
    multipliers_.upload(multipliers);
    contacts_.set_state(contacts, holds);
    if (2 * parts > settings_.max_substeps) break;
  }
  if (bad_block_ >= 0) report.bad_node = arrays_.pattern.free_nodes[bad_block_];
  report.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

template <class Real>
void ProjectionSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps};
}

template <class Real>
std::vector<AdvanceReport> ProjectionSolver<Real>::finish() {
  AdvanceReport result;
  result.total.substeps = 0;
  if (frozen_) result.total.status = StepStatus::non_finite;
  set_surroundings(request_.clock, request_.step, request_.steps);
  for (int n = 0; n < request_.steps && !frozen_; ++n) {
    const StepReport report = step_once(n, request_.step);
    result.total.status = std::max(result.total.status, report.status);
    result.total.iterations += report.iterations;
    result.total.substeps += report.substeps;
    result.total.residual = std::max(result.total.residual, report.residual);
    result.total.penetration = std::max(result.total.penetration, report.penetration);
    result.total.wall_seconds += report.wall_seconds;
    if (report.bad_node >= 0) result.total.bad_node = report.bad_node;
    frozen_ = report.status == StepStatus::non_finite;
    result.steps += !frozen_;
  }
  return {result};
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
