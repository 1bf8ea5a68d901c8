#include "host/solver/row_evaluator.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace isocloth {

template <class Real>
RowEvaluator<Real>::RowEvaluator(const Device& device, const GarmentArrays<Real>& arrays)
    : residuals(device, arrays.rows.row_count()),
      scales(device, arrays.rows.row_count()),
      metric_jacobian(device, static_cast<std::size_t>(arrays.rows.metric.slot_count()) * 3),
      scalar_jacobian(device, arrays.rows.scalar.slot_count()),
      device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      arrays_(arrays),
      metric_rows_(arrays.rows.metric.row_count()) {
  const std::size_t most = std::max({8 * static_cast<std::size_t>(arrays.node_count()),
                                     static_cast<std::size_t>(arrays.face_count()), residuals.size()});
  partials_ = {device, static_cast<std::size_t>(reduction_count(most))};
}

template <class Real>
Reduction<Real> RowEvaluator<Real>::reduce(ArrayView<const Real> values) {
  const Index count = reduction_count(values.size());
  kernels_.reduce(device_.queue(), {.values = values, .partials = part(partials_.view(), 0, count)});
  const Reduction<Real>* partials = partials_.read(staging_partials_);
  Reduction<Real> total;
  for (Index i = 0; i < count; ++i) {
    total.maximum = std::max(total.maximum, partials[i].maximum);
    total.sum += partials[i].sum;
    total.magnitude_sum += partials[i].magnitude_sum;
    total.square_sum += partials[i].square_sum;
    if (total.first_bad < 0) total.first_bad = partials[i].first_bad;
  }
  return total;
}

template <class Real>
double RowEvaluator<Real>::evaluate(const Buffer<Vec3<Real>>& positions, Real eps,
                                    ArrayView<const Real> inverse_masses) {
  const std::size_t metric = metric_rows_, all = row_count();
  kernels_.evaluate_metric_rows(device_.queue(), {.stencils = arrays_.metric.view(),
                                                  .tensors = arrays_.metric.tensors.view(),
                                                  .rest_values = part(arrays_.rest_values.view(), 0, metric),
                                                  .positions = positions.view(),
                                                  .inverse_masses = inverse_masses,
                                                  .eps = eps,
                                                  .residuals = part(residuals.view(), 0, metric),
                                                  .scales = part(scales.view(), 0, metric),
                                                  .jacobian = metric_jacobian.view()});
  kernels_.evaluate_scalar_rows(device_.queue(),
                                {.stencils = arrays_.scalar.view(),
                                 .tensors = arrays_.scalar.tensors.view(),
                                 .rest_values = part(arrays_.rest_values.view(), metric, all),
                                 .positions = positions.view(),
                                 .inverse_masses = inverse_masses,
                                 .eps = eps,
                                 .residuals = part(residuals.view(), metric, all),
                                 .scales = part(scales.view(), metric, all),
                                 .jacobian = scalar_jacobian.view()});
  const Reduction<Real> r = reduce(std::as_const(residuals).view());
  return r.first_bad < 0 ? static_cast<double>(r.maximum) : std::numeric_limits<double>::infinity();
}

template <class Real>
std::size_t RowEvaluator<Real>::memory_bytes() const {
  return residuals.bytes() + scales.bytes() + metric_jacobian.bytes() + scalar_jacobian.bytes() +
         partials_.bytes();
}

template class RowEvaluator<float>;
template class RowEvaluator<double>;

}  // namespace isocloth
