// The schedule of the factorisation against elimination on a dense matrix of zeros and ones.
#include "host/linear/cholesky_plan.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <map>
#include <set>
#include <tuple>

#include "tests/kernels/block_systems.hpp"

namespace isocloth {
namespace {

Eigen::MatrixXi dense_fill(const BlockPattern& pattern) {
  Eigen::MatrixXi full = Eigen::MatrixXi::Identity(pattern.size, pattern.size);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) full(pattern.rows[b], pattern.columns[b]) = 1;
  for (Index j = 0; j < pattern.size; ++j)
    for (Index i = j + 1; i < pattern.size; ++i)
      if (full(i, j))
        for (Index k = i; k < pattern.size; ++k)
          if (full(k, j)) full(k, i) = 1;
  return full;
}

/// Ordered in the test: a program that starts for one of its tests orders nothing for the others.
class CholeskyPlanTest : public testing::TestWithParam<std::tuple<NamedPattern, bool>> {
 protected:
  const BlockPattern pattern =
      ordered(std::get<NamedPattern>(GetParam()).pattern, std::get<bool>(GetParam()));
  const CholeskyPlan plan = plan_cholesky(pattern);
  const Eigen::MatrixXi fill = dense_fill(pattern);
  using Pairs = std::set<std::array<Index, 2>>;
  Pairs pairs_of(Index b, Index count = -1) const {
    Pairs pairs;
    const Index end = count < 0 ? plan.pair_begin[b + 1] : plan.pair_begin[b] + count;
    for (Index k = plan.pair_begin[b]; k < end; ++k) pairs.insert({plan.pairs[2 * k], plan.pairs[2 * k + 1]});
    return pairs;
  }
  std::map<std::array<Index, 2>, Index> places() const {
    std::map<std::array<Index, 2>, Index> result;
    for (std::size_t b = 0; b < plan.block_rows.size(); ++b)
      result[{plan.block_rows[b], plan.block_columns[b]}] = static_cast<Index>(b);
    return result;
  }
};

TEST_P(CholeskyPlanTest, LHasTheFillOfTheDenseMatrix) {
  std::vector<Index> rows, columns, begin{0};
  for (Index j = 0; j < pattern.size; ++j) {
    for (Index i = j; i < pattern.size; ++i)
      if (fill(i, j)) {
        rows.push_back(i);
        columns.push_back(j);
      }
    begin.push_back(static_cast<Index>(rows.size()));
  }
  EXPECT_EQ(plan.column_begin, begin);
  EXPECT_EQ(plan.block_rows, rows);
  EXPECT_EQ(plan.block_columns, columns);
}

TEST_P(CholeskyPlanTest, EveryBlockIsUpdatedByTheColumnsThatHoldBothItsRows) {
  const auto place = places();
  ASSERT_EQ(plan.pair_begin.size(), plan.block_rows.size() + 1);
  for (std::size_t b = 0; b < plan.block_rows.size(); ++b) {
    const Index i = plan.block_rows[b], j = plan.block_columns[b];
    Pairs expected;
    for (Index k = 0; k < j; ++k)
      if (fill(i, k) && fill(j, k)) expected.insert({place.at({i, k}), place.at({j, k})});
    ASSERT_EQ(pairs_of(static_cast<Index>(b)), expected) << "block (" << i << ", " << j << ")";
    ASSERT_EQ(plan.pair_begin[b + 1] - plan.pair_begin[b], static_cast<Index>(expected.size()))
        << "no update comes twice";
  }
}

// Twins read L_p once for both: the first updates of their blocks in a row must name the same p, in one
// order.
TEST_P(CholeskyPlanTest, TwinColumnsShareTheirFirstUpdates) {
  for (Index j = 0; j < pattern.size; ++j) {
    if (plan.is_twin[j] == 0) continue;
    ASSERT_LT(j + 1, pattern.size);
    EXPECT_EQ(plan.is_twin[j + 1], 0) << "a column belongs to one pair";
    const Index first = plan.column_begin[j], second = plan.column_begin[j + 1];
    ASSERT_EQ(second - first, plan.column_begin[j + 2] - second + 1);
    for (Index n = 0; n < plan.column_begin[j + 2] - second; ++n) {
      ASSERT_EQ(plan.block_rows[first + 1 + n], plan.block_rows[second + n]);
      if (n == 0) continue;
      const Index a = first + 1 + n, b = second + n, shared = plan.twin_updates[a];
      ASSERT_EQ(shared, plan.twin_updates[b]);
      ASSERT_LE(shared, plan.pair_begin[a + 1] - plan.pair_begin[a]);
      ASSERT_LE(shared, plan.pair_begin[b + 1] - plan.pair_begin[b]);
      for (Index k = 0; k < shared; ++k)
        ASSERT_EQ(plan.pairs[2 * (plan.pair_begin[a] + k)], plan.pairs[2 * (plan.pair_begin[b] + k)]);
    }
  }
}

TEST_P(CholeskyPlanTest, RowsListTheirBlocks) {
  const auto place = places();
  ASSERT_EQ(plan.row_begin.size(), static_cast<std::size_t>(pattern.size) + 1);
  for (Index i = 0; i < pattern.size; ++i) {
    std::vector<Index> expected;
    for (Index k = 0; k < i; ++k)
      if (fill(i, k)) expected.push_back(place.at({i, k}));
    EXPECT_EQ(std::vector<Index>(plan.row_blocks.begin() + plan.row_begin[i],
                                 plan.row_blocks.begin() + plan.row_begin[i + 1]),
              expected);
  }
}

// A level may be done at once: all that its columns read lies in levels before.
TEST_P(CholeskyPlanTest, LevelsFollowWhatTheyRead) {
  std::vector<Index> level(pattern.size, -1);
  const auto levels = static_cast<Index>(plan.level_begin.size()) - 1;
  ASSERT_EQ(plan.level_block_begin.size(), plan.level_begin.size());
  for (Index l = 0; l < levels; ++l) {
    EXPECT_LT(plan.level_begin[l], plan.level_begin[l + 1]) << "no level is empty";
    std::set<Index> blocks, expected;
    for (Index c = plan.level_begin[l]; c < plan.level_begin[l + 1]; ++c) {
      const Index column = plan.level_columns[c];
      EXPECT_EQ(level[column], -1) << "no column comes twice";
      level[column] = l;
      for (Index b = plan.column_begin[column] + 1; b < plan.column_begin[column + 1]; ++b)
        expected.insert(b);
    }
    for (Index b = plan.level_block_begin[l]; b < plan.level_block_begin[l + 1]; ++b)
      EXPECT_TRUE(blocks.insert(plan.level_blocks[b]).second);
    EXPECT_EQ(blocks, expected);
  }
  for (Index i = 0; i < pattern.size; ++i) {
    ASSERT_GE(level[i], 0) << "column " << i << " is in no level";
    for (Index k = 0; k < i; ++k) ASSERT_TRUE(!fill(i, k) || level[k] < level[i]);
  }
}

// Level by level, an item of a run is there once its column is done, and every target takes its items in
// their order, each once, before its own level.
TEST_P(CholeskyPlanTest, RunsTakeEveryItemInItsOrderBeforeTheTargetIsDone) {
  std::vector<Index> level(pattern.size);
  const auto levels = static_cast<Index>(plan.level_begin.size()) - 1;
  for (Index l = 0; l < levels; ++l)
    for (Index c = plan.level_begin[l]; c < plan.level_begin[l + 1]; ++c) level[plan.level_columns[c]] = l;
  const auto check = [&](const std::vector<Index>& begin, const std::vector<Index>& run_begin,
                         const std::vector<Index>& runs, auto block_of_item, auto level_of_target) {
    ASSERT_EQ(run_begin.size(), plan.level_begin.size());
    ASSERT_EQ(runs.size(), 3 * static_cast<std::size_t>(run_begin.back()));
    std::vector<Index> next(begin.begin(), begin.end() - 1);
    for (Index l = 0; l < levels; ++l) {
      std::set<Index> targets;
      for (Index run = run_begin[l]; run < run_begin[l + 1]; ++run) {
        const Index target = runs[3 * run], first = runs[3 * run + 1], end = runs[3 * run + 2];
        ASSERT_TRUE(targets.insert(target).second) << "threads of a level would write to one place";
        ASSERT_LT(l, level_of_target(target));
        ASSERT_EQ(first, next[target]);
        ASSERT_LT(first, end);
        next[target] = end;
        for (Index item = first; item < end; ++item)
          ASSERT_LE(level[plan.block_columns[block_of_item(item)]], l);
      }
    }
    EXPECT_EQ(next, std::vector<Index>(begin.begin() + 1, begin.end()));
  };
  check(
      plan.pair_begin, plan.update_begin, plan.update_runs, [&](Index pair) { return plan.pairs[2 * pair]; },
      [&](Index block) { return level[plan.block_columns[block]]; });
  check(
      plan.row_begin, plan.forward_begin, plan.forward_runs, [&](Index k) { return plan.row_blocks[k]; },
      [&](Index row) { return level[row]; });
}

// Backward substitution subtracts from the root down: a column meets its rows from the last to the first.
TEST_P(CholeskyPlanTest, BackwardBlocksAreThoseInTheRowsOfALevel) {
  const auto levels = static_cast<Index>(plan.level_begin.size()) - 1;
  ASSERT_EQ(plan.backward_begin.size(), plan.level_begin.size());
  std::vector<Index> next(plan.column_begin.begin() + 1, plan.column_begin.end());
  for (Index l = levels - 1; l >= 0; --l) {
    const std::set<Index> rows(plan.level_columns.begin() + plan.level_begin[l],
                               plan.level_columns.begin() + plan.level_begin[l + 1]);
    std::set<Index> columns;
    for (Index k = plan.backward_begin[l]; k < plan.backward_begin[l + 1]; ++k) {
      const Index b = plan.backward_blocks[k], column = plan.block_columns[b];
      EXPECT_TRUE(rows.contains(plan.block_rows[b]));
      EXPECT_TRUE(columns.insert(column).second) << "threads of a level would write to one place";
      ASSERT_EQ(b, --next[column]);
    }
  }
  for (Index column = 0; column < pattern.size; ++column)
    EXPECT_EQ(next[column], plan.column_begin[column] + 1);
}

TEST_P(CholeskyPlanTest, BlocksOfTheMatrixLieInTheirPlaces) {
  std::map<std::array<Index, 2>, Index> given;
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    given[{pattern.rows[b], pattern.columns[b]}] = static_cast<Index>(b);
  ASSERT_EQ(plan.system_blocks.size(), plan.block_rows.size());
  for (std::size_t b = 0; b < plan.block_rows.size(); ++b) {
    const auto it = given.find({plan.block_rows[b], plan.block_columns[b]});
    ASSERT_EQ(plan.system_blocks[b], it == given.end() ? -1 : it->second);
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, CholeskyPlanTest,
                         testing::Combine(testing::ValuesIn(patterns_of_3x3_blocks()), testing::Bool()),
                         [](const auto& parameter) {
                           return std::get<NamedPattern>(parameter.param).name +
                                  (std::get<bool>(parameter.param) ? "" : "_as_it_is");
                         });

}  // namespace
}  // namespace isocloth
