// A sweep as a picture.
#pragma once

#include <cstddef>
#include <string>

#include "host/sweep/sweep_table.hpp"

namespace isocloth {

/// One measure over the parameters that take more than one value, as a complete SVG document: a line for one
/// of them, a heat map for a grid of two, coloured points for samples of two, parallel coordinates for more.
/// Failed cases are crossed out, cases that are not there yet left out, the least value has a red frame. Of
/// more than 10,000 cases, or of more than 100 rows or columns of a heat map, one in so many is drawn, and
/// the picture says so; scale and least value are those of all. Cost O(n log n).
std::string sweep_svg(const SweepTable& table, std::size_t measure, const std::string& title);

}  // namespace isocloth
