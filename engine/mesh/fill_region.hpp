// Even points inside of a polygon, for a mesh that has given sides.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Appends `places`, and points of a grid of even triangles with edges h, inside and at least half an edge
/// away from the outline, from the places and from sides between points of both. Cost: that of the grid and,
/// per side, of what lies near it.
void fill_region(std::vector<Vec2d>& points, const std::vector<Vec2d>& places,
                 const std::vector<std::array<Index, 2>>& sides, double h);

/// Takes away those points from number `kept` on that are inside of the circle about a side, where Delaunay
/// triangles might not have it.
void clear_sides(std::vector<Vec2d>& points, const std::vector<std::array<Index, 2>>& sides, Index kept);

}  // namespace isocloth
