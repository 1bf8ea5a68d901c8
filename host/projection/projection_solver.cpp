#include "host/projection/projection_solver.hpp"

#include <algorithm>
#include <cmath>

#include "host/projection/projection_step.hpp"
#include "kernels/projection/step_rules.hpp"

namespace isocloth {
template <class Real>
ProjectionSolver<Real>::ProjectionSolver(const Device& device, const Garment& garment, const Scene& scene,
                                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                         StepSolver choice)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      scene_(scene),
      settings_(scene.projection),
      newton_(scene.projection.method == ProjectionMethod::proximal_newton),
      start_eps_(start_eps(scene.projection,
                           sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64)),
      eps_(start_eps_),
      reach_(static_cast<Real>(reach(garment, scene))),
      arrays_(device, garment, find_recipe(scene.recipe).rows, false, obstacles != nullptr),
      rows_(device, arrays_),
      measures_(device, arrays_),
      strain_meter_(device, {&garment}, 1) {
  if (obstacles != nullptr) obstacles_ = ObstacleTable<Real>(device, obstacles, {&garment});
  if (has_surroundings(scene)) {
    grippers_ = GripperTable<Real>(device, {&garment});
    air_ = AirTable<Real>(device, scene, {&garment});
    contacts_ = GarmentContacts<Real>(device, garment, arrays_, scene);
  }
  device.monitor().check();
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
  const auto& start = start_positions(garment);
  host_targets_ = narrowed<Real>(start);
  positions_.upload(host_targets_);
  targets_.upload(host_targets_);
  has_driven_nodes_ = !garment.pins.empty();
  if (!garment.initial_velocities.empty()) velocities_.upload(narrowed<Real>(garment.initial_velocities));
}

template <class Real>
bool ProjectionSolver<Real>::adapt_eps(double before, double after) {
  const double old = eps_;
  eps_ = cpu::adapted_eps(old, before, after, least_eps(std::is_same_v<Real, float>), start_eps_);
  return eps_ != old;
}

template <class Real>
typename ProjectionSolver<Real>::SavedStep ProjectionSolver<Real>::save() const {
  return {.positions = positions_.download(),
          .velocities = velocities_.download(),
          .multipliers = multipliers_.download(),
          .contacts = contacts_.contacts(),
          .holds = contacts_.holds()};
}

template <class Real>
void ProjectionSolver<Real>::restore(const SavedStep& saved) {
  positions_.upload(saved.positions);
  velocities_.upload(saved.velocities);
  multipliers_.upload(saved.multipliers);
  contacts_.set_state(saved.contacts, saved.holds);
}

template <class Real>
void ProjectionSolver<Real>::undo() {
  if (!before_) return;
  restore(before_->state);
  lost_ = before_->lost;
  before_.reset();
}

template <class Real>
bool ProjectionSolver<Real>::has_diverged(const SavedStep& saved, double h, double residual) const {
  if (residual > largest_residual(false)) return true;
  std::vector<Vec3<Real>> staging;
  const Vec3<Real>* const now = positions_.read(staging);
  for (std::size_t i = 0; i < saved.positions.size(); ++i)
    if (excess_way(now[i] - saved.positions[i], static_cast<Real>(h) * saved.velocities[i], reach_) > 0)
      return true;
  return false;
}

template <class Real>
void ProjectionSolver<Real>::begin_step(double h, int number) {
  set_targets(request_.clock.time(h, number + 1));
}

template <class Real>
bool ProjectionSolver<Real>::begin_part(const StepPart& part, const SavedStep& saved) {
  upload_targets(saved.positions, part.part + 1, part.parts);
  if (!newton_ && contacts_.exist()) contacts_.scale(0);  // the step starts without them
  eps_ = start_eps_;
  bad_block_ = -1;
  enter(part);
  if (part.part == 0) contacts_.grasp();
  return predict(part.h);
}

template <class Real>
bool ProjectionSolver<Real>::assess(const StepPart& part, PartReport& report) {
  report.previous_residual = report.residual;
  report.residual = evaluate_rows(iterate_, part.h);
  report.penetration = contacts_.find(iterate_, report.iterations, rows_);
  // The first iterate has not felt this step's forces yet: the rows alone do not tell that it is done.
  return report.residual <= settings_.tolerance &&
         report.penetration <= static_cast<double>(contacts_.tolerance) &&
         (report.iterations > 0 || !newton_);
}

template <class Real>
bool ProjectionSolver<Real>::solve(const StepPart& part, PartReport& report) {
  if (!std::isfinite(report.residual)) return false;
  if (newton_ && report.iterations > 0 && adapt_eps(report.previous_residual, report.residual))
    evaluate_rows(iterate_, part.h);
  ++report.iterations;
  return solve_iteration(part.h);
}

template <class Real>
void ProjectionSolver<Real>::accept(double h) {
  kernels_.update_velocities(device_.queue(), {.inverse_step = static_cast<Real>(1 / h),
                                               .from = std::as_const(positions_).view(),
                                               .to = std::as_const(iterate_).view(),
                                               .velocities = velocities_.view()});
  std::swap(positions_, iterate_);
}

template <class Real>
void ProjectionSolver<Real>::scale_multipliers(double factor) {
  std::vector<Real> values = multipliers_.download();
  for (Real& v : values) v *= static_cast<Real>(factor);
  multipliers_.upload(values);
  if (contacts_.exist()) contacts_.scale(factor);
}

template <class Real>
void ProjectionSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps,
                                   StartOptions options) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps, .undoable = options.undoable};
  before_.reset();
}

template <class Real>
std::vector<AdvanceReport> ProjectionSolver<Real>::finish() {
  AdvanceReport result = begin_request();
  for (int n = 0; n < request_.steps && !frozen(); ++n)
    note(take_step<Real>({this}, nullptr, n, request_.step).front(), result);
  return {result};
}

template <class Real>
AdvanceReport ProjectionSolver<Real>::begin_request() {
  if (request_.undoable) before_ = Before{.state = save(), .lost = lost_};
  set_surroundings(request_.clock, request_.step, request_.steps);
  AdvanceReport none;
  none.total.substeps = 0;
  none.total.status = lost_;
  return none;
}

template <class Real>
void ProjectionSolver<Real>::note(const StepReport& report, AdvanceReport& sum) {
  sum.total.status = std::max(sum.total.status, report.status);
  sum.total.iterations += report.iterations;
  sum.total.substeps += report.substeps;
  sum.total.residual = std::max(sum.total.residual, report.residual);
  sum.total.penetration = std::max(sum.total.penetration, report.penetration);
  sum.total.wall_seconds += report.wall_seconds;
  if (report.bad_node >= 0) sum.total.bad_node = report.bad_node;
  if (is_lost(report.status)) lost_ = report.status;
  sum.steps += !frozen();
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
