// Threads that draw the sides of seams together, and hold them.
//
// Between nodes a and b, d = x_a - x_b, acts f_a = -w (d - r) = -f_b: within a part of a step of h a spring
// that is linear, so that neither its stiffness nor its direction waits for an iteration. From d_n, where the
// part begins,
//   |d_n| > v h:  w = min(k, f / (v h)), r = (1 - v h / |d_n|) d_n: it is drawn in by v h with at most about
//   f; else:         w = min(k, S / |d_n|), r = 0: closed, and held with at most S, the strength of the seam.
// What lies between its sides, a body or another garment, is pressed with no more. A seam that is torn open
// by more than v h in one step is drawn together again. Newton's third law holds to rounding; angular
// momentum, too, for what is closed, where forces act along d.
//
// Buttons are threads that pull only beyond their own length l: so is |d_n| - l in the place of |d_n| above,
// and of what is closed r = l d_n / |d_n|, or w = 0 where |d_n| < l. Their direction is that of d_n, so that
// their turning is damped; what they pull along it is exact. One whose k (|d_n| - l) is more than its
// strength, if it has one, lets go: w = 0.
#pragma once

#include "kernels/core/views.hpp"
#include "kernels/launch/lanes.hpp"
#include "kernels/launch/queue.hpp"

namespace isocloth {

/// Where threads are.
struct StitchPattern {
  ArrayView<const Index> nodes;     ///< shape [stitch_count, 2]
  ArrayView<const Index> of_pairs;  ///< stitch of each pair of nodes that the system couples, -1: none
  GatherView at_nodes;              ///< per free node: (stitch, which of its nodes this is)

  ISOCLOTH_HD Index count() const { return static_cast<Index>(nodes.size() / 2); }
};

/// The threads of a cloth in a part of a step.
template <class S>
struct Stitches {
  StitchPattern pattern;
  ArrayView<const S> stiffness;    ///< h^2 w [kg], shape [stitch_count]
  ArrayView<const Vec3<S>> rests;  ///< r [m], shape [stitch_count]

  ISOCLOTH_HD bool exist() const { return !stiffness.empty(); }
};

/// Numbers of each stitch, shape [stitch_count].
template <class T>
struct StitchLaws {
  ArrayView<const T> forces, stiffness;  ///< f [N], k [N/m]
  ArrayView<const T> distances;          ///< l [m], 0: of a seam
  ArrayView<const T> strengths;          ///< [N], 0: it does not let go
};

template <class S, class T = S>
struct BeginStitches {
  StitchPattern pattern;
  StitchLaws<T> laws;
  T speed{};                           ///< v [m/s]
  T hold{};                            ///< S / k of seams [m]
  S step{};                            ///< h [s]
  ArrayView<const Vec3<S>> positions;  ///< where the part begins [m], shape [node_count]
  ArrayView<S> found_stiffness;        ///< see Stitches
  ArrayView<Vec3<S>> rests;
};

namespace ISOCLOTH_BACKEND {

template <class S, class T>
ISOCLOTH_HD void begin_stitch(const BeginStitches<S, T>& a, Index i) {
  const Vec3<S> d = a.positions[a.pattern.nodes[2 * i]] - a.positions[a.pattern.nodes[2 * i + 1]];
  const S zero{}, one(typename Lanes<S>::Scalar(1)), length = square_root(dot_add(d, d, S{})),
                                                     most = S(a.speed) * a.step, own(a.laws.distances[i]),
                                                     strength(a.laws.strengths[i]);
  const S opening = length - own;
  const auto is_open = opening > most, has_length = own > zero;
  const auto slips = (opening > S(a.hold)) & !has_length;
  const S k(a.laws.stiffness[i]), drawn = S(a.laws.forces[i]) / most, square = a.step * a.step,
                                  firm = select(slips, k * S(a.hold) / select(slips, length, one), k);
  const auto is_loose = (opening < zero) | ((strength > zero) & (k * opening > strength));
  a.found_stiffness[i] = select(is_loose, zero, square * select(is_open, select(drawn < k, drawn, k), firm));
  const S closed = select(has_length, own / select(has_length, larger(length, own), one), zero);
  a.rests[i] = select(is_open, one - most / select(is_open, length, one), closed) * d;
}

/// Adds h^2 f of the threads at free node i, at these positions of all nodes.
template <class S>
ISOCLOTH_HD Vec3<S> pulled(const Stitches<S>& a, ArrayView<const Vec3<S>> positions, Index i, Vec3<S> force) {
  const GatherView& own = a.pattern.at_nodes;
  for (Index t = own.begin[i]; t < own.begin[i + 1]; ++t) {
    const Index stitch = own.first[t];
    const Vec3<S> d = positions[a.pattern.nodes[2 * stitch]] - positions[a.pattern.nodes[2 * stitch + 1]];
    const S w = own.second[t] == 0 ? -a.stiffness[stitch] : a.stiffness[stitch];
    force = multiply_add(w, d - a.rests[stitch], force);
  }
  return force;
}

/// Stiffness, and r. One item per stitch.
template <class Real>
void begin_stitches(const Queue& queue, const BeginStitches<Real>& args);

}  // namespace ISOCLOTH_BACKEND

}  // namespace isocloth
