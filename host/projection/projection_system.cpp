// The linear system of an iteration, and its solution.
#include <algorithm>
#include <limits>
#include <utility>

#include "host/projection/projection_solver.hpp"
#include "kernels/linear/conjugate_gradients.hpp"

namespace isocloth {

template <class Real>
void ProjectionSolver<Real>::assemble_system(const MetricView<Real>& metric, bool with_rows,
                                             const SampleForces<Real>& samples) {
  kernels_.assemble_system(device_.queue(),
                           {.metric = metric,
                            .free = arrays_.free_view(),
                            .block_rows = arrays_.block_rows.view(),
                            .block_columns = arrays_.block_columns.view(),
                            .block_pairs = arrays_.block_pairs.view(),
                            .rows = arrays_.rows_view(),
                            .jacobian = rows_.jacobian.view(),
                            .node_pair_begin = arrays_.node_pair_begin.view(),
                            .node_pairs = arrays_.node_pairs.view(),
                            .stiffness = newton_ ? std::as_const(stiffness_).view() : ArrayView<const Real>{},
                            .samples = samples,
                            .with_rows = with_rows,
                            .blocks = blocks_.view(),
                            .at_limit = rows_.at_limit.view()});
  assemble_right_side(metric, with_rows, samples);
}

template <class Real>
AssembleGradient<Real> ProjectionSolver<Real>::right_side(const MetricView<Real>& metric, bool with_rows,
                                                          const SampleForces<Real>& samples) {
  const bool pulled = newton_ || !with_rows;
  const bool from_predicted = with_rows && settings_.metric == Metric::mass;
  return {.metric = metric,
          .free = arrays_.free_view(),
          .rows = arrays_.rows_view(),
          .jacobian = rows_.jacobian.view(),
          .residuals = rows_.residuals.view(),
          .scales = rows_.scales.view(),
          .multipliers = newton_ ? std::as_const(work_.multipliers).view() : ArrayView<const Real>{},
          .laws = laws(),
          .positions = iterate_.view(),
          .start = (from_predicted ? std::as_const(predicted_) : base()).view(),
          .momentum = pulled ? std::as_const(momentum_).view() : ArrayView<const Vec3<Real>>{},
          .samples = samples,
          .with_rows = with_rows,
          .right_side = right_side_.view(),
          .stitches = stitches(),
          .at_limit = rows_.at_limit.view()};
}

template <class Real>
void ProjectionSolver<Real>::assemble_right_side(const MetricView<Real>& metric, bool with_rows,
                                                 const SampleForces<Real>& samples) {
  AssembleGradient<Real> assemble = right_side(metric, with_rows, samples);
  assemble.row_forces = row_forces_.view();
  kernels_.assemble_gradient(device_.queue(), assemble);
}

template <class Real>
void ProjectionSolver<Real>::project_again() {
  AssembleGradient<Real> assemble = right_side(projection_metric(), true, {});
  assemble.jacobian = rows_.jacobian_before.view();
  assemble.momentum = {};
  assemble.stitches = {};
  assemble.pull = RowPull::mismatch;
  assemble.row_forces = row_forces_.view();
  kernels_.assemble_gradient(device_.queue(), assemble);
  if (nodal_solver_->solve_block(right_side_, correction_, right_side_.size(), {0}) &&
      couple(projection_metric(), settings_.cg_tolerance))
    correct({}, rows_.jacobian_before);
}

template <class Real>
double ProjectionSolver<Real>::imbalance(ArrayView<const Vec3<Real>> from_cloth) {
  if (right_side_.size() == 0) return 0;  // nothing is free
  if (imbalances_.size() != right_side_.size()) imbalances_ = {device_, right_side_.size()};
  FindImbalances<Real> find{.balance = right_side(projection_metric(), true, contacts_.forces()),
                            .contacts = contacts_.kept_forces(),
                            .from_cloth = from_cloth,
                            .inverse_masses = contacts_.hold_count() > 0 ? contacts_.inverse_masses()
                                                                         : arrays_.inverse_masses.view(),
                            .weight = static_cast<Real>(part_.h * part_.h * resolved_.weight(garment_)),
                            .imbalances = imbalances_.view()};
  find.balance.pull = RowPull::multipliers;
  kernels_.find_imbalances(device_.queue(), find);
  const Reduction<Real> r = rows_.reduce(std::as_const(imbalances_).view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
bool ProjectionSolver<Real>::factor() {
  const Factorization outcome = nodal_solver_->solve(blocks_, right_side_, correction_);
  bad_block_ = outcome.ok ? -1 : outcome.block_row;
  return outcome.ok;
}

template <class Real>
bool ProjectionSolver<Real>::couple(const MetricView<Real>& metric, double rtol) {
  CoupledMember<Real> own = coupled_member();
  own.couplings.stiffness = metric.stiffness;
  own.couplings.values = metric.beyond;
  // Without couplings a factor of less precision leaves little.
  const double least = own.couplings.exist() ? rtol : std::max(rtol / 100, exact_rtol<Real>());
  if (!coupled_.exists()) return true;
  if (coupled_.solve({own}, {}, least) < 0) return false;
  if (translations_.size() > 0) {  // momentum is kept to rounding
    coupled_.set_modes({own}, {}, translations_, {0});
    coupled_.correct({own}, translations_);
  }
  return true;
}

template <class Real>
CoupledMember<Real> ProjectionSolver<Real>::coupled_member() {
  const MetricView<Real> metric = projection_metric();
  return {.factor = nodal_solver_.get(),
          .couplings = {arrays_.couplings(), metric.stiffness, metric.beyond},
          .right_side = &right_side_,
          .solution = &correction_,
          .matrix = {matrix_rows_.begin.view(), matrix_rows_.columns.view(), matrix_rows_.blocks.view(),
                     std::as_const(blocks_).view()}};
}

template <class Real>
NodesInStep<Real> ProjectionSolver<Real>::nodes_in_step() {
  return {.start = std::as_const(frozen() ? state_ : work_).positions.view(),
          .iterate = frozen() ? std::as_const(state_.positions).view() : std::as_const(iterate_).view(),
          .inverse_masses =
              contacts_.hold_count() > 0 ? contacts_.inverse_masses() : arrays_.inverse_masses.view(),
          .inertia = projection_metric().inertia,
          .free = arrays_.free_view(),
          .blocks = blocks_.view(),
          .right_side = right_side_.view()};
}

template <class Real>
void ProjectionSolver<Real>::assemble() {
  if (newton_)
    kernels_.geometric_stiffness(device_.queue(), {.rows = arrays_.rows_view(),
                                                   .tensors = arrays_.tensors.view(),
                                                   .multipliers = quadratic_multipliers(),
                                                   .coupling = laws().coupling,
                                                   .stiffness = stiffness_.view(),
                                                   .stitches = stitches(),
                                                   .at_limit = rows_.at_limit.view()});
  assemble_system(projection_metric(), true, contacts_.forces());
}

template <class Real>
bool ProjectionSolver<Real>::solve() {
  assemble();
  return factor() &&
         couple(projection_metric(), is_inspection_ ? exact_rtol<Real>() : settings_.cg_tolerance);
}

template class ProjectionSolver<float>;
template class ProjectionSolver<double>;

}  // namespace isocloth
