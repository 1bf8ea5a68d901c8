// The launches of a multifrontal factorisation on a device: which tiles of which fronts go together.
#pragma once

#include "host/linear/front_arrays.hpp"
#include "kernels/linear/front_tiles.hpp"

namespace isocloth {

/// Tiles of several launches, one launch after another.
struct TileLaunches {
  std::vector<FrontTile> tiles;
  std::vector<std::size_t> begin;  ///< first tile of each launch, shape [launch count + 1]
  std::size_t count() const { return begin.size() - 1; }
};

/// Every tile is in the first launch that comes after all that it reads, so that there are no more launches
/// than tiles on the longest path through the tree. Small fronts are one tile.
struct FrontSchedule {
  TileLaunches factor, forward, backward;
  std::size_t update_size = 0;  ///< scalars that hold the update matrices
};

/// Places every update matrix (Front::update) where no other is that lives at the same time: from the launch
/// that writes it to the last one of its parent. strip: rows per strip of the kernels. Cost O(tiles), and
/// O(free places) per front.
FrontSchedule schedule_fronts(FrontArrays& arrays, Index strip);

}  // namespace isocloth
