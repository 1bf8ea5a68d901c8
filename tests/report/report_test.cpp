// The report page: complete, self-contained, faithful to the run, and deaf to markup in names.
#include "host/report/report.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/core/errors.hpp"
#include "host/report/from_trajectory.hpp"
#include "host/results/trajectory_writer.hpp"
#include "tests/report/swinging_sheet.hpp"

namespace isocloth {
namespace {

using nlohmann::json;
using test::add_laws;
using test::add_obstacles;
using test::make_run;

class Report : public testing::Test {
 protected:
  void SetUp() override {
    folder =
        std::filesystem::path(testing::TempDir()) /
        ("isocloth_report_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    file = folder / "report.html";
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string write(const ReportData& data) const {
    write_report(file, data);
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
  }

  std::filesystem::path folder, file;
};

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) ++n;
  return n;
}

/// What a browser takes for the text of the data element: it ends at the first "</script", whatever is in it.
json page_data(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="run-data">)";
  const std::size_t begin = page.find(open) + open.size();
  return json::parse(page.substr(begin, page.find("</script", begin) - begin));
}

template <class T>
std::vector<T> decode(const json& text) {
  static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t word = 0;
  int bits = 0;
  for (const char c : text.get<std::string>()) {
    if (c == '=') break;
    const std::size_t digit = digits.find(c);
    EXPECT_NE(digit, std::string::npos);
    word = word << 6 | static_cast<std::uint32_t>(digit);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes.push_back(static_cast<std::uint8_t>(word >> bits & 255u));
    }
  }
  EXPECT_EQ(bytes.size() % sizeof(T), 0u);
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(values.data()));
  return values;
}

double decode_signed(std::int8_t code, double scale) {
  return std::copysign(scale * code * code / (127.0 * 127), code);
}

TEST_F(Report, holds_everything_and_fetches_nothing) {
  const std::string page = write(make_run(8, 20, 2));
  EXPECT_FALSE(std::filesystem::exists(file.string() + ".tmp"));
  EXPECT_EQ(count(page, "{{"), 0u) << "a placeholder of the template is left";
  EXPECT_NE(page.find("THREE.OrbitControls"), std::string::npos);
  EXPECT_NE(page.find("Permission is hereby granted"), std::string::npos)
      << "the license of three.js is missing";
  for (const std::string fetch : {"src=\"", "src='", "href=\"http", "href='http", "href=\"//", "url(http",
                                  "@import", "fetch(\"", "import(\"http"})
    EXPECT_EQ(count(page, fetch), 0u) << fetch;
  EXPECT_EQ(count(page, "<link"), 1u) << "only the empty icon";
}

TEST_F(Report, positions_come_back_within_the_rounding) {
  const ReportData data = make_run(8, 20, 2);
  const json playback = page_data(write(data))["playback"];
  const auto frames = decode<std::uint32_t>(playback["frames"]);
  const auto stored = decode<std::uint16_t>(playback["positions"]);
  ASSERT_EQ(frames.size(), 20u);
  ASSERT_EQ(stored.size(), 20u * data.rest_positions.size());
  for (std::size_t k = 0; k < frames.size(); ++k) {
    const std::vector<double> expected = data.frame_positions(frames[k]);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double low = playback["box_min"][i % 3], size = playback["box_size"][i % 3];
      const double value = low + size * stored[k * expected.size() + i] / 65535;
      ASSERT_NEAR(value, expected[i], 0.5001 * size / 65535) << "frame " << k << " value " << i;
    }
  }
}

TEST_F(Report, faces_and_times_come_back) {
  const ReportData data = make_run(5, 9, 2);
  const json page = page_data(write(data));
  for (std::size_t g = 0; g < 2; ++g) {
    EXPECT_EQ(decode<Index>(page["garments"][g]["face_nodes"]), data.garments[g].face_nodes);
    EXPECT_EQ(decode<Index>(page["garments"][g]["pinned_nodes"]), data.garments[g].pinned_nodes);
    const auto sizes = decode<std::uint8_t>(page["garments"][g]["face_sizes"]);
    EXPECT_EQ(sizes, std::vector<std::uint8_t>(g == 0 ? 25 : 50, g == 0 ? 4 : 3));
  }
  const auto times = decode<float>(page["plots"]["times"]);
  ASSERT_EQ(times.size(), 9u);
  for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(times[k], static_cast<float>(data.frame_times[k]));
  EXPECT_EQ(page["summary"]["iterations_per_step_mean"], 1.12);
}

TEST_F(Report, colours_are_area_error_and_strain_of_edges_and_elements) {
  ReportData data = make_run(4, 3, 2);
  // Frame k stretches the rest shape by 1 + k/100 along x and shrinks it to 1 - k/50 along z.
  data.frame_positions = [rest = data.rest_positions](std::size_t frame) {
    std::vector<double> p(rest.begin(), rest.end());
    for (std::size_t i = 0; i < p.size(); i += 3) {
      p[i] = static_cast<float>(rest[i] * (1 + double(frame) / 100));
      p[i + 2] = static_cast<float>(rest[i + 2] * (1 - double(frame) / 50));
    }
    return p;
  };
  const json playback = page_data(write(data))["playback"];
  const auto areas = decode<std::int8_t>(playback["area_errors"]);
  const auto strains = decode<std::int8_t>(playback["edge_strains"]);
  const auto elements = decode<std::int8_t>(playback["element_strains"]);
  ASSERT_EQ(areas.size(), 3u * (16 + 32));
  ASSERT_EQ(strains.size(), 3u * 50);
  ASSERT_EQ(elements.size(), areas.size());
  for (std::size_t frame = 0; frame < 3; ++frame) {
    const double area = (1 + double(frame) / 100) * (1 - double(frame) / 50) - 1,
                 strain = -double(frame) / 50;
    // Float positions carry 1e-7; a code step at level c is 2 c / 127^2 of the scale, at most 2 / 127.
    for (std::size_t f = 0; f < 48; ++f)
      EXPECT_NEAR(decode_signed(areas[frame * 48 + f], playback["area_scale"]), area, 0.0199 / 127 + 1e-6);
    for (std::size_t f = 0; f < 48; ++f)
      EXPECT_NEAR(decode_signed(elements[frame * 48 + f], playback["element_scale"]), strain,
                  0.04 / 127 + 1e-6);
    for (std::size_t n = 0; n < 50; ++n)
      EXPECT_NEAR(decode_signed(strains[frame * 50 + n], playback["strain_scale"]), strain,
                  0.04 / 127 + 1e-6);
  }
}

TEST_F(Report, stress_is_there_where_the_rows_have_a_law) {
  ReportData data = make_run(4, 3, 2);
  // Frame k pulls along x, warp, by k per cent and lets z be, the weft of a sheet that faces -y.
  data.frame_positions = [rest = data.rest_positions](std::size_t frame) {
    std::vector<double> p = rest;
    for (std::size_t i = 0; i < p.size(); i += 3) p[i] *= 1 + double(frame) / 100;
    return p;
  };
  const std::string without = write(data);
  EXPECT_TRUE(page_data(without)["playback"]["stresses"].is_null());
  add_laws(data);
  const std::string with = write(data);
  const json stresses = page_data(with)["playback"]["stresses"];
  for (const char* name : {"warp", "weft", "shear"}) {
    const auto bytes = decode<std::int8_t>(stresses[name]["bytes"]);
    ASSERT_EQ(bytes.size(), 3u * (16 + 32));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const double s = 1 + double(i / 48) / 100,
                   expected = std::string(name) == "warp" ? Fabric{}.stretch_stiffness * (s * s - 1) / 2 : 0;
      // A code step at the largest level is 2 / 127 of the scale.
      EXPECT_NEAR(decode_signed(bytes[i], stresses[name]["scale"]), expected,
                  0.0202 * Fabric{}.stretch_stiffness / 127)
          << name << i;
    }
  }
  data.playback_limit_bytes = 200000;
  data.frame_times.clear();
  data.metrics.clear();
  for (int i = 0; i < 2000; ++i) data.frame_times.push_back(i), data.metrics.resize(data.metrics.size() + 2);
  std::size_t bytes = 0;
  const json playback = page_data(write(data))["playback"];
  for (const auto& [key, value] : playback.items())
    if (value.is_string()) bytes += value.get<std::string>().size();
  for (const json& component : playback["stresses"]) bytes += component["bytes"].get<std::string>().size();
  EXPECT_LT(bytes, 1.02 * 200000) << "stresses count against the limit";
  EXPECT_GT(bytes, 0.9 * 200000);
}

TEST_F(Report, long_runs_are_thinned_to_the_limit_with_first_and_last_frame) {
  ReportData data = make_run(10, 400, 2);
  data.playback_limit_bytes = 200000;
  const json page = page_data(write(data));
  const auto frames = decode<std::uint32_t>(page["playback"]["frames"]);
  EXPECT_GT(frames.size(), 48u);
  EXPECT_LT(frames.size(), 400u);
  EXPECT_EQ(frames.front(), 0u);
  EXPECT_EQ(frames.back(), 399u);
  for (std::size_t k = 1; k < frames.size(); ++k)
    EXPECT_LE(std::abs(double(frames[k]) - double(frames[k - 1]) - 399.0 / double(frames.size() - 1)), 1);
  std::size_t bytes = 0;
  for (const auto& [key, value] : page["playback"].items())
    if (value.is_string()) bytes += value.get<std::string>().size();
  for (const json& garment : page["garments"]) bytes += garment["face_nodes"].get<std::string>().size();
  EXPECT_LT(bytes, 1.02 * 200000);
  EXPECT_GT(bytes, 0.9 * 200000);
  EXPECT_EQ(decode<float>(page["plots"]["times"]).size(), 400u) << "plots keep every frame";
}

TEST_F(Report, many_garments_lose_the_last_rather_than_the_motion) {
  ReportData data = make_run(4, 100, 40);
  data.playback_limit_bytes = 150000;
  const json page = page_data(write(data));
  EXPECT_LT(page["garments"].size(), 40u);
  EXPECT_GT(page["garments"].size(), 1u);
  EXPECT_EQ(page["garment_names"].size(), 40u);
  EXPECT_GE(decode<std::uint32_t>(page["playback"]["frames"]).size(), 48u);
  EXPECT_EQ(page["plots"]["groups"].size(), 1u) << "beyond 16 garments the plots are of all together";
}

TEST_F(Report, plots_show_the_worst_garment_and_frame) {
  ReportData data = make_run(2, 9000, 2);
  data.metrics[2 * 4321 + 1].steps.residual = 0.5;
  data.metrics[2 * 4321 + 1].steps.status = StepStatus::stalled;
  const json page = page_data(write(data));
  const std::size_t stride = page["plots"]["frames_per_sample"];
  EXPECT_EQ(stride, 3u);
  EXPECT_EQ(decode<float>(page["plots"]["groups"][0]["residual_worst"])[4321 / stride], 0.5f);
  EXPECT_EQ(decode<std::uint8_t>(page["plots"]["groups"][0]["status"])[4321 / stride], 1);
  EXPECT_LT(decode<float>(page["plots"]["groups"][1]["residual_worst"])[4321 / stride], 0.01f);
  EXPECT_EQ(decode<float>(page["plots"]["groups"][2]["residual_worst"])[4321 / stride], 0.5f);
}

TEST_F(Report, metrics_that_are_not_finite_stay_visible) {
  ReportData data = make_run(2, 4, 1);
  data.metrics[2].steps.residual = std::numeric_limits<double>::quiet_NaN();
  data.metrics[2].steps.status = StepStatus::non_finite;
  data.summary.overall.steps.residual = std::numeric_limits<double>::quiet_NaN();
  const json page = page_data(write(data));
  EXPECT_TRUE(std::isnan(decode<float>(page["plots"]["groups"][0]["residual_worst"])[2]));
  EXPECT_TRUE(page["summary"]["residual_max"].is_null());
}

TEST_F(Report, names_are_text) {
  ReportData data = make_run(2, 3, 2);
  const std::string name = "</script><b>\"bold\" & 'co' \xff";
  const std::string plain = write(data);
  data.garments[1].name = name;
  data.summary.scene = name;
  const std::string page = write(data);
  EXPECT_EQ(count(page, "</script"), count(plain, "</script"));
  EXPECT_EQ(count(page, "<b>"), count(plain, "<b>"));
  EXPECT_NE(page.find("<title>&lt;/script&gt;&lt;b&gt;&quot;bold&quot; &amp; 'co'"), std::string::npos);
  const std::string decoded = page_data(page)["garments"][1]["name"];
  EXPECT_EQ(decoded.rfind("</script><b>\"bold\" & 'co' ", 0), 0u);
}

template <class Exception>
void expect_refused(const std::filesystem::path& file, const ReportData& data, const std::string& part) {
  try {
    write_report(file, data);
    FAIL() << "not refused: " << part;
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(count(error.what(), "\n"), 0u);
  }
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST_F(Report, obstacles_and_their_ways_come_back) {
  ReportData data = make_run(4, 9, 2);
  add_obstacles(data);
  const std::string page = write(data);
  EXPECT_EQ(count(page, "</script"), count(write(make_run(4, 9, 2)), "</script"));
  const json root = page_data(page);
  EXPECT_EQ(root["clock_count"], 2);
  EXPECT_EQ(root["garments"][1]["clock"], 1);
  ASSERT_EQ(root["obstacles"].size(), 2u);
  for (std::size_t o = 0; o < 2; ++o) {
    const json& found = root["obstacles"][o];
    EXPECT_EQ(found["name"], data.obstacles[o].name);
    EXPECT_EQ(found["shape"], data.obstacles[o].shape);
    EXPECT_EQ(decode<float>(found["vertices"]), data.obstacles[o].vertices);
    const auto triangles = decode<std::uint16_t>(found["triangles"]);
    EXPECT_EQ(std::vector<Index>(triangles.begin(), triangles.end()), data.obstacles[o].triangles);
  }
  EXPECT_EQ(root["obstacles"][0]["moving"], false);
  EXPECT_EQ(decode<float>(root["obstacles"][0]["poses"]), (std::vector<float>{0, 0, -1, 0, 0, 0, 1}));
  EXPECT_EQ(root["obstacles"][1]["moving"], true);
  const auto poses = decode<float>(root["obstacles"][1]["poses"]);
  ASSERT_EQ(poses.size(), 9u * 2 * 7);
  for (std::size_t frame = 0; frame < 9; ++frame)
    for (std::size_t clock = 0; clock < 2; ++clock)
      for (std::size_t k = 0; k < 7; ++k)
        EXPECT_EQ(poses[7 * (2 * frame + clock) + k], data.obstacle_poses(frame)[7 * (2 * clock + 1) + k]);
}

TEST_F(Report, obstacles_count_against_the_limit_and_leave_room_for_cloth) {
  ReportData data = make_run(10, 400, 2);
  data.playback_limit_bytes = 400000;
  const auto frames = [&] {
    return decode<std::uint32_t>(page_data(write(data))["playback"]["frames"]).size();
  };
  const std::size_t alone = frames();
  add_obstacles(data);
  data.obstacles[1].vertices.assign(3 * 2000, 0);
  const std::size_t beside = frames();
  EXPECT_LT(beside, alone);
  data.obstacles[1].vertices.assign(3 * 70000, 0);
  EXPECT_GT(2.1 * static_cast<double>(frames()), 0.9 * static_cast<double>(alone))
      << "half of the room stays";
  const json triangles = page_data(write(data))["obstacles"][1]["triangles"];
  EXPECT_EQ(decode<std::uint32_t>(triangles).size(), 12u) << "16 bits cannot name 70,000 vertices";
}

TEST_F(Report, refuses_what_does_not_fit) {
  expect_refused<ShapeError>(file, make_run(2, 0, 1), "no frame");
  expect_refused<ShapeError>(file, make_run(2, 3, 0), "no garment");
  ReportData data = make_run(2, 3, 1);
  data.metrics.pop_back();
  expect_refused<ShapeError>(file, data, "metrics has 2 entries, expected 3");
  data = make_run(2, 3, 1);
  data.rest_positions.pop_back();
  expect_refused<ShapeError>(file, data, "rest_positions has 26 values");
  data = make_run(2, 3, 2);
  data.garments[1].face_nodes[4] = 9;
  expect_refused<ShapeError>(file, data, "garments[1] names node 9");
  data = make_run(2, 3, 2);
  data.garments[1].corner_uvs.resize(5);
  expect_refused<ShapeError>(file, data, "garments[1] has 5 corner_uvs, expected none or one for each of 24");
  data = make_run(2, 3, 2);
  add_obstacles(data);
  data.obstacles[1].triangles[4] = 4;
  expect_refused<ShapeError>(file, data, "obstacles[1] names vertex 4");
  add_obstacles(data);
  data.obstacles[1].vertices.pop_back();
  expect_refused<ShapeError>(file, data, "obstacles[1] has 11 coordinates");
  add_obstacles(data);
  data.garments[1].clock = 2;
  expect_refused<ShapeError>(file, data, "garments[1] has clock 2, expected 0 to 1");
  add_obstacles(data);
  data.obstacle_poses = nullptr;
  expect_refused<ShapeError>(file, data, "obstacle_poses is empty");
  data.obstacle_poses = [](std::size_t) { return std::vector<float>(14); };
  expect_refused<ShapeError>(file, data, "frame 0 has 14 numbers of obstacle poses, expected 28");
  data = make_run(2, 3, 1);
  data.frame_positions = [](std::size_t) { return std::vector<double>(12); };
  expect_refused<ShapeError>(file, data, "frame 0 has 12 coordinates");
}

TEST_F(Report, refuses_numbers_that_are_not_finite) {
  ReportData data = make_run(2, 3, 1);
  data.frame_positions = [read = data.frame_positions](std::size_t frame) {
    std::vector<double> p = read(frame);
    if (frame == 1) p[13] = std::numeric_limits<float>::quiet_NaN();
    return p;
  };
  expect_refused<NumericalError>(file, data, "node 4 in frame 1");
  data = make_run(2, 3, 1);
  data.rest_positions[3] = std::numeric_limits<double>::infinity();
  expect_refused<NumericalError>(file, data, "rest position of node 1");
  data = make_run(2, 3, 1);
  add_obstacles(data);
  data.obstacle_poses = [read = data.obstacle_poses](std::size_t frame) {
    std::vector<float> poses = read(frame);
    if (frame == 2) poses[23] = std::numeric_limits<float>::quiet_NaN();
    return poses;
  };
  expect_refused<NumericalError>(file, data, "pose of obstacle 1 in frame 2");
  data = make_run(2, 3, 1);
  add_obstacles(data);
  data.obstacles[0].vertices[4] = std::numeric_limits<float>::infinity();
  expect_refused<NumericalError>(file, data, "obstacles[0] has a vertex that is not finite");
  data = make_run(2, 3, 1);
  data.frame_times[2] = data.frame_times[1];
  expect_refused<NumericalError>(file, data, "time of frame 2");
}

TEST_F(Report, a_folder_that_is_not_there_is_a_file_error) {
  EXPECT_THROW(write_report(folder / "absent" / "report.html", make_run(2, 3, 1)), FileError);
  std::filesystem::create_directories(folder / "taken" / "inside");
  EXPECT_THROW(write_report(folder / "taken", make_run(2, 3, 1)), FileError) << "a folder of that name";
  EXPECT_FALSE(std::filesystem::exists(folder / "taken.tmp"));
}

TEST_F(Report, a_trajectory_on_disk_gives_the_same_page) {
  ReportData data = make_run(4, 6, 2);
  add_obstacles(data);
  TrajectoryLayout layout;
  for (const ReportGarment& garment : data.garments) {
    const Index first_face = static_cast<Index>(layout.faces.size());
    for (std::size_t f = 0; f + 1 < garment.face_begin.size(); ++f) {
      std::array<Index, 4> face{-1, -1, -1, -1};
      for (Index c = garment.face_begin[f]; c < garment.face_begin[f + 1]; ++c)
        face[c - garment.face_begin[f]] = garment.node_begin + garment.face_nodes[c];
      layout.faces.push_back(face);
    }
    layout.garments.push_back({garment.name, garment.node_begin, garment.node_count, first_face,
                               static_cast<Index>(layout.faces.size()) - first_face, garment.clock});
  }
  layout.clock_offsets = {0, 0.5};
  for (const ReportObstacle& obstacle : data.obstacles)
    layout.obstacles.push_back({obstacle.name, obstacle.shape, obstacle.vertices, obstacle.triangles});
  for (std::size_t i = 0; i < data.rest_positions.size(); i += 3)
    layout.rest_positions.push_back(
        {data.rest_positions[i], data.rest_positions[i + 1], data.rest_positions[i + 2]});
  const std::filesystem::path trajectory_path = folder / "trajectory.h5";
  TrajectoryWriter writer(trajectory_path, layout);
  for (std::size_t frame = 0; frame < 6; ++frame) {
    const auto first = data.metrics.begin() + static_cast<std::ptrdiff_t>(2 * frame);
    writer.append({static_cast<std::int64_t>(frame), data.frame_times[frame], data.frame_positions(frame),
                   std::vector<FrameMetrics>(first, first + 2), data.obstacle_poses(frame)});
  }
  writer.close();
  const TrajectoryFile trajectory(trajectory_path);
  std::vector<Garment> garments(2);
  for (std::size_t g = 0; g < 2; ++g) {
    for (Index corner = 0; corner < data.garments[g].face_begin.back(); ++corner)
      data.garments[g].corner_uvs.push_back({0.01 * corner, 0.02 * (corner % 7)});
    garments[g].mesh.corner_uvs = data.garments[g].corner_uvs;
    for (const Index node : data.garments[g].pinned_nodes)
      garments[g].pins.push_back({"", {node}, FixedMotion{}});
  }
  EXPECT_TRUE(write(report_from(trajectory, data.summary, garments)) == write(data));
  const auto meet = [&](bool cloth_meets, Index one, Index other) {
    garments[0].world = one;
    garments[1].world = other;
    return report_from(trajectory, data.summary, garments, cloth_meets).garments_meet;
  };
  EXPECT_TRUE(meet(true, 0, 0));
  EXPECT_FALSE(meet(true, 0, 1));
  EXPECT_TRUE(meet(true, Garment::every_world, 1));
  EXPECT_FALSE(meet(false, 0, 0));
  garments.pop_back();
  EXPECT_THROW(report_from(trajectory, data.summary, garments), ShapeError);
}

TEST_F(Report, one_frame_of_one_flat_sheet_is_enough) {
  ReportData data = make_run(1, 1, 1);
  data.frame_positions = [rest = data.rest_positions](std::size_t) {
    return std::vector<double>(rest.begin(), rest.end());
  };
  const json playback = page_data(write(data))["playback"];
  EXPECT_EQ(playback["box_size"][1], 0.0);
  EXPECT_EQ(decode<std::uint32_t>(playback["frames"]), std::vector<std::uint32_t>{0});
}

}  // namespace
}  // namespace isocloth
