#include "host/linear/front_schedule.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <queue>
#include <utility>

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

/// done: the launch after the last of each front, shape [front count].
TileLaunches schedule_factor(const FrontArrays& arrays, std::vector<Index>& done) {
  LaunchBuilder launches;
  done.assign(arrays.fronts.size(), 0);
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

/// Parts of an array that are in use and free, first fit.
class PlaceList {
 public:
  std::size_t take(std::size_t size) {
    for (auto it = free_.begin(); it != free_.end(); ++it) {
      const auto [place, room] = *it;
      if (room < size) continue;
      free_.erase(it);
      if (room > size) free_.emplace(place + size, room - size);
      return place;
    }
    std::size_t place = end_;
    if (!free_.empty() && std::prev(free_.end())->first + std::prev(free_.end())->second == end_) {
      place = std::prev(free_.end())->first;
      free_.erase(place);
    }
    end_ = place + size;
    return place;
  }
  void release(std::size_t place, std::size_t size) {
    auto it = free_.emplace(place, size).first;
    if (const auto after = std::next(it); after != free_.end() && place + size == after->first) {
      it->second += after->second;
      free_.erase(after);
    }
    if (it != free_.begin())
      if (const auto before = std::prev(it); before->first + before->second == place) {
        before->second += it->second;
        free_.erase(it);
      }
  }
  std::size_t end() const { return end_; }  ///< end of all parts that were ever in use [scalars]

 private:
  std::map<std::size_t, std::size_t> free_;  ///< size of each free part by its place
  std::size_t end_ = 0;
};

/// Sets Front::update; returns the scalars of all places. An update matrix is written in its front's last
/// launch and lives to its parent's last; of those that begin together the largest is placed first.
std::size_t place_updates(FrontArrays& arrays, const std::vector<Index>& done, Index strip) {
  std::vector<Index> order(arrays.fronts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return done[a] != done[b] ? done[a] < done[b]
                              : arrays.fronts[a].padded_rows > arrays.fronts[b].padded_rows;
  });
  PlaceList places;
  using Life = std::pair<Index, Index>;  // the launch after the last one, front
  std::priority_queue<Life, std::vector<Life>, std::greater<>> living;
  for (const Index f : order) {
    Front& front = arrays.fronts[f];
    if (front.rows == 0) continue;
    for (; !living.empty() && living.top().first < done[f]; living.pop()) {
      const Front& over = arrays.fronts[living.top().second];
      places.release(over.update, update_size(over, strip));
    }
    front.update = places.take(update_size(front, strip));
    living.emplace(done[front.parent], f);
  }
  return places.end();
}

}  // namespace

FrontSchedule schedule_fronts(FrontArrays& arrays, Index strip) {
  std::vector<Index> done;
  TileLaunches factor = schedule_factor(arrays, done);
  return {.factor = std::move(factor),
          .forward = schedule_forward(arrays),
          .backward = schedule_backward(arrays),
          .update_size = place_updates(arrays, done, strip)};
}

}  // namespace isocloth
