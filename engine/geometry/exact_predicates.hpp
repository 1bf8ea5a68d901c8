// Signs of determinants, decided without rounding.
#pragma once

#include <array>

#include "engine/core/vec3.hpp"

namespace isocloth {

// All below is decided for the doubles as they are, from 5e-324 to 1.8e308: a bound of the rounding error
// decides nearly all cases, whole numbers of as many digits as it takes the rest, which know neither overflow
// nor underflow. It makes no difference whether the processor flushes denormal numbers to zero. Points are
// finite.

/// The sign of (b - a) x (c - a) . (d - a), six times the volume of a tetrahedron: 1 where d lies in front of
/// a b c (that run counter-clockwise seen from d), -1 behind, 0 in the plane. Any order of the points gives
/// the same answer up to the sign of the permutation. Costs about 10 ns; near a plane 0.2 us, up to 20 us
/// where magnitudes differ by hundreds of powers of ten.
int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

/// The sign of the component of (b - a) x (c - a) along an axis, 0: x, 1: y, 2: z. Where it is 1, a b c run
/// counter-clockwise seen from far along the axis. Cheaper than orientation().
int turn(const Vec3d& a, const Vec3d& b, const Vec3d& c, int axis);

/// How a segment and a triangle meet: in no point, or in one that is an end of the segment or on a side or
/// corner of the triangle, or in one inside of both.
enum class Meeting { none, touching, crossing };

/// How the segment from p to q and the triangle a b c meet, by the signs of five orientations: of p and q to
/// the plane, and of the line to the three sides. A segment in the plane meets nothing (what overlaps there:
/// overlap_in_plane()), nor does anything a triangle without area.
Meeting meeting(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, const Vec3d& c);

/// Whether two triangles lie in one plane and have a point inside of both. Those that have a side in common
/// do where one is folded flat onto the other, and do not where it is flat beside the other. A triangle
/// without area has no inside.
bool overlap_in_plane(const std::array<Vec3d, 3>& s, const std::array<Vec3d, 3>& t);

}  // namespace isocloth
