// Height fields as closed surfaces.
#pragma once

#include "engine/mesh/mesh.hpp"
#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// Closed triangles around what lies below the field, down to the plane z = `bottom` below all samples.
/// Between samples the field is taken at (parts - 1) places more along each side; a part whose two triangles
/// would miss the bilinear height by more than 1 % of its side is cut in four at its middle. The surface then
/// misses it by at most |h00 + h11 - h10 - h01| / 16 of the part's corners: second order in the spacing, as
/// is the grid's interpolation.
Mesh height_field_surface(const HeightFieldShape& shape, int parts, double bottom);

}  // namespace isocloth
