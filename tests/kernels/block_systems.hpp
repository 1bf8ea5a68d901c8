// Patterns in an order of elimination, for the factorisation by 3x3 blocks.
#pragma once

#include <algorithm>
#include <array>
#include <numeric>
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

/// In an order of elimination, or in its own, which fills in more.
inline BlockPattern ordered(const BlockPattern& pattern, bool to_eliminate) {
  std::vector<Index> position(pattern.size);
  std::iota(position.begin(), position.end(), 0);
  if (to_eliminate) position = analyze_best_order(pattern).elimination.position;
  return reordered(pattern, position);
}

inline std::vector<NamedPattern> patterns_of_3x3_blocks() {
  std::vector<NamedPattern> patterns = all_patterns();
  std::erase_if(patterns, [](const NamedPattern& p) { return p.pattern.block != 3; });
  return patterns;
}

/// Every pattern of 3x3 blocks in both orders.
inline std::vector<NamedPattern> ordered_patterns() {
  std::vector<NamedPattern> result;
  for (const NamedPattern& p : patterns_of_3x3_blocks()) {
    result.push_back({p.name + "_as_it_is", ordered(p.pattern, false)});
    result.push_back({p.name, ordered(p.pattern, true)});
  }
  return result;
}

}  // namespace isocloth
