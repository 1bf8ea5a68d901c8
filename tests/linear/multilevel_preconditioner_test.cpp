#include "host/linear/multilevel_preconditioner.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/linear/pcg_rows.hpp"
#include "tests/linear/patterns.hpp"

namespace isocloth {
namespace {

/// Nodes in a row: 1.1 on the diagonal and -0.5 beside it, so that every principal part that lacks a coupling
/// of -10 between two cells is positive definite, and the sum over such cells is not.
TEST(MultilevelPreconditioner, NamesTheCellWhoseTranslationsAreNotDefinite) {
  constexpr Index size = 160;
  BlockPattern chain{.size = size, .block = 3, .rows = {}, .columns = {}};
  for (Index i = 0; i < size; ++i)
    for (Index j = i; j < std::min(i + 2, size); ++j) {
      chain.rows.push_back(j);
      chain.columns.push_back(i);
    }
  const SymmetricRows rows = symmetric_rows(chain);
  const MultilevelOptions options{.cell_size = 20, .overlap = 0, .coarse_space = true};
  const Cells cells = bisect_into_cells(rows, options.cell_size);
  MultilevelPreconditioner<double> preconditioner(rows, options);
  int planted = 0;
  for (Index bad = 0; bad + 1 < size; ++bad) {
    const Index first = cells.cell_of[bad], second = cells.cell_of[bad + 1];
    if (first == second) continue;
    ++planted;
    std::vector<double> values(chain.rows.size() * 9, 0);
    for (std::size_t b = 0; b < chain.rows.size(); ++b)
      for (int k = 0; k < 3; ++k)
        values[9 * b + 4 * k] = chain.rows[b] == chain.columns[b] ? 1.1
                                : chain.columns[b] == bad         ? -10
                                                                  : -0.5;
    const Index found = preconditioner.factorize(
        {}, {.row_begin = rows.begin, .columns = rows.columns, .blocks = rows.blocks, .values = values});
    ASSERT_GE(found, 0);
    const Index cell = cells.cell_of[found];
    EXPECT_TRUE(cell == first || cell == second) << "coupled " << bad << ", named " << found;
    EXPECT_EQ(found, cells.rows[cells.begin[cell]]);
  }
  EXPECT_GE(planted, 7);
}

}  // namespace
}  // namespace isocloth
