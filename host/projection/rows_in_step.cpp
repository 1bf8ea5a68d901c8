#include "host/projection/rows_in_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/projection/step_rules.hpp"

namespace isocloth {

template <class Real>
RowsInStep<Real>::RowsInStep(const Device& device, const Garment& garment, const ResolvedScene& resolved,
                             const GarmentArrays<Real>& arrays, ClothInStep<Real>& cloth)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      garment_(garment),
      resolved_(resolved),
      arrays_(arrays),
      cloth_(cloth),
      evaluator_(device, arrays),
      start_eps_(resolved.start_eps(sizeof(Real) == sizeof(float))),
      eps_(start_eps_) {
  if (!kind_of(resolved.recipe.strain).is_quadratic)
    quadratic_multipliers_ = {device, evaluator_.row_count()};
  refresh();
  const Scene& scene = resolved.scene;
  if (std::isfinite(most_mismatch_.rate) && arrays.rows_view().are_membranes() && scene.bodies.empty() &&
      !scene.contact.cloth)
    evaluator_.keep_jacobians();
}

template <class Real>
void RowsInStep<Real>::refresh() {
  most_mismatch_ = resolved_.mismatch_energy(garment_, sizeof(Real) == sizeof(float));
  const auto set = [&](Buffer<Real>& buffer, const std::vector<double>& numbers) {
    if (buffer.size() != numbers.size()) buffer = {device_, numbers.size()};
    buffer.upload(std::vector<Real>(numbers.begin(), numbers.end()));
  };
  const auto make_room = [&](Buffer<Real>& buffer, std::size_t size) {
    if (buffer.size() != size) buffer = {device_, size};
  };
  set(stiffness_, row_stiffness(garment_.mesh, arrays_.rows, garment_.fabric, pinned_nodes(garment_)));
  for (Buffer<Real>* buffer : {&mismatches_, &scaled_mismatches_}) make_room(*buffer, stiffness_.size());
  set(bounds_, row_bounds(arrays_.rows, garment_.fabric));
  make_room(bound_growth_, bounds_.size());
  set(curves_, flat(stress_laws(resolved_.recipe, garment_.fabric)));
  set(viscosity_, flat(viscosity_laws(garment_.fabric)));
  set(memory_, memory_laws(garment_.fabric));
  make_room(strains_, viscosity_.size() > 0 ? stiffness_.size() : 0);
}

template <class Real>
RowLaws<Real> RowsInStep<Real>::laws() {
  RowLaws<Real> result{stiffness_.view(), static_cast<Real>(cloth_.step()),
                       static_cast<Real>(garment_.fabric.poisson_coupling()),
                       std::as_const(cloth_.work.multipliers).view()};
  result.curves = curves_.view();
  result.measure = resolved_.recipe.strain;
  result.first_membrane = static_cast<std::size_t>(arrays_.rows.triples.row_count());
  result.membrane_rows = static_cast<std::size_t>(arrays_.rows.membranes.row_count());
  result.viscosity = viscosity_.view();
  result.before = std::as_const(strains_).view();
  result.memory = {memory_.view(), std::as_const(cloth_.work.plastic).view()};
  if (bounds_.size() > 0)
    result.bounds = {bounds_.view(), bound_growth_.view(), inertia_,
                     static_cast<Real>(resolved_.scene.projection.tolerance), iteration_};
  return result;
}

template <class Real>
void RowsInStep<Real>::begin_part(Real inertia, ArrayView<const Real> inverse_masses) {
  eps_ = start_eps_;
  inertia_ = inertia;
  inverse_masses_ = inverse_masses;
  if (!are_viscous()) return;
  evaluate_strains(cloth_.work.positions);
  kernels_.scale_values(
      device_.queue(),
      {.from = std::as_const(evaluator_.residuals).view(), .factor = Real(1), .to = strains_.view()});
}

template <class Real>
void RowsInStep<Real>::evaluate_strains(const Buffer<Vec3<Real>>& positions) {
  evaluator_.launch(positions, static_cast<Real>(eps_), arrays_.inverse_masses.view(), laws().of_strain());
}

template <class Real>
void RowsInStep<Real>::keep_memory() {
  if (memory_.size() == 0) return;
  evaluate_strains(cloth_.iterate);
  kernels_.keep_memory(device_.queue(), {.rows = arrays_.rows_view(),
                                         .tensors = arrays_.tensors.view(),
                                         .laws = laws(),
                                         .strains = std::as_const(evaluator_.residuals).view(),
                                         .plastic = cloth_.work.plastic.view()});
}

template <class Real>
void RowsInStep<Real>::launch(int iteration) {
  iteration_ = iteration;
  // D = diag(J M^-1 J^T) with the metric's mass; the kernel knows 1/m, the rest goes into eps.
  evaluator_.launch(cloth_.iterate, static_cast<Real>(eps_) / inertia_, inverse_masses_, laws());
  if (stiffness_.size() == 0)
    return evaluator_.reducer().launch(of_residuals, std::as_const(evaluator_.residuals).view());
  kernels_.find_mismatches(device_.queue(), {.laws = laws(),
                                             .residuals = evaluator_.residuals.view(),
                                             .scales = evaluator_.scales.view(),
                                             .multipliers = std::as_const(cloth_.work.multipliers).view(),
                                             .mismatches = mismatches_.view(),
                                             .scaled = scaled_mismatches_.view()});
  evaluator_.reducer().launch(of_mismatches, std::as_const(mismatches_).view());
  // Of a device it costs less to know it always than to ask for it alone.
  if (!device_.backend().memory.host_accessible) launch_mismatch_excess();
}

template <class Real>
double RowsInStep<Real>::residual() const {
  return evaluator_.largest(evaluator_.total(stiffness_.size() == 0 ? of_residuals : of_mismatches));
}

template <class Real>
double RowsInStep<Real>::evaluate(int iteration) {
  Downloads downloads(device_);
  launch(iteration);
  fetch(downloads);
  downloads.run();
  return residual();
}

template <class Real>
void RowsInStep<Real>::follow(double before, double after) {
  if (stiffness_.size() > 0) return;  // no row is rigid
  const double old = eps_;
  eps_ = cpu::adapted_eps(old, before, after, least_eps(std::is_same_v<Real, float>), start_eps_);
  if (eps_ != old) evaluate(iteration_);  // the rows' scales must follow
}

template <class Real>
void RowsInStep<Real>::launch_mismatch_excess() {
  if (has_mismatch_bound()) evaluator_.reducer().launch(of_excess, std::as_const(scaled_mismatches_).view());
}

template <class Real>
double RowsInStep<Real>::mismatch_excess() const {
  if (!has_mismatch_bound()) return 0;
  const double square = cloth_.step() * cloth_.step(), twice = evaluator_.total(of_excess).square_sum;
  return twice / 2 / (square * (square * most_mismatch_.rate + most_mismatch_.rounding));
}

template <class Real>
bool RowsInStep<Real>::is_near(double residual) const {
  return cpu::is_near(residual, cloth_.step(), most_mismatch_.rate, most_mismatch_.rounding,
                      strain_rounding(sizeof(Real) == sizeof(float)));
}

template <class Real>
RowEnergies<Real> RowsInStep<Real>::energies() const {
  return {.stiffness = stiffness_.view(),
          .bounds = bounds_.view(),
          .curves = curves_.view(),
          .curve_numbers = static_cast<Index>(curves_.size()),
          .measure = resolved_.recipe.strain,
          .memory = {memory_.view(), std::as_const(cloth_.state.plastic).view()}};
}

template <class Real>
ArrayView<const Real> RowsInStep<Real>::quadratic_multipliers() {
  const ArrayView<const Real> multipliers = std::as_const(cloth_.work.multipliers).view();
  if (are_quadratic()) return multipliers;
  kernels_.quadratic_multipliers(device_.queue(), {.rows = arrays_.rows_view(),
                                                   .tensors = arrays_.tensors.view(),
                                                   .positions = std::as_const(cloth_.iterate).view(),
                                                   .multipliers = multipliers,
                                                   .measure = resolved_.recipe.strain,
                                                   .coupling = laws().coupling,
                                                   .found = quadratic_multipliers_.view()});
  return std::as_const(quadratic_multipliers_).view();
}

template <class Real>
void RowsInStep<Real>::settle_multipliers() {
  constexpr int most_passes = 20;
  std::vector<Real> multipliers = cloth_.work.multipliers.download();
  const std::vector<Real> stiffness = stiffness_.download();
  for (int pass = 0; pass < most_passes; ++pass) {
    evaluate(0);
    Real change = 0, largest = 0;
    const std::vector<Real> scales = evaluator_.scales.download(), values = evaluator_.residuals.download();
    for (std::size_t row = 0; row < stiffness.size(); ++row) {
      if (!(stiffness[row] > 0)) continue;
      const Real stress = scales[row] * scales[row] * values[row];
      change = std::max(change, std::abs(stress - multipliers[row]));
      largest = std::max(largest, std::abs(stress));
      multipliers[row] = stress;
    }
    cloth_.work.multipliers.upload(multipliers);
    if (change <= Real(1e-14) * largest) break;
  }
}

template <class Real>
std::size_t RowsInStep<Real>::memory_bytes() const {
  std::size_t bytes = evaluator_.memory_bytes();
  for (const Buffer<Real>* buffer : {&stiffness_, &mismatches_, &scaled_mismatches_, &bounds_, &bound_growth_,
                                     &curves_, &viscosity_, &memory_, &strains_, &quadratic_multipliers_})
    bytes += buffer->bytes();
  return bytes;
}

template class RowsInStep<float>;
template class RowsInStep<double>;

}  // namespace isocloth
