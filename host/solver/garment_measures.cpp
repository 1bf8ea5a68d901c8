#include "host/solver/garment_measures.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace isocloth {

template <class Real>
GarmentMeasures<Real>::GarmentMeasures(const Device& device, const GarmentArrays<Real>& arrays)
    : device_(device),
      kernels_(step_kernels<Real>(device.backend())),
      arrays_(arrays),
      areas_(device, arrays.face_count()),
      area_errors_(device, arrays.face_count()),
      node_values_(device, 8 * static_cast<std::size_t>(arrays.node_count())) {}

template <class Real>
Measures GarmentMeasures<Real>::measure(RowEvaluator<Real>& rows, const Buffer<Vec3<Real>>& positions,
                                        const Buffer<Vec3<Real>>& velocities, const Fabric& fabric,
                                        double gravity) {
  const Queue& queue = device_.queue();
  Measures m;
  m.residual = rows.evaluate(positions, 1);
  kernels_.measure_areas(queue, {.face_begin = arrays_.face_begin.view(),
                                 .face_nodes = arrays_.face_nodes.view(),
                                 .positions = positions.view(),
                                 .rest_areas = arrays_.rest_areas.view(),
                                 .areas = areas_.view(),
                                 .errors = area_errors_.view()});
  const double rest = rows.reduce(std::as_const(arrays_.rest_areas).view()).sum;
  const double faces = static_cast<double>(areas_.size());
  m.area_error_total = std::fabs(rows.reduce(std::as_const(areas_).view()).sum - rest) / rest;
  const Reduction<Real> error = rows.reduce(std::as_const(area_errors_).view());
  m.area_error_mean = error.magnitude_sum / faces;
  m.area_error_dispersion =
      m.area_error_mean +
      2 * std::sqrt(std::max(0.0, error.square_sum / faces - m.area_error_mean * m.area_error_mean));
  m.area_error_element_max = error.maximum;

  kernels_.measure_nodes(
      queue, {.metric = {.inertia = static_cast<Real>(fabric.rho),
                         .stiffness = 0,
                         .masses = arrays_.masses.view(),
                         .pattern = {arrays_.bending_begin.view(), arrays_.bending_columns.view()},
                         .bending = arrays_.bending.view()},
              .rho = static_cast<Real>(fabric.rho),
              .weight = static_cast<Real>(fabric.delta * gravity),
              .kappa = static_cast<Real>(fabric.kappa),
              .positions = positions.view(),
              .velocities = velocities.view(),
              .values = node_values_.view()});
  double sums[8];
  const std::size_t n = arrays_.node_count();
  for (std::size_t i = 0; i < 8; ++i)
    sums[i] = rows.reduce(part(std::as_const(node_values_).view(), i * n, (i + 1) * n)).sum;
  m.kinetic_energy = sums[0];
  m.potential_energy = sums[1];
  m.linear_momentum = {sums[2], sums[3], sums[4]};
  m.angular_momentum = {sums[5], sums[6], sums[7]};
  return m;
}

template <class Real>
std::size_t GarmentMeasures<Real>::memory_bytes() const {
  return areas_.bytes() + area_errors_.bytes() + node_values_.bytes();
}

template class GarmentMeasures<float>;
template class GarmentMeasures<double>;

}  // namespace isocloth
