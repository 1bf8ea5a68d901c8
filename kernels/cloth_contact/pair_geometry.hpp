// A node and a triangle, or two edges: where they are nearest, and whether they stay apart on straight ways.
// In double whatever the precision of the steps: what these say of two positions holds of those positions.
#pragma once

#include <cmath>

#include "engine/core/platform.hpp"
#include "engine/core/vec3.hpp"
#include "kernels/launch/lanes.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Four points of two sides: of a node and a triangle the first is the node, of two edges the first two are
/// one of them.
struct PointPair {
  Vec3d points[4];
  int first_count = 1;  ///< points of the first side, 1 or 2

  ISOCLOTH_DEVICE int side(int i) const { return i < first_count ? 0 : 1; }
};

/// Points of both sides, and how far the first lies from the second. The weights of the first side add up to
/// 1, those of the second to -1.
struct NearestPoints {
  double distance = 0;  ///< [m]
  Vec3d normal;         ///< unit vector from the second to the first; 0 where they coincide
  double weights[4] = {};
};

/// Barycentric coordinates of the point of a triangle that is nearest to p (Ericson 2005, 5.1.5).
ISOCLOTH_DEVICE inline void nearest_of_triangle(const Vec3d& p, const Vec3d& a, const Vec3d& b,
                                                const Vec3d& c, double* at) {
  const Vec3d ab = b - a, ac = c - a, ap = p - a, bp = p - b, cp = p - c;
  const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
               d6 = dot(ac, cp);
  const double va = d3 * d6 - d5 * d4, vb = d5 * d2 - d1 * d6, vc = d1 * d4 - d3 * d2;
  at[0] = at[1] = at[2] = 0;
  if (d1 <= 0 && d2 <= 0) {
    at[0] = 1;
  } else if (d3 >= 0 && d4 <= d3) {
    at[1] = 1;
  } else if (d6 >= 0 && d5 <= d6) {
    at[2] = 1;
  } else if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    at[1] = d1 / (d1 - d3);
    at[0] = 1 - at[1];
  } else if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    at[2] = d2 / (d2 - d6);
    at[0] = 1 - at[2];
  } else if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    at[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    at[1] = 1 - at[2];
  } else {
    const double whole = 1 / (va + vb + vc);
    at[1] = vb * whole;
    at[2] = vc * whole;
    at[0] = 1 - at[1] - at[2];
  }
}

/// Places along two segments, in [0, 1] from their first ends, where they are nearest (Ericson 2005, 5.1.9).
/// Both have a length.
ISOCLOTH_DEVICE inline void nearest_of_segments(const Vec3d* first, const Vec3d* second, double* at) {
  constexpr double parallel = 1e-12;
  const Vec3d u = first[1] - first[0], v = second[1] - second[0], r = first[0] - second[0];
  const double a = dot(u, u), b = dot(u, v), c = dot(u, r), e = dot(v, v), f = dot(v, r);
  const auto inside = [](double x) { return x < 0 ? 0.0 : x > 1 ? 1.0 : x; };
  const double square = a * e - b * b;
  at[0] = square > parallel * a * e ? inside((b * f - c * e) / square) : 0;
  at[1] = (b * at[0] + f) / e;
  if (at[1] < 0) {
    at[1] = 0;
    at[0] = inside(-c / a);
  } else if (at[1] > 1) {
    at[1] = 1;
    at[0] = inside((b - c) / a);
  }
}

/// sum_i w_i p_i: from the point of the second side to that of the first.
ISOCLOTH_DEVICE inline Vec3d weighted(const double* weights, const Vec3d* points) {
  return weights[0] * points[0] + weights[1] * points[1] + weights[2] * points[2] + weights[3] * points[3];
}

ISOCLOTH_DEVICE inline NearestPoints nearest_points(const PointPair& pair) {
  NearestPoints found;
  const Vec3d* const p = pair.points;
  if (pair.first_count == 1) {
    double at[3];
    nearest_of_triangle(p[0], p[1], p[2], p[3], at);
    found.weights[0] = 1;
    for (int i = 0; i < 3; ++i) found.weights[i + 1] = -at[i];
  } else {
    double at[2];
    nearest_of_segments(p, p + 2, at);
    found.weights[0] = 1 - at[0];
    found.weights[1] = at[0];
    found.weights[2] = at[1] - 1;
    found.weights[3] = -at[1];
  }
  const Vec3d way = weighted(found.weights, p);
  found.distance = norm(way);
  if (found.distance > 0) found.normal = (1 / found.distance) * way;
  return found;
}

/// How far the lowest point of the first side along n lies above the highest of the second [m]. Linear ways
/// between two states in which it is more than s keep more than s apart all the time.
ISOCLOTH_DEVICE inline double separation(const PointPair& pair, const Vec3d& n) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (int i = 0; i < 4; ++i) {
    const double height = dot(n, pair.points[i]);
    if (pair.side(i) == 0)
      low = height < low ? height : low;
    else
      high = height > high ? height : high;
  }
  return low - high;
}

ISOCLOTH_DEVICE inline PointPair between(const PointPair& from, const PointPair& to, double t) {
  PointPair at;
  at.first_count = from.first_count;
  for (int i = 0; i < 4; ++i) at.points[i] = from.points[i] + t * (to.points[i] - from.points[i]);
  return at;
}

/// Whether boxes around both sides, which move with them, keep more than `least` > 0 [m] apart all along: at
/// any time along some axis, not along the same at all times. By these the search leaves pairs out of fast
/// ways (overlap() of two MovingBox).
ISOCLOTH_DEVICE inline bool boxes_stay_apart(const PointPair& from, const PointPair& to, double least) {
  constexpr double rounding = 0.02;  // as time_apart() has it
  double first = 0, last = 1;        // times at which they may be nearer
  const auto side_meets = [&](const Vec3d& n) {
    const double at_begin = (1 + rounding) * least - separation(from, n),
                 at_end = (1 + rounding) * least - separation(to, n);
    if (at_begin < 0) {
      if (at_end < 0) return false;
      first = larger(at_begin / (at_begin - at_end), first);
    } else if (at_end < 0) {
      const double time = at_begin / (at_begin - at_end);
      last = time < last ? time : last;
    }
    return !(first > last);
  };
  const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (const Vec3d& axis : axes)
    if (!side_meets(axis) || !side_meets(-1.0 * axis)) return true;
  return false;
}

/// Bound of how much the distance changes from one state to another, and on straight ways between [m]: a
/// point of a side moves against one of the other as some mean of their nodes does.
ISOCLOTH_DEVICE inline double relative_way(const PointPair& from, const PointPair& to) {
  double longest = 0;  // squared
  for (int i = 0; i < from.first_count; ++i)
    for (int j = from.first_count; j < 4; ++j) {
      const Vec3d way = (to.points[i] - from.points[i]) - (to.points[j] - from.points[j]);
      longest = larger(dot(way, way), longest);
    }
  return square_root(longest);
}

/// A time in [0, 1] until which the sides keep `least` > 0 [m] apart on straight ways, 1: all along. Additive
/// conservative advancement (Li et al. 2021, C-IPC, section 4.2): time goes on by what the distance allows
/// for their relative way. It ends where a hundredth of `least` is left, or after most_advances.
ISOCLOTH_DEVICE inline double time_apart(const PointPair& from, const PointPair& to, double least) {
  constexpr int most_advances = 200;
  constexpr double close = 1e-2, shortest = 1e-9;
  const double fastest = relative_way(from, to);
  double t = 0;
  for (int n = 0; n < most_advances; ++n) {
    const double gap = nearest_points(between(from, to, t)).distance - least;
    if (!(gap > close * least)) return t;
    if (!(fastest > 0)) return 1;
    const double advance = gap / fastest;
    t += advance;
    if (t >= 1) return 1;
    if (advance < shortest) return t;
  }
  return t;
}

}  // namespace isocloth::ISOCLOTH_BACKEND
