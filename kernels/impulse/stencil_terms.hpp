// What impulses do to packets of stencils of quadratic rows, each a small block of constraints.
#pragma once

#include "kernels/impulse/impulse_terms.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Stencils of `Width` rows of one cloth. A sweep takes the rows of a stencil together: with J at the
/// preview, (J W J^T + softness diag) p = C, u -= factor W J^T p. Holds: grippers may hold nodes.
template <class Real, int Width, bool Holds>
class StencilTerms {
 public:
  using S = PairLanes<Real>;
  using Mask = typename Lanes<S>::Mask;
  static constexpr int width = Lanes<S>::width;

  ISOCLOTH_DEVICE StencilTerms(const StencilPackets<Real, Width>& packets, const ImpulseWork<Real>& work,
                               RowSets sets)
      : p_(packets), work_(work), sets_(sets) {}

  /// Impulses of a packet where some |C| of a stencil is above the threshold, or, of velocities, some |r|
  /// along the rows, r = J u, at the places. Tells the largest of a stencil.
  template <Items Rows, bool OfPositions>
  ISOCLOTH_DEVICE Correction<S> operator()(const phases::CorrectRows<Real, Rows, OfPositions>& phase,
                                           Index packet) const {
    Stencil stencil(*this, packet, OfPositions);
    S c[Width], a[Width][Width], p[Width];
    stencil.evaluate(OfPositions, c, a);
    // What no free node has a part in cannot be corrected.
    for (int v = 0; v < Width; ++v) c[v] = select(a[v][v] > S{}, c[v], S{});
    stencil.drop_held(c);
    const S most = largest(c);
    const Mask corrected = most > S(phase.threshold);
    if (!any(corrected)) return {S{}, corrected};
    if (OfPositions) stencil.to_lengths(c);
    solve(a, c, p);
    for (int v = 0; v < Width; ++v) p[v] = select(corrected, S(phase.factor) * p[v], S{});
    stencil.apply(p);
    return {select(corrected, most, S{}), corrected};
  }
  /// The largest |C| of a packet at the places; infinite where they are not finite.
  template <Items Rows>
  ISOCLOTH_DEVICE Real operator()(phases::MeasureRows<Rows>, Index packet) const {
    Stencil stencil(*this, packet, false);
    S c[Width], a[Width][Width];
    stencil.evaluate(true, c, a);
    return largest_lane(largest(c));
  }

 private:
  /// Softness of each row relative to its diagonal: rows that nearly hang together, as where most nodes are
  /// pinned, would else send nodes to and fro. It slows the sweeps down by as much.
  static constexpr Real softness = Real(1e-3);
  static constexpr Real rounding = sizeof(Real) == sizeof(double) ? Real(0x1p-52) : Real(0x1p-23);

  /// One packet: its nodes, relative to the first one.
  class Stencil {
   public:
    ISOCLOTH_DEVICE Stencil(const StencilTerms& terms, Index packet, bool at_preview)
        : p_(terms.p_),
          work_(terms.work_),
          moves_(terms.work_.moves),
          at_preview_(at_preview),
          first_slot_(p_.slot_begin[packet]),
          slots_(p_.slot_begin[packet + 1] - first_slot_),
          shape_slots_(p_.shape_slots[p_.shape_of[packet]]),
          first_shape_entry_(p_.slot_entries[shape_slots_]) {
      const std::size_t rest = static_cast<std::size_t>(terms.sets_.rest),
                        masses = static_cast<std::size_t>(terms.sets_.masses);
      tensors_ =
          lanes(p_.tensors) + (rest * p_.entry_begin[p_.packet_count()] + p_.entry_begin[packet]) * Width;
      rest_values_ = lanes(p_.rest_values) + (rest * p_.packet_count() + packet) * Width;
      inverse_masses_ = lanes(p_.inverse_masses) + masses * p_.slot_begin[p_.packet_count()] + first_slot_;
      if constexpr (Holds)
        is_held_ = !p_.is_held.empty() && p_.is_held[masses * p_.packet_count() + packet] != 0;
      if (slots_ <= most_kept_slots)
        for (Index slot = 0; slot < slots_; ++slot) kept_[slot] = load(slot);
    }

    /// C (or r = J u at the places) and A = J W J^T.
    ISOCLOTH_DEVICE void evaluate(bool of_positions, S (&c)[Width], S (&a)[Width][Width]) {
      [[maybe_unused]] S of_free[Width] = {}, of_all[Width] = {};  // where Holds
      for (int v = 0; v < Width; ++v) {
        c[v] = S{};
        for (int w = 0; w < Width; ++w) a[v][w] = S{};
      }
      for (Index slot = 0; slot < slots_; ++slot) {
        const Vec3<S>* const j = gradient(slot);
        const Vec3<S> along = of_positions ? S(Real(0.5)) * at(slot) : difference(work_.moves, slot).lanes();
        const S w = inverse_masses_[slot];
        for (int v = 0; v < Width; ++v) {
          c[v] = dot_add(j[v], along, c[v]);
          for (int k = 0; k <= v; ++k) a[v][k] = multiply_add(w, dot_add(j[v], j[k], S{}), a[v][k]);
          if constexpr (Holds) {
            const S size = dot_add(j[v], j[v], S{});
            of_all[v] = of_all[v] + size;
            of_free[v] = of_free[v] + select(w > S{}, size, S{});
          }
        }
      }
      if (of_positions)
        for (int v = 0; v < Width; ++v) c[v] = c[v] - rest_values_[v];
      if constexpr (Holds)
        if (is_held_)
          for (int v = 0; v < Width; ++v) {
            constexpr Real least_part = 1000 * rounding;
            is_loose_[v] = of_free[v] > S(least_part * least_part) * of_all[v];
          }
    }

    /// Takes out the rows in which what is not held has no part but rounding; after evaluate().
    ISOCLOTH_DEVICE void drop_held(S (&c)[Width]) const {
      if constexpr (Holds)
        if (is_held_)
          for (int v = 0; v < Width; ++v) c[v] = select(is_loose_[v], c[v], S{});
    }

    /// Newton's step of a length, not of its square, where a row is one: c 2 s / (s + 1) with s^2 = (C + c0)
    /// / c0. The square's overshoots without bound as the length goes to zero.
    ISOCLOTH_DEVICE void to_lengths(S (&c)[Width]) const {
      for (int v = 0; v < Width; ++v) {
        const S rest = rest_values_[v], square = larger((c[v] + rest) / rest, S{});
        const S s = square_root(square);
        c[v] = select(rest > S(Real(0.5)), c[v] * (s + s) / (s + S(Real(1))), c[v]);
      }
    }

    /// u_i -= w_i sum_v p_v J_vi, after evaluate().
    ISOCLOTH_DEVICE void apply(const S (&p)[Width]) {
      if (slots_ > most_kept_slots) keep_moves();
      for (Index slot = 0; slot < slots_; ++slot) {
        const Vec3<S>* const j = slots_ <= most_kept_slots ? kept_gradients_[slot] : gradient(slot);
        Vec3<S> move;
        for (int v = 0; v < Width; ++v) move = multiply_add(p[v], j[v], move);
        const auto quads = Quads<S>::of(move);
        quads.exchange(work_.moves, pairs(slot), S{}, inverse_masses_[slot]);
        if constexpr (Holds)
          if (is_held_) quads.exchange(work_.loads, pairs(slot), S{}, S(Real(1)));
      }
    }

   private:
    static ISOCLOTH_DEVICE const S* lanes(ArrayView<const Real> values) {
      return reinterpret_cast<const S*>(values.data());
    }
    ISOCLOTH_DEVICE const Index* pairs(Index slot) const {
      return p_.pairs.data() + static_cast<std::size_t>(first_slot_ + slot) * 2 * width;
    }
    ISOCLOTH_DEVICE Quads<S> difference(const Vec4<Real>* values, Index slot) const {
      return Quads<S>::difference(values, pairs(slot));
    }
    ISOCLOTH_DEVICE Vec3<S> load(Index slot) const {
      if (!at_preview_) return difference(work_.relative_positions, slot).lanes();
      return Quads<S>::difference(work_.relative_positions, moves_, pairs(slot)).lanes();
    }
    /// From here on load() gives the nodes as they are now, whatever becomes of the moves.
    ISOCLOTH_DEVICE void keep_moves() {
      for (Index slot = 0; slot < slots_; ++slot)
        for (int lane = 0; lane < width; ++lane) {
          const Index node = pairs(slot)[2 * lane + 1];
          work_.forces[node] = work_.moves[node];
        }
      moves_ = work_.forces;
    }
    ISOCLOTH_DEVICE Vec3<S> at(Index slot) const {
      return slots_ <= most_kept_slots ? kept_[slot] : load(slot);
    }
    /// J_i = 2 sum_j T_ij p_j of each row, p relative to the first node: the rows of T sum to zero.
    ISOCLOTH_DEVICE const Vec3<S>* gradient(Index slot) {
      Vec3<S> half[Width];
      const S* tensors = tensors_ + (p_.slot_entries[shape_slots_ + slot] - first_shape_entry_) * Width;
      for (Index e = p_.slot_entries[shape_slots_ + slot]; e < p_.slot_entries[shape_slots_ + slot + 1];
           ++e) {
        if (slots_ <= most_kept_slots) {
          add_entry(tensors, kept_[p_.entry_slots[e]], half);
        } else {
          add_entry(tensors, load(p_.entry_slots[e]), half);
        }
        tensors += Width;
      }
      Vec3<S>* const j = kept_gradients_[slots_ <= most_kept_slots ? slot : 0];
      for (int v = 0; v < Width; ++v) j[v] = half[v] + half[v];
      return j;
    }
    static ISOCLOTH_HD void add_entry(const S* tensors, const Vec3<S>& p, Vec3<S> (&half)[Width]) {
      for (int v = 0; v < Width; ++v) half[v] = multiply_add(tensors[v], p, half[v]);
    }

    const StencilPackets<Real, Width>& p_;
    const ImpulseWork<Real>& work_;
    const Vec4<Real>* moves_;  ///< moves from `places` to where load() finds the nodes
    const bool at_preview_;
    const Index first_slot_, slots_, shape_slots_, first_shape_entry_;
    const S *tensors_, *rest_values_, *inverse_masses_;
    bool is_held_ = false;  ///< whether a gripper holds a node of the packet
    Mask is_loose_[Width];  ///< see drop_held()
    union {                 // not set to zero: that would take as long as the rest
      Vec3<S> kept_[most_kept_slots];
    };
    union {
      Vec3<S> kept_gradients_[most_kept_slots][Width];
    };
  };

  static ISOCLOTH_DEVICE S largest(const S (&c)[Width]) {
    S most = magnitude(c[0]);
    for (int v = 1; v < Width; ++v) {
      const S own = magnitude(c[v]);
      most = select(most > own, most, own);  // keeps what is not a number in the last; sums find the others
      most = most + (c[v] - c[v]);
    }
    return most + (c[0] - c[0]);
  }

  /// p of (A + softness diag A) p = c by L D L^T; a row on no free node gets none.
  static ISOCLOTH_DEVICE void solve(const S (&a)[Width][Width], const S (&c)[Width], S (&p)[Width]) {
    S l[Width][Width], inverse[Width];
    for (int v = 0; v < Width; ++v) {
      S pivot = S(1 + softness) * a[v][v];
      for (int k = 0; k < v; ++k) {
        S sum = a[v][k];
        for (int i = 0; i < k; ++i) sum = sum - l[v][i] * l[k][i];
        l[v][k] = sum;  // times D for now
      }
      for (int k = 0; k < v; ++k) {
        const S unit = l[v][k] * inverse[k];
        pivot = pivot - unit * l[v][k];
        l[v][k] = unit;
      }
      inverse[v] = select(pivot > S{}, S(Real(1)) / pivot, S{});
    }
    for (int v = 0; v < Width; ++v) {
      p[v] = c[v];
      for (int k = 0; k < v; ++k) p[v] = p[v] - l[v][k] * p[k];
    }
    for (int v = 0; v < Width; ++v) p[v] = p[v] * inverse[v];
    for (int v = Width - 1; v >= 0; --v)
      for (int k = v + 1; k < Width; ++k) p[v] = p[v] - l[k][v] * p[k];
  }

  const StencilPackets<Real, Width>& p_;
  const ImpulseWork<Real>& work_;
  const RowSets sets_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
