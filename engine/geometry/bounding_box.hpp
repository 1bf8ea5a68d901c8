// Boxes along the axes, at rest and moving, usable on host and device.
#pragma once

#include <limits>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Axis-parallel; empty where low > high.
struct BoundingBox {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  Vec3d low{infinity, infinity, infinity}, high{-infinity, -infinity, -infinity};  ///< [m]
};

/// Whether two boxes have a point in common.
ISOCLOTH_HD bool overlap(const BoundingBox& a, const BoundingBox& b) {
  return a.low.x <= b.high.x && b.low.x <= a.high.x && a.low.y <= b.high.y && b.low.y <= a.high.y &&
         a.low.z <= b.high.z && b.low.z <= a.high.z;
}

/// The least box that holds both.
ISOCLOTH_HD BoundingBox joined(const BoundingBox& a, const BoundingBox& b) {
  return {{b.low.x < a.low.x ? b.low.x : a.low.x, b.low.y < a.low.y ? b.low.y : a.low.y,
           b.low.z < a.low.z ? b.low.z : a.low.z},
          {a.high.x < b.high.x ? b.high.x : a.high.x, a.high.y < b.high.y ? b.high.y : a.high.y,
           a.high.z < b.high.z ? b.high.z : a.high.z}};
}

/// A box that goes from one to another, its sides at constant speeds: it holds what goes on a straight way at
/// constant speed and is within both when they begin and end (Saltenis et al. 2000, section 4.1).
struct MovingBox {
  BoundingBox begin, end;
};

ISOCLOTH_HD MovingBox joined(const MovingBox& a, const MovingBox& b) {
  return {joined(a.begin, b.begin), joined(a.end, b.end)};
}

/// Times, from 0 to 1, at which two moving boxes may have a point in common.
struct MeetingTimes {
  double first = 0, last = 1;

  /// What a side of one lies beyond a side of the other, at the begin and at the end; false: never.
  ISOCLOTH_HD bool meet(double at_begin, double at_end) {
    if (at_begin < 0) {
      if (at_end < 0) return false;
      const double time = at_begin / (at_begin - at_end);
      first = first < time ? time : first;
    } else if (at_end < 0) {
      const double time = at_begin / (at_begin - at_end);
      last = time < last ? time : last;
    }
    return true;
  }
};

/// Whether two moving boxes have a point in common at any one time.
ISOCLOTH_HD bool overlap(const MovingBox& a, const MovingBox& b) {
  MeetingTimes times;
  return times.meet(b.begin.high.x - a.begin.low.x, b.end.high.x - a.end.low.x) &&
         times.meet(a.begin.high.x - b.begin.low.x, a.end.high.x - b.end.low.x) &&
         times.meet(b.begin.high.y - a.begin.low.y, b.end.high.y - a.end.low.y) &&
         times.meet(a.begin.high.y - b.begin.low.y, a.end.high.y - b.end.low.y) &&
         times.meet(b.begin.high.z - a.begin.low.z, b.end.high.z - a.end.low.z) &&
         times.meet(a.begin.high.z - b.begin.low.z, a.end.high.z - b.end.low.z) &&
         !(times.first > times.last);
}

}  // namespace isocloth
