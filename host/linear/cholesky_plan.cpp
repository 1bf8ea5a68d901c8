#include "host/linear/cholesky_plan.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// Block rows of each column of L, the diagonal first: those of the matrix and of the children in the
/// elimination tree.
std::vector<std::vector<Index>> factor_structure(const BlockPattern& pattern) {
  std::vector<std::vector<Index>> columns(pattern.size);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    columns[pattern.columns[b]].push_back(pattern.rows[b]);
  for (Index j = 0; j < pattern.size; ++j) {
    std::vector<Index>& rows = columns[j];
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    if (rows.size() > 1) {
      std::vector<Index>& parent = columns[rows[1]];
      parent.insert(parent.end(), rows.begin() + 1, rows.end());
    }
  }
  return columns;
}

/// Sorts items into groups; begin: shape [group_count + 1].
void group_by(const std::vector<Index>& group_of, Index group_count, std::vector<Index>& begin,
              std::vector<Index>& items) {
  begin.assign(group_count + 1, 0);
  for (const Index g : group_of)
    if (g >= 0) ++begin[g + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  items.resize(begin.back());
  std::vector<Index> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < group_of.size(); ++i)
    if (group_of[i] >= 0) items[next[group_of[i]]++] = static_cast<Index>(i);
}

/// Stretches of items of one target that a level allows at once: those whose own levels, and the levels of
/// all items before them, are no higher. Items of target t are [begin[t], begin[t + 1]). Runs of a level go
/// from the longest to the shortest, so that threads that share them end together; shape of runs [run_count,
/// 3].
void find_runs(const std::vector<Index>& begin, const std::vector<Index>& level_of_item, Index level_count,
               std::vector<Index>& level_begin, std::vector<Index>& runs) {
  std::vector<std::array<Index, 4>> found;  // level, -count, target, first item
  for (std::size_t target = 0; target + 1 < begin.size(); ++target)
    for (Index first = begin[target], level = 0; first < begin[target + 1];) {
      level = std::max(level, level_of_item[first]);
      Index end = first + 1;
      while (end < begin[target + 1] && level_of_item[end] <= level) ++end;
      found.push_back({level, first - end, static_cast<Index>(target), first});
      first = end;
    }
  std::sort(found.begin(), found.end());
  level_begin.assign(level_count + 1, 0);
  for (const auto& [level, minus_count, target, first] : found) {
    ++level_begin[level + 1];
    runs.insert(runs.end(), {target, first, first - minus_count});
  }
  std::partial_sum(level_begin.begin(), level_begin.end(), level_begin.begin());
}

}  // namespace

CholeskyPlan plan_cholesky(const BlockPattern& pattern) {
  check_pattern(pattern);
  CholeskyPlan plan;
  plan.column_begin.push_back(0);
  const auto columns = factor_structure(pattern);
  for (Index j = 0; j < pattern.size; ++j) {
    plan.block_rows.insert(plan.block_rows.end(), columns[j].begin(), columns[j].end());
    plan.block_columns.insert(plan.block_columns.end(), columns[j].size(), j);
    plan.column_begin.push_back(static_cast<Index>(plan.block_rows.size()));
  }
  const std::size_t blocks = plan.block_rows.size();
  auto is_diagonal = [&](std::size_t b) { return plan.block_rows[b] == plan.block_columns[b]; };

  std::vector<Index> row_of(blocks), level(pattern.size, 0), level_of_block(blocks);
  for (std::size_t b = 0; b < blocks; ++b) row_of[b] = is_diagonal(b) ? -1 : plan.block_rows[b];
  group_by(row_of, pattern.size, plan.row_begin, plan.row_blocks);

  plan.is_twin.assign(pattern.size, 0);
  for (Index j = 0; j + 1 < pattern.size; ++j) {
    const bool after_twin = j > 0 && plan.is_twin[j - 1] != 0;
    plan.is_twin[j] = !after_twin && columns[j].size() > 1 && columns[j][1] == j + 1 &&
                      columns[j].size() == columns[j + 1].size() + 1;
  }

  // Two blocks of a column update one; pairs are counted with Index, and looked up at twice their number.
  double pair_count = 0;
  for (const auto& column : columns) {
    const double below = static_cast<double>(column.size()) - 1;
    pair_count += below * (below + 1) / 2;
  }
  constexpr double most = 1 << 30;
  if (pair_count >= most || static_cast<double>(blocks) * 9 >= 2 * most)
    throw ShapeError("solver: found \"batched\" for a mesh of " + std::to_string(pattern.size) +
                     " free nodes, whose factor takes " + std::to_string(static_cast<long long>(pair_count)) +
                     " block updates, expected fewer than 2^30; use \"direct\"");

  // Block (i, j) is updated by the columns k < j that hold both rows; in twin columns those that hold the row
  // of either twin come first.
  auto updates = [&](Index row, Index column) {
    std::vector<std::array<Index, 3>> found;  // k, block (row, k), block (column, k)
    Index p = plan.row_begin[row], q = plan.row_begin[column];
    while (p < plan.row_begin[row + 1] && q < plan.row_begin[column + 1]) {
      const Index first = plan.row_blocks[p], second = plan.row_blocks[q];
      const Index k = plan.block_columns[first], l = plan.block_columns[second];
      if (k == l) found.push_back({k, first, second});
      if (k <= l) ++p;
      if (l <= k) ++q;
    }
    return found;
  };
  auto holds = [&](Index k, Index row) {
    return std::binary_search(columns[k].begin(), columns[k].end(), row);
  };
  plan.pair_begin.push_back(0);
  plan.twin_updates.assign(blocks, 0);
  for (std::size_t b = 0; b < blocks; ++b) {
    const Index i = plan.block_rows[b], j = plan.block_columns[b];
    auto found = updates(i, j);
    Index twin = -1;
    if (plan.is_twin[j] != 0 && i > j + 1) twin = j + 1;
    if (j > 0 && plan.is_twin[j - 1] != 0 && i > j) twin = j - 1;
    if (twin >= 0) {
      const auto middle = std::stable_partition(found.begin(), found.end(), [&](const auto& update) {
        return update[0] < std::min(j, twin) && holds(update[0], twin);
      });
      plan.twin_updates[b] = static_cast<Index>(middle - found.begin());
    }
    for (const auto& update : found) plan.pairs.insert(plan.pairs.end(), {update[1], update[2]});
    plan.pair_begin.push_back(static_cast<Index>(plan.pairs.size() / 2));
  }

  Index level_count = 0;
  for (Index j = 0; j < pattern.size; ++j) {
    if (columns[j].size() > 1) level[columns[j][1]] = std::max(level[columns[j][1]], level[j] + 1);
    level_count = std::max(level_count, level[j] + 1);
  }
  group_by(level, level_count, plan.level_begin, plan.level_columns);
  for (std::size_t b = 0; b < blocks; ++b)
    level_of_block[b] = is_diagonal(b) ? -1 : level[plan.block_columns[b]];
  group_by(level_of_block, level_count, plan.level_block_begin, plan.level_blocks);

  const auto levels_of = [&](const std::vector<Index>& of_blocks, std::size_t stride) {
    std::vector<Index> levels;
    for (std::size_t i = 0; i < of_blocks.size(); i += stride)
      levels.push_back(level[plan.block_columns[of_blocks[i]]]);
    return levels;
  };
  find_runs(plan.pair_begin, levels_of(plan.pairs, 2), level_count, plan.update_begin, plan.update_runs);
  find_runs(plan.row_begin, levels_of(plan.row_blocks, 1), level_count, plan.forward_begin,
            plan.forward_runs);
  for (std::size_t b = 0; b < blocks; ++b)
    level_of_block[b] = is_diagonal(b) ? -1 : level[plan.block_rows[b]];
  group_by(level_of_block, level_count, plan.backward_begin, plan.backward_blocks);

  plan.system_blocks.assign(blocks, -1);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    const auto begin = plan.block_rows.begin() + plan.column_begin[pattern.columns[b]],
               end = plan.block_rows.begin() + plan.column_begin[pattern.columns[b] + 1];
    plan.system_blocks[std::lower_bound(begin, end, pattern.rows[b]) - plan.block_rows.begin()] =
        static_cast<Index>(b);
  }
  return plan;
}

}  // namespace isocloth
