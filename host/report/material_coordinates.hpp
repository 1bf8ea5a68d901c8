// Where a thread runs: the plane pattern that the page draws checks on.
#pragma once

#include <vector>

#include "host/report/report.hpp"

namespace isocloth {

/// Warp and weft coordinates of every face corner [m], shape [corner_count]. Those of the garment, scaled to
/// the area of its rest shape where they are in another unit (pictures use 0 to 1); without them the rest
/// shape unfolded face by face from its middle, warp along the x axis there as in material_warp_directions:
/// exact where it is developable, elsewhere with cuts. rest_positions [m], shape [node_count, 3], counted
/// from the garment's first node. Cost O(corners log corners).
std::vector<Vec2d> material_coordinates(const ReportGarment& garment, const double* rest_positions);

}  // namespace isocloth
