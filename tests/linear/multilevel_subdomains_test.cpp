#include "host/linear/multilevel_subdomains.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/mesh/generators.hpp"
#include "tests/linear/patterns.hpp"

namespace isocloth {
namespace {

class SubdomainsTest : public testing::TestWithParam<NamedPattern> {};

TEST_P(SubdomainsTest, RowsHoldEveryBlockOnceAndInOrder) {
  const BlockPattern& p = GetParam().pattern;
  const SymmetricRows rows = symmetric_rows(p);
  std::set<std::pair<Index, Index>> seen;
  for (Index i = 0; i < rows.size(); ++i)
    for (Index e = rows.begin[i]; e < rows.begin[i + 1]; ++e) {
      const Index j = rows.columns[e], b = rows.blocks[e];
      EXPECT_TRUE(e == rows.begin[i] || rows.columns[e - 1] < j);
      EXPECT_EQ(p.rows[b], std::max(i, j));
      EXPECT_EQ(p.columns[b], std::min(i, j));
      seen.emplace(i, j);
    }
  EXPECT_EQ(seen.size(), 2 * p.rows.size() - p.size);
}

TEST_P(SubdomainsTest, CellsCoverEveryRowOnceAndAreOfTheSizeAskedFor) {
  const SymmetricRows rows = symmetric_rows(GetParam().pattern);
  for (const Index size : {1, 20, 1000}) {
    const Cells cells = bisect_into_cells(rows, size);
    std::vector<Index> all = cells.rows;
    std::sort(all.begin(), all.end());
    for (Index i = 0; i < rows.size(); ++i) ASSERT_EQ(all[i], i);
    for (Index c = 0; c < cells.count(); ++c) {
      const Index count = cells.begin[c + 1] - cells.begin[c];
      EXPECT_GE(count, 1);
      EXPECT_LE(count, std::max<Index>(1, 3 * size / 2 + 1));  // a piece rounds to one cell
      for (Index k = cells.begin[c]; k < cells.begin[c + 1]; ++k) EXPECT_EQ(cells.cell_of[cells.rows[k]], c);
    }
  }
}

TEST_P(SubdomainsTest, SubdomainsHoldTheirNeighboursAndEveryBlockBetween) {
  const SymmetricRows rows = symmetric_rows(GetParam().pattern);
  for (const int overlap : {0, 1, 2}) {
    const Cells cells = bisect_into_cells(rows, 20);
    const Subdomains s = overlapping_subdomains(rows, cells, overlap);
    ASSERT_EQ(static_cast<Index>(s.begin.size()) - 1, cells.count());
    for (Index c = 0; c < cells.count(); ++c) {
      std::set<Index> expected(cells.rows.begin() + cells.begin[c], cells.rows.begin() + cells.begin[c + 1]);
      for (int layer = 0; layer < overlap; ++layer)
        for (const Index i : std::vector<Index>(expected.begin(), expected.end()))
          expected.insert(rows.columns.begin() + rows.begin[i], rows.columns.begin() + rows.begin[i + 1]);
      const std::set<Index> found(s.nodes.begin() + s.begin[c], s.nodes.begin() + s.begin[c + 1]);
      ASSERT_EQ(found, expected);
      Index entries = 0;
      for (Index i = s.begin[c]; i < s.begin[c + 1]; ++i) {
        EXPECT_EQ(s.factor_begin[i + 1] - s.factor_begin[i],
                  9 * static_cast<std::size_t>(i - s.first[i] + 1));
        Index reach = i;
        for (Index k = i; k < s.begin[c + 1]; ++k)
          if (s.first[k] <= i) reach = k;
        EXPECT_EQ(s.reach[i], reach);
        for (Index e = s.entry_begin[i]; e < s.entry_begin[i + 1]; ++e, ++entries) {
          EXPECT_GE(s.entry_columns[e], s.first[i]);
          EXPECT_LE(s.entry_columns[e], i);
          const Index a = s.nodes[i], b = s.nodes[s.entry_columns[e]], block = s.entry_blocks[e];
          EXPECT_EQ(GetParam().pattern.rows[block], std::max(a, b));
          EXPECT_EQ(GetParam().pattern.columns[block], std::min(a, b));
        }
      }
      Index inside = 0;
      for (const Index i : expected)
        for (Index e = rows.begin[i]; e < rows.begin[i + 1]; ++e)
          inside += rows.columns[e] <= i && expected.count(rows.columns[e]) > 0;
      EXPECT_EQ(entries, inside);
    }
    for (Index i = 0; i < rows.size(); ++i)
      for (Index k = s.copy_begin[i]; k < s.copy_begin[i + 1]; ++k) {
        EXPECT_EQ(s.nodes[s.copies[k]], i);
        EXPECT_TRUE(k == s.copy_begin[i] || s.copies[k - 1] < s.copies[k]);
      }
    EXPECT_EQ(s.copies.size(), s.nodes.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Patterns, SubdomainsTest, testing::ValuesIn(all_patterns()),
                         [](const auto& parameter) { return parameter.param.name; });

/// An n x n piece in the natural order has an envelope of 2 n + 3 blocks per row (its stencils are 5 x 5).
TEST(Subdomains, EnvelopesOfASheetAreNotMuchWiderThanABand) {
  Garment garment;
  garment.mesh = quad_grid(64, 64, 1, 1);
  const SymmetricRows rows = symmetric_rows(nodal_block_pattern(garment));
  const Subdomains s = overlapping_subdomains(rows, bisect_into_cells(rows, 256), 1);
  const double blocks = static_cast<double>(s.factor_begin.back()) / 9;
  // 256 rows are a piece of 16 x 16, 20 x 20 with the overlap.
  EXPECT_LT(blocks, 1.5 * (2 * 20 + 3) * static_cast<double>(s.nodes.size()));
}

}  // namespace
}  // namespace isocloth
