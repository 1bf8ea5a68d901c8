// Runs that are interrupted or killed, and what is left of them.
#include <csignal>

#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

/// Longer than any test waits.
constexpr std::int64_t endless = 100000000;

class InterruptCommand : public CommandTest {
 protected:
  /// Where the process `pid` writes the result `output`.
  fs::path partial(const std::string& output, const Process& process) const {
    return folder_ / (output + ".partial-" + std::to_string(process.pid()));
  }
  bool has_lines(const fs::path& path, std::size_t count) const {
    return fs::exists(path) && line_count(read_whole_file(path)) >= count;
  }

  /// Starts a run of endless.json and interrupts it once metrics.csv has `lines` lines.
  Finished interrupt(const std::string& output, std::size_t lines, const std::vector<std::string>& options,
                     int signal = SIGINT) const {
    std::vector<std::string> arguments{"run", "endless.json", "-o", output, "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    Process run = start(arguments);
    run.wait_until([&] { return has_lines(partial(output, run) / "metrics.csv", lines); });
    run.send(signal);
    return run.wait();
  }

  /// A valid folder of an interrupted run and no trace of another.
  void expect_interrupted(const Finished& run, const std::string& output, Precision precision) const {
    EXPECT_EQ(run.code, 130) << run.errors;
    // A line of its own: what took seconds told of its progress before.
    EXPECT_NE(("\n" + run.errors).find("\nisocloth: interrupted at t = "), std::string::npos) << run.errors;
    EXPECT_NE(run.errors.find("continue with --resume\n"), std::string::npos) << run.errors;
    EXPECT_EQ(run.output, read_whole_file(folder_ / output / "summary.json"));
    const Json s = summary(output);
    EXPECT_EQ(s["status"], "interrupted");
    EXPECT_EQ(checkpoint(output, precision).step_index, s["step_count"]);
    const TrajectoryFile trajectory(folder_ / output / "trajectory.h5");
    EXPECT_EQ(trajectory.frame_count(), s["frame_count"]);
    EXPECT_LE(trajectory.steps().back(), s["step_count"]);
    EXPECT_TRUE(fs::exists(folder_ / output / "report.html"));
    for (const std::string& name : names(folder_.path()))
      EXPECT_EQ(name.find(".partial-"), std::string::npos) << name;
  }
};

TEST_F(InterruptCommand, ContinuesBitForBit) {
  write_scene("endless.json", shaken_sheet(endless));
  expect_interrupted(interrupt("out", 8, {"--precision", "float32"}), "out", Precision::float32);
  const std::int64_t first = checkpoint("out", Precision::float32).step_index;
  EXPECT_GT(first, 0);
  const std::size_t lines = line_count(read_whole_file(folder_ / "out" / "metrics.csv"));
  expect_interrupted(interrupt("out", lines + 4, {"--precision", "float32", "--resume"}), "out",
                     Precision::float32);
  const std::int64_t second = checkpoint("out", Precision::float32).step_index;
  EXPECT_GT(second, first);

  write_scene("scene.json", shaken_sheet(second + 40));
  complete("scene.json", "out", {"--precision", "float32", "--resume"});
  complete("scene.json", "straight", {"--precision", "float32"});
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float32);
  expect_same_summary("out", "straight");
  EXPECT_EQ(summary("out")["step_count"], second + 40);
}

TEST_F(InterruptCommand, TerminationIsAnInterruptToo) {
  write_scene("endless.json", shaken_sheet(endless));
  expect_interrupted(interrupt("out", 4, {"--quiet"}, SIGTERM), "out", Precision::float64);
}

TEST_F(InterruptCommand, AHangUpIsAnInterruptTooUnlessItIsIgnored) {
  write_scene("endless.json", shaken_sheet(endless));
  expect_interrupted(interrupt("out", 4, {"--quiet"}, SIGHUP), "out", Precision::float64);

  // As nohup starts it.
  const auto before = std::signal(SIGHUP, SIG_IGN);
  Process run = start({"run", "endless.json", "-o", "ignoring", "--quiet", "--json"});
  std::signal(SIGHUP, before);
  const auto goes_on = [&](std::size_t lines) {
    run.wait_until([&] { return has_lines(partial("ignoring", run) / "metrics.csv", lines); });
  };
  goes_on(4);
  run.send(SIGHUP);
  goes_on(line_count(read_whole_file(partial("ignoring", run) / "metrics.csv")) + 20);
  run.send(SIGINT);
  expect_interrupted(run.wait(), "ignoring", Precision::float64);
}

/// The sheet, whose pins tear it in step 10, which then takes seconds or more.
Json endless_step(const std::string& recipe, std::int64_t step_count) {
  Json scene = shaken_sheet(step_count);
  scene["recipe"] = recipe;
  scene["garments"][0]["mesh"]["nodes"] = {24, 24};
  if (recipe == "coltraro2022") {
    scene["projection"] = {{"max_iterations", 1000000}};
  } else {
    scene.erase("projection");
    scene["impulse"] = {{"mode", "converge"}, {"max_sweeps", 1000000}};
  }
  scene["garments"][0]["pins"] = {
      {{"select", {{"nearest", {{0, 0, 0.42}}}}}},
      {{"select", {{"nearest", {{0.297, 0, 0.42}}}}},
       {"motion",
        {{"type", "keyframes"}, {"times", {0.1, 0.105}}, {"translations", {{0, 0, 0}, {0.1, 0, 0}}}}}}};
  return scene;
}

// The step that was cut short is as if it had never begun: not in the state, nor in what is counted.
TEST_F(InterruptCommand, ALongStepEndsWithinASecondAndLeavesNoTrace) {
  struct Case {
    const char *recipe, *solver;
  };
  for (const Case& own : {Case{"coltraro2022", "batched"},
                          {"coltraro2022", "direct"},
                          {"bender_iterative", "batched"},
                          {"bender_iterative", "direct"}}) {
    SCOPED_TRACE(std::string(own.recipe) + ", " + own.solver);
    const std::string out = std::string(own.recipe) + "_" + own.solver;
    write_scene("endless.json", endless_step(own.recipe, endless));
    write_scene("short.json", endless_step(own.recipe, 10));
    Process run = start({"run", "endless.json", "-o", out, "--json", "--solver", own.solver});
    run.wait_until([&] { return has_lines(partial(out, run) / "metrics.csv", 12); });
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    const auto told = std::chrono::steady_clock::now();
    run.send(SIGTERM);
    expect_interrupted(run.wait(), out, Precision::float64);
    // Half of it is for the report of what there is.
    EXPECT_LT(std::chrono::steady_clock::now() - told, std::chrono::seconds(2));
    EXPECT_EQ(summary(out)["step_count"], 10);
    EXPECT_EQ(isocloth({"run", "short.json", "-o", out, "--quiet", "--resume", "--solver", own.solver}).code,
              0);
    EXPECT_EQ(
        isocloth({"run", "short.json", "-o", out + "_straight", "--quiet", "--solver", own.solver}).code, 0);
    expect_same_trajectory(out, out + "_straight");
    expect_same_checkpoint(out, out + "_straight", Precision::float64);
    expect_same_summary(out, out + "_straight");
  }
}

TEST_F(InterruptCommand, ALongStepShowsProgressInAPipe) {
  write_scene("endless.json", endless_step("coltraro2022", endless));
  Process run = start({"run", "endless.json", "-o", "out"});
  run.wait_until([&] { return has_lines(partial("out", run) / "metrics.csv", 12); });
  std::this_thread::sleep_for(std::chrono::milliseconds(6500));
  run.send(SIGINT);
  const Finished found = run.wait();
  EXPECT_EQ(found.code, 130);
  // One line of progress, and one that says why it ended.
  const std::string lines = without_warnings(found.errors);
  EXPECT_EQ(line_count(lines), 2U) << lines;
  EXPECT_EQ(lines.rfind("steps ", 0), 0U) << lines;
  for (const char* part : {"10/100000000", "in the next for 0:0", " iterations, part 1 of 1"})
    EXPECT_NE(lines.find(part), std::string::npos) << lines;
}

TEST_F(InterruptCommand, EndsSetUpAndLeavesNothing) {
  Json scene = shaken_sheet(endless);
  scene["garments"][0]["mesh"]["nodes"] = {150, 150};
  write_scene("endless.json", scene);
  Process run = start({"run", "endless.json", "-o", "out", "--json"});
  run.wait_until([&] { return fs::exists(partial("out", run)); });
  run.send(SIGINT);
  const Finished found = run.wait();
  EXPECT_EQ(found.code, 130);
  EXPECT_EQ(found.errors, "isocloth: interrupted before the first step: nothing was done\n");
  EXPECT_EQ(found.output, "");
  EXPECT_EQ(names(folder_.path()), (std::vector<std::string>{"endless.json"}));
}

TEST_F(InterruptCommand, CompletedRunsCanGoOnLonger) {
  write_scene("short.json", shaken_sheet(30));
  write_scene("long.json", shaken_sheet(50));
  complete("short.json", "out");
  complete("long.json", "out", {"--resume"});
  complete("long.json", "straight");
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float64);
  expect_same_summary("out", "straight");
}

TEST_F(InterruptCommand, AKilledRunLeavesTheEarlierResult) {
  write_scene("endless.json", shaken_sheet(endless));
  write_scene("scene.json", shaken_sheet(5));
  complete("scene.json", "out");
  const auto before = contents(folder_ / "out");
  Process run =
      start({"run", "endless.json", "-o", "out", "--overwrite", "--quiet", "--checkpoint-every", "0.01"});
  const fs::path left = partial("out", run);
  run.wait_until([&] { return fs::exists(left / "checkpoint.h5") && has_lines(left / "metrics.csv", 50); });
  run.send(SIGKILL);
  EXPECT_EQ(run.wait().code, -SIGKILL);
  EXPECT_TRUE(contents(folder_ / "out") == before);
  EXPECT_EQ(names(folder_.path()),
            (std::vector<std::string>{"endless.json", "out", left.filename().string(), "scene.json"}));

  // What it leaves can be resumed under its own name.
  const std::string name = left.filename().string();
  const std::int64_t reached = checkpoint(name).step_index;
  write_scene("longer.json", shaken_sheet(reached + 60));
  complete("longer.json", name, {"--resume"});
  complete("longer.json", "straight");
  expect_same_trajectory(name, "straight");
  expect_same_checkpoint(name, "straight", Precision::float64);
  expect_same_summary(name, "straight");
}

}  // namespace
}  // namespace isocloth
