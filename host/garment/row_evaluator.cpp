#include "host/garment/row_evaluator.hpp"

#include <utility>

namespace isocloth {

template <class Real>
RowEvaluator<Real>::RowEvaluator(const Device& device, const GarmentArrays<Real>& arrays)
    : residuals(device, arrays.rows.row_count()),
      scales(device, arrays.rows.row_count()),
      jacobian(device, arrays.rows_view().jacobian_count()),
      at_limit(device, arrays.rows.limits.slot_nodes.size()),
      device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      arrays_(arrays),
      reducer_(device) {}

template <class Real>
void RowEvaluator<Real>::launch(const Buffer<Vec3<Real>>& positions, Real eps,
                                ArrayView<const Real> inverse_masses, const RowLaws<Real>& laws) {
  if (jacobian_before.size() > 0) std::swap(jacobian, jacobian_before);
  kernels_.evaluate_rows(device_.queue(), {.rows = arrays_.rows_view(),
                                           .tensors = arrays_.tensors.view(),
                                           .rest_values = arrays_.rest_values.view(),
                                           .positions = positions.view(),
                                           .inverse_masses = inverse_masses,
                                           .laws = laws,
                                           .eps = eps,
                                           .residuals = residuals.view(),
                                           .scales = scales.view(),
                                           .jacobian = jacobian.view(),
                                           .at_limit = at_limit.view()});
}

template <class Real>
std::size_t RowEvaluator<Real>::memory_bytes() const {
  return residuals.bytes() + scales.bytes() + jacobian.bytes() + jacobian_before.bytes() + at_limit.bytes() +
         reducer_.memory_bytes();
}

template class RowEvaluator<float>;
template class RowEvaluator<double>;

}  // namespace isocloth
