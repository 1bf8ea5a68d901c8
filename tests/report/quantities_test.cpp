// What the page draws and says of quantities is what their tables tell of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "host/report/report.hpp"
#include "host/results/metric_columns.hpp"
#include "host/results/summary_file.hpp"
#include "tests/report/swinging_sheet.hpp"

namespace isocloth {
namespace {

using nlohmann::json;
using test::make_run;

TEST(ReportQuantities, AllWithAPlotOrAKeyAreOnThePage) {
  ReportData data = make_run(2, 3, 2);
  double number = 0.5;
  for (FrameMetrics& metrics : data.metrics)
    for (const MetricColumn& column : metric_columns()) column.set(metrics, number += 1);
  data.summary.steps_certified = 1;
  data.summary.contact_force = {{"floor", 2.0}};
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "isocloth_quantities.html";
  write_report(file, data);
  std::ifstream stream(file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  const std::string open = R"(<script type="application/json" id="run-data">)";
  const std::size_t begin = text.find(open) + open.size();
  const json page = json::parse(text.substr(begin, text.find("</script", begin) - begin));
  std::filesystem::remove(file);
  std::size_t plots = 0, rows = 0;
  for (const MetricColumn& column : metric_columns()) {
    const OnPage& place = column.about.page;
    if (*place.plot == 0) continue;
    ++plots;
    const json& all = page["plots"]["plots"];
    const auto plot =
        std::find_if(all.begin(), all.end(), [&](const json& p) { return p["title"] == place.plot; });
    ASSERT_NE(plot, all.end()) << column.name;
    EXPECT_EQ((*plot)["unit"], column.about.unit) << column.name;
    const json& curves = (*plot)["curves"];
    EXPECT_TRUE(std::any_of(curves.begin(), curves.end(), [&](const json& curve) {
      return curve["name"] == column.vector && curve["label"] == place.label;
    })) << column.name;
    for (const json& group : page["plots"]["groups"])
      EXPECT_EQ(group[column.vector].get<std::string>().size(), 16u) << column.name;  // 3 float32
  }
  EXPECT_GT(plots, 40u);
  for (const SummaryKey& key : summary_keys()) {
    EXPECT_TRUE(page["summary"].contains(key.name)) << key.name;
    std::size_t found = 0;
    for (const json& table : page["summary_tables"])
      for (const json& row : table["rows"])
        if (row["key"] == key.name) {
          ++found;
          EXPECT_EQ(row["unit"], key.about.unit) << key.name;
        }
    const bool is_elsewhere = key.name == "message" || key.name == "first_intersections";  // in the banner
    EXPECT_EQ(found, is_elsewhere ? 0u : 1u) << key.name;
    rows += found;
  }
  EXPECT_EQ(rows + 2, summary_keys().size());
}

}  // namespace
}  // namespace isocloth
