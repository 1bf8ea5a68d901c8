#include "host/projection/projection_system.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

template <class Real>
ProjectionSystem<Real>::ProjectionSystem(const Device& device, const Garment& garment,
                                         const ResolvedScene& resolved, const GarmentArrays<Real>& arrays,
                                         ClothInStep<Real>& cloth, RowsInStep<Real>& rows,
                                         GarmentContacts<Real>& contacts, StepSolver choice)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      resolved_(resolved),
      settings_(resolved.scene.projection),
      arrays_(arrays),
      cloth_(cloth),
      rows_(rows),
      contacts_(contacts) {
  device.monitor().check();
  const NodalPattern& p = arrays.pattern;
  const BlockPattern system{
      .size = p.free_count(), .block = 3, .rows = p.block_rows, .columns = p.block_columns};
  const std::size_t nodes = arrays.node_count(), free = p.free_count(),
                    stitches = arrays.stitch_forces.size();
  const bool is_coupled = arrays.couplings().exist();
  // Rigid rows are too stiff for a factor of less precision, and bodies take what the factor solves as it is.
  const bool is_soft = (is_coupled || resolved.recipe.is_elastic()) && resolved.scene.bodies.empty();
  nodal_solver_ = make_nodal_solver<Real>(device, system, choice, is_soft);
  if (is_coupled || !nodal_solver_->is_exact()) coupled_ = {device, {free}};
  if (!nodal_solver_->is_exact() && garment.pins.empty()) {
    std::vector<Vec3<Real>> columns(3 * free);
    for (std::size_t i = 0; i < free; ++i)
      columns[i].x = columns[free + i].y = columns[2 * free + i].z = Real(1);
    translations_ = {device, columns};
  }
  matrix_rows_ = {device, system};
  predicted_ = {device, nodes};
  for (auto* buffer : {&momentum_, &right_side_, &correction_}) *buffer = {device, free};
  stiffness_ = {device, p.pairs.size()};
  blocks_ = {device, p.block_rows.size() * 9};
  row_forces_ = {device, rows.values().row_count()};
  stitch_stiffness_ = {device, stitches};
  stitch_rests_ = {device, stitches};
}

template <class Real>
std::size_t ProjectionSystem<Real>::memory_bytes() const {
  std::size_t bytes = nodal_solver_->memory_bytes() + coupled_.memory_bytes() + matrix_rows_.bytes();
  for (const auto* vectors :
       {&translations_, &predicted_, &momentum_, &right_side_, &correction_, &stitch_rests_})
    bytes += vectors->bytes();
  for (const auto* numbers : {&stiffness_, &blocks_, &row_forces_, &imbalances_, &stitch_stiffness_})
    bytes += numbers->bytes();
  return bytes;
}

template <class Real>
MetricView<Real> ProjectionSystem<Real>::implicit_metric() const {
  const double h = cloth_.step();
  const Fabric& f = garment_.fabric;
  return {
      .inertia = static_cast<Real>(cloth_.rate() * (cloth_.rate() * f.density + h * f.mass_damping)),
      .stiffness = static_cast<Real>(h * cloth_.rate() * f.stiffness_damping + h * h * f.bending_stiffness),
      .masses = arrays_.masses.view(),
      .pattern = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
      .bending = arrays_.bending.view(),
      .factored = arrays_.factored.view(),
      .beyond = arrays_.beyond.view()};
}

template <class Real>
MetricView<Real> ProjectionSystem<Real>::projection_metric() const {
  if (settings_.metric == Metric::implicit_b) return implicit_metric();
  return {.inertia = 1, .stiffness = 0, .masses = arrays_.masses.view(), .pattern = {}, .bending = {}};
}

template <class Real>
void ProjectionSystem<Real>::begin_part() {
  bad_block_ = -1;
  if (stitch_stiffness_.size() == 0) return;
  kernels_.begin_stitches(device_.queue(), {.pattern = arrays_.stitch_pattern(),
                                            .laws = arrays_.stitch_laws(),
                                            .speed = static_cast<Real>(garment_.sewing.speed),
                                            .hold = static_cast<Real>(garment_.sewing.hold()),
                                            .step = static_cast<Real>(cloth_.step()),
                                            .positions = std::as_const(cloth_.work.positions).view(),
                                            .found_stiffness = stitch_stiffness_.view(),
                                            .rests = stitch_rests_.view()});
}

template <class Real>
bool ProjectionSystem<Real>::predict(const Buffer<Vec3<Real>>& targets, double share, bool with_predicted) {
  const Fabric& f = garment_.fabric;
  const Queue& queue = device_.queue();
  const MetricView<Real> metric = implicit_metric();
  const bool metric_is_mass = settings_.metric == Metric::mass;
  kernels_.assemble_momentum(
      queue,
      {.metric = metric,
       .free = arrays_.free_view(),
       .rho = static_cast<Real>(cloth_.rate() * f.density),
       .kappa = static_cast<Real>(f.bending_stiffness),
       .weight = static_cast<Real>(f.gravity_density * garment_.gravity.value_or(resolved_.scene.gravity)),
       .step = static_cast<Real>(cloth_.step()),
       .positions = cloth_.base().view(),
       .velocities = cloth_.base_velocity().view(),
       .momentum = momentum_.view()});
  const auto start = [&](double step) {
    kernels_.start_iteration(queue, {.free = arrays_.free_view(),
                                     .step = static_cast<Real>(step),
                                     .positions = cloth_.base().view(),
                                     .velocities = cloth_.base_velocity().view(),
                                     .from = cloth_.state.positions.view(),
                                     .targets = targets.view(),
                                     .share = static_cast<Real>(share),
                                     .iterate = cloth_.iterate.view()});
  };
  if (!is_newton() || metric_is_mass || with_predicted) {
    // Of proximal Newton they act in the iterations.
    const bool is_pulled = !is_newton() && contacts_.has_external_forces(),
               is_solved = arrays_.has_bending || is_pulled;
    start(0);
    if (is_solved) {
      if (is_pulled) contacts_.act_without_contacts(cloth_.iterate);
      assemble_system(metric, false, is_pulled ? contacts_.forces() : SampleForces<Real>{});
      if (!factor() || !couple(metric, exact_rtol<Real>())) return false;
      if (is_pulled) contacts_.update(correction_, {});
    }
    for (Buffer<Vec3<Real>>* target : {&predicted_, &cloth_.iterate})
      kernels_.predict_positions(
          queue, {.metric = metric,
                  .free = arrays_.free_view(),
                  .positions = cloth_.base().view(),
                  .targets = std::as_const(cloth_.iterate).view(),
                  .momentum = std::as_const(momentum_).view(),
                  .moves = is_solved ? std::as_const(correction_).view() : ArrayView<const Vec3<Real>>{},
                  .predicted = target->view()});
    // M (phi~ - phi_j) is taken from phi~ itself: momentum_ is B's.
    if (metric_is_mass) momentum_.upload(std::vector<Vec3<Real>>(momentum_.size()));
  }
  if (is_newton()) start(cloth_.step() / cloth_.rate());
  contacts_.place_held(cloth_.iterate);
  return true;
}

template <class Real>
void ProjectionSystem<Real>::assemble() {
  if (is_newton())
    kernels_.geometric_stiffness(device_.queue(), {.rows = arrays_.rows_view(),
                                                   .tensors = arrays_.tensors.view(),
                                                   .multipliers = rows_.quadratic_multipliers(),
                                                   .coupling = rows_.laws().coupling,
                                                   .stiffness = stiffness_.view(),
                                                   .stitches = stitches(),
                                                   .at_limit = rows_.values().at_limit.view()});
  assemble_system(projection_metric(), true, contacts_.forces());
}

template <class Real>
void ProjectionSystem<Real>::assemble_system(const MetricView<Real>& metric, bool with_rows,
                                             const SampleForces<Real>& samples) {
  kernels_.assemble_system(
      device_.queue(), {.metric = metric,
                        .free = arrays_.free_view(),
                        .block_rows = arrays_.block_rows.view(),
                        .block_columns = arrays_.block_columns.view(),
                        .block_pairs = arrays_.block_pairs.view(),
                        .rows = arrays_.rows_view(),
                        .jacobian = rows_.values().jacobian.view(),
                        .node_pair_begin = arrays_.node_pair_begin.view(),
                        .node_pairs = arrays_.node_pairs.view(),
                        .stiffness = is_newton() ? std::as_const(stiffness_).view() : ArrayView<const Real>{},
                        .samples = samples,
                        .with_rows = with_rows,
                        .blocks = blocks_.view(),
                        .at_limit = rows_.values().at_limit.view()});
  assemble_right_side(metric, with_rows, samples);
}

template <class Real>
AssembleGradient<Real> ProjectionSystem<Real>::right_side(const MetricView<Real>& metric, bool with_rows,
                                                          const SampleForces<Real>& samples) {
  const bool pulled = is_newton() || !with_rows;
  const bool from_predicted = with_rows && settings_.metric == Metric::mass;
  return {
      .metric = metric,
      .free = arrays_.free_view(),
      .rows = arrays_.rows_view(),
      .jacobian = rows_.values().jacobian.view(),
      .residuals = rows_.values().residuals.view(),
      .scales = rows_.values().scales.view(),
      .multipliers = is_newton() ? std::as_const(cloth_.work.multipliers).view() : ArrayView<const Real>{},
      .laws = rows_.laws(),
      .positions = cloth_.iterate.view(),
      .start = (from_predicted ? std::as_const(predicted_) : cloth_.base()).view(),
      .momentum = pulled ? std::as_const(momentum_).view() : ArrayView<const Vec3<Real>>{},
      .samples = samples,
      .with_rows = with_rows,
      .right_side = right_side_.view(),
      .stitches = stitches(),
      .at_limit = rows_.values().at_limit.view()};
}

template <class Real>
void ProjectionSystem<Real>::assemble_right_side(const MetricView<Real>& metric, bool with_rows,
                                                 const SampleForces<Real>& samples) {
  AssembleGradient<Real> assemble = right_side(metric, with_rows, samples);
  assemble.row_forces = row_forces_.view();
  kernels_.assemble_gradient(device_.queue(), assemble);
}

template <class Real>
bool ProjectionSystem<Real>::factor() {
  Downloads downloads(device_);
  begin_factor(downloads);
  downloads.run();
  return end_factor();
}

template <class Real>
void ProjectionSystem<Real>::begin_factor(Downloads& downloads) {
  nodal_solver_->begin_solve(blocks_, right_side_, correction_, downloads);
}

template <class Real>
bool ProjectionSystem<Real>::end_factor() {
  const Factorization outcome = nodal_solver_->end_solve(blocks_, right_side_, correction_);
  bad_block_ = outcome.ok ? -1 : outcome.block_row;
  return outcome.ok;
}

template <class Real>
bool ProjectionSystem<Real>::couple(const MetricView<Real>& metric, double rtol, Downloads* more) {
  CoupledMember<Real> own = member();
  own.couplings.stiffness = metric.stiffness;
  own.couplings.values = metric.beyond;
  // Without couplings a factor of less precision leaves little.
  const double least = own.couplings.exist() ? rtol : std::max(rtol / 100, exact_rtol<Real>());
  if (!coupled_.exists()) return true;
  const bool keeps_momentum = translations_.size() > 0;  // to rounding
  if (keeps_momentum) coupled_.set_modes({own}, {}, translations_, {0});
  if (coupled_.solve({own}, {}, least, more) < 0) return false;
  if (keeps_momentum) coupled_.correct({own});
  return true;
}

template <class Real>
bool ProjectionSystem<Real>::solve(double rtol) {
  Downloads outcome(device_);
  begin_solve(outcome);
  if (!outcome.are_wanted() || !coupled_.exists()) {
    outcome.run();
    return end_factor() && couple(projection_metric(), rtol);
  }
  // It is told with what is coupled whether there is a factor.
  const bool is_coupled = couple(projection_metric(), rtol, &outcome);
  outcome.run();
  return end_factor() && is_coupled;
}

template <class Real>
void ProjectionSystem<Real>::begin_solve(Downloads& downloads) {
  assemble();
  begin_factor(downloads);
}

template <class Real>
void ProjectionSystem<Real>::correct(const BodyMoves<Real>& bodies, const Buffer<Vec3<Real>>& jacobian) {
  const Queue& queue = device_.queue();
  if (is_newton())
    kernels_.update_multipliers(queue, {.rows = arrays_.rows_view(),
                                        .laws = rows_.laws(),
                                        .free = arrays_.free_view(),
                                        .jacobian = jacobian.view(),
                                        .residuals = rows_.values().residuals.view(),
                                        .scales = rows_.values().scales.view(),
                                        .correction = correction_.view(),
                                        .multipliers = cloth_.work.multipliers.view(),
                                        .at_limit = rows_.values().at_limit.view()});
  contacts_.update(correction_, bodies);
  kernels_.apply_correction(queue, {.free = arrays_.free_view(),
                                    .correction = std::as_const(correction_).view(),
                                    .positions = cloth_.iterate.view()});
}

template <class Real>
void ProjectionSystem<Real>::project_again() {
  AssembleGradient<Real> assemble = right_side(projection_metric(), true, {});
  assemble.jacobian = rows_.values().jacobian_before.view();
  assemble.momentum = {};
  assemble.stitches = {};
  assemble.pull = RowPull::mismatch;
  assemble.row_forces = row_forces_.view();
  kernels_.assemble_gradient(device_.queue(), assemble);
  if (nodal_solver_->solve_block(right_side_, correction_, right_side_.size(), {0}) &&
      couple(projection_metric(), settings_.cg_tolerance))
    correct({}, rows_.values().jacobian_before);
}

template <class Real>
double ProjectionSystem<Real>::imbalance(ArrayView<const Vec3<Real>> from_cloth) {
  if (right_side_.size() == 0) return 0;  // nothing is free
  if (imbalances_.size() != right_side_.size()) imbalances_ = {device_, right_side_.size()};
  FindImbalances<Real> find{
      .balance = right_side(projection_metric(), true, contacts_.forces()),
      .contacts = contacts_.kept_forces(),
      .from_cloth = from_cloth,
      .inverse_masses = inverse_masses(),
      .weight = static_cast<Real>(cloth_.step() * cloth_.step() * resolved_.weight(garment_)),
      .imbalances = imbalances_.view()};
  find.balance.pull = RowPull::multipliers;
  kernels_.find_imbalances(device_.queue(), find);
  const Reduction<Real> r = rows_.evaluator().reduce(std::as_const(imbalances_).view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
CoupledMember<Real> ProjectionSystem<Real>::member() {
  const MetricView<Real> metric = projection_metric();
  return {.factor = nodal_solver_.get(),
          .couplings = {arrays_.couplings(), metric.stiffness, metric.beyond},
          .right_side = &right_side_,
          .solution = &correction_,
          .matrix = {matrix_rows_.begin.view(), matrix_rows_.columns.view(), matrix_rows_.blocks.view(),
                     std::as_const(blocks_).view()}};
}

template <class Real>
ArrayView<const Real> ProjectionSystem<Real>::inverse_masses() const {
  return contacts_.hold_count() > 0 ? contacts_.inverse_masses() : arrays_.inverse_masses.view();
}

template class ProjectionSystem<float>;
template class ProjectionSystem<double>;

}  // namespace isocloth
