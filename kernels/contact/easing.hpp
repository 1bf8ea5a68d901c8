// Cloth that starts inside of obstacles is eased out over a stated time.
//
// A sample, a node or the deepest point of an edge or a face, that was d deep in an obstacle at the start
// sees its surface sunk by what is left of d. At the time t after the start that is, with T =
// contact.push_out_time,
//   e(t) = d f(t / T),   f(s) = 1 - s^2 (3 - 2 s),
// the way of a pin with a ramp (pin_position in engine/model/scene.hpp): the surface comes back at no more
// than 3/2 d / T and is at rest at T, and what rests on it comes with it, as on an obstacle that moves. What
// is out earlier stays out: when a step begins
//   d := min(d, depth(t) / f(t / T)),
// so that e never grows, and 0 where the sample is out.
#pragma once

#include "kernels/contact/contact_arrays.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Distances that a point keeps from an obstacle when a part of a step begins and ends [m].
template <class Real>
struct ContactOffset {
  Real before{}, now{};
};

template <class Real>
class Easing {
 public:
  /// from, to: parts of the step, when what is sought begins and ends.
  ISOCLOTH_DEVICE Easing(const SamplePattern& pattern, const ObstaclesView<Real>& obstacles,
                         const EasedDepths<Real>& kept, Real from, Real to)
      : p_(pattern),
        kept_(kept),
        begin_(obstacles.ease_begin),
        end_(obstacles.ease_end),
        before_(begin_ + from * (end_ - begin_)),
        now_(begin_ + to * (end_ - begin_)) {}

  /// `usual` [m] from obstacle o where nothing is eased out, less what is left of the sample's depth there.
  ISOCLOTH_DEVICE ContactOffset<Real> offset_from(Real usual, Index o, Index sample) const {
    ContactOffset<Real> own{usual, usual};
    if (!p_.eases || !(begin_ > 0)) return own;
    for (Index k = 0; k < slot_count(sample); ++k) {
      const Index at = slot(sample, k);
      if (static_cast<Index>(kept_.obstacles[at]) != o) continue;
      own.before -= before_ * kept_.depths[at];
      own.now -= now_ * kept_.depths[at];
    }
    return own;
  }

  /// A step begins, with a sample at depth_of(obstacle) [m]. At the start the deepest beyond `tolerance` [m]
  /// are taken. Doing it again changes nothing.
  template <class DepthOf>
  ISOCLOTH_DEVICE void keep(Index sample, Index obstacle_count, Real tolerance,
                            const DepthOf& depth_of) const {
    if (begin_ < 1) return shrink(sample, depth_of);
    for (Index k = 0; k < slot_count(sample); ++k) forget(slot(sample, k));
    for (Index o = 0; o < obstacle_count; ++o) {
      const Real depth = depth_of(o);
      if (!(depth > tolerance)) continue;
      Index least = slot(sample, 0);
      for (Index k = 1; k < slot_count(sample); ++k)
        if (kept_.depths[slot(sample, k)] < kept_.depths[least]) least = slot(sample, k);
      if (!(depth > kept_.depths[least])) continue;
      kept_.obstacles[least] = static_cast<Real>(o);
      kept_.depths[least] = depth;
    }
  }
  /// What is left of a depth when the step ends [m].
  ISOCLOTH_DEVICE Real left(Index at) const { return end_ * kept_.depths[at]; }

 private:
  template <class DepthOf>
  ISOCLOTH_DEVICE void shrink(Index sample, const DepthOf& depth_of) const {
    for (Index k = 0; k < slot_count(sample); ++k) {
      const Index at = slot(sample, k), o = static_cast<Index>(kept_.obstacles[at]);
      if (o < 0) continue;
      const Real depth = begin_ > 0 ? depth_of(o) / begin_ : Real(0);
      if (!(depth > 0))
        forget(at);
      else if (depth < kept_.depths[at])
        kept_.depths[at] = depth;
    }
  }
  ISOCLOTH_DEVICE void forget(Index at) const {
    kept_.obstacles[at] = -1;
    kept_.depths[at] = 0;
  }
  ISOCLOTH_DEVICE Index slot_count(Index sample) const {
    return sample < p_.node_count ? p_.contacts_per_node : p_.contacts_per_element;
  }
  /// Number k of a sample, of an element the first of its samples.
  ISOCLOTH_DEVICE Index slot(Index sample, Index k) const {
    return p_.first_contact(sample) + k * (sample < p_.node_count ? 1 : p_.element_count());
  }

  const SamplePattern& p_;
  const EasedDepths<Real> kept_;
  const Real begin_, end_, before_, now_;
};

}  // namespace isocloth::ISOCLOTH_BACKEND
