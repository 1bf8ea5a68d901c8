#include "host/linear/elimination.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "engine/core/errors.hpp"

namespace isocloth {
namespace {

/// Liu's algorithm with path compression.
std::vector<Index> elimination_tree(const BlockLists& rows, Index size) {
  std::vector<Index> parent(size, -1), ancestor(size, -1);
  for (Index i = 0; i < size; ++i)
    for (Index j : rows[i])
      while (j != -1 && j < i) {
        const Index next = ancestor[j];
        ancestor[j] = i;
        if (next == -1) parent[j] = i;
        j = next;
      }
  return parent;
}

/// New number of each node of the forest; children keep their order.
std::vector<Index> postorder(const std::vector<Index>& parent) {
  const Index size = static_cast<Index>(parent.size());
  std::vector<Index> descendants(size, 1);
  std::vector<Index> number(size);
  for (Index i = 0; i < size; ++i)
    if (parent[i] >= 0) descendants[parent[i]] += descendants[i];
  // Parents come after children, so backwards each node knows where its own subtree's numbers start.
  std::vector<Index> end(size);
  Index roots_end = size;
  for (Index i = size - 1; i >= 0; --i) {
    Index& free_end = parent[i] >= 0 ? end[parent[i]] : roots_end;
    number[i] = free_end - 1;
    end[i] = number[i];
    free_end -= descendants[i];
  }
  return number;
}

/// Calls visit(row, column) for every block of L below the diagonal, rows ascending: row i of L is the union
/// of the tree paths from the entries of row i of the matrix towards i.
template <class Visit>
void for_each_factor_block(const BlockLists& rows, const std::vector<Index>& parent, const Visit& visit) {
  const Index size = static_cast<Index>(parent.size());
  std::vector<Index> mark(size, -1);
  for (Index i = 0; i < size; ++i) {
    mark[i] = i;
    for (Index j : rows[i])
      for (; mark[j] != i; j = parent[j]) {
        mark[j] = i;
        visit(i, j);
      }
  }
}

}  // namespace

Elimination analyze_elimination(const BlockPattern& pattern, const std::vector<Index>& position) {
  const Index size = pattern.size;
  const std::vector<Index> number = postorder(elimination_tree(ordered_rows(pattern, position), size));
  Elimination e;
  e.block = pattern.block;
  e.position.resize(size);
  e.block_row.resize(size);
  for (Index i = 0; i < size; ++i) {
    e.position[i] = number[position[i]];
    e.block_row[e.position[i]] = i;
  }
  e.rows = ordered_rows(pattern, e.position);
  e.parent = elimination_tree(e.rows, size);
  e.counts.assign(size, 1);
  for_each_factor_block(e.rows, e.parent, [&](Index, Index column) { ++e.counts[column]; });
  e.levels.assign(size, 0);
  for (Index i = 0; i < size; ++i) {
    if (e.parent[i] >= 0) e.levels[e.parent[i]] = std::max(e.levels[e.parent[i]], e.levels[i] + 1);
    e.level_count = std::max(e.level_count, e.levels[i] + 1);
    for (int k = 0; k < e.block; ++k) {
      const double scalars = static_cast<double>(e.counts[i]) * e.block - k;
      e.nonzeros += scalars;
      e.flops += scalars * scalars;
    }
  }
  return e;
}

BlockLists factor_columns(const Elimination& e) {
  const Index size = e.size();
  const auto blocks = std::accumulate(e.counts.begin(), e.counts.end(), std::int64_t{0});
  if (blocks > std::numeric_limits<Index>::max())
    throw ShapeError("factor columns: L has " + std::to_string(blocks) + " blocks, expected at most " +
                     std::to_string(std::numeric_limits<Index>::max()) + "; split the system");
  BlockLists columns{.begin = std::vector<Index>(size + 1, 0), .items = std::vector<Index>(blocks)};
  std::partial_sum(e.counts.begin(), e.counts.end(), columns.begin.begin() + 1);
  std::vector<Index> next(columns.begin.begin(), columns.begin.end() - 1);
  for (Index j = 0; j < size; ++j) columns.items[next[j]++] = j;
  for_each_factor_block(e.rows, e.parent,
                        [&](Index row, Index column) { columns.items[next[column]++] = row; });
  return columns;
}

}  // namespace isocloth
