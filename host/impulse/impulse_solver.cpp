#include "host/impulse/impulse_solver.hpp"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/impulse/relaxation.hpp"

namespace isocloth {

template <class Real>
ImpulseSolver<Real>::ImpulseSolver(const Device& device, const Garment& garment, const Scene& scene,
                                   const std::shared_ptr<const ObstacleShapes<Real>>& obstacles)
    : Base(device, {&garment}, scene, obstacles), queue_(device.queue()), reducer_(device) {
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
  of_samples_ = {device, this->contacts().sample_count()};
  of_nodes_ = {device, static_cast<std::size_t>(pattern.node_count)};
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
          .step = step_,
          .part = part_,
          .places = places_.view(),
          .moves = moves_.view(),
          .forces = forces_.view(),
          .work_positions = work_positions_.view(),
          .errors = errors_.view(),
          .last_sweeps = last_sweeps_.view(),
          .of_samples = of_samples_.view(),
          .of_nodes = of_nodes_.view()};
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
  const Reduction<Real> r = reducer_.reduce(values.view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
void ImpulseSolver<Real>::look_around() {
  run(ImpulsePhase::list_near, 1);
}

template <class Real>
double ImpulseSolver<Real>::touch(ImpulsePhase which, bool seeks) {
  if (which == ImpulsePhase::push_out) look_around();
  RunImpulsePhase<Real> args = phase(which, 0, 0);
  args.seeks = seeks;
  run_by_colour(args, this->contacts().colours());
  if (!cloths_.control.converge) return 0;
  const double moved = largest(of_samples_);
  touched_ = touched_ || moved > 0;
  return moved;
}

template <class Real>
typename ImpulseSolver<Real>::Outcome ImpulseSolver<Real>::correct_lengths() {
  touched_ = false;
  return {.sweeps = sweep(ImpulsePhase::correct_positions, ImpulsePhase::push_out), .finite = true};
}

template <class Real>
void ImpulseSolver<Real>::correct_velocities() {
  sweep(ImpulsePhase::correct_velocities, ImpulsePhase::push_back);
}

template <class Real>
int ImpulseSolver<Real>::sweep(ImpulsePhase rows, ImpulsePhase contacts) {
  const ImpulseControl& control = cloths_.control;
  const bool of_positions = rows == ImpulsePhase::correct_positions, meets = has_obstacles();
  const double settled = settled_contact * static_cast<double>(cloths_.contacts.tolerance);
  RunImpulsePhase<Real> args = phase(rows, 0, 0);
  args.is_watched = control.converge;
  args.threshold = control.converge ? parameters_.front().sweep_tolerance : 0;
  Relaxation relaxation{.fixed = control.relaxation};
  last_sweeps_.upload(std::vector<Real>(last_sweeps_.size()));
  bool settles = false;
  for (int count = 1; count <= control.max_sweeps; ++count) {
    device_.monitor().check();
    device_.monitor().count(1);
    args.factor = relaxation.factor(count);
    args.sweep = count;
    const bool looks = count % Relaxation::window == 1 || settles;
    const bool seeks = of_positions ? looks : count == 1;
    const bool touched = meets && control.converge && touch(contacts, seeks) > settled;
    run_rows(args, true);
    if (meets && !control.converge) touch(contacts, seeks);
    // Once a sweep has corrected nothing, no later one does: looking seldom costs sweeps and changes nothing.
    // Contacts are never done, though.
    const bool ends_window = count % Relaxation::window == 0;
    if (!control.converge || !(meets || ends_window || count == control.max_sweeps)) continue;
    const auto last = static_cast<int>(largest(last_sweeps_));
    settles = last < count && !touched;
    if (settles && (looks || !meets)) return meets ? count : last + 1;
    if (of_positions && ends_window) relaxation.watch(count, largest(errors_));
  }
  if (meets && control.converge) touch(contacts, of_positions);
  return control.max_sweeps;
}

template <class Real>
void ImpulseSolver<Real>::grasp() {
  run(ImpulsePhase::grasp, static_cast<std::size_t>(cloths_.pattern.node_count));
  run_rows(phase(ImpulsePhase::weigh, 0, 0), false);
}

template <class Real>
StepReport ImpulseSolver<Real>::step_once(Index step) {
  const ImpulsePattern<Real>& pattern = cloths_.pattern;
  const auto nodes = static_cast<std::size_t>(pattern.node_count);
  const std::size_t contacts = this->contacts().contact_count();
  StepReport report;
  report.iterations = 0;
  report.substeps = parameters_.front().parts;
  step_ = step;
  part_ = 0;
  run(ImpulsePhase::begin, nodes + 1);
  if (contacts > 0) run(ImpulsePhase::begin_contacts, contacts);
  const bool holds = cloths_.holds.exist();
  if (holds) grasp();
  const auto preview = cloths_.has_outer_forces() ? ImpulsePhase::preview_outer : ImpulsePhase::preview;
  bool finite = true;
  for (; part_ < report.substeps && finite; ++part_) {
    device_.monitor().check();
    device_.monitor().enter(part_, report.substeps);
    if (pattern.has_forces()) {
      run(ImpulsePhase::bend, nodes + 1);
      run_by_colour(phase(ImpulsePhase::pull_shear, 0, 0), shear_colours_);
      run_by_colour(phase(ImpulsePhase::pull_bend, 0, 0), bend_colours_);
    }
    run(preview, nodes);
    run(ImpulsePhase::preview_pinned, pattern.pinned_nodes.size());
    const Outcome outcome = correct_lengths();
    report.iterations += outcome.sweeps;
    finite = outcome.finite;
    if (contacts > 0 && part_ + 1 == report.substeps) {
      look_around();
      run(ImpulsePhase::measure_contacts, of_samples_.size());
      report.penetration = largest(of_samples_);
    }
    run(ImpulsePhase::advance, nodes);
    if (cloths_.control.velocity_pass && finite) correct_velocities();
    if (contacts > 0) run(ImpulsePhase::end_contacts, contacts);
    if (holds) run(ImpulsePhase::end_holds, nodes);
  }
  run_rows(phase(ImpulsePhase::measure, 0, 0), false);
  report.residual = finite ? largest(errors_) : std::numeric_limits<double>::infinity();
  if (!std::isfinite(report.residual)) {
    report.status = StepStatus::non_finite;
    report.penetration = 0;
    return report;
  }
  if (report.residual > cloths_.control.tolerance ||
      report.penetration > static_cast<double>(cloths_.contacts.tolerance))
    report.status = has_diverged(report.residual) ? StepStatus::diverged : StepStatus::stalled;
  if (is_lost(report.status))
    report.penetration = 0;
  else
    run(ImpulsePhase::end, nodes);
  return report;
}

template <class Real>
bool ImpulseSolver<Real>::has_diverged(double residual) {
  run(ImpulsePhase::measure_ways, of_nodes_.size());
  return residual > cloths_.control.largest_residual || largest(of_nodes_) > 0;
}

template <class Real>
void ImpulseSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, StartOptions options) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps};
  this->keep_before(options.undoable);
}

template <class Real>
std::vector<AdvanceReport> ImpulseSolver<Real>::finish() {
  const auto begin = std::chrono::steady_clock::now();
  AdvanceReport result;
  result.total.substeps = 0;
  result.total.status = lost_.front();
  this->set_targets({request_.clock}, request_.step, request_.steps);
  cloths_ = this->cloths();
  for (int n = 0; n < request_.steps && !is_lost(lost_.front()); ++n) {
    const StepReport report = step_once(n);
    result.total.status = std::max(result.total.status, report.status);
    result.total.iterations += report.iterations;
    result.total.substeps += report.substeps;
    result.total.residual = std::max(result.total.residual, report.residual);
    result.total.penetration = std::max(result.total.penetration, report.penetration);
    if (is_lost(report.status))
      this->lose(0, report.status);
    else
      ++result.steps;
  }
  result.total.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return {result};
}

template <class Real>
std::size_t ImpulseSolver<Real>::work_bytes() const {
  return places_.bytes() + moves_.bytes() + forces_.bytes() + work_positions_.bytes() + errors_.bytes() +
         last_sweeps_.bytes() + of_samples_.bytes() + of_nodes_.bytes() + reducer_.memory_bytes();
}

template <class Real>
std::string ImpulseSolver<Real>::solver_name() const {
  return "impulses, colour by colour, " + this->instructions();
}

template class ImpulseSolver<float>;
template class ImpulseSolver<double>;

}  // namespace isocloth
