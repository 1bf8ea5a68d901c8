// A run that goes on from a result keeps what was sewn for it.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "host/run/run_scene.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {
namespace {

/// Two panels `gap` apart, 0.2 m wide, sewn to a tube.
Json sewn_tube(double gap, double duration) {
  Json scene = Json::parse(R"({"recipe": "membrane", "step": 0.005, "gravity": 0, "sewing": {},
    "garments": [{"name": "tube", "fabric": {"preset": "cotton"},
      "mesh": {"panels": [{"name": "front"}, {"name": "back", "rotation": [0, 0, 180]}],
        "seams": [{"panel": "front", "edge": 1, "other_panel": "back", "other_edge": 3},
                  {"panel": "front", "edge": 3, "other_panel": "back", "other_edge": 1}], "edge_length": 0.1}}]})");
  scene["duration"] = duration;
  Json& panels = scene["garments"][0]["mesh"]["panels"];
  for (int p = 0; p < 2; ++p) {
    panels[p]["outline"] = {{-0.1, 0}, {0.1, 0}, {0.1, 0.2}, {-0.1, 0.2}};
    panels[p]["translation"] = {0, (2 * p - 1) * gap / 2, 0};
  }
  return scene;
}

class Stitches : public RunObserver {
 public:
  void on_sewing(const SewingProgress&) override { ++steps; }
  int steps = 0;
};

class ResumeSewn : public ResultTest {
 protected:
  RunSummary run(const Json& scene, const std::string& output, IfExists if_exists, Stitches& stitches) {
    write_scene("scene.json", scene);
    return run_scene({.scene = folder_ / "scene.json",
                      .output = folder_ / output,
                      .execution = {.threads = 1},
                      .result = {.if_exists = if_exists}},
                     &stitches);
  }
};

TEST_F(ResumeSewn, SewsOnceAndGoesOnToTheLastBit) {
  Json scene = sewn_tube(0.1, 0.02);
  scene["sewing"]["frames"] = 1;
  Stitches first, second, whole;
  EXPECT_EQ(run(scene, "parts", IfExists::refuse, first).status, "completed");
  EXPECT_GT(first.steps, 0);
  const std::string sewn = read_whole_file(folder_ / "parts" / "sewn.h5"),
                    frames = read_whole_file(folder_ / "parts" / "sewing.h5");
  scene["duration"] = 0.05;
  EXPECT_EQ(run(scene, "parts", IfExists::resume, second).status, "completed");
  EXPECT_EQ(second.steps, 0);
  EXPECT_EQ(read_whole_file(folder_ / "parts" / "sewn.h5"), sewn);
  EXPECT_EQ(read_whole_file(folder_ / "parts" / "sewing.h5"), frames);
  EXPECT_EQ(run(scene, "whole", IfExists::refuse, whole).status, "completed");
  expect_same_trajectory("parts", "whole");
}

TEST_F(ResumeSewn, IsRefusedForAnotherFabric) {
  Json scene = sewn_tube(0.1, 0.02);
  Stitches stitches;
  run(scene, "out", IfExists::refuse, stitches);
  scene["garments"][0]["fabric"]["preset"] = "denim";
  EXPECT_THROW(run(scene, "out", IfExists::resume, stitches), FileError);
}

TEST_F(ResumeSewn, StaysStoppedWhereSeamsStayedOpen) {
  Json scene = sewn_tube(0.1, 0.02);
  // A nail in one corner of each panel, 0.1 m apart.
  scene["garments"][0]["pins"] =
      Json::parse(R"([{"name": "nail", "select": {"nearest": [[0.1, -0.05, 0], [0.1, 0.05, 0]]}}])");
  scene["sewing"]["most_steps"] = 30;
  Stitches stitches, again, after;
  const RunSummary stopped = run(scene, "out", IfExists::refuse, stitches);
  EXPECT_EQ(stopped.status, "stopped");
  const RunSummary resumed = run(scene, "out", IfExists::resume, again);
  EXPECT_EQ(resumed.status, "stopped");
  EXPECT_EQ(resumed.message, stopped.message);
  EXPECT_EQ(again.steps, 0);
  scene["sewing"]["if_open"] = "continue";
  EXPECT_EQ(run(scene, "out", IfExists::resume, after).status, "completed");
  EXPECT_EQ(after.steps, 0);
}

}  // namespace
}  // namespace isocloth
