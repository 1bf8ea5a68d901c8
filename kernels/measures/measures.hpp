// What a state is worth: areas, energies, and their reduction. Strain has a file of its own.
#pragma once

#include "kernels/launch/queue.hpp"
#include "kernels/projection/metric.hpp"
#include "kernels/views.hpp"

namespace isocloth {

template <class Real>
struct MeasureAreas {
  ArrayView<const Index> face_begin, face_nodes;
  ArrayView<const Vec3<Real>> positions;  ///< [m], shape [node_count]
  ArrayView<const Real> rest_areas;       ///< [m^2], shape [face_count]; empty: no errors are wanted
  ArrayView<Real> areas;                  ///< [m^2], shape [face_count]
  ArrayView<Real> errors;                 ///< (a - a0) / a0, Coltraro 2022, (22), shape [face_count] or empty
};

template <class Real>
struct MeasureNodes {
  MetricView<Real> metric;
  Real rho = 1, weight = 0, kappa = 0;     ///< [kg/m^2], delta g [N/m^2], [N m]
  ArrayView<const Vec3<Real>> positions;   ///< [m], shape [node_count]
  ArrayView<const Vec3<Real>> velocities;  ///< [m/s], shape [node_count]
  ArrayView<Real>
      values;  ///< shape [8, node_count]: kinetic and potential energy, momentum xyz, angular momentum xyz
};

template <class Real>
struct UpdateVelocities {
  Real inverse_step = 0;                 ///< 1 / h [1/s]
  ArrayView<const Vec3<Real>> from, to;  ///< phi_n, phi_{n+1} [m], shape [node_count]
  ArrayView<Vec3<Real>> velocities;      ///< [m/s], shape [node_count]
};

/// Partial result of a reduction.
template <class Real>
struct Reduction {
  Real maximum = 0;        ///< largest |x| of the finite ones
  Real sum = 0;            ///< sum of x
  Real magnitude_sum = 0;  ///< sum of |x|
  Real square_sum = 0;     ///< sum of x^2
  Index first_bad = -1;    ///< first index with a non-finite value, -1: none
};

template <class Real>
struct Reduce {
  ArrayView<const Real> values;
  ArrayView<Reduction<Real>> partials;  ///< shape [reduction_count(values.size())]
};

/// Values that one block reduces.
constexpr Index reduction_chunk = 4096;
ISOCLOTH_HD constexpr Index reduction_count(std::size_t size) {
  return static_cast<Index>((size + reduction_chunk - 1) / reduction_chunk);
}

namespace ISOCLOTH_BACKEND {
/// Area of each face in its own parametrisation (Coltraro 2022, section 8.3). One item per face.
template <class Real>
void measure_areas(const Queue& queue, const MeasureAreas<Real>& args);
/// 1/2 rho m v^2, delta g m z + 1/2 kappa phi.K phi, rho m v, rho m x x v. One item per node.
template <class Real>
void measure_nodes(const Queue& queue, const MeasureNodes<Real>& args);
/// v = (phi_{n+1} - phi_n) / h. One item per node.
template <class Real>
void update_velocities(const Queue& queue, const UpdateVelocities<Real>& args);
/// Partial maximum and sum of every chunk. The order of a sum is fixed, whatever the block: 32 interleaved
/// partial sums, added in order. One block per chunk.
template <class Real>
void reduce(const Queue& queue, const Reduce<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
