// A mesh that is cut along its folds.
#pragma once

#include <vector>

#include "engine/mesh/mesh.hpp"

namespace isocloth {

/// Ends of those folds that are edges of two faces, lower first, sorted; of seams there are none.
std::vector<std::array<Index, 2>> folded_edges(const Mesh& mesh);

struct CutFolds {
  Mesh mesh;                  ///< faces as before; nodes along folds are as many as parts meet there
  std::vector<Index> origin;  ///< node of the mesh that each is of: itself, of those before the new ones
};

/// Cuts a mesh where it is folded: what bends on both sides of a fold has nothing in common there but its
/// places. The mesh has neither threads, bands nor folds any more.
CutFolds cut_at_folds(const Mesh& mesh);

}  // namespace isocloth
