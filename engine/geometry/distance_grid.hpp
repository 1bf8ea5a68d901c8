// Signed distances on a regular grid: how contact sees meshes and height fields.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/core/array_view.hpp"
#include "engine/core/monitor.hpp"
#include "engine/core/vec3.hpp"
#include "engine/shapes/obstacle.hpp"

namespace isocloth {

/// Signed distances at the nodes of a grid; node (i, j, k) lies at origin + cell (i, j, k).
struct DistanceGrid {
  Vec3d origin;                  ///< place of node (0, 0, 0) in the shape's frame [m]
  double cell = 0;               ///< [m]
  std::array<Index, 3> nodes{};  ///< number of nodes along x, y, z, at least 2 each
  std::vector<float> distances;  ///< [m], < 0 inside, x fastest, shape [nodes z, nodes y, nodes x]
};

/// Distance grids have at most 2^24 nodes (64 MiB, 256 along each side of a cube).
inline constexpr double max_distance_grid_nodes = 0x1p24;

/// Grid of the signed distance from a closed surface, minus `thicken`. The box of the surface is padded by 4
/// cells beyond `thicken` on all sides. Distances are exact, rounded to float, at nodes within 3.5 cells of
/// the thickened surface and within a cell of the surface itself; elsewhere they are those from a triangle
/// that was nearest to a node close by, never less than the exact ones and more by less than a quarter of a
/// cell (measured: up to 0.15 cells where triangles are much smaller than cells, 0.1 else). Signs are right
/// everywhere. Cost about 0.5 us per node; about 30 bytes per node while it is built. Throws SceneError,
/// beginning with `key`, where check_closed_surface does (with key.surface); for grids of more than 2^24
/// nodes; and for walls thinner than 3 cells, `thicken` included (find_thin_walls); Interrupted when the
/// monitor says stop.
DistanceGrid build_distance_grid(const MeshShape& shape, const std::string& key,
                                 const MonitorView& monitor = {});

/// Grid of the signed distance from the solid below a height field: its surface, sides, and a flat bottom 16
/// cells below the lowest sample. A cell is the spacing of the samples over the least whole number that makes
/// it at most 1/64 of the longer side. The shape passes
/// validate_obstacle. Throws SceneError for more than 2^24 nodes.
DistanceGrid build_distance_grid(const HeightFieldShape& shape, const std::string& key,
                                 const MonitorView& monitor = {});

/// Signed distance at p (finite), phi [m], and its gradient where that is not null. Within the grid:
/// trilinear. Outside of it, with q the grid's point next to p: phi = sqrt(phi(q)^2 + |p - q|^2), which is
/// continuous and a lower bound of the distance where phi(q) is one, since the grid's box is convex and holds
/// the solid: for s in the solid |p - s|^2 >= |p - q|^2 + |q - s|^2. Its gradient: (phi(q) g + p - q) / phi,
/// g the gradient at q without its components along axes on which p and q differ. phi(q) > 0 on the sides of
/// every grid built here.
double interpolate(const DistanceGrid& grid, Vec3d p, Vec3d* gradient = nullptr);

}  // namespace isocloth
