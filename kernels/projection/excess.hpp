// Whether nodes went farther in a step than any that does not diverge.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// One block; see kernels/core/divergence.hpp.
template <class Real>
struct FindExcess {
  ArrayView<const Vec3<Real>> from, to;    ///< where the step began, where it is [m], shape [node_count]
  ArrayView<const Vec3<Real>> velocities;  ///< where the step began [m/s], shape [node_count]
  ArrayView<const Index> free_number;      ///< -1: pinned; empty: what pins do gives no node more room
  Real step = 0;                           ///< h [s]
  Real reach = 0;                          ///< w of excess_displacement() [m]
  /// 1: a node is beyond the bound, which grows by the longest way of a pinned node; else 0; shape [1].
  ArrayView<Index> found;
};

namespace ISOCLOTH_BACKEND {
template <class Real>
void find_excess(const Queue& queue, const FindExcess<Real>& args);
}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
