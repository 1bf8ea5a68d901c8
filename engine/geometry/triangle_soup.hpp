// The triangles of any faces, tidied: what has no area or is there twice is gone, neighbours face one way.
#pragma once

#include <array>
#include <vector>

#include "engine/geometry/triangle_tree.hpp"
#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Triangles of which those of one piece hang together through edges that two of them share.
struct TriangleSoup {
  std::vector<Vec3d> points;                    ///< [m], all distinct
  std::vector<std::array<Index, 3>> triangles;  ///< shape [triangle_count]
  std::vector<Index> pieces;                    ///< piece of each triangle, shape [triangle_count]
  Index piece_count = 0;
  // What was done, in triangles.
  Index flat = 0;     ///< left out for want of area
  Index doubled = 0;  ///< left out because others have the same corners
  Index turned = 0;   ///< run the other way now, as most of their piece do

  TriangleCorners corners(Index t) const {
    const auto& n = triangles[t];
    return {points[n[0]], points[n[1]], points[n[2]]};
  }
};

/// Triangles of all faces; quads as cut_faces() cuts them, larger faces from their first corner. Nodes at one
/// place, or within seam_width() of each other on edges of one face, are one. Triangles lower than 1e-11 of
/// the longest side of the box go. Of several with the same corners one stays; where some face the other way
/// and other triangles go on at most of the rim of what hangs together of such, none: that is the wall
/// between two solids that touch. Within a piece neighbours that run through their edge the same way are
/// turned, the smaller part of them. Faces have 3 nodes or more, in range; they may repeat them. Cost O(n log
/// n).
TriangleSoup make_soup(const Mesh& surface);

}  // namespace isocloth
