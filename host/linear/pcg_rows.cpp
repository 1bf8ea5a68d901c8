#include "host/linear/pcg_rows.hpp"

#include <numeric>

namespace isocloth {

SymmetricRows symmetric_rows(const BlockPattern& pattern) {
  SymmetricRows rows{.begin = std::vector<Index>(pattern.size + 1, 0), .columns = {}, .blocks = {}};
  for (std::size_t b = 0; b < pattern.rows.size(); ++b) {
    ++rows.begin[pattern.rows[b] + 1];
    if (pattern.rows[b] != pattern.columns[b]) ++rows.begin[pattern.columns[b] + 1];
  }
  std::partial_sum(rows.begin.begin(), rows.begin.end(), rows.begin.begin());
  // Blocks by row first: a transpose of the stored order, whatever it is, sorts by columns.
  std::vector<Index> row_begin(pattern.size + 1, 0), by_row(pattern.rows.size());
  for (const Index column : pattern.columns) ++row_begin[column + 1];
  std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
  std::vector<Index> by_column(pattern.rows.size());
  for (std::size_t b = 0; b < pattern.rows.size(); ++b)
    by_column[row_begin[pattern.columns[b]]++] = static_cast<Index>(b);
  std::fill(row_begin.begin(), row_begin.end(), 0);
  for (const Index row : pattern.rows) ++row_begin[row + 1];
  std::partial_sum(row_begin.begin(), row_begin.end(), row_begin.begin());
  for (const Index b : by_column) by_row[row_begin[pattern.rows[b]]++] = b;

  rows.columns.resize(rows.begin.back());
  rows.blocks.resize(rows.begin.back());
  std::vector<Index> next(rows.begin.begin(), rows.begin.end() - 1);
  const auto append = [&](Index row, Index column, Index block) {
    rows.columns[next[row]] = column;
    rows.blocks[next[row]++] = block;
  };
  for (const Index b : by_column)  // columns ascending: each row's lower part
    append(pattern.rows[b], pattern.columns[b], b);
  for (const Index b : by_row)  // rows ascending: each column's part below the diagonal
    if (pattern.rows[b] != pattern.columns[b]) append(pattern.columns[b], pattern.rows[b], b);
  return rows;
}

}  // namespace isocloth
