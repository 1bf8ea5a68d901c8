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

/// Signed distances at the nodes of a grid; node (i, j, k) lies at origin + cell (i, j, k). Where a surface
/// is near, a cell may be a block: parted again, evenly, with distances at nodes of its own.
struct DistanceGrid {
  Vec3d origin;                  ///< place of node (0, 0, 0) in the shape's frame [m]
  double cell = 0;               ///< [m]
  std::array<Index, 3> nodes{};  ///< number of nodes along x, y, z, at least 2 each
  std::vector<float> distances;  ///< [m], < 0 inside, x fastest, shape [nodes z, nodes y, nodes x]
  /// Of every cell, x fastest, shape [nodes z - 1, nodes y - 1, nodes x - 1]: -1, or of a block of 2^level
  /// cells along each side 8 begin + level, where begin is the index in `distances` of the first of its
  /// (2^level + 1)^3 nodes, which are stored after those of the grid. Empty: no cell is a block.
  std::vector<Index> blocks;
  int finest_level = 0;  ///< greatest level of a block, 0: there are none
  std::string note;      ///< how the surface was taken, for people; empty: as the closed one that it is

  double least_cell() const { return cell / (1 << finest_level); }  ///< [m]
};

/// Distance grids have at most 2^24 nodes, those of blocks included (64 MiB, 256 along each side of a cube).
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

/// Grid of what any faces bound, with blocks where the surface is near; see SurfaceSolid for what that is. A
/// surface that build_distance_grid() takes has the grid that it makes.
///
/// A cell is a block where a point of it lies within its side H of the surface. Nodes of blocks are `cell`
/// apart, where that is not given 1/128 of the longest side of the box, or more where that takes more than
/// 2^19 nodes. Where walls are thinner than 3 such cells (fingers, ears) blocks have up to 8 times as many
/// nodes along a side, as far as 2^22 nodes in all go, and walls still thinner than 3 of the least cells are
/// thickened to that. Distances at nodes of blocks are exact within 8 of their cells of the surface, beyond
/// too large by an eighth at most. In the other cells distances are between exact ones at the corners, less H
/// / 4 outside: trilinear ones exceed those from one point at a >= H by at most H^2 / (4 a).
///
/// Measured on one core: 0.5 s and 0.24 million nodes for a hand of 624 faces, 1.2 s and 0.50 million for a
/// body of 1,700 faces with fingers of 14 mm, 4.9 s and 1.8 million for one of 47,500 faces. A lookup near
/// the surface takes 0.09 us, in a grid without blocks 0.08 us; the nearest point of a tree of the same
/// triangles 1 to 8 us, and the winding number 4 to 9 us more, which is why steps ask a grid.
///
/// Throws SceneError, beginning with `key`: for no triangle with an area, a surface without size, and a
/// `cell` for which more than 2^24 nodes would be stored; Interrupted when the monitor says stop.
DistanceGrid build_obstacle_grid(const MeshShape& shape, const std::string& key,
                                 const MonitorView& monitor = {});

/// Grid of the signed distance from the solid below a height field: its surface, sides, and a flat bottom 16
/// cells below the lowest sample. A cell is the spacing of the samples over the least whole number that makes
/// it at most 1/64 of the longer side. The shape passes
/// validate_obstacle. Throws SceneError for more than 2^24 nodes.
DistanceGrid build_distance_grid(const HeightFieldShape& shape, const std::string& key,
                                 const MonitorView& monitor = {});

/// Signed distance at p (finite), phi [m], and its gradient where that is not null. Within the grid:
/// trilinear, in a block between the block's nodes. Outside of it, with q the grid's point next to p: phi =
/// sqrt(phi(q)^2 + |p - q|^2), which is continuous and a lower bound of the distance where phi(q) is one,
/// since the grid's box is convex and holds the solid: for s in the solid |p - s|^2 >= |p - q|^2 + |q - s|^2.
/// Its gradient: (phi(q) g + p - q) / phi, g the gradient at q without its components along axes on which p
/// and q differ. phi(q) > 0 on the sides of every grid built here.
double interpolate(const DistanceGrid& grid, Vec3d p, Vec3d* gradient = nullptr);

}  // namespace isocloth
