// "Did you mean ...?" for names in files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace isocloth {

/// Least number of single-character insertions, deletions and replacements that turn a into b (Levenshtein).
/// Cost O(|a| |b|).
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

/// The known name with the least edit distance to `found`, the first of several; empty when nothing is known.
/// Only the first 100 characters of `found` count.
inline std::string nearest_name(std::string_view found, const std::vector<std::string>& known) {
  found = found.substr(0, 100);
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(found, a) < edit_distance(found, b);
  });
  return nearest == known.end() ? std::string() : *nearest;
}

}  // namespace isocloth
