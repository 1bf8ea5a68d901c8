// Distance of a point that moved, so that none passes through an obstacle within a step.
#pragma once

#include "kernels/contact/signed_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Gap to what the middle of the cloth must not enter, in the obstacle's frame.
template <class Real>
struct SweptDistance {
  Real gap = Real(HUGE_VAL);  ///< [m]
  Vec3<Real> normal{};
  Real before = 0;  ///< gap at the beginning, where that is negative and the gap is, too
};

/// Of a point that went from `from` to `to`, in the obstacle's frame before and after: the gap there; or,
/// where it moved so far that it could have passed through, the gap to the tangent plane where it entered.
template <class Real>
ISOCLOTH_DEVICE_CALL SweptDistance<Real> swept_distance(const ShapeView<Real>& shape, Real offset,
                                                        Real tolerance, Vec3<Real> from, Vec3<Real> to) {
  const Distance<Real> here = signed_distance(shape, to);
  SweptDistance<Real> result{here.value - offset, here.normal, Real(0)};
  if (result.gap < 0) {
    const Real before = signed_distance(shape, from).value - offset;
    result.before = before < 0 ? before : Real(0);
  }
  const Vec3<Real> way = to - from;
  const Real far = length(way);
  if (!(far > Real(0.5) * shape.reach)) return result;
  // A surface is no nearer than its distance says: steps of that size cannot jump it.
  Real done = 0;
  for (int n = 0; n < 64 && done < 1; ++n) {
    const Vec3<Real> place = from + done * way;
    const Distance<Real> there = signed_distance(shape, place);
    const Real gap = there.value - offset;
    if (gap < tolerance) {
      if (gap < -tolerance && n == 0) return result;  // began inside: there is nothing to enter
      if (dot(there.normal, way) < 0) return {gap + dot(there.normal, to - place), there.normal, Real(0)};
    }
    done += larger(gap, Real(0.01) * shape.reach) / far;
  }
  return result;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
