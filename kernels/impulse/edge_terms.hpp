// What impulses do to packets of edges of fixed length.
#pragma once

#include "kernels/impulse/impulse_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Distance constraints of one cloth.
template <class Real>
class EdgeTerms {
 public:
  using S = PairLanes<Real>;
  using Mask = typename Lanes<S>::Mask;
  static constexpr int width = Lanes<S>::width;

  ISOCLOTH_DEVICE EdgeTerms(const PairPackets<Real>& packets, const ImpulseWork<Real>& work, Index rest_shape)
      : p_(packets), work_(work), rest_shape_(rest_shape) {}

  /// Impulses of a packet of constraints that make their lengths right at the end of the part (Bender (2),
  /// with the preview's direction): e = |d| - l, u_a += factor c_a e d / |d|, u_b -= factor c_b e d / |d|.
  /// Only where |e| > threshold l. Returns the largest |e| / |d|; `corrected` where there was an impulse.
  ISOCLOTH_DEVICE S correct_positions(Index packet, Real factor, Real threshold, Mask& corrected) const {
    const Index* const pairs = pairs_of(packet);
    const auto d = Quads<S>::difference(work_.places, work_.moves, pairs);
    const Vec3<S> lanes = d.lanes();
    const S l = values(p_.lengths, packet, 1, 0);
    const S length = square_root(dot_add(lanes, lanes, S{})), error = length - l;
    corrected = (magnitude(error) > S(threshold) * l) & (length > S(collapsed<Real>) * l);
    const S change = select(corrected, error / length, S{});
    const S impulse = S(factor) * change;
    d.exchange(work_.moves, pairs, impulse * values(p_.shares, packet, 2, 0),
               impulse * values(p_.shares, packet, 2, 1));
    return magnitude(change);
  }

  /// Impulses that take the velocities along the constraints away (Bender (3)), in moves: r = (u_b - u_a) .
  /// n. Only where |r| > threshold l. Returns the largest |r| / |d| there.
  ISOCLOTH_DEVICE S correct_velocities(Index packet, Real factor, Real threshold, Mask& corrected) const {
    const Index* const pairs = pairs_of(packet);
    const auto d = Quads<S>::difference(work_.places, pairs);
    const Vec3<S> lanes = d.lanes(), u = Quads<S>::difference(work_.moves, pairs).lanes();
    const S l = values(p_.lengths, packet, 1, 0);
    const S square = dot_add(lanes, lanes, S{}), rate = dot_add(lanes, u, S{}), length = square_root(square);
    corrected = (magnitude(rate) > S(threshold) * l * length) & (length > S(collapsed<Real>) * l);
    const S change = select(corrected, rate / square, S{});
    const S impulse = S(factor) * change;
    d.exchange(work_.moves, pairs, impulse * values(p_.shares, packet, 2, 0),
               impulse * values(p_.shares, packet, 2, 1));
    return magnitude(change);
  }

  /// ||d| / l - 1| of a packet at the places; not a number where they are not finite.
  ISOCLOTH_DEVICE S residuals(Index packet) const {
    const Vec3<S> d = Quads<S>::difference(work_.places, pairs_of(packet)).lanes();
    const S l = values(p_.lengths, packet, 1, 0), one = S(Real(1));
    const S divisor = select(l > S{}, l, one);  // spare places
    return magnitude((square_root(dot_add(d, d, S{})) - l) / divisor);
  }

 private:
  ISOCLOTH_DEVICE const Index* pairs_of(Index packet) const {
    return p_.nodes.data() + static_cast<std::size_t>(packet) * 2 * width;
  }
  ISOCLOTH_DEVICE S values(ArrayView<const Real> all, Index packet, int fields, int field) const {
    return packet_values<S>(all, p_.packet_count(), rest_shape_, packet, fields, field);
  }

  const PairPackets<Real>& p_;
  const ImpulseWork<Real>& work_;
  const Index rest_shape_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
