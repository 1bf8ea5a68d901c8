#include "host/linear/block_pattern.hpp"

#include <algorithm>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

void prefix_sums(std::vector<Index>& begin) {
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
}

/// Lists of `size` from pairs (list, item); visit calls its argument with every pair, each time in the same
/// order.
template <class VisitPairs>
BlockLists lists_from_pairs(Index size, const VisitPairs& visit) {
  BlockLists lists{.begin = std::vector<Index>(size + 1, 0), .items = {}};
  visit([&](Index list, Index) { ++lists.begin[list + 1]; });
  prefix_sums(lists.begin);
  lists.items.resize(lists.begin[size]);
  std::vector<Index> next(lists.begin.begin(), lists.begin.end() - 1);
  visit([&](Index list, Index item) { lists.items[next[list]++] = item; });
  for (Index i = 0; i < size; ++i)
    std::sort(lists.items.begin() + lists.begin[i], lists.items.begin() + lists.begin[i + 1]);
  return lists;
}

}  // namespace

void check_pattern(const BlockPattern& pattern) {
  const auto fail = [](const std::string& what) { throw ShapeError("block pattern: " + what); };
  if (pattern.size < 0) fail("size is " + std::to_string(pattern.size) + ", expected >= 0");
  if (pattern.block != 1 && pattern.block != 3)
    fail("block is " + std::to_string(pattern.block) + ", expected 1 or 3");
  if (pattern.rows.size() != pattern.columns.size())
    fail("rows has " + std::to_string(pattern.rows.size()) + " entries and columns " +
         std::to_string(pattern.columns.size()) + ", expected the same number");
  std::vector<Index> diagonals(pattern.size, 0);
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    const Index row = pattern.rows[b], column = pattern.columns[b];
    if (column < 0 || row < column || row >= pattern.size)
      fail("block " + std::to_string(b) + " is (" + std::to_string(row) + ", " + std::to_string(column) +
           "), expected 0 <= column <= row < " + std::to_string(pattern.size));
    if (row == column) ++diagonals[row];
  }
  for (Index i = 0; i < pattern.size; ++i)
    if (diagonals[i] != 1)
      fail("block row " + std::to_string(i) + " has " + std::to_string(diagonals[i]) +
           " diagonal blocks, expected one: a positive definite matrix has every one");
  const BlockLists graph = block_graph(pattern);
  for (Index i = 0; i < pattern.size; ++i) {
    const auto list = graph[i];
    const auto* twice = std::adjacent_find(list.begin(), list.end());
    if (twice != list.end())
      fail("the block of rows " + std::to_string(i) + " and " + std::to_string(*twice) + " comes twice");
  }
}

BlockLists block_graph(const BlockPattern& pattern) {
  return lists_from_pairs(pattern.size, [&](const auto& visit) {
    for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
      if (pattern.rows[b] == pattern.columns[b]) continue;
      visit(pattern.rows[b], pattern.columns[b]);
      visit(pattern.columns[b], pattern.rows[b]);
    }
  });
}

BlockLists ordered_rows(const BlockPattern& pattern, const std::vector<Index>& position) {
  return lists_from_pairs(pattern.size, [&](const auto& visit) {
    for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
      const Index i = position[pattern.rows[b]], j = position[pattern.columns[b]];
      if (i != j) visit(std::max(i, j), std::min(i, j));
    }
  });
}

}  // namespace isocloth
