#include "host/garment/row_evaluator.hpp"

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
      metric_rows_(arrays.rows.metric.row_count()),
      reducer_(device) {}

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
         reducer_.memory_bytes();
}

template class RowEvaluator<float>;
template class RowEvaluator<double>;

}  // namespace isocloth
