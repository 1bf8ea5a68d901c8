// Springs with dampers between pairs of nodes.
#pragma once

#include "kernels/impulse/impulse_arrays.hpp"
#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Plastic strains of the springs of one cloth; null: they do not yield.
template <class Real>
struct SpringYield {
  Real* strains;  ///< e_p, shape [packet, width]
  Real yield_strain, flow;
};

/// Lengths at rest (1 + e_p) l of a packet of springs of length |d|, after a step of
/// d e_p / dt = (e - e_p -+ yield_strain) / flow_time where |e - e_p| > yield_strain, e = |d| / l - 1, by
/// backward Euler: flow = h / (h + flow_time), and where that is 1 no spring is strained beyond the yield
/// strain. `is_spring`: the others keep what they have.
template <class S>
ISOCLOTH_DEVICE S yielded_lengths(const SpringYield<typename Lanes<S>::Scalar>& yield, Index packet, S length,
                                  S l, typename Lanes<S>::Mask is_spring) {
  S& plastic = reinterpret_cast<S*>(yield.strains)[packet];
  const S one(1), elastic = length / l - one - plastic, most(yield.yield_strain);
  const S beyond = select(elastic > most, elastic - most, select(elastic < -most, elastic + most, S{}));
  plastic = plastic + select(is_spring, S(yield.flow) * beyond, S{});
  return l * (one + plastic);
}

/// Forces of a packet of springs (Bender, section 3.3) added to both ends: f_a = (k (|d| - l) + c d'/dt . d /
/// |d|) d / |d| = -f_b with d = x_b - x_a, and (1 + e_p) l for l where springs yield; none where d has no
/// direction. positions: x [m], moves: u [m], rate_damping: c over the time in which the nodes move by u.
/// Arrays of nodes: shape [node_count + 1].
template <class Real>
ISOCLOTH_DEVICE void add_spring_forces(const PairPackets<Real>& springs, Index packet, Index rest_shape,
                                       Real stiffness, Real rate_damping, const Vec4<Real>* positions,
                                       const Vec4<Real>* moves, Vec4<Real>* forces,
                                       const SpringYield<Real>& yield) {
  using S = PairLanes<Real>;
  constexpr int width = Lanes<S>::width;
  const Index* const pairs = springs.nodes.data() + static_cast<std::size_t>(packet) * 2 * width;
  const auto d = Quads<S>::difference(positions, pairs);
  const Vec3<S> lanes = d.lanes(), u = Quads<S>::difference(moves, pairs).lanes();
  const S l = packet_values<S>(springs.lengths, springs.packet_count(), rest_shape, packet, 1, 0);
  const S square = dot_add(lanes, lanes, S{}), length = square_root(square);
  const auto has_direction = length > S(collapsed<Real>) * l;
  S rest = l;
  if (yield.strains != nullptr) rest = yielded_lengths(yield, packet, length, l, has_direction);
  const S elastic = S(stiffness) * (length - rest) / length;
  const S viscous = S(rate_damping) * dot_add(lanes, u, S{}) / square;
  const S force = select(has_direction, elastic + viscous, S{});
  d.exchange(forces, pairs, force, force);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
