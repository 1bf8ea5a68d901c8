// Springs with dampers between pairs of nodes.
#pragma once

#include "kernels/impulse/impulse_arrays.hpp"
#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Forces of a packet of springs (Bender, section 3.3) added to both ends: f_a = (k (|d| - l) + c d'/dt . d /
/// |d|) d / |d| = -f_b with d = x_b - x_a; none where d has no direction. places: x [m], moves: u [m],
/// rate_damping: c over the time in which the nodes move by u. Arrays of nodes: shape [node_count + 1].
template <class Real>
ISOCLOTH_DEVICE void add_spring_forces(const PairPackets<Real>& springs, Index packet, Index rest_shape,
                                       Real stiffness, Real rate_damping, const Vec4<Real>* places,
                                       const Vec4<Real>* moves, Vec4<Real>* forces) {
  using S = PairLanes<Real>;
  constexpr int width = Lanes<S>::width;
  const Index* const pairs = springs.nodes.data() + static_cast<std::size_t>(packet) * 2 * width;
  const auto d = Quads<S>::difference(places, pairs);
  const Vec3<S> lanes = d.lanes(), u = Quads<S>::difference(moves, pairs).lanes();
  const S l = packet_values<S>(springs.lengths, springs.packet_count(), rest_shape, packet, 1, 0);
  const S square = dot_add(lanes, lanes, S{}), length = square_root(square);
  const S elastic = S(stiffness) * (length - l) / length;
  const S viscous = S(rate_damping) * dot_add(lanes, u, S{}) / square;
  const S force = select(length > S(collapsed<Real>) * l, elastic + viscous, S{});
  d.exchange(forces, pairs, force, force);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
