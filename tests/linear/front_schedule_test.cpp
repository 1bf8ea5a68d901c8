// Each tile of a launch may run at any time beside the others: what it reads must be of an earlier launch.
#include "host/linear/front_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "host/linear/ordering.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {
namespace {

/// Launch of each tile (i, j) of a front.
using FrontLaunches = std::map<std::pair<Index, Index>, Index>;

std::vector<FrontLaunches> by_front(const TileLaunches& launches, std::size_t front_count) {
  std::vector<FrontLaunches> all(front_count);
  for (std::size_t l = 0; l < launches.count(); ++l) {
    EXPECT_LT(launches.begin[l], launches.begin[l + 1]) << "launch " << l << " is empty";
    for (std::size_t t = launches.begin[l]; t < launches.begin[l + 1]; ++t) {
      const FrontTile& tile = launches.tiles[t];
      EXPECT_TRUE(all.at(tile.front).emplace(std::pair(tile.i, tile.j), static_cast<Index>(l)).second)
          << "tile " << tile.i << ", " << tile.j << " of front " << tile.front << " is there twice";
    }
  }
  EXPECT_EQ(launches.begin.back(), launches.tiles.size());
  return all;
}

Index last_launch(const FrontLaunches& front) {
  Index last = -1;
  for (const auto& [tile, launch] : front) last = std::max(last, launch);
  return last;
}

/// A front that one block takes whole.
bool is_whole(const FrontLaunches& front) { return front.size() == 1 && front.begin()->first.first == -1; }

struct Scheduled {
  FrontArrays arrays;
  FrontSchedule schedule;
  Scheduled(const BlockPattern& pattern, Index strip)
      : arrays(build_front_arrays(pattern, build_front_tree(analyze_best_order(pattern).elimination, strip),
                                  strip)),
        schedule(schedule_fronts(arrays, strip)) {}
  /// The launch after the last of all children.
  Index after_children(const std::vector<FrontLaunches>& launches, Index f) const {
    Index last = -1;
    for (Index c = arrays.fronts[f].child_begin; c < arrays.fronts[f].child_end; ++c)
      last = std::max(last, last_launch(launches[arrays.children[c]]));
    return last + 1;
  }
};

class FrontScheduleTest : public testing::TestWithParam<NamedPattern> {
 protected:
  static constexpr Index strips[] = {8, 16};
};

/// L_ij takes L_ik and L_jk of all pivots k before j, and L_jj; the first tile takes the children's updates.
TEST_P(FrontScheduleTest, FactorTilesComeRightAfterWhatTheyRead) {
  for (const Index strip : strips) {
    const Scheduled s(GetParam().pattern, strip);
    const auto launches = by_front(s.schedule.factor, s.arrays.fronts.size());
    for (Index f = 0; f < static_cast<Index>(launches.size()); ++f) {
      const Front& front = s.arrays.fronts[f];
      const FrontLaunches& tiles = launches[f];
      const Index ready = s.after_children(launches, f);
      if (is_whole(tiles)) {
        EXPECT_EQ(tiles.at({-1, -1}), ready) << "front " << f;
        continue;
      }
      const Index pivots = launch_tiles(front.padded_pivots), all = pivots + launch_tiles(front.padded_rows);
      ASSERT_EQ(tiles.size(), static_cast<std::size_t>(all) * (all + 1) / 2) << "front " << f;
      for (Index j = 0; j < all; ++j)
        for (Index i = j; i < all; ++i) {
          Index after = ready;
          for (Index k = 0; k < std::min(j, pivots); ++k)
            after = std::max({after, tiles.at({i, k}) + 1, tiles.at({j, k}) + 1});
          if (i > j && j < pivots) after = std::max(after, tiles.at({j, j}) + 1);
          EXPECT_EQ(tiles.at({i, j}), after) << "tile " << i << ", " << j << " of front " << f;
        }
    }
  }
}

/// The pivots take the children's rows; the tiles of rows take the pivots.
TEST_P(FrontScheduleTest, ForwardPartsComeRightAfterWhatTheyRead) {
  for (const Index strip : strips) {
    const Scheduled s(GetParam().pattern, strip);
    const auto launches = by_front(s.schedule.forward, s.arrays.fronts.size());
    for (Index f = 0; f < static_cast<Index>(launches.size()); ++f) {
      const Index ready = s.after_children(launches, f),
                  row_tiles = launch_tiles(s.arrays.fronts[f].padded_rows);
      if (is_whole(launches[f])) {
        EXPECT_EQ(launches[f].at({-1, 0}), ready) << "front " << f;
        continue;
      }
      ASSERT_EQ(launches[f].size(), static_cast<std::size_t>(row_tiles) + 1) << "front " << f;
      EXPECT_EQ(launches[f].at({0, 0}), ready) << "front " << f;
      for (Index t = 0; t < row_tiles; ++t) EXPECT_EQ(launches[f].at({1 + t, 0}), ready + 1) << "front " << f;
    }
  }
}

/// The tiles of pivots take the front's rows from the parent; the pivots take these tiles.
TEST_P(FrontScheduleTest, BackwardPartsComeRightAfterWhatTheyRead) {
  for (const Index strip : strips) {
    const Scheduled s(GetParam().pattern, strip);
    const auto launches = by_front(s.schedule.backward, s.arrays.fronts.size());
    for (Index f = 0; f < static_cast<Index>(launches.size()); ++f) {
      const Front& front = s.arrays.fronts[f];
      const Index ready = front.parent < 0 ? 0 : last_launch(launches[front.parent]) + 1;
      if (is_whole(launches[f])) {
        EXPECT_EQ(launches[f].at({-1, 0}), ready) << "front " << f;
        continue;
      }
      const Index tiles = front.padded_rows > 0 ? launch_tiles(front.padded_pivots) : 0;
      ASSERT_EQ(launches[f].size(), static_cast<std::size_t>(tiles) + 1) << "front " << f;
      for (Index t = 0; t < tiles; ++t) EXPECT_EQ(launches[f].at({1 + t, 0}), ready) << "front " << f;
      EXPECT_EQ(launches[f].at({0, 0}), ready + (tiles > 0)) << "front " << f;
    }
  }
}

TEST_P(FrontScheduleTest, UpdatesThatLiveAtTheSameTimeDoNotOverlap) {
  struct Life {
    Index front, first_launch, last_launch;
    std::size_t begin, end;
  };
  for (const Index strip : strips) {
    const Scheduled s(GetParam().pattern, strip);
    const auto launches = by_front(s.schedule.factor, s.arrays.fronts.size());
    std::vector<Life> lives;
    std::size_t end = 0;
    for (Index f = 0; f < static_cast<Index>(launches.size()); ++f) {
      const Front& front = s.arrays.fronts[f];
      if (front.rows == 0) continue;
      Index written = last_launch(launches[f]);
      for (const auto& [tile, launch] : launches[f])
        if (tile.second >= launch_tiles(front.padded_pivots)) written = std::min(written, launch);
      ASSERT_GE(front.parent, 0);
      lives.push_back({.front = f,
                       .first_launch = written,
                       .last_launch = last_launch(launches[front.parent]),
                       .begin = front.update,
                       .end = front.update + update_size(front, strip)});
      end = std::max(end, lives.back().end);
    }
    EXPECT_EQ(s.schedule.update_size, end);
    for (std::size_t a = 0; a < lives.size(); ++a)
      for (std::size_t b = 0; b < a; ++b) {
        const Life &x = lives[a], &y = lives[b];
        EXPECT_TRUE(x.last_launch < y.first_launch || y.last_launch < x.first_launch || x.end <= y.begin ||
                    y.end <= x.begin)
            << "fronts " << x.front << " and " << y.front;
      }
  }
}

std::vector<NamedPattern> patterns() {
  std::vector<NamedPattern> all = all_patterns();
  all.push_back({"band", band_system().pattern});
  all.push_back({"sheet", sheet_pattern(41, 37)});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Patterns, FrontScheduleTest, testing::ValuesIn(patterns()),
                         [](const auto& parameter) { return parameter.param.name; });

TEST(FrontSchedule, UpdatesTakePlacesOfThoseThatAreOver) {
  const Scheduled s(sheet_pattern(65, 65), 8);
  std::size_t sum = 0;
  for (const Front& front : s.arrays.fronts) sum += update_size(front, 8);
  RecordProperty("percent", static_cast<int>(100 * s.schedule.update_size / sum));
  EXPECT_LT(s.schedule.update_size, sum);
}

}  // namespace
}  // namespace isocloth
