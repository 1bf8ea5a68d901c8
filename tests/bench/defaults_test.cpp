// Default runs beside closed forms.
#include <gtest/gtest.h>

#include "bench/commands.hpp"

namespace isocloth::bench {
namespace {

TEST(Defaults, AreWithinTheirStepOfClosedForms) {
  const std::vector<Table> tables = measure_defaults({.cases = {"free fall", "strip under"}});
  ASSERT_EQ(tables.size(), 1u);
  ASSERT_EQ(tables[0].rows.size(), 2u);
  for (const std::vector<Json>& row : tables[0].rows) {
    ASSERT_EQ(row.size(), tables[0].columns.size());
    const double known = row[6].get<double>(), found = row[7].get<double>();
    EXPECT_NEAR(found / known, 1, 2e-3) << row[0];
    EXPECT_EQ(row[4].get<double>(), 0) << row[0];      // no step was missed
    EXPECT_LT(row[11].get<double>(), 0.01) << row[0];  // forces balance
  }
}

}  // namespace
}  // namespace isocloth::bench
