// Results outlive what goes wrong with a run: kills, full disks, damage, a second run into the same folder.
#include "engine/core/errors.hpp"
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class LostCommand : public CommandTest {
 protected:
  /// What lies beside a result until it is done.
  std::vector<std::string> partials(const std::string& output) const {
    std::vector<std::string> found;
    for (const std::string& name : names(folder_.path()))
      if (name.starts_with(output + ".partial-")) found.push_back(name);
    return found;
  }
  /// Resumes `output` with a scene of `steps` steps and compares with a run that nothing happened to.
  void expect_resumed(const std::string& output, std::int64_t steps) {
    write_scene("scene.json", shaken_sheet(steps));
    const Finished run = isocloth({"run", "scene.json", "-o", output, "--resume"});
    ASSERT_EQ(run.code, 0) << run.errors;
    EXPECT_TRUE(partials(output).empty());
    complete("scene.json", "straight");
    expect_same_trajectory(output, "straight");
    expect_same_checkpoint(output, "straight", Precision::float64);
    expect_same_summary(output, "straight");
  }
};

constexpr std::int64_t endless = 100000000;

TEST_F(LostCommand, AKilledRunIsResumedUnderTheNameThatItWasGiven) {
  write_scene("endless.json", shaken_sheet(endless));
  Process run = start({"run", "endless.json", "-o", "out", "--quiet", "--checkpoint-every", "0.05"});
  const auto reached = [&] {
    const std::vector<std::string> left = partials("out");
    if (left.size() != 1 || !fs::exists(folder_ / left[0] / "checkpoint.h5")) return std::int64_t{0};
    try {
      return checkpoint(left[0]).step_index;
    } catch (const Error&) {
      return std::int64_t{0};  // replaced while it was read
    }
  };
  run.wait_until([&] { return reached() > 20; });
  run.send(SIGKILL);
  EXPECT_EQ(run.wait().code, -SIGKILL);
  const std::string left = partials("out").at(0);
  const std::int64_t step = reached();
  write_scene("longer.json", shaken_sheet(step + 30));
  // A run of another scene leaves it where it is, and so does one of the same that does not come as far.
  Json other = shaken_sheet(step + 30);
  other["garments"][0]["fabric"]["density"] = 1.2;
  write_scene("other.json", other);
  write_scene("shorter.json", shaken_sheet(step - 5));
  for (const char* scene : {"other.json", "shorter.json"}) {
    complete(scene, "out");
    EXPECT_EQ(partials("out"), std::vector<std::string>{left}) << scene;
    fs::remove_all(folder_ / "out");
  }
  const Finished resumed = isocloth({"run", "longer.json", "-o", "out", "--resume"});
  EXPECT_NE(resumed.errors.find(left + " at t = "), std::string::npos) << resumed.errors;
  expect_resumed("out", step + 40);
}

TEST_F(LostCommand, WhatTheSameRunHasDoneInTheMeantimeIsNotKeptTwice) {
  write_scene("endless.json", shaken_sheet(endless));
  Process run = start({"run", "endless.json", "-o", "out", "--quiet"});
  run.wait_until([&] {
    const std::vector<std::string> left = partials("out");
    return left.size() == 1 && fs::exists(folder_ / left[0] / "checkpoint.h5");
  });
  run.send(SIGKILL);
  run.wait();
  const std::int64_t step = checkpoint(partials("out").at(0)).step_index;
  write_scene("scene.json", shaken_sheet(step + 10));
  complete("scene.json", "out");
  EXPECT_TRUE(partials("out").empty());
}

TEST_F(LostCommand, ARunKilledBeforeItsFirstCheckpointStartsAnew) {
  write_scene("scene.json", shaken_sheet(20));
  complete("scene.json", "straight");
  // As such runs leave it, at moments of their set-up.
  for (const char digit : {'1', '2', '3', '4', '5'})
    fs::create_directory(folder_ / (std::string("out.partial-99999") + digit));
  folder_.write("out.partial-999992/.lock", "");
  for (const std::string name : {"scene.json", "trajectory.h5", "metrics.csv"})
    folder_.write("out.partial-999993/" + name, read_whole_file(folder_ / "straight" / name));
  folder_.write("out.partial-999994/scene.json", "{}");  // of something else
  folder_.write("out.partial-999995/scene.json",
                read_whole_file(folder_ / "straight" / "scene.json").substr(0, 40));  // amid it
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--resume", "--quiet", "--json"});
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(run.errors,
            "isocloth: warning: out: what is left of a run that was killed has no checkpoint to go on from: "
            "this one starts at the beginning\n");
  EXPECT_EQ(partials("out"), std::vector<std::string>{"out.partial-999994"});
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float64);
}

TEST_F(LostCommand, ARunThatIsKilledAtOnceCanBeResumed) {
  write_scene("scene.json", shaken_sheet(30));
  complete("scene.json", "straight");
  for (int trial = 0; trial < 5; ++trial) {
    Process run = start({"run", "scene.json", "-o", "out", "--quiet"});
    run.wait_until([&] { return !partials("out").empty() || fs::exists(folder_ / "out"); });
    run.send(SIGKILL);
    run.wait();
    const Finished resumed = isocloth({"run", "scene.json", "-o", "out", "--resume", "--quiet"});
    ASSERT_EQ(resumed.code, 0) << resumed.errors;
    EXPECT_TRUE(partials("out").empty());
    expect_same_trajectory("out", "straight");
    fs::remove_all(folder_ / "out");
  }
}

TEST_F(LostCommand, AClosedTerminalIsAnInterrupt) {
  write_scene("endless.json", shaken_sheet(endless));
  Process run = start({"run", "endless.json", "-o", "out", "--json", "--quiet"});
  run.wait_until([&] {
    const std::vector<std::string> left = partials("out");
    if (left.empty() || !fs::exists(folder_ / left[0] / "metrics.csv")) return false;
    return line_count(read_whole_file(folder_ / left[0] / "metrics.csv")) > 4;
  });
  run.send(SIGHUP);
  EXPECT_EQ(run.wait().code, 130);
  EXPECT_EQ(summary("out")["status"], "interrupted");
  expect_resumed("out", checkpoint("out").step_index + 20);
}

TEST_F(LostCommand, AFullDiskKeepsFramesAndCheckpoint) {
  // Long enough for a checkpoint or two, too short to be warned of.
  write_scene("endless.json", shaken_sheet(1000000));
  const Finished run = isocloth({"run", "endless.json", "-o", "out", "--quiet", "--checkpoint-every", "0.05"},
                                {.file_size = 3000000});
  ASSERT_EQ(partials("out").size(), 1U) << run.errors;
  const std::string left = partials("out")[0];
  expect_refused(run, "out/trajectory.h5: cannot write: File too large; frames up to t = ");
  expect_refused(run, "/" + left + ": run again with --resume to go on from its checkpoint at t = ");
  const std::int64_t step = checkpoint(left).step_index;
  EXPECT_GT(step, 0);
  EXPECT_GE(TrajectoryFile(folder_ / left / "trajectory.h5").steps().back(), step);
  expect_resumed("out", step + 20);
}

TEST_F(LostCommand, AReportThatCannotBeWrittenCostsNothingElse) {
  write_scene("scene.json", shaken_sheet(300));
  complete("scene.json", "straight");
  const auto report = fs::file_size(folder_ / "straight" / "report.html");
  ASSERT_GT(report, fs::file_size(folder_ / "straight" / "trajectory.h5") + 300000);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"}, {.file_size = report - 10000});
  expect_refused(run, "out/report.html: ");
  expect_refused(run, "\"isocloth report out\" writes it");
  EXPECT_TRUE(partials("out").empty());
  EXPECT_EQ(isocloth({"report", "out"}).code, 0);
  EXPECT_EQ(names(folder_ / "out"), names(folder_ / "straight"));
  expect_same_trajectory("out", "straight");
  expect_same_summary("out", "straight");
}

TEST_F(LostCommand, OfTwoRunsIntoOneFolderTheSecondSaysSoAtOnce) {
  write_scene("endless.json", shaken_sheet(endless));
  write_scene("scene.json", shaken_sheet(5));
  Process first = start({"run", "endless.json", "-o", "out", "--quiet"});
  Process second = start({"run", "endless.json", "-o", "out", "--quiet"});
  first.wait_until([&] { return !first.is_running() || !second.is_running(); });
  Process& refused = first.is_running() ? second : first;
  Process& running = first.is_running() ? first : second;
  expect_refused(refused.wait(),
                 "out: found another run that is writing it (out.partial-" + std::to_string(running.pid()));
  expect_refused(isocloth({"run", "scene.json", "-o", "out", "--resume"}), "another run that is writing it");
  running.send(SIGINT);
  EXPECT_EQ(running.wait().code, 130);
  complete("scene.json", "out", {"--overwrite"});
}

TEST_F(LostCommand, DamagedPositionsAreNotRead) {
  write_scene("scene.json", shaken_sheet(20));
  complete("scene.json", "out");
  // Twelve bytes in the middle of the positions.
  const fs::path path = folder_ / "out" / "trajectory.h5";
  std::string bytes = read_whole_file(path);
  const auto x = static_cast<float>(TrajectoryFile(path).positions(7)[40]);
  const std::size_t place = bytes.find(std::string(reinterpret_cast<const char*>(&x), sizeof x));
  ASSERT_NE(place, std::string::npos);
  for (std::size_t i = 0; i < 12; ++i) bytes[place + i] = static_cast<char>(bytes[place + i] ^ 0x20);
  folder_.write("out/trajectory.h5", bytes);
  const std::string expected = "trajectory.h5: cannot read positions: ";
  expect_refused(isocloth({"report", "out"}), expected);
  write_scene("longer.json", shaken_sheet(30));
  expect_refused(isocloth({"run", "longer.json", "-o", "out", "--resume", "--quiet"}), expected);
  EXPECT_EQ(names(folder_.path()), (std::vector<std::string>{"longer.json", "out", "scene.json"}));
}

TEST_F(LostCommand, FoldersAboveAreMadeAndNamed) {
  write_scene("scene.json", shaken_sheet(2));
  const Finished run = isocloth({"run", "scene.json", "-o", "some/where/out"});
  EXPECT_EQ(run.code, 0);
  EXPECT_NE(run.errors.find("isocloth: made the folder "), std::string::npos) << run.errors;
  EXPECT_NE(run.errors.find("some/where\n"), std::string::npos) << run.errors;
  EXPECT_EQ(isocloth({"run", "scene.json", "-o", "some/where/else"}).errors, "");
}

TEST_F(LostCommand, PositionsFarFromTheOriginKeepTheirEdges) {
  Json scene = shaken_sheet(20);
  scene["garments"][0]["transform"]["translation"] = {1e6, -1e6, 3e5};
  scene["garments"][0]["pins"][0]["select"] = {{"nodes", {25, 29}}};
  write_scene("scene.json", scene);
  complete("scene.json", "out");
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  const std::vector<double> last = trajectory.positions(trajectory.frame_count() - 1);
  const GarmentState end = checkpoint("out").garments[0];
  for (std::size_t i = 0; i < last.size(); ++i) EXPECT_NEAR(last[i], end.positions[i], 1e-6);
}

}  // namespace
}  // namespace isocloth
