// Seams that a file left open: nodes on the rim of a surface that lie at one place, and their union.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Pairs of nodes on edges of one face only that lie within some distance of each other and share no edge.
struct OpenSeam {
  Index pair_count = 0;  ///< each node with the nearest such node of a lower number
  double gap = 0;        ///< the largest distance among them [m]
  Index a = -1, b = -1;  ///< the first pair, a < b; -1: none
};

/// Faces may be any with distinct nodes in range. Cost O(corners log corners).
OpenSeam find_open_seam(const Mesh& mesh, double within);

/// Unites nodes on edges of one face only that lie within `distance` [m] of each other, directly or through
/// others: the node of the lowest number stays where it is, the others go and those after them move up.
/// Faces lose corners that have become one, and go when fewer than 3 are left. Returns the new number of each
/// node, shape [node_count before]. Cost O(corners log corners).
std::vector<Index> weld(Mesh& mesh, double distance);

/// The lowest of the nodes that stitches join each node to, directly or through others, itself included;
/// shape [node_count].
std::vector<Index> sewn_nodes(const Mesh& mesh);

/// Parts that share no edge, node, stitch or button. Cost O(corners).
Index piece_count(const Mesh& mesh);

/// Mean length of a face's side, as the square root of the mean area of faces [m].
double mean_element_size(const Mesh& mesh);

/// How far what is sewn and what is buttoned is apart: the largest distance of nodes sewn together, and of
/// the ends of a button's thread beyond its length, press studs left out [m].
struct SewnOpenings {
  double seam = 0, button = 0;
};
/// Openings of seams and buttons at positions [m], shape [node_count].
SewnOpenings sewn_openings(const Mesh& mesh, const std::vector<Vec3d>& positions);
/// Opening up to which a seam or button counts as closed: a twentieth of an element [m].
double closed_opening(const Mesh& mesh);

}  // namespace isocloth
