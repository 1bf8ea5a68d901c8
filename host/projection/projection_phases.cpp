// The phases of a step of one garment.
#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/flat_vectors.hpp"
#include "host/garment/contact_state.hpp"
#include "host/projection/projection_solver.hpp"

namespace isocloth {

template <class Real>
void ProjectionSolver<Real>::set_targets(double t) {
  std::vector<Index> moved;
  for (const Pin& pin : garment_.pins) {
    for (std::size_t i = 0; i < pin.nodes.size(); ++i) {
      const Vec3d p = pin_position(garment_, pin, i, t);
      const Vec3<Real> target{static_cast<Real>(p.x), static_cast<Real>(p.y), static_cast<Real>(p.z)};
      Vec3<Real>& known = host_targets_[pin.nodes[i]];
      if (std::memcmp(&known, &target, sizeof target) == 0) continue;
      known = target;
      moved.push_back(pin.nodes[i]);
    }
  }
  std::ranges::sort(moved);
  // One piece for each run of nodes that lie side by side: a few pieces cost less than all nodes.
  constexpr std::size_t most_pieces = 64;
  Uploads uploads(device_);
  for (std::size_t begin = 0, end = 0; begin < moved.size(); begin = end) {
    for (end = begin + 1; end < moved.size() && moved[end] <= moved[end - 1] + 1;) ++end;
    const auto first = static_cast<std::size_t>(moved[begin]),
               last = static_cast<std::size_t>(moved[end - 1]);
    uploads.add(&host_targets_[first], slice(targets_.view(), first, last + 1));
  }
  if (uploads.piece_count() <= most_pieces)
    uploads.run();
  else
    targets_.upload(host_targets_);
}

template <class Real>
void ProjectionSolver<Real>::begin_step(int number) {
  set_targets(request_.clock.time(request_.step, number + 1));
  cloth_.begin_step();
  parts_.clear();
}

template <class Real>
bool ProjectionSolver<Real>::begin_substep(const Substep<double>& part) {
  cloth_.begin_part(part.h);
  if (!resolved_.is_newton) cloth_.clear_contact_forces();  // the step starts without them
  const Real inertia = system_.projection_metric().inertia;
  contacts_.begin({.obstacles = surroundings_.obstacles.view(0, part.number),
                   .obstacles_version = surroundings_.obstacles.version(),
                   .grippers = surroundings_.grippers.view(0, part.number),
                   .forces = surroundings_.forces.view(0, part.number),
                   .faces = surroundings_.forces.faces(arrays_)},
                  {.offset = contacts_.offset,
                   .tolerance = contacts_.tolerance,
                   .accuracy = contacts_.accuracy,
                   .curve = contacts_.curve,
                   .inertia = inertia,
                   .step = static_cast<Real>(part.h),
                   .unit = static_cast<Real>(part.h * part.h) * inertia / system_.implicit_metric().inertia,
                   .rate = static_cast<Real>(cloth_.rate()),
                   .mean_mass = static_cast<Real>(arrays_.element_size * arrays_.element_size),
                   .from = static_cast<Real>(part.from()),
                   .to = static_cast<Real>(part.to(1)),
                   .keeps_forces = resolved_.is_newton},
                  cloth_.work.positions, cloth_.base(), cloth_.work.contacts.view());
  if (part.done == 0) contacts_.begin_step();
  rows_.begin_part(inertia, system_.inverse_masses());
  system_.begin_part();
  return system_.predict(targets_, part.to(1));
}

template <class Real>
void ProjectionSolver<Real>::end_part(const PartEnd<double, bool>& end, double residual,
                                      std::vector<Vec3d> from_cloth) {
  const double parts = end.part.parts;
  if (end.retry) {
    parts_.clear();
    const bool is_warm = cpu::starts_warm(residual, static_cast<double>(system_.bad_block() + 1));
    cloth_.begin_again(is_warm ? 1 / (4 * parts * parts) : 0);
  }
  if (end.accept) {
    rows_.keep_memory();
    typename ClothInStep<Real>::Accepted own = cloth_.accept_part();
    if (keeps_parts_)
      parts_.push_back(
          {end.part.h, state_of(cloth_.work), std::move(from_cloth), std::move(own.stopped), own.forgot});
  }
  if (end.step_done && parts > 1) cloth_.scale_forces(cloth_.work, parts * parts);
}

template <class Real>
void ProjectionSolver<Real>::assess(int iteration) {
  rows_.launch(iteration);
  contacts_.find(cloth_.iterate, iteration);
  if (contacts_.depths().empty()) return;
  Reducer<Real>& reducer = rows_.evaluator().reducer();
  reducer.launch(Rows::of_contact_depths, contacts_.depths());
  reducer.launch(Rows::of_contact_errors, contacts_.errors());
}

template <class Real>
ContactFit ProjectionSolver<Real>::contact_fit() const {
  if (contacts_.depths().empty()) return {};
  const auto most = [&](std::size_t number) {
    return static_cast<double>(rows_.values().total(number).maximum);
  };
  return {most(Rows::of_contact_depths), most(Rows::of_contact_errors)};
}

template <class Real>
void ProjectionSolver<Real>::launch_excess(const Buffer<Vec3<Real>>& to, bool with_pins,
                                           Downloads& downloads) {
  if (excess_.size() == 0) excess_ = {device_, 1};
  step_kernels<Real>(device_.backend())
      .find_excess(device_.queue(),
                   {.from = std::as_const(cloth_.state.positions).view(),
                    .to = to.view(),
                    .velocities = std::as_const(cloth_.state.velocities).view(),
                    .free_number = with_pins ? arrays_.free_view().number : ArrayView<const Index>{},
                    .step = static_cast<Real>(request_.step),
                    .reach = reach_,
                    .found = excess_.view()});
  downloads.add(std::as_const(excess_).view(), excess_staging_, excess_at_);
}

template <class Real>
bool ProjectionSolver<Real>::has_diverged(double residual) {
  if (residual > largest_residual(false)) return true;
  Downloads downloads(device_);
  launch_excess(cloth_.work.positions, false, downloads);
  downloads.run();
  return has_escaped();
}

template <class Real>
void ProjectionSolver<Real>::end_step(bool is_kept, const StepReport& report) {
  // Elastic rows that are cut short have about the stress of where they are, from which the next step begins.
  constexpr double most_kept = 1;
  const bool is_cut = report.status == StepStatus::cut && rows_.are_elastic();
  if (is_kept)
    cloth_.end_step(cpu::keeps_multipliers(report.residual, is_cut ? most_kept : settings_.tolerance));
  else
    parts_.clear();
}

template <class Real>
NodesInStep<Real> ProjectionSolver<Real>::nodes_in_step() {
  return {.start = std::as_const(stands() ? cloth_.state : cloth_.work).positions.view(),
          .iterate = std::as_const(stands() ? cloth_.state.positions : cloth_.iterate).view(),
          .inverse_masses = system_.inverse_masses(),
          .inertia = system_.projection_metric().inertia,
          .free = arrays_.free_view(),
          .blocks = system_.blocks().view(),
          .right_side = system_.right_side().view()};
}

template <class Real>
void ProjectionSolver<Real>::go_to_end(const FinishedStep& step) {
  // What grippers hold in a step they hold from its beginning on.
  GarmentState before = step.before;
  before.holds = step.after.holds;
  check(0, before);
  set_state(0, before);
  surroundings_.set({{.offset = step.time, .steps = 0}}, step.step, 1);
  surroundings_.obstacles.set_poses(step.obstacles);
  surroundings_.grippers.set_poses(step.grippers);
  const std::vector<Vec3<Real>> end = narrowed<Real>(as_vectors(step.after.positions));
  host_targets_ = end;
  targets_.upload(end);
  cloth_.begin_step();
  if (!begin_substep({.number = 0, .h = step.step, .done = 0, .parts = 1}))
    throw NumericalError("garment \"" + garment_.name + "\": the metric of a step cannot be factorised");
  if (step.with_contacts) {
    const std::vector<double> kept = flat_contacts(step.after, contacts_.layout());
    contacts_.go_to_end(cloth_.iterate, end, {kept.begin(), kept.end()});
  } else {
    cloth_.iterate.upload(end);
  }
  cloth_.work.multipliers.upload({step.after.multipliers.begin(), step.after.multipliers.end()});
  rows_.settle_multipliers();
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
