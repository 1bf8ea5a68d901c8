// Multifrontal Cholesky as launches of tiles that do not wait for each other: for machines that run hundreds
// of blocks at once.
#pragma once

#include "kernels/linear/fronts.hpp"

namespace isocloth {

/// Rows and columns of the tiles of a launch.
constexpr Index launch_tile = 64;
ISOCLOTH_HD constexpr Index launch_tiles(Index scalars) { return (scalars + launch_tile - 1) / launch_tile; }

/// What one block does. Tiles of a front are counted over its padded pivots, then anew over its padded rows.
struct FrontTile {
  Index front;
  Index i, j;  ///< j is for factor_fronts alone; i = -1: all tiles of the front, one after another
};

constexpr int tile_threads = 256;  ///< threads of a block, where the machine has threads to choose

/// Rows or columns of a front, padding counted.
struct FrontRange {
  Index begin, end;
  ISOCLOTH_HD Index count() const { return end - begin; }
};

/// Padded rows of tile i.
ISOCLOTH_HD FrontRange tile_range(const Front& front, Index i) {
  const Index pivot_tiles = launch_tiles(front.padded_pivots);
  const Index first = i < pivot_tiles ? 0 : front.padded_pivots;
  const Index begin = first + (i < pivot_tiles ? i : i - pivot_tiles) * launch_tile;
  const Index end = i < pivot_tiles ? front.padded_pivots : front.padded_size();
  return {begin, begin + launch_tile < end ? begin + launch_tile : end};
}

/// First of n ascending rows that is not before `row`.
ISOCLOTH_HD Index lower_index(const Index* rows, Index n, Index row) {
  Index begin = 0;
  for (Index end = n; begin < end;) {
    const Index middle = begin + (end - begin) / 2;
    if (rows[middle] < row)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// First scalar of a row of the panel; its columns are `height` apart.
template <class Real, class Scalar>
ISOCLOTH_HD Scalar* panel_row(Scalar* panel, const Front& front, Index row) {
  const Index lane = row % strip_height<Real>;
  return panel + static_cast<std::size_t>(row - lane) * front.padded_pivots + lane;
}

}  // namespace isocloth
