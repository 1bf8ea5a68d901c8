// Distance of a point that moved, so that none passes through an obstacle within a step.
#pragma once

#include "kernels/contact/contact_law.hpp"
#include "kernels/contact/deepest_point.hpp"
#include "kernels/contact/easing.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Gap to what the middle of the cloth must not enter, in the obstacle's frame.
template <class Real>
struct SweptDistance {
  Real gap = Real(HUGE_VAL);  ///< [m]
  Vec3<Real> normal{};
  bool is_entry = false;  ///< the gap is that to the tangent plane where the point entered
};

/// Gap of a point that went from `from` to `to`, in the obstacle's frame before and after: that at `to`; or,
/// where it moved so far that it could have passed through, that to the tangent plane where it entered.
template <class Real>
ISOCLOTH_DEVICE_CALL SweptDistance<Real> swept_distance(const ShapeView<Real>& shape,
                                                        ContactOffset<Real> offset, Real tolerance,
                                                        Vec3<Real> from, Vec3<Real> to) {
  const ContactLaw<Real> law{tolerance};
  const Distance<Real> here = signed_distance(shape, to);
  const SweptDistance<Real> result{here.value - offset.now, here.normal};
  const Vec3<Real> displacement = to - from;
  const Real far = length(displacement);
  if (!law.may_pass_through(far, shape.reach)) return result;
  Real done = 0;
  for (int n = 0; n < 64 && done < 1; ++n) {
    const Vec3<Real> position = from + done * displacement;
    const Distance<Real> there = signed_distance(shape, position);
    const Real gap = there.value - offset.now;
    if (law.enters(gap)) {
      if (law.is_inside(gap) && n == 0) return result;
      if (dot(there.normal, displacement) < 0)
        return {gap + dot(there.normal, to - position), there.normal, true};
    }
    done += law.safe_advance(gap, shape.reach) / far;
  }
  return result;
}

/// A point of an element and its gap; not below 0: none entered.
template <class Real>
struct EntryPoint {
  Real u = 0, v = 0, gap = 0;
};
/// The one of five points (three of an edge) of an element that moved far that is deepest behind where it
/// entered.
template <class Real>
ISOCLOTH_DEVICE_CALL EntryPoint<Real> deepest_entry(const ShapeView<Real>& shape, ContactOffset<Real> offset,
                                                    Real tolerance, const Element<Real>& before,
                                                    const Element<Real>& element) {
  const Real us[5] = {Real(0.5), Real(0.25), Real(0.75), Real(0.75), Real(0.25)},
             vs[5] = {Real(0.5), Real(0.25), Real(0.25), Real(0.75), Real(0.75)};
  EntryPoint<Real> deepest;
  for (int n = 0; n < (element.size == 2 ? 3 : 5); ++n) {
    EntryPoint<Real> own{us[n], element.size == 2 ? Real(0) : vs[n], 0};
    if (element.size == 3) {
      own.u = us[n] * Real(2) / 3;
      own.v = vs[n] * Real(2) / 3 * (1 - own.u);
    }
    Real weights[4];
    element.weigh(own.u, own.v, weights);
    own.gap = swept_distance(shape, offset, tolerance, before.at(weights), element.at(weights)).gap;
    if (own.gap < deepest.gap) deepest = own;
  }
  return deepest;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
