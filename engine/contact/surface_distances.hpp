// Distances from a closed surface at the nodes of a regular grid.
#pragma once

#include <array>
#include <vector>

#include "engine/contact/closed_surface.hpp"

namespace isocloth {

/// Where the nodes are: (i, j, k) at origin + cell (i, j, k).
struct GridPlaces {
  Vec3d origin;                ///< [m]
  double cell;                 ///< [m]
  std::array<Index, 3> nodes;  ///< along x, y, z; the first and last of each axis lie outside of the solid
};

/// Signed distances [m] minus `offset`, x fastest, shape [nodes z, nodes y, nodes x]; exact but for rounding
/// to float at nodes found within `band` >= 1.25 cells of the surface. In four steps: exact distances
/// within 1.25 cells, triangle by triangle; elsewhere the least distance from the nearest triangles of
/// neighbours, in sweeps to and fro (as vector distance transforms propagate points, Danielsson 1980); exact
/// ones by the tree within the band; signs at nodes within 1.25 cells by ClosedSurface::is_outside, beyond
/// from the node before: no surface passes between two nodes of which one is more than a cell away from it.
std::vector<float> surface_distances(const ClosedSurface& solid, const GridPlaces& places, double band,
                                     double offset);

}  // namespace isocloth
