// The assembly tree of the multifrontal method: which block columns are eliminated together, on which rows.
#pragma once

#include "host/linear/elimination.hpp"

namespace isocloth {

/// Fronts in postorder. Front f eliminates the block columns [first_pivot[f], first_pivot[f + 1]) of L, all
/// with the rows of the front: those pivots, then rows[f].
struct FrontTree {
  int block = 3;                   ///< scalars per block side
  std::vector<Index> position;     ///< place of each block row of the pattern, shape [size]
  std::vector<Index> first_pivot;  ///< first block column of each front, shape [front_count + 1]
  std::vector<Index> parent;       ///< parent of each front, > child, -1: root; shape [front_count]
  BlockLists rows;                 ///< places past the pivots, ascending, one list per front
  BlockLists children;             ///< one list per front

  Index front_count() const { return static_cast<Index>(parent.size()); }
};

/// Supernodes of L, merged into their parents where one front costs less than two, explicit zeros and padding
/// to strips of so many rows counted (relaxed amalgamation; Ashcraft and Grimes 1989). Moves columns within
/// the elimination's order, hence an own `position`. Cost O(rows of all fronts, times log).
FrontTree build_front_tree(const Elimination& elimination, Index strip);

}  // namespace isocloth
