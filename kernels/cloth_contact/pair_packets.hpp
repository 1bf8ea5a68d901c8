// As many pairs of one kind side by side as the machine has lanes: distances and separations as in
// pair_geometry.hpp, up to rounding.
#pragma once

#include "kernels/launch/pair_lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// PointPair, of lanes.
template <class S>
struct PointPacket {
  Vec3<S> points[4];
};

/// How far the first sides lie from the second, and the direction.
template <class S>
struct PacketDistances {
  S distance{};      ///< [m]
  Vec3<S> normal{};  ///< unit vectors from the second to the first; not finite where they coincide
};

template <class S>
ISOCLOTH_DEVICE PacketDistances<S> distances_along(const Vec3<S>& way) {
  const S length = square_root(dot(way, way));
  return {length, (S(1.0) / length) * way};
}

/// Of nodes, the first points, from triangles: nearest_of_triangle(), the regions in reverse order, the
/// last one that holds.
template <class S>
ISOCLOTH_DEVICE PacketDistances<S> node_distances(const PointPacket<S>& pair) {
  const Vec3<S>&p = pair.points[0], &a = pair.points[1], &b = pair.points[2], &c = pair.points[3];
  const Vec3<S> ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const S none(0.0), all(1.0);
  const S d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
          d6 = dot(ac, cp);
  const S va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  const S whole = all / (va + vb + vc);
  S v = vb * whole, w = vc * whole;
  const auto take = [&](auto where, S own_v, S own_w) {
    v = select(where, own_v, v);
    w = select(where, own_w, w);
  };
  const S to_c = d4 - d3, to_b = d5 - d6, along_bc = to_c / (to_c + to_b);
  take((va <= none) & (to_c >= none) & (to_b >= none), all - along_bc, along_bc);
  take((vb <= none) & (d2 >= none) & (d6 <= none), none, d2 / (d2 - d6));
  take((vc <= none) & (d1 >= none) & (d3 <= none), d1 / (d1 - d3), none);
  take((d6 >= none) & (d5 <= d6), none, all);
  take((d3 >= none) & (d4 <= d3), all, none);
  take((d1 <= none) & (d2 <= none), none, none);
  return distances_along(ap - v * ab - w * ac);
}

/// Of edges, the first two points, from edges: nearest_of_segments().
template <class S>
ISOCLOTH_DEVICE PacketDistances<S> edge_distances(const PointPacket<S>& pair) {
  const S none(0.0), all(1.0), parallel(1e-12);
  const auto inside = [&](S x) { return select(x > none, select(x > all, all, x), none); };
  const Vec3<S> u = pair.points[1] - pair.points[0], v = pair.points[3] - pair.points[2],
                r = pair.points[0] - pair.points[2];
  const S a = dot(u, u), b = dot(u, v), c = dot(u, r), e = dot(v, v), f = dot(v, r);
  const S square = a * e - b * b;
  S s = select(square > parallel * a * e, inside((b * f - c * e) / square), none), t = (b * s + f) / e;
  s = select(t < none, inside(-c / a), select(t > all, inside((b - c) / a), s));
  t = inside(t);
  return distances_along(r + s * u - t * v);
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
