// Signs of determinants, decided without rounding.
#pragma once

#include "engine/core/vec3.hpp"

namespace isocloth {

/// Nonzero coordinates of the points below lie in magnitude between these two [m]: then no product of three
/// of them overflows or loses a digit to underflow.
constexpr double least_exact_coordinate = 0x1p-300, largest_exact_coordinate = 0x1p300;

/// The sign of (b - a) x (c - a) . (d - a), six times the volume of a tetrahedron, for the doubles as they
/// are: 1 where d lies in front of a b c (that run counter-clockwise seen from d), -1 behind, 0 in the plane.
/// Any order of the points gives the same answer up to the sign of the permutation. A bound of the rounding
/// error decides nearly all cases, expansions the rest (Shewchuk, Adaptive precision floating-point
/// arithmetic and fast robust geometric predicates, 1997). Costs about 10 ns, near a plane up to 1 us.
int orientation(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& d);

/// How a segment and a triangle meet: in no point, or in one that is an end of the segment or on a side or
/// corner of the triangle, or in one inside of both.
enum class Meeting { none, touching, crossing };

/// Of the segment from p to q and the triangle a b c, by the signs of five orientations: of p and q to the
/// plane, and of the line to the three sides. A segment in the plane meets nothing, nor does anything a
/// triangle without area.
Meeting meeting(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b, const Vec3d& c);

}  // namespace isocloth
