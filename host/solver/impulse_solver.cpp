#include "host/solver/impulse_solver.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/impulse/relaxation.hpp"

namespace isocloth {

template <class Real>
ImpulseSolver<Real>::ImpulseSolver(const Device& device, const Garment& garment, const Scene& scene)
    : Base(device, {&garment}, scene), queue_(device.queue()) {
  const ImpulsePattern<Real> pattern = this->cloths().pattern;
  shear_colours_ = this->shear_springs().colour_begin.download();
  bend_colours_ = this->bend_springs().colour_begin.download();
  const std::size_t nodes = static_cast<std::size_t>(pattern.node_count) + 1;
  places_ = {device, nodes};
  moves_ = {device, nodes};
  if (pattern.has_forces()) forces_ = {device, nodes};
  if (sizeof(Real) == sizeof(float)) work_positions_ = {device, nodes};
  add_rows(ImpulseRows::metric_stencils, this->metric_stencils().colour_begin);
  add_rows(ImpulseRows::scalar_stencils, this->scalar_stencils().colour_begin);
  add_rows(ImpulseRows::edges, this->edges().colour_begin);
  const std::size_t packets =
      row_packets_.empty() ? 0 : row_packets_.back().first + row_packets_.back().count;
  errors_ = {device, packets};
  last_sweeps_ = {device, packets};
  watch(packets);
}

template <class Real>
void ImpulseSolver<Real>::add_rows(ImpulseRows rows, const Buffer<Index>& colour_begin) {
  if (colour_begin.size() < 2) return;
  const std::size_t first = row_packets_.empty() ? 0 : row_packets_.back().first + row_packets_.back().count;
  row_packets_.push_back({.rows = rows, .colour_begin = colour_begin.download(), .first = first, .count = 0});
  row_packets_.back().count = static_cast<std::size_t>(row_packets_.back().colour_begin.back());
}

template <class Real>
RunImpulsePhase<Real> ImpulseSolver<Real>::phase(ImpulsePhase phase, Index first, Index count) {
  return {.cloths = cloths_,
          .phase = phase,
          .first = first,
          .count = count,
          .places = places_.view(),
          .moves = moves_.view(),
          .forces = forces_.view(),
          .work_positions = work_positions_.view(),
          .errors = errors_.view(),
          .last_sweeps = last_sweeps_.view()};
}

template <class Real>
void ImpulseSolver<Real>::run(ImpulsePhase which, std::size_t count) {
  kernels_.run_impulse_phase(queue_, phase(which, 0, static_cast<Index>(count)));
}

template <class Real>
void ImpulseSolver<Real>::run_by_colour(RunImpulsePhase<Real> args, const std::vector<Index>& colour_begin) {
  for (std::size_t colour = 0; colour + 1 < colour_begin.size(); ++colour) {
    args.first = colour_begin[colour];
    args.count = colour_begin[colour + 1] - args.first;
    kernels_.run_impulse_phase(queue_, args);
  }
}

template <class Real>
void ImpulseSolver<Real>::run_rows(RunImpulsePhase<Real> args, bool by_colour) {
  for (const RowPackets& own : row_packets_) {
    args.rows = own.rows;
    args.errors = part(errors_.view(), own.first, own.first + own.count);
    args.last_sweeps = part(last_sweeps_.view(), own.first, own.first + own.count);
    run_by_colour(args, by_colour ? own.colour_begin : std::vector<Index>{0, own.colour_begin.back()});
  }
}

template <class Real>
double ImpulseSolver<Real>::largest(const Buffer<Real>& values) {
  kernels_.reduce(queue_, {.values = values.view(), .partials = partials_.view()});
  const Reduction<Real>* const partials = std::as_const(partials_).read(staging_);
  double most = 0;
  for (Index i = 0; i < reduction_count(values.size()); ++i) {
    if (partials[i].first_bad >= 0) return std::numeric_limits<double>::infinity();
    most = std::max(most, static_cast<double>(partials[i].maximum));
  }
  return most;
}

template <class Real>
typename ImpulseSolver<Real>::Outcome ImpulseSolver<Real>::correct_lengths() {
  const ImpulseControl& control = cloths_.control;
  RunImpulsePhase<Real> args = phase(ImpulsePhase::correct_positions, 0, 0);
  args.is_watched = control.converge;
  args.threshold = control.converge ? parameters_.front().sweep_tolerance : 0;
  Relaxation relaxation{.fixed = control.relaxation};
  last_sweeps_.upload(std::vector<Real>(last_sweeps_.size()));
  for (int sweep = 1; sweep <= control.max_sweeps; ++sweep) {
    args.factor = relaxation.factor(sweep);
    args.sweep = sweep;
    run_rows(args, true);
    // Once a sweep has corrected nothing, no later one does: looking seldom costs sweeps and changes nothing.
    const bool look = control.converge && (sweep % Relaxation::window == 0 || sweep == control.max_sweeps);
    if (!look) continue;
    const auto last = static_cast<int>(largest(last_sweeps_));
    if (last < sweep) return {.sweeps = last + 1, .finite = true};
    relaxation.watch(sweep, largest(errors_));
  }
  return {.sweeps = control.max_sweeps, .finite = true};
}

template <class Real>
void ImpulseSolver<Real>::correct_velocities() {
  const ImpulseControl& control = cloths_.control;
  RunImpulsePhase<Real> args = phase(ImpulsePhase::correct_velocities, 0, 0);
  args.is_watched = control.converge;
  args.threshold = control.converge ? parameters_.front().sweep_tolerance : 0;
  last_sweeps_.upload(std::vector<Real>(last_sweeps_.size()));
  const Relaxation relaxation{.fixed = control.relaxation};
  for (int sweep = 1; sweep <= control.max_sweeps; ++sweep) {
    args.factor = relaxation.factor(sweep);
    args.sweep = sweep;
    run_rows(args, true);
    if (control.converge && sweep % Relaxation::window == 0 && largest(last_sweeps_) < sweep) return;
  }
}

template <class Real>
StepReport ImpulseSolver<Real>::step_once(Index step) {
  const ImpulsePattern<Real>& pattern = cloths_.pattern;
  const auto nodes = static_cast<std::size_t>(pattern.node_count);
  StepReport report;
  report.iterations = 0;
  report.substeps = parameters_.front().parts;
  run(ImpulsePhase::begin, nodes + 1);
  bool finite = true;
  for (int part = 0; part < report.substeps && finite; ++part) {
    if (pattern.has_forces()) {
      run(ImpulsePhase::bend, nodes + 1);
      run_by_colour(phase(ImpulsePhase::pull_shear, 0, 0), shear_colours_);
      run_by_colour(phase(ImpulsePhase::pull_bend, 0, 0), bend_colours_);
    }
    run(ImpulsePhase::preview, nodes);
    RunImpulsePhase<Real> pinned =
        phase(ImpulsePhase::preview_pinned, 0, static_cast<Index>(pattern.pinned_nodes.size()));
    pinned.step = step;
    pinned.part = part;
    kernels_.run_impulse_phase(queue_, pinned);
    const Outcome outcome = correct_lengths();
    report.iterations += outcome.sweeps;
    finite = outcome.finite;
    run(ImpulsePhase::advance, nodes);
    if (cloths_.control.velocity_pass && finite) correct_velocities();
  }
  run_rows(phase(ImpulsePhase::measure, 0, 0), false);
  report.residual = finite ? largest(errors_) : std::numeric_limits<double>::infinity();
  if (!std::isfinite(report.residual)) {
    report.status = StepStatus::non_finite;
    return report;
  }
  run(ImpulsePhase::end, nodes);
  if (report.residual > cloths_.control.tolerance) report.status = StepStatus::stalled;
  return report;
}

template <class Real>
void ImpulseSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps};
}

template <class Real>
std::vector<AdvanceReport> ImpulseSolver<Real>::finish() {
  const auto begin = std::chrono::steady_clock::now();
  AdvanceReport result;
  result.total.substeps = 0;
  if (frozen_.front()) result.total.status = StepStatus::non_finite;
  this->set_targets({request_.clock}, request_.step, request_.steps);
  cloths_ = this->cloths();
  for (int n = 0; n < request_.steps && !frozen_.front(); ++n) {
    const StepReport report = step_once(n);
    result.total.status = std::max(result.total.status, report.status);
    result.total.iterations += report.iterations;
    result.total.substeps += report.substeps;
    result.total.residual = std::max(result.total.residual, report.residual);
    frozen_.front() = report.status == StepStatus::non_finite;
    result.steps += !frozen_.front();
  }
  result.total.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {result};
}

template <class Real>
std::size_t ImpulseSolver<Real>::work_bytes() const {
  return places_.bytes() + moves_.bytes() + forces_.bytes() + work_positions_.bytes() + errors_.bytes() +
         last_sweeps_.bytes() + partials_.bytes();
}

template <class Real>
std::string ImpulseSolver<Real>::solver_name() const {
  return "impulses, colour by colour, " + this->instructions();
}

template class ImpulseSolver<float>;
template class ImpulseSolver<double>;

}  // namespace isocloth
