// Closed polygons in the plane.
#pragma once

#include <vector>

#include "engine/core/vec3.hpp"

namespace isocloth {

/// The lower end of a segment of a closed outline of n that meets another which is no neighbour; n: none
/// does. Cost O(n log n), as long as few segments lie beside each other along the direction of the sweep,
/// which no edge of a pattern has but by chance.
std::size_t first_meeting(const std::vector<Vec2d>& points);

/// Distance from p to the nearest place on the outline [m]. Cost O(n).
double distance_to_polygon(const std::vector<Vec2d>& points, Vec2d p);

/// Whether a ray from p to the right crosses the outline an odd number of times. Cost O(n).
bool is_inside_polygon(const std::vector<Vec2d>& points, Vec2d p);

}  // namespace isocloth
