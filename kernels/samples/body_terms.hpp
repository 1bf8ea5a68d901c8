// One contact's part in the system of a body.
#pragma once

#include "kernels/contact/contact_law.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Column k of J = [1, -[r]x].
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> body_direction(int k, Vec3<Real> r) {
  switch (k) {
    case 0:
      return {1, 0, 0};
    case 1:
      return {0, 1, 0};
    case 2:
      return {0, 0, 1};
    case 3:
      return {0, -r.z, r.y};
    case 4:
      return {r.z, 0, -r.x};
    default:
      return {-r.y, r.x, 0};
  }
}

/// Where a sample's point is.
template <class Real>
ISOCLOTH_DEVICE Vec3<Real> sample_point(const SamplePattern& p, const ContactPositions<Real>& x,
                                        const ContactArrays<Real>& a, Index sample) {
  Vec3<Real> point{};
  for (Index slot = p.sample_begin[sample]; slot < p.sample_begin[sample + 1]; ++slot)
    point += a.weights[static_cast<std::size_t>(slot)] *
             x.iterate.vector(static_cast<std::size_t>(p.slot_nodes[slot]));
  return point;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
