#include "host/projection/projection_solver.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "host/garment/contact_state.hpp"
#include "host/projection/projection_step.hpp"

namespace isocloth {
template <class Real>
ProjectionSolver<Real>::ProjectionSolver(const Device& device, const Garment& garment,
                                         const ResolvedScene& resolved,
                                         const std::shared_ptr<const ObstacleShapes<Real>>& obstacles,
                                         StepSolver choice)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      resolved_(resolved),
      scene_(resolved.scene),
      settings_(scene_.projection),
      newton_(resolved.is_newton),
      start_eps_(resolved.start_eps(sizeof(Real) == sizeof(float))),
      eps_(start_eps_),
      arrays_(device, garment, resolved.recipe, false, obstacles != nullptr || scene_.contact.cloth,
              choice == StepSolver::iterative ? FactorPattern::whole : resolved.factor(garment)),
      rows_(device, arrays_),
      measures_(device, arrays_),
      strain_meter_(device, {&garment}, 1) {
  if (has_surroundings(scene_)) build_surroundings(obstacles);
  device.monitor().check();
  const NodalPattern& p = arrays_.pattern;
  const BlockPattern system{
      .size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns};
  const bool is_coupled = arrays_.couplings().exist();
  // Rigid rows are too stiff for a factor of less precision, and bodies take what the factor solves as it is.
  const bool is_soft = (is_coupled || resolved.recipe.is_elastic()) && scene_.bodies.empty();
  nodal_solver_ = make_nodal_solver<Real>(device, system, choice, is_soft);
  if (is_coupled || !nodal_solver_->is_exact())
    coupled_ = {device, {static_cast<std::size_t>(p.free_count())}};
  if (!nodal_solver_->is_exact() && garment.pins.empty()) {
    const auto count = static_cast<std::size_t>(p.free_count());
    std::vector<Vec3<Real>> columns(3 * count);
    for (std::size_t i = 0; i < count; ++i)
      columns[i].x = columns[count + i].y = columns[2 * count + i].z = Real(1);
    translations_ = {device, columns};
  }
  matrix_rows_ = {device, system};

  const std::size_t nodes = arrays_.node_count(), free = p.free_count();
  state_ = empty_state();
  work_ = empty_state();
  for (auto* buffer : {&iterate_, &predicted_, &targets_}) *buffer = {device, nodes};
  if (has_history())
    for (auto* buffer : {&base_, &base_velocity_}) *buffer = {device, nodes};
  for (auto* buffer : {&right_side_, &correction_, &momentum_}) *buffer = {device, free};
  row_forces_ = {device, rows_.row_count()};
  stiffness_ = {device, p.pairs.size()};
  if (!kind_of(resolved.recipe.strain).is_quadratic) quadratic_multipliers_ = {device, rows_.row_count()};
  stitch_stiffness_ = {device, arrays_.stitch_forces.size()};
  stitch_rests_ = {device, arrays_.stitch_forces.size()};
  blocks_ = {device, p.block_rows.size() * 9};
  const auto& start = start_positions(garment);
  host_targets_ = narrowed<Real>(start);
  state_.positions.upload(host_targets_);
  targets_.upload(host_targets_);
  has_driven_nodes_ = !garment.pins.empty();
  refresh();
  if (std::isfinite(most_mismatch_.rate) && arrays_.rows_view().are_membranes() && scene_.bodies.empty() &&
      !scene_.contact.cloth)
    rows_.keep_jacobians();
  if (!garment.initial_velocities.empty())
    state_.velocities.upload(narrowed<Real>(garment.initial_velocities));
}

template <class Real>
void ProjectionSolver<Real>::build_surroundings(
    const std::shared_ptr<const ObstacleShapes<Real>>& obstacles) {
  surroundings_ = {device_, scene_, obstacles, {&garment_}};
  contacts_ = GarmentContacts<Real>(device_, garment_, arrays_, scene_);
}

template <class Real>
void ProjectionSolver<Real>::refresh() {
  // Forces may be the first that surrounds the garment; obstacles have been there from the start.
  if (!contacts_.exist() && has_surroundings(scene_)) build_surroundings(nullptr);
  reach_ = static_cast<Real>(reach(garment_, scene_));
  most_mismatch_ = resolved_.mismatch_energy(garment_, sizeof(Real) == sizeof(float));
  const std::vector<double> stiffness =
      row_stiffness(garment_.mesh, arrays_.rows, garment_.fabric, pinned_nodes(garment_));
  if (row_stiffness_.size() != stiffness.size())
    for (Buffer<Real>* buffer : {&row_stiffness_, &mismatches_, &scaled_mismatches_})
      *buffer = {device_, stiffness.size()};
  row_stiffness_.upload(std::vector<Real>(stiffness.begin(), stiffness.end()));
  const std::vector<double> bounds = row_bounds(arrays_.rows, garment_.fabric);
  if (row_bounds_.size() != bounds.size())
    for (Buffer<Real>* buffer : {&row_bounds_, &bound_growth_}) *buffer = {device_, bounds.size()};
  row_bounds_.upload(std::vector<Real>(bounds.begin(), bounds.end()));
  const auto upload = [&](const std::vector<CurvePiece>& laws, Buffer<Real>& buffer) {
    const std::vector<double> numbers = flat(laws);
    if (buffer.size() != numbers.size()) buffer = {device_, numbers.size()};
    buffer.upload(std::vector<Real>(numbers.begin(), numbers.end()));
  };
  upload(stress_laws(resolved_.recipe, garment_.fabric), row_curves_);
  upload(viscosity_laws(garment_.fabric), row_viscosity_);
  const std::size_t strains = row_viscosity_.size() > 0 ? stiffness.size() : 0;
  if (strains_.size() != strains) strains_ = {device_, strains};
}

template <class Real>
ClothState<Real> ProjectionSolver<Real>::empty_state() const {
  const std::size_t nodes = static_cast<std::size_t>(arrays_.node_count());
  const std::vector<double> none = no_contacts(contacts_.layout());
  return {.positions = {device_, nodes},
          .velocities = {device_, nodes},
          .multipliers = {device_, rows_.row_count()},
          .contacts = {device_, std::vector<Real>(none.begin(), none.end())},
          .previous_positions = {device_, has_history() ? nodes : 0},
          .previous_velocities = {device_, has_history() ? nodes : 0}};
}

template <class Real>
ArrayView<const Real> ProjectionSolver<Real>::quadratic_multipliers() {
  const ArrayView<const Real> multipliers = std::as_const(work_.multipliers).view();
  if (quadratic_multipliers_.size() == 0) return multipliers;
  kernels_.quadratic_multipliers(device_.queue(), {.rows = arrays_.rows_view(),
                                                   .tensors = arrays_.tensors.view(),
                                                   .positions = iterate_.view(),
                                                   .multipliers = multipliers,
                                                   .measure = resolved_.recipe.strain,
                                                   .coupling = laws().coupling,
                                                   .found = quadratic_multipliers_.view()});
  return std::as_const(quadratic_multipliers_).view();
}

template <class Real>
void ProjectionSolver<Real>::scale(ArrayView<const Real> from, double factor, ArrayView<Real> to) const {
  kernels_.scale_values(device_.queue(), {.from = from, .factor = static_cast<Real>(factor), .to = to});
}

template <class Real>
void ProjectionSolver<Real>::copy(const ClothState<Real>& from, ClothState<Real>& to) const {
  scale(flat(from.positions.view()), 1, flat(to.positions.view()));
  scale(flat(from.velocities.view()), 1, flat(to.velocities.view()));
  scale(from.multipliers.view(), 1, to.multipliers.view());
  scale(from.contacts.view(), 1, to.contacts.view());
  if (!has_history()) return;
  scale(flat(from.previous_positions.view()), 1, flat(to.previous_positions.view()));
  scale(flat(from.previous_velocities.view()), 1, flat(to.previous_velocities.view()));
  to.previous_step = from.previous_step;
}

template <class Real>
void ProjectionSolver<Real>::undo() {
  if (!is_undoable_) return;
  std::swap(state_, before_);
  lost_ = lost_before_;
  is_undoable_ = false;
}

template <class Real>
void ProjectionSolver<Real>::start(const std::vector<Clock>& clocks, double h, int steps, bool undoable) {
  request_ = {.clock = clocks.front(), .step = h, .steps = steps, .undoable = undoable};
  is_undoable_ = false;
}

template <class Real>
std::vector<AdvanceReport> ProjectionSolver<Real>::finish() {
  AdvanceReport result = begin_request();
  for (int n = 0; n < request_.steps && !frozen(); ++n)
    note(take_step<Real>(device_, resolved_, {this}, {}, n, request_.step).front(), result);
  return {result};
}

template <class Real>
AdvanceReport ProjectionSolver<Real>::begin_request() {
  if (request_.undoable) {
    if (before_.positions.size() == 0) before_ = empty_state();
    copy(state_, before_);
    lost_before_ = lost_;
    is_undoable_ = true;
  }
  surroundings_.set({request_.clock}, request_.step, request_.steps);
  AdvanceReport none;
  none.total.substeps = 0;
  none.total.status = lost_;
  return none;
}

template <class Real>
void ProjectionSolver<Real>::note(const StepReport& report, AdvanceReport& sum) {
  add_up(report, sum.total);
  if (has_failed(report.status)) lost_ = report.status;
  sum.steps += !frozen();
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
