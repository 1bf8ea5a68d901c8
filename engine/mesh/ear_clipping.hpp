// Polygons, convex or not, as triangles.
#pragma once

#include <array>
#include <vector>

#include "engine/core/vec3.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Triangles of a polygon whose corners lie about in a plane, as three of its corners each, 0 to n - 1, in
/// its own sense; none where it crosses itself, seen along its area vector, or has no area. Ears are cut one
/// by one (Meisters 1975), of all there are the one with the greatest altitude over its longest side; a
/// corner on a straight side is no ear and becomes one of a triangle that has an area. Corners may share a
/// place, as where a cut leads to a hole. Cost O(n^2) as a rule, O(n^3) at most.
std::vector<std::array<Index, 3>> clip_ears(const std::vector<Vec3d>& corners);

}  // namespace isocloth
