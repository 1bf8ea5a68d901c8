// Which points begin inside of a closed surface.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Points that lie inside of a surface.
struct Enclosed {
  Index count = 0;
  Index deepest = -1;  ///< index of the point farthest from the surface, -1: none is inside
  double depth = 0;    ///< distance of that point from the surface [m]
};

/// Whether every edge belongs to two faces, whichever way these run.
bool is_watertight(const Mesh& surface);

/// Which points lie inside, by the parity of the triangles that a ray meets, so that it does not matter which
/// side faces are seen from; points for which no ray of several keeps clear of all rims count as outside.
/// positions [m]: of the
/// surface, which is watertight, shape [node_count]; quads are two triangles, from corner 0 to corner 2.
/// Cost about O(log n) for each point in the surface's box.
Enclosed enclosed_points(const Mesh& surface, const std::vector<Vec3d>& positions,
                         const std::vector<Vec3d>& points);

}  // namespace isocloth
