// Packets of pairs of nodes: as many at once as the machine has lanes.
#pragma once

#include "kernels/launch/quads.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Lane values of pairs.
#if defined(__CUDACC__)
template <class Real>
using PairLanes = Real;
#else
template <class Real>
using PairLanes = Pack<Real>;
#endif

/// Pairs nearer than this part of their length at rest have no direction.
template <class Real>
constexpr Real collapsed = Real(1e-6);

/// Field `field` of `fields` of a packet in an array of shape [rest shape, packet, fields, width].
template <class S>
ISOCLOTH_DEVICE S packet_values(ArrayView<const typename Lanes<S>::Scalar> values, std::size_t packet_count,
                                Index rest_shape, Index packet, int fields, int field) {
  return reinterpret_cast<const S*>(values.data())[(rest_shape * packet_count + packet) * fields + field];
}

/// The largest of lanes that are not negative, infinite where one is not finite.
template <class S>
ISOCLOTH_DEVICE typename Lanes<S>::Scalar largest_lane(S lanes) {
  using Real = typename Lanes<S>::Scalar;
  constexpr Real none = static_cast<Real>(HUGE_VAL);
  Real value = 0;
  for (int lane = 0; lane < Lanes<S>::width; ++lane) {
    const Real own = lane_value(lanes, lane);
    if (!(own <= value)) value = own < none ? own : none;
  }
  return value;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
