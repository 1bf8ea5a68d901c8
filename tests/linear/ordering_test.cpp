#include "host/linear/ordering.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <Eigen/Dense>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <random>
#include <thread>

#include "engine/core/errors.hpp"
#include "tests/linear/patterns.hpp"

namespace isocloth {
namespace {

/// Block columns of L by elimination on a dense matrix of zeros and ones.
Eigen::MatrixXi dense_fill(const BlockPattern& pattern, const std::vector<Index>& position) {
  Eigen::MatrixXi full = Eigen::MatrixXi::Zero(pattern.size, pattern.size);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    const Index i = position[pattern.rows[b]], j = position[pattern.columns[b]];
    full(std::max(i, j), std::min(i, j)) = 1;
  }
  for (Index j = 0; j < pattern.size; ++j)
    for (Index i = j + 1; i < pattern.size; ++i)
      if (full(i, j))
        for (Index k = i; k < pattern.size; ++k)
          if (full(k, j)) full(k, i) = 1;
  return full;
}

constexpr Ordering orderings[] = {Ordering::nested_dissection, Ordering::minimum_degree,
                                  Ordering::minimum_fill};

class OrderingTest : public testing::TestWithParam<NamedPattern> {};

TEST_P(OrderingTest, EliminationIsThatOfTheDenseMatrix) {
  const BlockPattern& pattern = GetParam().pattern;
  for (const Ordering ordering : orderings) {
    const Elimination e = analyze_elimination(pattern, fill_reducing_order(pattern, ordering));
    std::vector<Index> sorted = e.position, expected(pattern.size);
    std::sort(sorted.begin(), sorted.end());
    std::iota(expected.begin(), expected.end(), 0);
    ASSERT_EQ(sorted, expected);
    const Eigen::MatrixXi fill = dense_fill(pattern, e.position);
    const BlockLists columns = factor_columns(e);
    double nonzeros = 0, flops = 0;
    Index level_count = 0;
    for (Index j = 0; j < pattern.size; ++j) {
      std::vector<Index> column;
      for (Index i = j; i < pattern.size; ++i)
        if (fill(i, j) || i == j) column.push_back(i);
      ASSERT_EQ(std::vector<Index>(columns[j].begin(), columns[j].end()), column) << "column " << j;
      EXPECT_EQ(e.counts[j], static_cast<Index>(column.size()));
      EXPECT_EQ(e.parent[j], column.size() > 1 ? column[1] : -1);
      for (int k = 0; k < pattern.block; ++k) {
        const double scalars = static_cast<double>(column.size()) * pattern.block - k;
        nonzeros += scalars;
        flops += scalars * scalars;
      }
      EXPECT_TRUE(e.parent[j] < 0 || e.levels[e.parent[j]] > e.levels[j]);
      level_count = std::max(level_count, e.levels[j] + 1);
      EXPECT_EQ(e.position[e.block_row[j]], j);
    }
    EXPECT_EQ(e.nonzeros, nonzeros);
    EXPECT_EQ(e.flops, flops);
    EXPECT_EQ(e.level_count, level_count);
  }
}

TEST_P(OrderingTest, ChildrenOfAPostorderEndBeforeTheirParent) {
  const Elimination e = analyze_best_order(GetParam().pattern).elimination;
  std::vector<Index> first(e.size());  // least column of each subtree
  std::iota(first.begin(), first.end(), 0);
  std::vector<Index> descendants(e.size(), 1);
  for (Index j = 0; j < e.size(); ++j) {
    EXPECT_EQ(first[j] + descendants[j] - 1, j) << "the subtree of " << j << " is not a range";
    if (e.parent[j] < 0) continue;
    first[e.parent[j]] = std::min(first[e.parent[j]], first[j]);
    descendants[e.parent[j]] += descendants[j];
  }
}

TEST_P(OrderingTest, SameOrderAgain) {
  for (const Ordering ordering : orderings)
    EXPECT_EQ(fill_reducing_order(GetParam().pattern, ordering),
              fill_reducing_order(GetParam().pattern, ordering));
}

INSTANTIATE_TEST_SUITE_P(Patterns, OrderingTest, testing::ValuesIn(all_patterns()),
                         [](const auto& parameter) { return parameter.param.name; });

std::atomic<int> signals_received = 0;

/// A program may be asked to stop at any moment, whichever of its threads orders and whichever is asked.
TEST(Ordering, LeavesSignalsToTheProgram) {
  using Clock = std::chrono::steady_clock;
  const BlockPattern pattern = sheet_pattern(200, 200);
  constexpr auto receive = [](int) { ++signals_received; };
  void (*const before)(int) = std::signal(SIGTERM, receive);
  for (const bool on_this_thread : {true, false}) {
    signals_received = 0;
    std::atomic<bool> started = false, done = false;
    std::vector<Index> position;
    const std::function<void()> order = [&] {
      started = true;
      try {
        position = fill_reducing_order(pattern, Ordering::nested_dissection);
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
      done = true;
    };
    int raised = 0;
    const std::function<void()> interrupt = [&] {
      while (!started) std::this_thread::yield();
      while (!done) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        kill(getpid(), SIGTERM);
        ++raised;
        for (const auto start = Clock::now();
             signals_received < raised && Clock::now() < start + std::chrono::seconds(10);)
          std::this_thread::yield();
      }
    };
    std::thread other(on_this_thread ? interrupt : order);
    (on_this_thread ? order : interrupt)();
    other.join();
    EXPECT_GT(raised, 1);
    EXPECT_EQ(signals_received, raised);
    std::sort(position.begin(), position.end());
    ASSERT_EQ(position.size(), static_cast<std::size_t>(pattern.size));
    for (Index i = 0; i < pattern.size; ++i) ASSERT_EQ(position[i], i);
  }
  EXPECT_EQ(std::signal(SIGTERM, before), static_cast<void (*)(int)>(receive));
}

/// A tree has an order without fill, which a careless one does not find.
TEST(Ordering, MinimumFillAddsNothingToATree) {
  BlockPattern pattern{.size = 40, .block = 3, .rows = {}, .columns = {}};
  for (Index parent = 0; parent < pattern.size; ++parent) {
    pattern.rows.push_back(parent);
    pattern.columns.push_back(parent);
    for (Index child = 3 * parent + 1; child <= std::min(3 * parent + 3, pattern.size - 1); ++child) {
      pattern.rows.push_back(child);
      pattern.columns.push_back(parent);
    }
  }
  const Elimination e = analyze_elimination(pattern, fill_reducing_order(pattern, Ordering::minimum_fill));
  EXPECT_EQ(std::accumulate(e.counts.begin(), e.counts.end(), 0), 40 + 39);
}

TEST(Ordering, MinimumFillSavesATenthOnSomeSheets) {
  for (const Index side : {9, 11, 17}) {  // 11: by the best of several ways to break ties
    const BlockPattern pattern = sheet_pattern(side, side);
    const auto flops = [&](Ordering ordering) {
      return analyze_elimination(pattern, fill_reducing_order(pattern, ordering)).flops;
    };
    EXPECT_LT(flops(Ordering::minimum_fill),
              0.9 * std::min(flops(Ordering::nested_dissection), flops(Ordering::minimum_degree)))
        << side;
  }
}

TEST(Ordering, BestIsTheOneWithFewerFlops) {
  for (const NamedPattern& p : all_patterns()) {
    const double best = analyze_best_order(p.pattern).elimination.flops;
    for (const Ordering ordering : orderings)
      EXPECT_LE(best, analyze_elimination(p.pattern, fill_reducing_order(p.pattern, ordering)).flops)
          << p.name;
  }
}

TEST(Ordering, BadPatternsAreNamed) {
  const auto message = [](const BlockPattern& pattern) -> std::string {
    try {
      check_pattern(pattern);
    } catch (const ShapeError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(message({.size = 2, .block = 3, .rows = {0, 1}, .columns = {0, 2}}).find("block 1 is (1, 2)"),
            std::string::npos);
  EXPECT_NE(message({.size = 2, .block = 3, .rows = {0}, .columns = {0}}).find("block row 1 has 0 diagonal"),
            std::string::npos);
  EXPECT_NE(message({.size = 1, .block = 3, .rows = {0, 0}, .columns = {0, 0}}).find("row 0 has 2 diagonal"),
            std::string::npos);
  EXPECT_NE(message({.size = 2, .block = 3, .rows = {0, 1, 1, 1}, .columns = {0, 0, 0, 1}}).find("twice"),
            std::string::npos);
  EXPECT_NE(message({.size = 1, .block = 2, .rows = {0}, .columns = {0}}).find("block is 2"),
            std::string::npos);
  EXPECT_EQ(message({.size = 2, .block = 3, .rows = {0, 1, 1}, .columns = {0, 0, 1}}), "");
}

}  // namespace
}  // namespace isocloth
