// Runs of many garments: one that fails leaves the others alone, and files stay small.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class BatchCommand : public CommandTest {
 protected:
  /// Replicas of the shaken sheet, each with its own amplitude along y.
  static Json batch(std::int64_t step_count, const std::vector<double>& amplitudes) {
    Json scene = shaken_sheet(step_count);
    scene["projection"]["on_violation"] = "continue";
    scene["garments"][0]["replicas"] = amplitudes.size();
    scene["garments"][0]["vary"]["pins[0].motion.amplitude[1]"]["values"] = amplitudes;
    return scene;
  }
  static Json single(std::int64_t step_count, double amplitude) {
    Json scene = shaken_sheet(step_count);
    scene["projection"]["on_violation"] = "continue";
    scene["garments"][0]["pins"][0]["motion"]["amplitude"][1] = amplitude;
    return scene;
  }
  /// Runs a scene to its end, which it must reach without some garment.
  void lose(const std::string& scene, const std::string& output,
            const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"run", scene, "-o", output, "--quiet", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Finished run = isocloth(arguments);
    EXPECT_EQ(run.code, 1) << run.errors;
    EXPECT_EQ(summary(output)["status"], "completed");
  }
  std::vector<double> garment_positions(const std::string& output, std::size_t frame,
                                        std::size_t garment) const {
    const TrajectoryFile trajectory(folder_ / output / "trajectory.h5");
    const std::vector<double> all = trajectory.positions(frame);
    const TrajectoryGarment& part = trajectory.layout().garments[garment];
    return {all.begin() + 3 * part.node_begin, all.begin() + 3 * (part.node_begin + part.node_count)};
  }
};

/// Its square is not a double: the first step that moves the pins is not finite.
constexpr double hopeless = 1e200;

TEST_F(BatchCommand, AFrozenGarmentStaysFrozenAndTheOthersGoOn) {
  write_scene("short.json", batch(20, {0.05, hopeless, 0.08}));
  write_scene("long.json", batch(40, {0.05, hopeless, 0.08}));
  lose("short.json", "out");
  const Checkpoint halfway = checkpoint("out");
  ASSERT_TRUE(halfway.garments[1].frozen);
  EXPECT_FALSE(halfway.garments[0].frozen);
  EXPECT_EQ(halfway.garments[0].step_index, 20);
  EXPECT_LT(halfway.garments[1].step_index, 20);
  Json s = summary("out");
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["garments_frozen"], 1);
  EXPECT_EQ(s["garments_stalled"], 0);
  EXPECT_EQ(s["message"],
            "1 garments frozen in the state before a step that was lost: sheet[1] (the step to t = 0.01 s is "
            "not finite)");

  lose("long.json", "out", {"--resume"});
  lose("long.json", "straight");
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float64);
  expect_same_summary("out", "straight");
  const Checkpoint end = checkpoint("out");
  EXPECT_TRUE(end.garments[1].frozen);
  EXPECT_EQ(end.garments[1].step_index, halfway.garments[1].step_index);
  EXPECT_TRUE(same_bits(end.garments[1].positions, halfway.garments[1].positions));
  EXPECT_FALSE(same_bits(end.garments[0].positions, halfway.garments[0].positions));
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  EXPECT_EQ(trajectory.metrics(40, 1).steps.status, StepStatus::non_finite);
  EXPECT_EQ(trajectory.metrics(40, 2).steps.status, StepStatus::converged);

  // The others are as if each had run alone.
  write_scene("single.json", single(40, 0.08));
  complete("single.json", "single");
  EXPECT_TRUE(same_bits(garment_positions("out", 40, 2), garment_positions("single", 40, 0)));
}

// A tolerance that is missed stops a run by default; a cloth without a step does not hold up the others.
TEST_F(BatchCommand, AFrozenGarmentDoesNotStopTheOthersByDefault) {
  Json scene = batch(20, {0.05, hopeless, 0.08});
  scene["projection"].erase("on_violation");
  write_scene("stop.json", scene);
  lose("stop.json", "out");
  const Json s = summary("out");
  EXPECT_EQ(s["garments_frozen"], 1);
  ASSERT_EQ(s["frozen"].size(), 1U);
  EXPECT_EQ(s["frozen"][0], "sheet[1] (the step to t = 0.01 s is not finite)");
  write_scene("go_on.json", batch(20, {0.05, hopeless, 0.08}));
  lose("go_on.json", "straight");
  expect_same_trajectory("out", "straight");

  // Alone it ends the run, and is named as well.
  scene = single(20, hopeless);
  scene["projection"].erase("on_violation");
  write_scene("single.json", scene);
  EXPECT_EQ(isocloth({"run", "single.json", "-o", "alone"}).code, 1);
  EXPECT_EQ(summary("alone")["status"], "failed");
  ASSERT_EQ(summary("alone")["frozen"].size(), 1U);
  EXPECT_EQ(summary("alone")["frozen"][0], "sheet (the step to t = 0.01 s is not finite)");
}

TEST_F(BatchCommand, AGarmentTooLargeForAFrameFreezesAndTheOthersGoOn) {
  // Within doubles, beyond the float32 of a frame.
  write_scene("scene.json", batch(20, {0.05, 1e60, 0.08}));
  const Finished run = isocloth({"run", "scene.json", "-o", "out"});
  EXPECT_EQ(run.code, 1) << run.errors;
  EXPECT_NE(run.output.find("sheet[1] (the step to t = 0.01 s "), std::string::npos) << run.output;
  EXPECT_EQ(summary("out")["garments_frozen"], 1);
  EXPECT_TRUE(checkpoint("out").garments[1].frozen);
  write_scene("single.json", single(20, 0.08));
  complete("single.json", "single");
  EXPECT_TRUE(same_bits(garment_positions("out", 20, 2), garment_positions("single", 20, 0)));
}

TEST_F(BatchCommand, NamesTheFirstFewThatMissTheirTolerance) {
  Json scene = batch(40, {0.3, 0.3, 0.3, 0.001, 0.3});
  scene["projection"]["max_iterations"] = 1;
  scene["projection"]["max_substeps"] = 1;
  scene["garments"][0]["pins"][0]["motion"]["frequency"] = 3;
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"});
  EXPECT_EQ(run.code, 1) << run.errors;
  EXPECT_EQ(summary("out")["garments_stalled"], 4);
  EXPECT_EQ(summary("out")["message"],
            "4 garments missed their tolerance: sheet[0], sheet[1], sheet[2], ...");
  // Counted over all parts of a run that is resumed.
  Json half = scene;
  half["duration"] = 0.2;
  write_scene("half.json", half);
  complete("half.json", "parts", {}, 1);
  complete("scene.json", "parts", {"--resume"}, 1);
  expect_same_summary("parts", "out");
}

TEST_F(BatchCommand, StopsBetweenFramesWithTheStateBefore) {
  // 100 steps to a frame, three snapshots in between: the checkpoint is that of a run one step shorter.
  Json scene = shaken_sheet(100);
  scene["frame_interval"] = 1;
  scene["projection"] = {{"max_iterations", 4}, {"max_substeps", 1}, {"on_violation", "stop"}};
  scene["garments"][0]["pins"][0]["motion"] = {
      {"type", "oscillation"}, {"amplitude", {0, 0.2, 0}}, {"frequency", 3}, {"start", 0.7}};
  write_scene("stop.json", scene);
  EXPECT_EQ(isocloth({"run", "stop.json", "-o", "out"}).code, 1);
  const std::int64_t stopped = summary("out")["step_count"];
  ASSERT_GT(stopped, 64);
  ASSERT_LT(stopped, 100);
  scene["duration"] = 0.01 * static_cast<double>(stopped - 1);
  write_scene("before.json", scene);
  complete("before.json", "before");
  expect_same_checkpoint("out", "before", Precision::float64);
  EXPECT_EQ(checkpoint("out").step_index, stopped - 1);
}

TEST_F(BatchCommand, KeepsFramesOfTheFirstGarmentsOnly) {
  write_scene("scene.json", batch(10, {0.05, 0.06, 0.07}));
  complete("scene.json", "all");
  complete("scene.json", "two", {"--frames-of", "2"});
  EXPECT_EQ(summary("all")["frames_of"], 3);
  EXPECT_EQ(summary("two")["frames_of"], 2);
  EXPECT_EQ(read_whole_file(folder_ / "all" / "metrics.csv"),
            read_whole_file(folder_ / "two" / "metrics.csv"));
  expect_same_checkpoint("all", "two", Precision::float64);
  const TrajectoryFile two(folder_ / "two" / "trajectory.h5");
  EXPECT_EQ(two.positions(10).size(), 2u * 3 * 30);
  EXPECT_EQ(two.layout().garments.size(), 3u);
  EXPECT_EQ(two.layout().garments[2].node_count, 0);
  for (std::size_t g = 0; g < 2; ++g)
    EXPECT_TRUE(same_bits(garment_positions("two", 10, g), garment_positions("all", 10, g)));
  const std::string page = read_whole_file(folder_ / "two" / "report.html");
  EXPECT_NE(page.find("\"garment_names\":[\"sheet[0]\",\"sheet[1]\",\"sheet[2]\"]"), std::string::npos);

  write_scene("longer.json", batch(12, {0.05, 0.06, 0.07}));
  expect_refused(isocloth({"run", "longer.json", "-o", "two", "--resume", "--frames-of", "0"}),
                 "two: found frames of 2 garments, asked to keep those of 3");
  complete("longer.json", "two", {"--resume"});
  EXPECT_EQ(summary("two")["frames_of"], 2);
  EXPECT_EQ(TrajectoryFile(folder_ / "two" / "trajectory.h5").frame_count(), 13u);
}

TEST_F(BatchCommand, BoundsTheFramesOfItsOwnAccord) {
  // 30 nodes of 12 bytes in 10^6 frames are 360 MB; checked by where the file begins, not by running it.
  Json scene = batch(1000000, {0.05, 0.06});
  write_scene("scene.json", scene);
  Process run = start({"run", "scene.json", "-o", "out", "--quiet", "--json"});
  const fs::path metrics = folder_ / ("out.partial-" + std::to_string(run.pid())) / "metrics.csv";
  run.wait_until([&] { return fs::exists(metrics) && line_count(read_whole_file(metrics)) > 3; });
  run.send(SIGINT);
  EXPECT_EQ(run.wait().code, 130);
  EXPECT_EQ(summary("out")["frames_of"], 1);
  EXPECT_EQ(summary("out")["garment_count"], 2);
}

TEST_F(BatchCommand, MakesTheFoldersAboveItsResult) {
  write_scene("scene.json", shaken_sheet(2));
  complete("scene.json", "a/b/out");
  EXPECT_TRUE(fs::exists(folder_ / "a/b/out/summary.json"));
  // And takes them away again when there is none, but not those of others.
  expect_refused(isocloth({"run", "scene.json", "-o", "a/c/d/out", "--quiet"}, {.file_size = 1000}),
                 "cannot write");
  EXPECT_EQ(names(folder_ / "a"), std::vector<std::string>{"b"});
}

TEST_F(BatchCommand, ValidatesGarmentsWithTheirOwnGravityAndTime) {
  Json scene = shaken_sheet(10);
  scene["garments"][0]["replicas"] = 2;
  scene["garments"][0]["vary"] = {{"gravity", {{"values", {9.8, 3}}}},
                                  {"time_offset", {{"values", {0, 0.02}}}}};
  write_scene("scene.json", scene);
  const Finished validation = isocloth({"validate", "scene.json", "--quiet", "--json"});
  EXPECT_EQ(validation.code, 0) << validation.errors << validation.output;
  EXPECT_EQ(Json::parse(validation.output)["garments"].size(), 2u);
}

TEST_F(BatchCommand, ValidatesBesideAGarmentThatIsPinnedEverywhere) {
  Json scene = shaken_sheet(10);
  scene["garments"].push_back(scene["garments"][0]);
  scene["garments"][1]["name"] = "driven";
  scene["garments"][1]["pins"] = {{{"select", {{"all", true}}}}};
  write_scene("scene.json", scene);
  const Finished validation = isocloth({"validate", "scene.json", "--quiet", "--json"});
  EXPECT_EQ(validation.code, 0) << validation.errors << validation.output;
}

}  // namespace
}  // namespace isocloth
