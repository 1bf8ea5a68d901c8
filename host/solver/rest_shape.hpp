// The part of a garment's arrays that depends on its rest shape and not on its pattern.
#pragma once

#include "host/solver/garment_arrays.hpp"

namespace isocloth {

template <class Real>
struct RestShape {
  std::vector<Real> metric_tensors, scalar_tensors, rest_values, masses, inverse_masses, bending, rest_areas;
  double element_size = 0;  ///< [m]
};

template <class Real>
RestShape<Real> rest_shape(const GarmentArrays<Real>& arrays) {
  return {.metric_tensors = arrays.metric.tensors.download(),
          .scalar_tensors = arrays.scalar.tensors.download(),
          .rest_values = arrays.rest_values.download(),
          .masses = arrays.masses.download(),
          .inverse_masses = arrays.inverse_masses.download(),
          .bending = arrays.bending.download(),
          .rest_areas = arrays.rest_areas.download(),
          .element_size = arrays.element_size};
}

template <class Real>
void load_rest_shape(const RestShape<Real>& shape, GarmentArrays<Real>& arrays) {
  arrays.metric.tensors.upload(shape.metric_tensors);
  arrays.scalar.tensors.upload(shape.scalar_tensors);
  arrays.rest_values.upload(shape.rest_values);
  arrays.masses.upload(shape.masses);
  arrays.inverse_masses.upload(shape.inverse_masses);
  arrays.bending.upload(shape.bending);
  arrays.rest_areas.upload(shape.rest_areas);
}

/// Whether two garments have the same rest shape, bit for bit.
inline bool same_rest_shape(const Mesh& a, const Mesh& b) {
  return a.positions == b.positions && a.face_begin == b.face_begin && a.face_nodes == b.face_nodes &&
         a.corner_uvs == b.corner_uvs;
}

}  // namespace isocloth
