// The phases of a step, kernel by kernel.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/projection/projection_solver.hpp"
#include "host/surroundings/shape_views.hpp"
#include "kernels/contact/contact_law.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

template <class Real>
MetricView<Real> ProjectionSolver<Real>::implicit_metric() const {
  const double h = part_.h;
  const Fabric& f = garment_.fabric;
  return {.inertia = static_cast<Real>(rate_ * (rate_ * f.density + h * f.mass_damping)),
          .stiffness = static_cast<Real>(h * rate_ * f.stiffness_damping + h * h * f.bending_stiffness),
          .masses = arrays_.masses.view(),
          .pattern = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
          .bending = arrays_.bending.view(),
          .factored = arrays_.factored.view(),
          .beyond = arrays_.beyond.view()};
}

template <class Real>
MetricView<Real> ProjectionSolver<Real>::projection_metric() const {
  if (settings_.metric == Metric::implicit_b) return implicit_metric();
  return {.inertia = 1, .stiffness = 0, .masses = arrays_.masses.view(), .pattern = {}, .bending = {}};
}

template <class Real>
RowLaws<Real> ProjectionSolver<Real>::laws() {
  RowLaws<Real> result{row_stiffness_.view(), static_cast<Real>(part_.h),
                       static_cast<Real>(garment_.fabric.poisson_coupling()),
                       std::as_const(work_.multipliers).view()};
  result.curves = row_curves_.view();
  result.measure = resolved_.recipe.strain;
  result.first_membrane = static_cast<std::size_t>(arrays_.rows.triples.row_count());
  result.membrane_rows = static_cast<std::size_t>(arrays_.rows.membranes.row_count());
  result.viscosity = row_viscosity_.view();
  result.before = std::as_const(strains_).view();
  if (row_bounds_.size() > 0)
    result.bounds = {row_bounds_.view(), bound_growth_.view(), projection_metric().inertia,
                     static_cast<Real>(settings_.tolerance), iteration_};
  return result;
}

template <class Real>
double ProjectionSolver<Real>::evaluate_rows(int iteration) {
  iteration_ = iteration;
  // D = diag(J M^-1 J^T) with the metric's mass; the kernel knows 1/m, the rest goes into eps.
  const double worst = rows_.evaluate(
      iterate_, static_cast<Real>(eps_) / projection_metric().inertia,
      contacts_.hold_count() > 0 ? contacts_.inverse_masses() : arrays_.inverse_masses.view(), laws());
  if (row_stiffness_.size() == 0) return worst;
  kernels_.find_mismatches(device_.queue(), {.laws = laws(),
                                             .residuals = rows_.residuals.view(),
                                             .scales = rows_.scales.view(),
                                             .multipliers = std::as_const(work_.multipliers).view(),
                                             .mismatches = mismatches_.view(),
                                             .scaled = scaled_mismatches_.view()});
  const Reduction<Real> r = rows_.reduce(std::as_const(mismatches_).view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
double ProjectionSolver<Real>::mismatch_excess() {
  if (scaled_mismatches_.size() == 0 || !std::isfinite(most_mismatch_.rate)) return 0;
  const double square = part_.h * part_.h,
               twice = rows_.reduce(std::as_const(scaled_mismatches_).view()).square_sum;
  return twice / 2 / (square * (square * most_mismatch_.rate + most_mismatch_.rounding));
}

template <class Real>
void ProjectionSolver<Real>::note_strains() {
  if (strains_.size() == 0) return;
  rows_.evaluate(work_.positions, static_cast<Real>(eps_), arrays_.inverse_masses.view(), laws().of_strain());
  scale(std::as_const(rows_.residuals).view(), 1, strains_.view());
}

template <class Real>
Stitches<Real> ProjectionSolver<Real>::stitches() const {
  return {arrays_.stitch_pattern(), stitch_stiffness_.view(), stitch_rests_.view()};
}

template <class Real>
void ProjectionSolver<Real>::begin_stitches() {
  if (stitch_stiffness_.size() == 0) return;
  kernels_.begin_stitches(device_.queue(), {.pattern = arrays_.stitch_pattern(),
                                            .laws = arrays_.stitch_laws(),
                                            .speed = static_cast<Real>(garment_.sewing.speed),
                                            .step = static_cast<Real>(part_.h),
                                            .positions = std::as_const(work_.positions).view(),
                                            .found_stiffness = stitch_stiffness_.view(),
                                            .rests = stitch_rests_.view()});
}

template <class Real>
void ProjectionSolver<Real>::set_targets(double t) {
  for (const Pin& pin : garment_.pins) {
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Vec3d p = pin_position(garment_, pin, i, t);
      host_targets_[pin.nodes[i]] = {static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
    }
  }
  if (has_driven_nodes_) targets_.upload(host_targets_);
}

template <class Real>
void ProjectionSolver<Real>::begin_step(int number) {
  set_targets(request_.clock.time(request_.step, number + 1));
  copy(state_, work_);
  parts_.clear();
}

template <class Real>
void ProjectionSolver<Real>::integrate() {
  if (!has_history()) return;
  const IntegratorCoefficients<double> now =
      cpu::coefficients(resolved_.integrator, part_.h, work_.previous_step);
  rate_ = now.rate;
  const auto extrapolate = [&](const Buffer<Vec3<Real>>& value, const Buffer<Vec3<Real>>& previous,
                               Buffer<Vec3<Real>>& to) {
    kernels_.extrapolate_nodes(device_.queue(), {.memory = static_cast<Real>(now.memory),
                                                 .now = value.view(),
                                                 .before = previous.view(),
                                                 .extrapolated = to.view()});
  };
  extrapolate(work_.positions, work_.previous_positions, base_);
  extrapolate(work_.velocities, work_.previous_velocities, base_velocity_);
}

template <class Real>
bool ProjectionSolver<Real>::forget() {
  forgets_ = true;
  return has_history() && std::exchange(work_.previous_step, 0) > 0;
}

template <class Real>
bool ProjectionSolver<Real>::begin_substep(const Substep<double>& part) {
  part_ = part;
  integrate();
  eps_ = start_eps_;
  bad_block_ = -1;
  if (!newton_) {  // the step starts without them
    const ArrayView<Real> forces =
        isocloth::slice(work_.contacts.view(), 0, contacts_.layout().force_count());
    scale(forces, 0, forces);
  }
  contacts_.begin(
      {.obstacles = surroundings_.obstacles.view(0, part.number),
       .grippers = surroundings_.grippers.view(0, part.number),
       .forces = surroundings_.forces.view(0, part.number),
       .faces = surroundings_.forces.faces(arrays_)},
      {.offset = contacts_.offset,
       .tolerance = contacts_.tolerance,
       .accuracy = contacts_.accuracy,
       .curve = contacts_.curve,
       .inertia = projection_metric().inertia,
       .step = static_cast<Real>(part.h),
       .unit = static_cast<Real>(part.h * part.h) * projection_metric().inertia / implicit_metric().inertia,
       .rate = static_cast<Real>(rate_),
       .mean_mass = static_cast<Real>(arrays_.element_size * arrays_.element_size),
       .from = static_cast<Real>(part.from()),
       .to = static_cast<Real>(part.to(1)),
       .keeps_forces = newton_},
      work_.positions, base(), work_.contacts.view());
  if (part.done == 0) contacts_.begin_step();
  note_strains();
  begin_stitches();
  return predict();
}

template <class Real>
bool ProjectionSolver<Real>::predict(bool with_predicted) {
  const Fabric& f = garment_.fabric;
  const Queue& queue = device_.queue();
  const MetricView<Real> metric = implicit_metric();
  const bool metric_is_mass = settings_.metric == Metric::mass;
  kernels_.assemble_momentum(
      queue, {.metric = metric,
              .free = arrays_.free_view(),
              .rho = static_cast<Real>(rate_ * f.density),
              .kappa = static_cast<Real>(f.bending_stiffness),
              .weight = static_cast<Real>(f.gravity_density * garment_.gravity.value_or(scene_.gravity)),
              .step = static_cast<Real>(part_.h),
              .positions = base().view(),
              .velocities = base_velocity().view(),
              .momentum = momentum_.view()});
  const auto start = [&](double step) {
    kernels_.start_iteration(queue, {.free = arrays_.free_view(),
                                     .step = static_cast<Real>(step),
                                     .positions = base().view(),
                                     .velocities = base_velocity().view(),
                                     .from = state_.positions.view(),
                                     .targets = std::as_const(targets_).view(),
                                     .share = static_cast<Real>(part_.to(1)),
                                     .iterate = iterate_.view()});
  };
  if (!newton_ || metric_is_mass || with_predicted) {
    // Of proximal Newton they act in the iterations.
    const bool is_pulled = !newton_ && contacts_.has_external_forces(),
               is_solved = arrays_.has_bending || is_pulled;
    start(0);
    if (is_solved) {
      if (is_pulled) contacts_.act_without_contacts(iterate_);
      assemble_system(metric, false, is_pulled ? contacts_.forces() : SampleForces<Real>{});
      if (!factor() || !couple(metric, exact_rtol<Real>())) return false;
      if (is_pulled) contacts_.update(correction_, {});
    }
    for (Buffer<Vec3<Real>>* target : {&predicted_, &iterate_})
      kernels_.predict_positions(
          queue, {.metric = metric,
                  .free = arrays_.free_view(),
                  .positions = base().view(),
                  .targets = std::as_const(iterate_).view(),
                  .momentum = std::as_const(momentum_).view(),
                  .moves = is_solved ? std::as_const(correction_).view() : ArrayView<const Vec3<Real>>{},
                  .predicted = target->view()});
    // M (phi~ - phi_j) is taken from phi~ itself: momentum_ is B's.
    if (metric_is_mass) momentum_.upload(std::vector<Vec3<Real>>(momentum_.size()));
  }
  if (newton_) start(part_.h / rate_);
  contacts_.place_held(iterate_);
  return true;
}

template <class Real>
void ProjectionSolver<Real>::follow(double before, double after) {
  if (row_stiffness_.size() > 0) return;  // no row is rigid
  const double old = eps_;
  eps_ = cpu::adapted_eps(old, before, after, least_eps(std::is_same_v<Real, float>), start_eps_);
  if (eps_ != old) evaluate_rows(iteration_);  // the rows' scales must follow
}

template <class Real>
std::vector<Vec3d> ProjectionSolver<Real>::velocities(bool at_iterate, double h) const {
  const auto widen = [](const Vec3<Real>& v) {
    return Vec3d{static_cast<double>(v.x), static_cast<double>(v.y), static_cast<double>(v.z)};
  };
  std::vector<Vec3<Real>> staging[2];
  std::vector<Vec3d> all;
  if (!at_iterate) {
    const Vec3<Real>* const v = work_.velocities.read(staging[0]);
    for (std::size_t i = 0; i < work_.velocities.size(); ++i) all.push_back(widen(v[i]));
    return all;
  }
  const Vec3<Real>*const x = iterate_.read(staging[0]), *const from = base().read(staging[1]);
  for (std::size_t i = 0; i < iterate_.size(); ++i)
    all.push_back((rate_ / h) * (widen(x[i]) - widen(from[i])));
  return all;
}

template <class Real>
void ProjectionSolver<Real>::stop_nodes(const std::vector<NodeValue>& positions,
                                        std::vector<NodeValue> velocities, bool forgets) {
  if (forgets) scale(work_.multipliers.view(), 0, work_.multipliers.view());
  for (const NodeValue& held : positions)
    iterate_.edit(static_cast<std::size_t>(held.node), 1,
                  [&](Vec3<Real>* x) { *x = narrow<Real>(held.value); });
  ccd_stopped_velocities_ = std::move(velocities);
}

template <class Real>
void ProjectionSolver<Real>::correct(const BodyMoves<Real>& bodies) {
  correct(bodies, rows_.jacobian);
}
template <class Real>
void ProjectionSolver<Real>::correct(const BodyMoves<Real>& bodies, const Buffer<Vec3<Real>>& jacobian) {
  const Queue& queue = device_.queue();
  if (newton_)
    kernels_.update_multipliers(queue, {.rows = arrays_.rows_view(),
                                        .laws = laws(),
                                        .free = arrays_.free_view(),
                                        .jacobian = jacobian.view(),
                                        .residuals = rows_.residuals.view(),
                                        .scales = rows_.scales.view(),
                                        .correction = correction_.view(),
                                        .multipliers = work_.multipliers.view(),
                                        .at_limit = rows_.at_limit.view()});
  contacts_.update(correction_, bodies);
  kernels_.apply_correction(queue, {.free = arrays_.free_view(),
                                    .correction = std::as_const(correction_).view(),
                                    .positions = iterate_.view()});
}

template <class Real>
void ProjectionSolver<Real>::end_part(const PartEnd<double, bool>& end, double residual,
                                      std::vector<Vec3d> from_cloth) {
  const std::size_t forces = contacts_.layout().force_count();
  const double parts = end.part.parts;
  const bool forgets = std::exchange(forgets_, false);
  const auto scale_multipliers = [&](const ClothState<Real>& from, double factor) {  // they carry h^2
    scale(from.multipliers.view(), factor, work_.multipliers.view());
    scale(slice(from.contacts.view(), 0, forces), factor, slice(work_.contacts.view(), 0, forces));
  };
  if (end.retry) {
    parts_.clear();
    copy(state_, work_);
    const bool is_warm = cpu::starts_warm(residual, static_cast<double>(bad_block_ + 1));
    scale_multipliers(state_, is_warm ? 1 / (4 * parts * parts) : 0);
  }
  if (end.accept) {
    if (has_history()) std::swap(work_.velocities, work_.previous_velocities);
    kernels_.update_velocities(device_.queue(), {.inverse_step = static_cast<Real>(rate_ / end.part.h),
                                                 .from = base().view(),
                                                 .to = std::as_const(iterate_).view(),
                                                 .velocities = work_.velocities.view()});
    std::vector<Index> stopped;
    for (const NodeValue& held : std::exchange(ccd_stopped_velocities_, {})) {
      work_.velocities.edit(static_cast<std::size_t>(held.node), 1,
                            [&](Vec3<Real>* v) { *v = narrow<Real>(held.value); });
      stopped.push_back(held.node);
    }
    if (has_history()) {
      std::swap(work_.positions, work_.previous_positions);
      work_.previous_step = forgets || !stopped.empty()
                                ? 0
                                : static_cast<double>(static_cast<Real>(end.part.h));  // as lanes keep it
    }
    std::swap(work_.positions, iterate_);
    if (keeps_parts_)
      parts_.push_back({end.part.h, state_of(work_), std::move(from_cloth), std::move(stopped), forgets});
  }
  if (end.step_done && parts > 1) scale_multipliers(work_, parts * parts);
}

template <class Real>
bool ProjectionSolver<Real>::is_beyond(const Buffer<Vec3<Real>>& to, bool with_pins) const {
  std::vector<Vec3<Real>> staging[3];
  const Vec3<Real>*const now = to.read(staging[0]), *const x = state_.positions.read(staging[1]),
                         *const v = state_.velocities.read(staging[2]);
  Real reach = reach_;
  for (std::size_t i = 0; with_pins && i < to.size(); ++i)
    if (pattern().free_number[i] < 0) reach = std::max(reach, reach_ + norm(now[i] - x[i]));
  for (std::size_t i = 0; i < to.size(); ++i)
    if (excess_displacement(now[i] - x[i], static_cast<Real>(request_.step) * v[i], reach) > 0) return true;
  return false;
}

template <class Real>
bool ProjectionSolver<Real>::has_diverged(double residual) const {
  return residual > largest_residual(false) || is_beyond(work_.positions, false);
}
template <class Real>
bool ProjectionSolver<Real>::has_escaped() const {
  return is_beyond(iterate_, true);
}

template <class Real>
void ProjectionSolver<Real>::end_step(bool is_kept, double residual) {
  if (!is_kept) return parts_.clear();
  std::swap(state_.positions, work_.positions);
  std::swap(state_.velocities, work_.velocities);
  std::swap(state_.contacts, work_.contacts);
  std::swap(state_.previous_positions, work_.previous_positions);
  std::swap(state_.previous_velocities, work_.previous_velocities);
  std::swap(state_.previous_step, work_.previous_step);
  if (cpu::keeps_multipliers(residual, settings_.tolerance)) std::swap(state_.multipliers, work_.multipliers);
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
