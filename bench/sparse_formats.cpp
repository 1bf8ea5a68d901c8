#include "bench/sparse_formats.hpp"

#include "host/linear/pcg_rows.hpp"

namespace isocloth::bench {

BlockRows block_rows(const BlockPattern& pattern, const std::vector<double>& values) {
  SymmetricRows rows = symmetric_rows(pattern);
  const int n = pattern.block;
  BlockRows matrix{.size = pattern.size, .block = n, .begin = {}, .columns = {}, .values = {}};
  matrix.values.reserve(rows.columns.size() * static_cast<std::size_t>(n * n));
  for (Index row = 0; row < pattern.size; ++row)
    for (Index entry = rows.begin[row]; entry < rows.begin[row + 1]; ++entry) {
      const Index column = rows.columns[entry];
      const double* const stored = values.data() + static_cast<std::size_t>(rows.blocks[entry]) * n * n;
      for (int r = 0; r < n; ++r)
        for (int c = 0; c < n; ++c) {
          const bool transposed = column > row || (column == row && c > r);
          matrix.values.push_back(transposed ? stored[n * c + r] : stored[n * r + c]);
        }
    }
  matrix.begin = std::move(rows.begin);
  matrix.columns = std::move(rows.columns);
  return matrix;
}

BlockRows scalar_rows(const BlockRows& matrix) {
  const int n = matrix.block;
  BlockRows scalars{.size = n * matrix.size, .block = 1, .begin = {0}, .columns = {}, .values = {}};
  for (Index row = 0; row < matrix.size; ++row)
    for (int r = 0; r < n; ++r) {
      for (Index entry = matrix.begin[row]; entry < matrix.begin[row + 1]; ++entry)
        for (int c = 0; c < n; ++c) {
          scalars.columns.push_back(n * matrix.columns[entry] + c);
          scalars.values.push_back(matrix.values[(static_cast<std::size_t>(entry) * n + r) * n + c]);
        }
      scalars.begin.push_back(static_cast<Index>(scalars.columns.size()));
    }
  return scalars;
}

std::vector<double> dense_matrix(const BlockRows& matrix) {
  const BlockRows scalars = scalar_rows(matrix);
  const std::size_t size = static_cast<std::size_t>(scalars.size);
  std::vector<double> dense(size * size, 0);
  for (std::size_t row = 0; row < size; ++row)
    for (Index entry = scalars.begin[row]; entry < scalars.begin[row + 1]; ++entry)
      dense[row * size + static_cast<std::size_t>(scalars.columns[entry])] = scalars.values[entry];
  return dense;
}

}  // namespace isocloth::bench
