// Contacts of cloth with cloth on the report page: pressures at nodes, and the least gap of a plot.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "host/report/playback.hpp"
#include "host/report/plot_data.hpp"
#include "tests/report/swinging_sheet.hpp"

namespace isocloth {
namespace {

/// Loads that are a pressure times the area that each node of a regular sheet has, at frame k of k N/m^2.
TEST(ContactPressure, IsTheLoadOverTheAreaOfANode) {
  ReportData data = test::make_run(4, 3, 2);
  EXPECT_TRUE(read_playback(data, select_playback(data)).contact_pressures.empty());
  const std::vector<double>& rest = data.rest_positions;
  const auto at = [&](std::size_t node) {
    return Vec3d{rest[3 * node], rest[3 * node + 1], rest[3 * node + 2]};
  };
  const double area = norm(cross(at(4) - at(0), at(20) - at(0)));
  // Of the first sheet, a grid of 5 x 5 nodes.
  const auto share = [](std::size_t i) { return (i % 5 % 4 == 0 ? 0.5 : 1) * (i / 5 % 4 == 0 ? 0.5 : 1); };
  data.contact_loads = [&](std::size_t frame) {
    std::vector<float> loads(rest.size() / 3);
    for (std::size_t i = 0; i < 25; ++i)
      loads[i] = static_cast<float>(static_cast<double>(frame) * share(i) * area / 16);
    return loads;
  };
  const Playback playback = read_playback(data, select_playback(data));
  ASSERT_EQ(playback.contact_pressures.size(), 3 * rest.size() / 3);
  EXPECT_NEAR(playback.contact_scale, 2, 1e-5);
  for (std::size_t i = 0; i < playback.contact_pressures.size(); ++i) {
    const std::size_t node = i % (rest.size() / 3), frame = i / (rest.size() / 3);
    const double code = playback.contact_pressures[i] / 127.0;
    EXPECT_NEAR(playback.contact_scale * code * code, node < 25 ? static_cast<double>(frame) : 0, 4.0 / 127)
        << i;
  }
  data.contact_loads = [](std::size_t) { return std::vector<float>(3); };
  EXPECT_THROW(read_playback(data, select_playback(data)), ShapeError);
}

TEST(ContactPressure, PlotsOfContactsAreThereWhereClothMetCloth) {
  ReportData data = test::make_run(2, 9, 2);
  for (FrameMetrics& metrics : data.metrics) metrics.steps.cloth_contacts = 0;
  EXPECT_FALSE(plot_json(data)["groups"][0].contains("cloth_contacts"));
  EXPECT_FALSE(plot_json(data)["groups"][0].contains("cloth_gap"));
  data.metrics[5].steps.cloth_contacts = 7;
  data.metrics[5].steps.cloth_gap = 0.5;
  const auto group = plot_json(data)["groups"][0];
  EXPECT_TRUE(group.contains("cloth_contacts"));
  // Base64 of 1, 1, 0.5, 1, ... in single precision: the least of both garments counts.
  EXPECT_EQ(group["cloth_gap"].get<std::string>().substr(0, 16), "AACAPwAAgD8AAAA/");
}

}  // namespace
}  // namespace isocloth
