// Patterns in an order of elimination, for the factorisation by 3x3 blocks.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "host/linear/ordering.hpp"
#include "tests/linear/patterns.hpp"
#include "tests/linear/systems.hpp"

namespace isocloth {

/// The pattern with block row i at place position[i], its blocks by column, then row.
inline BlockPattern reordered(const BlockPattern& pattern, const std::vector<Index>& position) {
  std::vector<std::array<Index, 2>> blocks;
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    const Index i = position[pattern.rows[b]], j = position[pattern.columns[b]];
    blocks.push_back({std::min(i, j), std::max(i, j)});
  }
  std::sort(blocks.begin(), blocks.end());
  BlockPattern result{.size = pattern.size, .block = pattern.block, .rows = {}, .columns = {}};
  for (const auto& [column, row] : blocks) {
    result.columns.push_back(column);
    result.rows.push_back(row);
  }
  return result;
}

/// Every pattern of 3x3 blocks, in its own order, which fills in more, and in one of elimination.
inline std::vector<NamedPattern> ordered_patterns() {
  std::vector<NamedPattern> result;
  for (const NamedPattern& p : all_patterns()) {
    if (p.pattern.block != 3) continue;
    std::vector<Index> same(p.pattern.size);
    for (Index i = 0; i < p.pattern.size; ++i) same[i] = i;
    result.push_back({p.name + "_as_it_is", reordered(p.pattern, same)});
    result.push_back({p.name, reordered(p.pattern, analyze_best_order(p.pattern).elimination.position)});
  }
  return result;
}

}  // namespace isocloth
