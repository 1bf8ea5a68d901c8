// Forces that close seams.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"
#include "engine/model/sewing.hpp"

namespace isocloth {

/// Greatest force that draws each of a mesh's stitches together [N], shape [stitches.size()]: its part of
/// the seam's force, and the pull of elastic bands on its nodes in the flat panel, the length of the sum of
/// stiffness (l / l0 - 1) along each (Band), which is nothing but where they end or turn.
std::vector<double> sewing_forces(const Sewing& sewing, const Mesh& mesh);

}  // namespace isocloth
