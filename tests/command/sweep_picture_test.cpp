// Pictures of sweeps of many cases.
#include <gtest/gtest.h>

#include "engine/core/text.hpp"
#include "host/sweep/sweep_plot.hpp"

namespace isocloth {
namespace {

std::size_t occurrences(const std::string& content, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = content.find(part); at != std::string::npos; at = content.find(part, at + 1)) ++count;
  return count;
}

/// A whole grid; what it measures grows with the number of the case.
SweepTable grid(const std::vector<std::size_t>& counts) {
  SweepTable table;
  table.plan.case_count = 1;
  for (const std::size_t count : counts) {
    SweepParameter parameter{text("p", table.plan.parameters.size()), "", Scale::linear, {}};
    for (std::size_t i = 0; i < count; ++i) parameter.values.push_back(static_cast<double>(i));
    table.plan.parameters.push_back(std::move(parameter));
    table.plan.case_count *= count;
  }
  table.measures.push_back({"strain_max", "", "largest strain", "strain_max", -1});
  for (std::size_t i = 0; i < table.plan.case_count; ++i)
    table.rows.push_back({CaseStatus::completed, {static_cast<double>(i)}});
  return table;
}

TEST(SweepPicture, DrawsAPartOfManyCasesAndSaysSo) {
  const std::string said = "is drawn, sweep.csv holds all";
  for (const std::vector<std::size_t>& counts : {std::vector<std::size_t>{10000}, {100, 100}, {10, 20, 50}}) {
    const std::string picture = sweep_svg(grid(counts), 0, "");
    EXPECT_EQ(picture.find(said), std::string::npos);
    EXPECT_EQ(occurrences(picture, "<title>case "), 10000 + (counts.size() == 3 ? 1u : 0u));  // least on top
  }
  const std::string line = sweep_svg(grid({25000}), 0, "");
  EXPECT_NE(line.find("one case of 3 " + said), std::string::npos);
  EXPECT_EQ(occurrences(line, "<title>case "), 8334u);
  EXPECT_NE(line.find("largest 2.5e+04"), std::string::npos);

  const std::string map = sweep_svg(grid({300, 401}), 0, "");
  EXPECT_NE(map.find("one column of 5 " + said), std::string::npos);
  EXPECT_NE(map.find("one row of 3 " + said), std::string::npos);
  EXPECT_EQ(occurrences(map, "<title>case "), 100u * 81u);
  EXPECT_NE(map.find("p0 = 3, p1 = 400:"), std::string::npos);

  // 3 would be enough of a stride, but leave out two thirds of the last parameter's values.
  const std::string lines = sweep_svg(grid({30, 30, 30}), 0, "");
  EXPECT_NE(lines.find("one case of 7 " + said), std::string::npos);
  EXPECT_EQ(occurrences(lines, "<title>case "), 3858u + 1u);
  for (int value = 0; value < 30; ++value)
    EXPECT_NE(lines.find(text("p2 = ", value, ":")), std::string::npos);

  SweepTable none = grid({3});
  none.rows.clear();
  EXPECT_NE(sweep_svg(none, 0, "").find("3 of 3 cases not done yet"), std::string::npos);
}

}  // namespace
}  // namespace isocloth
