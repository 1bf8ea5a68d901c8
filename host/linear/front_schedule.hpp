// The launches of a multifrontal factorisation on a device: which tiles of which fronts go together.
#pragma once

#include "host/linear/front_arrays.hpp"
#include "kernels/linear/front_tiles.hpp"

namespace isocloth {

/// Tiles of several launches, one launch after another.
struct TileLaunches {
  std::vector<FrontTile> tiles;
  std::vector<std::size_t> begin;  ///< shape [launch count + 1]
  std::size_t count() const { return begin.size() - 1; }
};

/// Every tile is in the first launch that comes after all that it reads, so that there are no more launches
/// than tiles on the longest path through the tree. Small fronts are one tile.
struct FrontSchedule {
  TileLaunches factor, forward, backward;
  std::size_t update_size = 0;  ///< scalars of all update matrices
};

/// Puts every update matrix at a place of its own (Front::update).
FrontSchedule schedule_fronts(FrontArrays& arrays, Index strip);

}  // namespace isocloth
