// What impulses do to packets of edges of fixed length.
#pragma once

#include "kernels/impulse/impulse_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Edges so near to their bound, over it, are held to it: those that have been drawn together lie on it but
/// for rounding.
template <class Real>
inline constexpr Real near_bound = Real(0.999);

/// Distance constraints of one cloth; Holds: grippers may hold nodes. They are equations |d| = l, or, where
/// edges may be `longest` times as long as at rest, bounds |d| <= longest l, as the procedure of Provot 1995
/// holds them.
template <class Real, bool Holds>
class EdgeTerms {
 public:
  using S = PairLanes<Real>;
  using Mask = typename Lanes<S>::Mask;
  static constexpr int width = Lanes<S>::width;

  ISOCLOTH_DEVICE EdgeTerms(const PairPackets<Real>& packets, const ImpulseWork<Real>& work, RowSets sets,
                            Real longest)
      : p_(packets),
        work_(work),
        sets_(sets),
        is_bound_(longest > Real(0)),
        length_(is_bound_ ? longest : Real(1)) {}

  /// Impulses of a packet of constraints that make their lengths right at the end of the part (Bender (2),
  /// with the preview's direction): e = |d| - l, u_a += factor c_a e d / |d|, u_b -= factor c_b e d / |d|.
  /// Only where |e| > threshold l. Tells |e| / |d|.
  ISOCLOTH_DEVICE Correction<S> operator()(const phases::CorrectRows<Real, Items::edges, true>& phase,
                                           Index packet) const {
    const Index* const pairs = pairs_of(packet);
    const auto d = Quads<S>::difference(work_.relative_positions, work_.moves, pairs);
    const Vec3<S> lanes = d.lanes();
    const S l = rest_lengths(packet);
    const S length = square_root(dot_add(lanes, lanes, S{})), error = length - l;
    Mask corrected = (is_bound_ ? error : magnitude(error)) > S(phase.threshold) * l;
    corrected = corrected & (length > S(collapsed<Real>) * l);
    if constexpr (Holds) corrected = corrected & can_move(packet);
    const S change = select(corrected, error / length, S{});
    apply(packet, d, S(phase.factor) * change);
    return {magnitude(change), corrected};
  }

  /// Impulses that take the velocities along the constraints away (Bender (3)), in moves: r = (u_b - u_a) .
  /// n. Only where |r| > threshold l. Tells |r| / |d|.
  ISOCLOTH_DEVICE Correction<S> operator()(const phases::CorrectRows<Real, Items::edges, false>& phase,
                                           Index packet) const {
    const Index* const pairs = pairs_of(packet);
    const auto d = Quads<S>::difference(work_.relative_positions, pairs);
    const Vec3<S> lanes = d.lanes(), u = Quads<S>::difference(work_.moves, pairs).lanes();
    const S l = rest_lengths(packet);
    const S square = dot_add(lanes, lanes, S{}), rate = dot_add(lanes, u, S{}), length = square_root(square);
    Mask corrected = (is_bound_ ? rate : magnitude(rate)) > S(phase.threshold) * l * length;
    corrected = corrected & (length > S(is_bound_ ? near_bound<Real> : collapsed<Real>) * l);
    if constexpr (Holds) corrected = corrected & can_move(packet);
    const S change = select(corrected, rate / square, S{});
    apply(packet, d, S(phase.factor) * change);
    return {magnitude(change), corrected};
  }

  /// The largest ||d| / l - 1| of a packet at the places, of bounds the largest excess, or strain where that
  /// is beyond the largest (kernels/core/divergence.hpp); infinite where they are not finite.
  ISOCLOTH_DEVICE Real operator()(phases::MeasureRows<Items::edges>, Index packet) const {
    const Vec3<S> d = Quads<S>::difference(work_.relative_positions, pairs_of(packet)).lanes();
    const S l = rest_lengths(packet), one = S(Real(1));
    const S divisor = select(l > S{}, l, one);  // spare slots
    const S length = square_root(dot_add(d, d, S{})), error = (length - l) / divisor;
    if (!is_bound_) return largest_lane(magnitude(error));
    const S strain = S(length_) * length / divisor - one;
    const Mask is_torn = strain > S(static_cast<Real>(largest_strain));
    return largest_lane(select(is_torn, strain, select(error < S{}, S{}, error)));
  }

 private:
  ISOCLOTH_DEVICE const Index* pairs_of(Index packet) const {
    return p_.nodes.data() + static_cast<std::size_t>(packet) * 2 * width;
  }
  ISOCLOTH_DEVICE S rest_lengths(Index packet) const {
    return S(length_) * packet_values<S>(p_.lengths, p_.packet_count(), sets_.rest, packet, 1, 0);
  }
  ISOCLOTH_DEVICE S share(Index packet, int field) const {
    const int fields = Holds ? p_.share_fields() : 2;
    return packet_values<S>(p_.shares, p_.packet_count(), sets_.masses, packet, fields, field);
  }
  ISOCLOTH_DEVICE bool is_held(Index packet) const {
    return !p_.is_held.empty() &&
           p_.is_held[static_cast<std::size_t>(sets_.masses) * p_.packet_count() + packet] != 0;
  }
  /// Edges with an end that is not held.
  ISOCLOTH_DEVICE Mask can_move(Index packet) const {
    if (!is_held(packet)) return Mask(true);
    return share(packet, 2) > S{};
  }
  /// The impulse, relative to the length, to the moves of the ends, and to the loads of grippers.
  ISOCLOTH_DEVICE void apply(Index packet, const Quads<S>& d, S impulse) const {
    const Index* const pairs = pairs_of(packet);
    d.exchange(work_.moves, pairs, impulse * share(packet, 0), impulse * share(packet, 1));
    if constexpr (Holds)
      if (is_held(packet)) {
        const S load = impulse * share(packet, 2);
        d.exchange(work_.loads, pairs, load, load);
      }
  }

  const PairPackets<Real>& p_;
  const ImpulseWork<Real>& work_;
  const RowSets sets_;
  const bool is_bound_;
  const Real length_;  ///< allowed, over that at rest
};

}  // namespace isocloth::ISOCLOTH_BACKEND
