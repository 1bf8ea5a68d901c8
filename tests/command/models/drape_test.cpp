// `isocloth drape`, and runs that start from a drape.
#include "host/meshes/mesh_file.hpp"
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

/// A sheet brought in from its corners in a second.
Json hung_sheet() {
  return Json::parse(R"({
    "name": "hung sheet", "step": 0.01, "duration": 0.1, "projection": {"max_substeps": 4},
    "garments": [{
      "name": "sheet",
      "mesh": {"generator": "quad_grid", "nodes": [9, 9], "size": [1, 1]},
      "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 1e-5, "mass_damping": 0.3},
      "pins": [
        {"select": {"nodes": [0]}, "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [0.1, 0.1, 0]]}},
        {"select": {"nodes": [8]}, "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [-0.1, 0.1, 0]]}},
        {"select": {"nodes": [72]}, "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [0.1, -0.1, 0]]}},
        {"select": {"nodes": [80]}, "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [-0.1, -0.1, 0]]}}
      ]}]})");
}

class DrapeCommand : public CommandTest {};

TEST_F(DrapeCommand, WritesMeshSummaryAndReport) {
  write_scene("scene.json", hung_sheet());
  double errors[2], sags[2];
  int k = 0;
  for (const std::string method : {"weil", "laplace"}) {
    const Finished run =
        isocloth({"drape", "scene.json", "--method", method, "--time", "1", "-o", method, "--json"});
    ASSERT_EQ(run.code, 0) << run.errors;
    EXPECT_EQ(run.errors, "");
    EXPECT_EQ(names(folder_ / method),
              (std::vector<std::string>{"drape.obj", "report.html", "scene.json", "summary.json"}));
    const Json said = Json::parse(run.output);
    EXPECT_EQ(said, summary(method));
    EXPECT_EQ(said["method"], method);
    EXPECT_EQ(said["hanging_count"], 4);
    EXPECT_LT(said["potential_energy"].get<double>(), -0.1);
    const Mesh mesh = read_mesh(folder_ / method / "drape.obj");
    EXPECT_EQ(mesh.positions[80], (Vec3d{0.9, 0.9, 0}));
    double lowest = 0;
    for (const Vec3d& p : mesh.positions) lowest = std::min(lowest, p.z);
    EXPECT_EQ(said["sag"].get<double>(), -lowest);
    EXPECT_NE(read_whole_file(folder_ / method / "report.html").find("hung sheet"), std::string::npos);
    errors[k] = said["edge_error_mean"], sags[k++] = said["sag"];
  }
  EXPECT_LT(errors[0], 0.01);
  EXPECT_GT(errors[1], 0.05);
  EXPECT_GT(sags[0], sags[1]);
}

TEST_F(DrapeCommand, RemovesWhatKilledOnesLeftButNoFrames) {
  write_scene("scene.json", hung_sheet());
  for (const char* left : {"out.partial-999991", "out.partial-999992"}) {
    fs::create_directory(folder_ / left);
    folder_.write(std::string(left) + "/scene.json", "{}");
  }
  folder_.write("out.partial-999992/trajectory.h5", "of a run");
  ASSERT_EQ(isocloth({"drape", "scene.json", "--method", "weil", "--time", "1", "-o", "out"}).code, 0);
  EXPECT_EQ(names(folder_.path()), (std::vector<std::string>{"out", "out.partial-999992", "scene.json"}));
}

TEST_F(DrapeCommand, PrintsLinesAndOverwrites) {
  write_scene("scene.json", hung_sheet());
  const std::vector<std::string> arguments{"drape",  "scene.json", "--method", "weil",
                                           "--time", "1",          "-o",       "out"};
  const Finished run = isocloth(arguments);
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(line_count(run.output), 5U) << run.output;
  expect_refused(isocloth(arguments), "found a folder that is not empty");
  auto again = arguments;
  again.emplace_back("--overwrite");
  EXPECT_EQ(isocloth(again).code, 0);
}

TEST_F(DrapeCommand, RefusesInOneLine) {
  Json scene = hung_sheet();
  write_scene("scene.json", scene);
  scene["garments"][0]["pins"] = Json::array();
  write_scene("free.json", scene);
  scene = hung_sheet();
  scene["garments"][0]["pins"][1]["motion"]["translations"][1] = {0.5, 0.1, 0};
  write_scene("far.json", scene);
  expect_refused(isocloth({"drape", "scene.json", "--method", "wiel", "-o", "out"}), "wiel");
  expect_refused(isocloth({"drape", "scene.json", "-o", "out"}), "--method");
  expect_refused(isocloth({"drape", "free.json", "--method", "weil", "-o", "out"}),
                 "free.json: garments[0].pins: found 0 pinned nodes, expected at least 2");
  expect_refused(isocloth({"drape", "far.json", "--method", "laplace", "--time", "1", "-o", "out", "--json"}),
                 "far.json: garments[0].pins: nodes 0 and 8 hang 1.4 m apart, expected at most 1 m");
  expect_refused(isocloth({"drape", "scene.json", "--method", "laplace", "--angles", "-o", "out"}),
                 "--angles: found with --method laplace, which has no such option");
  expect_refused(isocloth({"drape", "scene.json", "--diagonals", "--method", "weil", "-o", "out"}),
                 "--diagonals: found with --method weil, which has no such option");
  for (const std::string option : {"--time", "--resolution", "--least-angle"})
    expect_refused(isocloth({"drape", "scene.json", "--method", "weil", option, "nan", "-o", "out"}),
                   option + ": found nan, expected a finite number");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(DrapeCommand, RunsStartFromItAndGoOn) {
  Json scene = hung_sheet();
  Json& garment = scene["garments"][0];
  garment["pins"] = Json::array({{{"select", {{"nodes", {0, 8, 72, 80}}}}}});
  garment["initial"] = {{"drape", "weil"},
                        {"places", {{0.1, 0.1, 0}, {0.9, 0.1, 0}, {0.1, 0.9, 0}, {0.9, 0.9, 0.1}}}};
  garment["replicas"] = 2;
  write_scene("long.json", scene);
  complete("long.json", "whole");
  const Scene read = read_scene(folder_ / "long.json");
  const TrajectoryFile whole = read_trajectory(folder_ / "whole/trajectory.h5");
  const std::vector<double> first = whole.positions(0), last = whole.positions(whole.frame_count() - 1);
  for (Index node = 0; node < 81; ++node)
    EXPECT_NEAR(first[3 * static_cast<std::size_t>(node) + 2], read.garments[0].initial_positions[node].z,
                1e-6);
  EXPECT_NEAR(last[3 * 80 + 2], 0.1, 1e-6);
  scene["duration"] = 0.05;
  write_scene("short.json", scene);
  complete("short.json", "part");
  complete("long.json", "part", {"--resume"});
  expect_same_trajectory("part", "whole");
  expect_same_checkpoint("part", "whole", Precision::float64);
}

}  // namespace
}  // namespace isocloth
