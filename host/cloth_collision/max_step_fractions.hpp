// How far the nodes of a cloth may go without passing through cloth.
#pragma once

#include "engine/geometry/pair_search.hpp"

namespace isocloth {

/// The part of each node's straight way that keeps every pair apart, in [0, 1], shape [node_count]: the node
/// stays on its side of a plane between both sides of the pair. Half-spaces are convex, so that any shorter
/// way of any node does so, too: the "DAT" of Newton's cloth, the finest bounds of Offset Geometric Contact
/// (Chen et al. 2025). pairs: all whose boxes overlap on these ways; thicknesses [m]: of each surface.
std::vector<double> max_step_fractions(const SurfaceFeatures& features, const std::vector<FeaturePair>& pairs,
                                       const std::vector<Vec3d>& from, const std::vector<Vec3d>& to,
                                       const std::vector<double>& thicknesses);

}  // namespace isocloth
