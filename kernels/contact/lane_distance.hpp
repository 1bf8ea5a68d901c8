// Signed distances of one shape at a point in each lane, with the bits of signed_distance.hpp.
#pragma once

#include "kernels/contact/signed_distance.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

#if !defined(__CUDACC__)

/// As distance_from_core().
template <class Real>
ISOCLOTH_HD Distance<Pack<Real>> lane_distance_from_core(Vec3<Pack<Real>> v, Real rounding) {
  using S = Pack<Real>;
  const S d = length(v);
  return {d - rounding, select(d > S{}, (S(Real(1)) / d) * v, Vec3<S>{S(Real(1)), S{}, S{}})};
}

/// As box_distance().
template <class Real>
ISOCLOTH_HD Distance<Pack<Real>> lane_box_distance(Vec3<Pack<Real>> p, Vec3<Real> half, Real rounding) {
  using S = Pack<Real>;
  const auto side_of = [](S x) { return select(x < S{}, S(Real(-1)), S(Real(1))); };
  const Vec3<S> side{side_of(p.x), side_of(p.y), side_of(p.z)};
  const Vec3<S> q{side.x * p.x - half.x, side.y * p.y - half.y, side.z * p.z - half.z};
  const auto is_outside = (q.x > S{}) | (q.y > S{}) | (q.z > S{});
  const auto of_x = (q.x >= q.y) & (q.x >= q.z);
  const auto of_y = q.y >= q.z;
  const Distance<S> outside = lane_distance_from_core(
      Vec3<S>{side.x * larger(q.x, S{}), side.y * larger(q.y, S{}), side.z * larger(q.z, S{})}, rounding);
  const Vec3<S> inwards = select(of_x, Vec3<S>{side.x, S{}, S{}},
                                 select(of_y, Vec3<S>{S{}, side.y, S{}}, Vec3<S>{S{}, S{}, side.z}));
  const S inside = select(of_x, q.x, select(of_y, q.y, q.z)) - rounding;
  return {select(is_outside, outside.value, inside), select(is_outside, outside.normal, inwards)};
}

/// As cylinder_distance().
template <class Real>
ISOCLOTH_HD Distance<Pack<Real>> lane_cylinder_distance(Vec3<Pack<Real>> p, Vec3<Real> half, Real rounding) {
  using S = Pack<Real>;
  const S across = square_root(p.x * p.x + p.y * p.y);
  const auto is_off_axis = across > S{};
  const S cosine = select(is_off_axis, p.x / across, S(Real(1))),
          sine = select(is_off_axis, p.y / across, S{});
  const Distance<S> flat =
      lane_box_distance(Vec3<S>{across, S{}, p.z}, Vec3<Real>{half.x, Real(HUGE_VAL), half.z}, rounding);
  return {flat.value, {flat.normal.x * cosine, flat.normal.x * sine, flat.normal.z}};
}

/// As signed_distance(): of a grid lane by lane.
template <class Real>
ISOCLOTH_HD Distance<Pack<Real>> lane_distance(const ShapeView<Real>& shape, Vec3<Pack<Real>> p) {
  using S = Pack<Real>;
  switch (shape.kind) {
    case ShapeKind::plane:
      return {p.z, {S{}, S{}, S(Real(1))}};
    case ShapeKind::capsule: {
      const S below(-shape.half.z), above(shape.half.z),
          on_axis = select(p.z < below, below, select(p.z > above, above, p.z));
      return lane_distance_from_core(Vec3<S>{p.x, p.y, p.z - on_axis}, shape.rounding);
    }
    case ShapeKind::box:
      return lane_box_distance(p, shape.half, shape.rounding);
    case ShapeKind::cylinder:
      return lane_cylinder_distance(p, shape.half, shape.rounding);
    case ShapeKind::grid:
      break;
  }
  Distance<S> all;
  for (int lane = 0; lane < S::width; ++lane) {
    const Distance<Real> own =
        grid_distance(shape, Vec3<Real>{lane_value(p.x, lane), lane_value(p.y, lane), lane_value(p.z, lane)});
    all.value.v[lane] = own.value;
    all.normal.x.v[lane] = own.normal.x;
    all.normal.y.v[lane] = own.normal.y;
    all.normal.z.v[lane] = own.normal.z;
  }
  return all;
}

#endif

}  // namespace isocloth::ISOCLOTH_BACKEND
