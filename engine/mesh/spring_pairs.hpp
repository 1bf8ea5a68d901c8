// Pairs of nodes that springs join in particle models of cloth.
#pragma once

#include <array>
#include <vector>

#include "engine/mesh/topology.hpp"

namespace isocloth {

/// Lower node first, sorted, each pair once.
using NodePairs = std::vector<std::array<Index, 2>>;

/// Diagonals of the quads: of each face one (first to third corner, where that is the same direction all over
/// a grid) or both. Triangles have none: their edges are constraints already. An n x n grid: (n - 1)^2 each.
NodePairs shear_pairs(const Mesh& mesh, int diagonals);

/// Structural neighbours at distance two (Bender, Figure 2). Among quads: the far ends of two edges that meet
/// at a node of quads alone and are each other's only edge there without a common face: the straight
/// continuation on a grid, 2 n (n - 2) of them on n x n. Across an edge of two triangles: the corners
/// opposite to it. Pairs that are edges are left out.
NodePairs bend_pairs(const Mesh& mesh, const Topology& topology);

}  // namespace isocloth
