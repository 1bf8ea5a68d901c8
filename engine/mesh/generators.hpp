// Meshes made from a few numbers. All are valid (validate_mesh passes), lie in the plane z = 0 unless said
// otherwise, are oriented with +z in front, and carry corner_uvs [m] of the flat pattern. Throw MeshError for
// sizes out of range.
#pragma once

#include <cstdint>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Regular nx x ny nodes (node j * nx + i at (i, j)) over [0, width] x [0, height]; nx, ny >= 2. Quads.
Mesh quad_grid(Index nx, Index ny, double width, double height);

enum class Diagonals { parallel, alternating };
/// Nodes as in quad_grid(), each quad cut in two triangles: all along (0,0)-(1,1), or alternating with i + j.
Mesh triangle_grid(Index nx, Index ny, double width, double height, Diagonals diagonals);

/// Irregular Delaunay triangles on [0, width] x [0, height]: `boundary_segments` equal segments on each side,
/// `interior_nodes` interior nodes, spread by Lloyd-like smoothing and then jittered; the same seed gives the
/// same mesh on every machine. The triangles are as even as the spacing of the two kinds of nodes: about
/// segments^2 interior nodes. Boundary nodes first, counter-clockwise from (0, 0).
Mesh irregular_triangles(Index boundary_segments, Index interior_nodes, double width, double height,
                         std::uint64_t seed);

enum class FaceKind { quads, triangles };
/// Flat annulus around the origin: `radial` circles of `around` nodes (node c * around + k), inner circle
/// first; `phase` [rad] turns it; triangles alternate diagonals.
Mesh ring(Index radial, Index around, double inner_radius, double outer_radius, FaceKind kind,
          double phase = 0);

/// Flat disc: a ring whose inner hole is closed by triangles to a centre node (node 0).
Mesh disc(Index radial, Index around, double radius, FaceKind kind);

/// Open cylinder about the z axis, `along` circles of `around` nodes over [0, height]; front outside.
Mesh tube(Index along, Index around, double radius, double height, FaceKind kind);

/// Tank-top: front and back panel cut from one pattern (round neck, deeper in front, and arm holes), joined
/// at shoulders and sides, triangles; four boundary loops (neck, two arm holes, hem). About `triangle_target`
/// of 300 to 10,000,000 triangles (within 15 %; the default gives about 1,700), none with an angle below 15
/// degrees. 0.45 m wide, 0.60 m high. Lies open as two gently curved panels (x to the side, z up, y to the
/// front) so that no two nodes coincide; corner_uvs are the pattern coordinates of each panel, seen from
/// outside, u from its middle, v from the hem. Lengths at rest are those of the pattern but for widths above
/// the arm holes' lower ends, up to 5 % less at the shoulders; the rest shape counts.
Mesh tank_top(Index triangle_target = 1700);

}  // namespace isocloth
