// Which of many things are one.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Numbers 0, 1, ... in sets that are joined; each is known by its lowest number. Amortised cost O(log n) of
/// a call (Tarjan, van Leeuwen 1984: paths are halved).
class DisjointSets {
 public:
  explicit DisjointSets(std::size_t count = 0) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), Index{0});
  }
  Index lowest(Index one) {
    while (parents_[one] != one) one = parents_[one] = parents_[parents_[one]];
    return one;
  }
  void join(Index a, Index b) {
    const Index low = std::min(lowest(a), lowest(b)), high = std::max(lowest(a), lowest(b));
    parents_[high] = low;
  }

 private:
  std::vector<Index> parents_;
};

}  // namespace isocloth
