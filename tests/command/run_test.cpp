// A run from its scene to its folder.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class RunCommand : public CommandTest {};

TEST_F(RunCommand, PrintsTheSummaryAsOneJsonDocument) {
  write_scene("scene.json", shaken_sheet(20));
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--json", "--threads", "1"});
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(run.output, read_whole_file(folder_ / "out" / "summary.json"));
  const Json s = Json::parse(run.output);
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["message"], "");
  EXPECT_EQ(s["scene"], "shaken sheet");
  EXPECT_EQ(s["recipe"], "coltraro2022");
  EXPECT_EQ(s["backend"], "cpu");
  EXPECT_EQ(s["precision"], "float64");
  EXPECT_EQ(s["threads"], 1);
  EXPECT_EQ(s["node_count"], 30);
  EXPECT_EQ(s["element_count"], 20);
  // E, F, G at 4 x 3 inner nodes, F at 4 corners, 18 edges but the one between two pins is not an edge.
  EXPECT_EQ(s["row_count"], 3 * 12 + 4 + 18);
  EXPECT_EQ(s["step_count"], 20);
  EXPECT_EQ(s["frame_count"], 21);
  EXPECT_DOUBLE_EQ(s["simulated_seconds"], 0.2);
  EXPECT_EQ(s["seed"], 7);
  EXPECT_EQ(s["steps_violated"], 0);
  EXPECT_FALSE(s["version"].get<std::string>().empty());
  EXPECT_GT(s["wall_seconds"], 0);
  EXPECT_NEAR(s["realtime_factor"], 0.2 / s["wall_seconds"].get<double>(),
              1e-9 / s["wall_seconds"].get<double>());
  EXPECT_GE(s["iterations_per_step_max"].get<double>(), s["iterations_per_step_mean"].get<double>());
  EXPECT_GT(s["residual_max"], 0);
  EXPECT_LE(s["residual_max"], s["tolerance"]);
  EXPECT_GT(s["strain_mean"], 0);
  EXPECT_GE(s["strain_max"].get<double>(), s["strain_mean"].get<double>());
  EXPECT_TRUE(s["area_error_total_max"].is_number());
  EXPECT_TRUE(s["area_error_element_mean_max"].is_number());
}

TEST_F(RunCommand, LeavesAWholeFolder) {
  Json scene = shaken_sheet(20);
  scene["frame_interval"] = 0.06;
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--ply"});
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_NE(run.output.find("shaken sheet: completed, 20 steps"), std::string::npos) << run.output;
  EXPECT_EQ(names(folder_.path()), (std::vector<std::string>{"out", "scene.json"}));
  EXPECT_EQ(names(folder_ / "out"),
            (std::vector<std::string>{"checkpoint.h5", "frames", "metrics.csv", "report.html", "scene.json",
                                      "summary.json", "trajectory.h5"}));

  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  EXPECT_EQ(trajectory.steps(), (std::vector<std::int64_t>{0, 6, 12, 18, 20}));
  for (std::size_t f = 0; f < trajectory.frame_count(); ++f)
    EXPECT_DOUBLE_EQ(trajectory.times()[f], 0.01 * static_cast<double>(trajectory.steps()[f]));
  EXPECT_EQ(names(folder_ / "out" / "frames").size(), 5U);
  EXPECT_EQ(line_count(read_whole_file(folder_ / "out" / "metrics.csv")), 6U);
  EXPECT_EQ(trajectory.metrics(1, 0).steps.substeps, 6);

  // The first frame is the scene, the last one the checkpoint.
  const Scene start = read_scene(folder_ / "scene.json");
  const GarmentState end = checkpoint("out").garments[0];
  const std::vector<double> first = trajectory.positions(0), last = trajectory.positions(4);
  ASSERT_EQ(first.size(), end.positions.size());
  for (std::size_t i = 0; i < 30; ++i)
    EXPECT_EQ(first[3 * i], static_cast<float>(start.garments[0].mesh.positions[i].x));
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_EQ(last[i], static_cast<float>(end.positions[i]));
}

TEST_F(RunCommand, WritesAReportThatNeedsNothingElse) {
  write_scene("scene.json", shaken_sheet(3));
  complete("scene.json", "out");
  const std::string page = read_whole_file(folder_ / "out" / "report.html");
  EXPECT_NE(page.find("shaken sheet"), std::string::npos);
  for (const char* reference : {"<script src", "src=\"http", "href=\"http", "@import", "url(http"})
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
  EXPECT_TRUE(page.find("</html>") != std::string::npos);

  folder_.write("out/report.html", "lost");
  const Finished again = isocloth({"report", "out"});
  EXPECT_EQ(again.code, 0) << again.errors;
  EXPECT_EQ(again.output, "out/report.html\n");
  EXPECT_EQ(read_whole_file(folder_ / "out" / "report.html"), page);
}

TEST_F(RunCommand, RepeatsItselfBitForBit) {
  write_scene("scene.json", shaken_sheet(100));
  for (const char* precision : {"float64", "float32"}) {
    const std::string p = precision;
    complete("scene.json", p + "a", {"--precision", p, "--threads", "1"});
    complete("scene.json", p + "b", {"--precision", p, "--threads", "1"});
    complete("scene.json", p + "c", {"--precision", p, "--threads", "2"});
    complete(p + "a/scene.json", p + "d", {"--precision", p, "--threads", "3"});
    for (const char* other : {"b", "c", "d"}) {
      expect_same_trajectory(p + "a", p + other);
      expect_same_checkpoint(p + "a", p + other, p == "float64" ? Precision::float64 : Precision::float32);
    }
    EXPECT_EQ(summary(p + "a")["precision"], p);
  }
  // The precisions differ, or one of them was not used.
  EXPECT_NE(read_whole_file(folder_ / "float64a" / "metrics.csv"),
            read_whole_file(folder_ / "float32a" / "metrics.csv"));
}

TEST_F(RunCommand, TakesTheSolverAndTheInstructionsThatItIsTold) {
  write_scene("scene.json", shaken_sheet(50));
  const std::pair<const char*, const char*> solvers[] = {{"automatic", "baseline"},
                                                         {"batched", "baseline"},
                                                         {"direct", "sse2"},
                                                         {"mixed", "sse2"},
                                                         {"iterative", "conjugate gradients"}};
  std::vector<double> first;
  for (const auto& [solver, name] : solvers) {
    complete("scene.json", solver, {"--solver", solver, "--simd", "baseline"});
    const Json s = summary(solver);
    EXPECT_NE(s["solver"].get<std::string>().find(name), std::string::npos) << s["solver"];
    EXPECT_LE(s["residual_max"], s["tolerance"]) << solver;
    const TrajectoryFile trajectory(folder_ / solver / "trajectory.h5");
    const auto last = trajectory.positions(trajectory.frame_count() - 1);
    if (first.empty()) first = last;
    // Each stays within the tolerance of the rows, hence apart by no more than some of it over the sheet.
    double apart = 0;
    for (std::size_t i = 0; i < last.size(); ++i) apart = std::max(apart, std::abs(last[i] - first[i]));
    EXPECT_LE(apart, 0.5 * s["tolerance"].get<double>()) << solver;
  }
}

TEST_F(RunCommand, KeepsAnEarlierResultUnlessToldOtherwise) {
  write_scene("long.json", shaken_sheet(4));
  write_scene("short.json", shaken_sheet(2));
  complete("long.json", "out");
  const auto before = contents(folder_ / "out");
  expect_refused(isocloth({"run", "short.json", "-o", "out"}), "out: found a folder that is not empty");
  EXPECT_TRUE(contents(folder_ / "out") == before);
  complete("short.json", "out/", {"--overwrite"});
  EXPECT_EQ(summary("out")["step_count"], 2);

  fs::create_directory(folder_ / "letters");
  folder_.write("letters/letter.txt", "dear");
  for (const char* option : {"--overwrite", "--resume"})
    expect_refused(isocloth({"run", "short.json", "-o", "letters", option}), "letters: found");
  EXPECT_EQ(names(folder_ / "letters"), std::vector<std::string>{"letter.txt"});

  fs::create_directory(folder_ / "empty");
  complete("short.json", "empty");
  EXPECT_EQ(names(folder_.path()),
            (std::vector<std::string>{"empty", "letters", "long.json", "out", "short.json"}));
}

TEST_F(RunCommand, SeveralGarmentsAreSeparate) {
  Json scene = shaken_sheet(30);
  Json second = scene["garments"][0];
  second["name"] = "other";
  second["fabric"]["mass_damping"] = 1;
  second["transform"]["translation"] = {0, 1, 0};
  second["pins"][0]["select"]["nearest"] = {{0, 1, 0.42}, {0.297, 1, 0.42}};
  scene["garments"].push_back(second);
  write_scene("both.json", scene);
  write_scene("one.json", shaken_sheet(30));
  complete("both.json", "both");
  complete("one.json", "one");
  const TrajectoryFile both(folder_ / "both" / "trajectory.h5"), one(folder_ / "one" / "trajectory.h5");
  std::vector<double> first = both.positions(30);
  first.resize(first.size() / 2);
  EXPECT_TRUE(same_bits(first, one.positions(30)));
  EXPECT_EQ(summary("both")["garment_count"], 2);
  EXPECT_EQ(summary("both")["node_count"], 60);
}

}  // namespace
}  // namespace isocloth
