// Areas of faces, velocities of a step, and the reduction of arrays.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

template <class Real>
struct MeasureAreas {
  ArrayView<const Index> face_begin, face_nodes;
  ArrayView<const Vec3<Real>> positions;  ///< [m], shape [node_count]
  ArrayView<Real> areas;                  ///< [m^2], shape [face_count]
};

template <class Real>
struct UpdateVelocities {
  Real inverse_step = 0;                 ///< 1 / h [1/s]
  ArrayView<const Vec3<Real>> from, to;  ///< phi_n, phi_{n+1} [m], shape [node_count]
  ArrayView<Vec3<Real>> velocities;      ///< [m/s], shape [node_count]
};

template <class Real>
struct ScaleValues {
  ArrayView<const Real> from;
  Real factor = 1;
  ArrayView<Real> to;  ///< may be `from`
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
/// v = (phi_{n+1} - phi_n) / h. One item per node.
template <class Real>
void update_velocities(const Queue& queue, const UpdateVelocities<Real>& args);
/// to = factor * from, with the same bits for a factor of 1; 0 for a factor of 0, whatever is scaled. One
/// item per value.
template <class Real>
void scale_values(const Queue& queue, const ScaleValues<Real>& args);
/// Partial maximum and sum of every chunk. The order of a sum is fixed, whatever the block: 32 interleaved
/// partial sums, added in order. One block per chunk.
template <class Real>
void reduce(const Queue& queue, const Reduce<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
