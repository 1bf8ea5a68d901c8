// As many pairs of one kind side by side as the machine has lanes: nearest points and separations as in
// pair_geometry.hpp.
#pragma once

#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// PointPair, of lanes.
template <class S>
struct PointPacket {
  Vec3<S> points[4];
};

/// value(lane) of each lane.
template <class S, class Value>
ISOCLOTH_DEVICE S lanes_of(const Value& value) {
  if constexpr (Lanes<S>::width == 1) {
    return S(value(0));
  } else {
    S all;
    for (int lane = 0; lane < Lanes<S>::width; ++lane) all.v[lane] = value(lane);
    return all;
  }
}

/// NearestPoints, of lanes, and the way from one to the other.
template <class S>
struct NearestOfPacket {
  S distance{};  ///< [m]
  Vec3<S> normal{}, way{};
  S weights[4] = {};
};

/// nearest_of_triangle(), the regions in reverse order, the last one that holds.
template <class S>
ISOCLOTH_DEVICE void nearest_of_triangles(const Vec3<S>& p, const Vec3<S>& a, const Vec3<S>& b,
                                          const Vec3<S>& c, S* at) {
  const Vec3<S> ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const S none(0.0), all(1.0);
  const S d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
          d6 = dot(ac, cp);
  const S va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  const S whole = all / (va + vb + vc);
  at[1] = vb * whole;
  at[2] = vc * whole;
  at[0] = all - at[1] - at[2];
  const auto take = [&](auto where, S of_a, S of_b, S of_c) {
    at[0] = select(where, of_a, at[0]);
    at[1] = select(where, of_b, at[1]);
    at[2] = select(where, of_c, at[2]);
  };
  const S to_c = d4 - d3, to_b = d5 - d6, along_bc = to_c / (to_c + to_b), along_ac = d2 / (d2 - d6),
          along_ab = d1 / (d1 - d3);
  take((va <= none) & (to_c >= none) & (to_b >= none), none, all - along_bc, along_bc);
  take((vb <= none) & (d2 >= none) & (d6 <= none), all - along_ac, none, along_ac);
  take((vc <= none) & (d1 >= none) & (d3 <= none), all - along_ab, along_ab, none);
  take((d6 >= none) & (d5 <= d6), none, none, all);
  take((d3 >= none) & (d4 <= d3), none, all, none);
  take((d1 <= none) & (d2 <= none), all, none, none);
}

/// nearest_of_segments().
template <class S>
ISOCLOTH_DEVICE void nearest_of_segments(const Vec3<S>* first, const Vec3<S>* second, S* at) {
  const S none(0.0), all(1.0), parallel(1e-12);
  const auto inside = [&](S x) { return select(x < none, none, select(x > all, all, x)); };
  const Vec3<S> u = first[1] - first[0], v = second[1] - second[0], r = first[0] - second[0];
  const S a = dot(u, u), b = dot(u, v), c = dot(u, r), e = dot(v, v), f = dot(v, r);
  const S square = a * e - b * b;
  const S s = select(square > parallel * a * e, inside((b * f - c * e) / square), none), t = (b * s + f) / e;
  at[0] = select(t < none, inside(-c / a), select(t > all, inside((b - c) / a), s));
  at[1] = select(t < none, none, select(t > all, all, t));
}

/// nearest_points() of each pair, with the same bits.
template <class S>
ISOCLOTH_DEVICE NearestOfPacket<S> nearest_points(const PointPacket<S>& pair, int first_count) {
  const S none(0.0), all(1.0);
  const Vec3<S>* const p = pair.points;
  NearestOfPacket<S> found;
  S at[3];
  if (first_count == 1) {
    nearest_of_triangles(p[0], p[1], p[2], p[3], at);
    found.weights[0] = all;
    for (int i = 0; i < 3; ++i) found.weights[i + 1] = -at[i];
  } else {
    nearest_of_segments(p, p + 2, at);
    found.weights[0] = all - at[0];
    found.weights[1] = at[0];
    found.weights[2] = at[1] - all;
    found.weights[3] = -at[1];
  }
  const S* const w = found.weights;
  found.way = w[0] * p[0] + w[1] * p[1] + w[2] * p[2] + w[3] * p[3];
  found.distance = square_root(dot(found.way, found.way));
  const auto has_direction = found.distance > none;
  const S inverse = all / select(has_direction, found.distance, all);
  found.normal = select(has_direction, inverse * found.way, Vec3<S>{});
  return found;
}

/// separation() along n.
template <class S>
ISOCLOTH_DEVICE S separations(const PointPacket<S>& pair, int first_count, const Vec3<S>& n) {
  S heights[4];
  for (int i = 0; i < 4; ++i) heights[i] = dot(n, pair.points[i]);
  const auto smaller = [](S x, S y) { return select(x < y, x, y); };
  if (first_count == 1) return heights[0] - larger(larger(heights[1], heights[2]), heights[3]);
  return smaller(heights[0], heights[1]) - larger(heights[2], heights[3]);
}

/// relative_way() from one state to another.
template <class S>
ISOCLOTH_DEVICE S relative_ways(const PointPacket<S>& from, const PointPacket<S>& to, int first_count) {
  Vec3<S> way[4];
  for (int i = 0; i < 4; ++i) way[i] = to.points[i] - from.points[i];
  S longest(0.0);  // squared
  for (int i = 0; i < first_count; ++i)
    for (int j = first_count; j < 4; ++j) {
      const Vec3<S> relative = way[i] - way[j];
      longest = larger(dot(relative, relative), longest);
    }
  return square_root(longest);
}

}  // namespace isocloth::ISOCLOTH_BACKEND
