// How thick a solid is.
#pragma once

#include <optional>

#include "engine/geometry/closed_surface.hpp"

namespace isocloth {

/// Walls of a solid thinner than some limit.
struct ThinWalls {
  double thickness = 0;   ///< only a sliver of the surface bounds thinner walls [m]
  Vec3d position;         ///< where that thickness was found, on the surface [m]
  Index face = 0;         ///< face on which `position` lies
  double area_share = 0;  ///< share of the surface's area that bounds walls thinner than the limit
};

/// Walls of `solid` thinner than `limit` where they are more than slivers for a grid of this cell. The
/// thickness at a point of the surface is the length of the ray from there along the inward normal to the
/// other side. Samples: each triangle at as many points as it has parts of (2 cells)^2, at least one, at
/// places fixed by its number. A wall is where the normals at both ends are opposite to within 20 degrees:
/// sharp edges are no walls (measured: grids show wedges of 22, 45, 90 degrees up to 2.6, 1.2, 0.5 cells from
/// the edge). Found where walls thinner than the limit bound more than 18 cells^2 and more than 0.1 % of the
/// surface, or where rays shorter than the limit, however they end, start from more than half of it.
/// Cost O(samples log n).
std::optional<ThinWalls> find_thin_walls(const ClosedSurface& solid, double limit, double cell);

}  // namespace isocloth
