// Distances from a closed surface at the nodes of a regular grid.
#pragma once

#include <array>
#include <vector>

#include "engine/core/monitor.hpp"
#include "engine/geometry/closed_surface.hpp"

namespace isocloth {

/// Where the nodes are: (i, j, k) at origin + cell (i, j, k).
struct GridPoints {
  Vec3d origin;  ///< [m]
  double cell;   ///< [m]
  /// Number of nodes along x, y, z; the first and last of each axis lie outside of the solid.
  std::array<Index, 3> nodes;
};

/// Signed distances [m] minus `offset`, x fastest, shape [nodes z, nodes y, nodes x]; exact but for rounding
/// to float at nodes found within `band` of the offset surface and within 1.25 cells of the surface itself.
/// Steps: exact distances within 1.25 cells, triangle by triangle; from there each node passes its triangle
/// on to its neighbours in the order of distances (as vector distance transforms pass on points, Danielsson
/// 1980), so that distances are never too small; signs within 1.25 cells by ClosedSurface::is_outside, beyond
/// from the node before, since no surface passes between two nodes of which one is more than a cell away from
/// it; exact distances in the band by the tree. Cost about 9 triangles per node, and a search in the tree
/// per node of the band. Throws Interrupted when the monitor says stop.
std::vector<float> surface_distances(const ClosedSurface& solid, const GridPoints& grid, double band,
                                     double offset, const MonitorView& monitor = {});

}  // namespace isocloth
