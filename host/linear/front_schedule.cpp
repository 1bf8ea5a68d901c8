#include "host/linear/front_schedule.hpp"

#include <algorithm>

namespace isocloth {
namespace {

/// Up to two tiles across a block does alone: handing its tiles out would cost more launches than it saves.
constexpr Index small_front = 2 * launch_tile;

class LaunchBuilder {
 public:
  void add(Index launch, FrontTile tile) {
    if (launch >= static_cast<Index>(launches_.size())) launches_.resize(launch + 1);
    launches_[launch].push_back(tile);
  }
  TileLaunches finish() const {
    TileLaunches all{.tiles = {}, .begin = {0}};
    for (const auto& launch : launches_) {
      all.tiles.insert(all.tiles.end(), launch.begin(), launch.end());
      all.begin.push_back(all.tiles.size());
    }
    return all;
  }

 private:
  std::vector<std::vector<FrontTile>> launches_;
};

struct FrontTiles {
  Index pivots, rows;
  bool small;
  explicit FrontTiles(const Front& front)
      : pivots(launch_tiles(front.padded_pivots)),
        rows(launch_tiles(front.padded_rows)),
        small(front.padded_size() <= small_front) {}
};

/// The launch after those of all children.
Index ready(const FrontArrays& arrays, const Front& front, const std::vector<Index>& done) {
  Index launch = 0;
  for (Index c = front.child_begin; c < front.child_end; ++c)
    launch = std::max(launch, done[arrays.children[c]]);
  return launch;
}

TileLaunches schedule_factor(const FrontArrays& arrays) {
  LaunchBuilder launches;
  std::vector<Index> done(arrays.fronts.size());
  for (Index f = 0; f < static_cast<Index>(arrays.fronts.size()); ++f) {
    const FrontTiles tiles(arrays.fronts[f]);
    Index launch = ready(arrays, arrays.fronts[f], done);
    if (tiles.small) {
      launches.add(launch++, {f, -1, -1});
    } else {
      const Index all = tiles.pivots + tiles.rows;
      for (Index j = 0; j < tiles.pivots; ++j) {
        launches.add(launch++, {f, j, j});
        for (Index i = j + 1; i < all; ++i) launches.add(launch, {f, i, j});
        launch += j + 1 < all;
      }
      for (Index j = tiles.pivots; j < all; ++j)
        for (Index i = j; i < all; ++i) launches.add(launch, {f, i, j});
      launch += tiles.rows > 0;
    }
    done[f] = launch;
  }
  return launches.finish();
}

TileLaunches schedule_forward(const FrontArrays& arrays) {
  LaunchBuilder launches;
  std::vector<Index> done(arrays.fronts.size());
  for (Index f = 0; f < static_cast<Index>(arrays.fronts.size()); ++f) {
    const FrontTiles tiles(arrays.fronts[f]);
    Index launch = ready(arrays, arrays.fronts[f], done);
    launches.add(launch++, {f, tiles.small ? -1 : 0, 0});
    if (!tiles.small && tiles.rows > 0) {
      for (Index t = 0; t < tiles.rows; ++t) launches.add(launch, {f, 1 + t, 0});
      ++launch;
    }
    done[f] = launch;
  }
  return launches.finish();
}

TileLaunches schedule_backward(const FrontArrays& arrays) {
  LaunchBuilder launches;
  std::vector<Index> done(arrays.fronts.size());
  for (Index f = static_cast<Index>(arrays.fronts.size()) - 1; f >= 0; --f) {
    const FrontTiles tiles(arrays.fronts[f]);
    const Index parent = arrays.fronts[f].parent;
    Index launch = parent < 0 ? 0 : done[parent];
    if (!tiles.small && tiles.rows > 0) {
      for (Index t = 0; t < tiles.pivots; ++t) launches.add(launch, {f, 1 + t, 0});
      ++launch;
    }
    launches.add(launch++, {f, tiles.small ? -1 : 0, 0});
    done[f] = launch;
  }
  return launches.finish();
}

}  // namespace

FrontSchedule schedule_fronts(FrontArrays& arrays, Index strip) {
  FrontSchedule schedule{.factor = schedule_factor(arrays),
                         .forward = schedule_forward(arrays),
                         .backward = schedule_backward(arrays),
                         .update_size = 0};
  for (Front& front : arrays.fronts) {
    front.update = schedule.update_size;
    schedule.update_size += update_size(front, strip);
  }
  return schedule;
}

}  // namespace isocloth
