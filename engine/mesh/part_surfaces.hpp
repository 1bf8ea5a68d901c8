// Surfaces that meet in an edge or in a node alone, taken apart.
#pragma once

#include <array>

#include "engine/mesh/loose_mesh.hpp"

namespace isocloth {

struct PartedSurfaces {
  Index edge_count = 0;               ///< edges of more than two faces
  std::array<Index, 2> edge{-1, -1};  ///< numbers of the first of them
  Index node_count = 0;               ///< nodes whose faces met in them alone (bow ties), not at such edges
  Index node = -1;                    ///< number of the first of them
};

/// Gives every fan of faces a node of its own, so that every edge has one or two faces and every node one
/// fan (Gueziec, Taubin, Lazarus and Horn 2001, cutting). Of more than two faces at an edge those two stay
/// together that run on into each other most straightly, of those that are oriented alike first, then two
/// others. A fan's own node is moved by a hundredth of the way to the middle of its faces: what is parted
/// does not lie at one place. Faces need distinct nodes, 3 or more. Cost O(corners log corners).
PartedSurfaces part_surfaces(LooseMesh& mesh);

}  // namespace isocloth
