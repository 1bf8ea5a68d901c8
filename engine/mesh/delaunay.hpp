// Delaunay triangulation of points in the plane.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Delaunay triangles of the convex hull of `points` (at least 3, not all on a line), counter-clockwise, none
/// without area. Incremental insertion (Bowyer 1981, Watson 1981) with an implicit vertex at infinity. Points
/// are snapped to a lattice of 2^-29 of the bounding box, on which every test is exact, so that points on one
/// line or circle are no special case and all machines agree. Cost O(n log n), about 1.5 us per point,
/// however the points lie. Throws MeshError for fewer than 3 points, points that coincide on the lattice, or
/// points all on one line.
std::vector<std::array<Index, 3>> delaunay_triangles(const std::vector<Vec2d>& points);

/// The Delaunay triangles inside the polygon of the first `outline_count` points, given counter-clockwise;
/// the other points lie inside it. Throws MeshError where a side of the polygon is no side of a triangle
/// (points too close).
std::vector<std::array<Index, 3>> triangulate_region(const std::vector<Vec2d>& points, Index outline_count);

/// Spreads the points inside a polygon evenly: `sweeps` times, each point from `kept` >= `outline_count` on,
/// 0: from that on, moves to the area-weighted mean of the centroids of its triangles, and the region is
/// triangulated anew.
void spread_points(std::vector<Vec2d>& points, Index outline_count, int sweeps, Index kept = 0);

}  // namespace isocloth
