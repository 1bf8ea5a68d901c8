// Triangles that are much flatter than those around them.
#pragma once

#include <array>
#include <map>

#include "engine/mesh/loose_mesh.hpp"

namespace isocloth {

struct Needles {
  Index found = 0;                       ///< needles that there were
  Index left = 0;                        ///< those that nothing could be done about
  Index first = -1;                      ///< number of the first face among those found
  std::vector<Index> left_without_area;  ///< faces of the loose mesh among those left
};

/// Takes needles out of a mesh whose edges have at most two faces and whose nodes have one fan: triangles
/// whose least altitude is below `least_altitude` of the median edge of the mesh and below a tenth of their
/// own longest side, and what has no area. A short side is collapsed into one of its nodes, which stays where
/// it is, as long as the surface stays one (link condition), no face turns over, and the outline and cuts of
/// texture coordinates keep their course; a long side that has the third corner close to it goes to that
/// corner instead (edge flip), or the triangle goes where that side is open. Quads are cut where they are
/// as flat. Cost O(n log n) for n corners and what is done at each needle.
Needles remove_needles(LooseMesh& mesh, double least_altitude);

/// Whether two opposite corners of a quad fold over its middle plane.
bool is_folded_quad(const LooseMesh& mesh, const std::vector<Index>& nodes);

/// Number of faces at each edge, the lower node first.
using EdgeCounts = std::map<std::array<Index, 2>, Index>;
EdgeCounts count_edges(const LooseMesh& mesh);

/// Puts the corners of a quad whose sides cross in the order in which they do not, unless it has fewer sides
/// in common with other faces then: one of its nodes is misplaced. Returns whether that was so.
bool uncross_quad(LooseMesh& mesh, Index face, const EdgeCounts& counts);

/// Cuts a quad in two, the second a new face, where neither turns over and the flatter of both is less flat.
void cut_quad(LooseMesh& mesh, Index face);

}  // namespace isocloth
