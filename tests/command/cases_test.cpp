// The scenes of tests/cases: each ends in a clear message, an exit code that says so, or a result whose
// figures hold.
#include <sys/stat.h>

#include <set>

#include "tests/command/command_case.hpp"
#include "tests/fuzz/verdict.hpp"
#include "tests/support/measured_strain.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

class CasesCommand : public CommandTest {
 protected:
  static fs::path cases() { return fs::path(ISOCLOTH_SOURCE_DIR) / "tests" / "cases"; }

  /// The scene of a case, written as case.json beside what it names.
  Json take(const std::string& name) const {
    const Json scene = Json::parse(read_whole_file(cases() / (name + ".json")));
    fs::copy_file(cases() / "sliver.obj", folder_ / "sliver.obj", fs::copy_options::skip_existing);
    fs::copy_file(fs::path(ISOCLOTH_SOURCE_DIR) / "bench/scenes/terrain.txt", folder_ / "terrain.txt",
                  fs::copy_options::skip_existing);
    write_scene("case.json", scene);
    return scene;
  }

  static void expect_nothing_wrong(const Faults& faults) {
    for (const Fault& fault : faults) ADD_FAILURE() << fault.kind << ": " << fault.detail;
  }

  /// Checks and runs case.json, whose ending is `code`.
  Finished expect_ending(int code) const {
    const Finished checked = isocloth({"check", "case.json"});
    expect_nothing_wrong(faults_of_command(checked));
    const Finished run = isocloth({"run", "case.json", "-o", "out", "--overwrite", "--quiet"});
    expect_nothing_wrong(faults_of_command(run));
    EXPECT_EQ(run.code, code) << run.errors << run.output;
    EXPECT_EQ(checked.code == 2, run.code == 2) << checked.output << checked.errors << run.errors;
    if (run.code != 2)
      expect_nothing_wrong(faults_of_result(folder_ / "case.json", folder_ / "out", run.code));
    return run;
  }

  MeasuredStrain measured() const {
    return measured_strain(TrajectoryFile(folder_ / "out" / "trajectory.h5"));
  }

  fs::path partial(const Process& run) const {
    for (const std::string& name : names(folder_.path()))
      if (name.find(std::to_string(run.pid())) != std::string::npos) return folder_ / name;
    return {};
  }

  /// A step that takes minutes ends soon after a signal, and leaves the state before it.
  void expect_end_within_a_step(const std::string& name, int signal) const {
    SCOPED_TRACE(name);
    take(name);
    Process run = start({"run", "case.json", "-o", "out", "--overwrite", "--quiet"});
    ASSERT_TRUE(run.wait_until([&] { return !partial(run).empty() && run.processor_time() > 0.5; }));
    const auto sent = std::chrono::steady_clock::now();
    run.send(signal);
    // A second, and what other programs and a sanitizer take.
    const std::chrono::seconds limit(unless_sanitized(10, 60));
    run.wait_until([&] { return !run.is_running() || std::chrono::steady_clock::now() - sent > limit; });
    ASSERT_FALSE(run.is_running()) << "takes no notice";
    const Finished end = run.wait();
    EXPECT_EQ(end.code, 130) << end.errors;
    expect_nothing_wrong(faults_of_command(end, true));
    expect_nothing_wrong(faults_of_result(folder_ / "case.json", folder_ / "out", end.code));
    EXPECT_EQ(summary("out")["step_count"], 0);
  }
};

TEST_F(CasesCommand, NoneIsForgotten) {
  const std::set<std::string> known = {"adjacent_pins_torn",
                                       "all_pins_torn",
                                       "all_steps_missed_exit_0",
                                       "check_valid_run_refuses_inside",
                                       "check_valid_run_refuses_sliver",
                                       "clamped_disc",
                                       "far_from_origin",
                                       "flag_2s",
                                       "message_internal_path",
                                       "message_nan_m_inside",
                                       "one_step_of_100_s",
                                       "reads_foreign_file",
                                       "sixteen_towels_folded",
                                       "slow_irregular",
                                       "slow_tank_top",
                                       "strain_between_frames",
                                       "unkillable_step"};
  std::set<std::string> found;
  for (const auto& entry : fs::directory_iterator(cases()))
    if (entry.path().extension() == ".json") found.insert(entry.path().stem());
  EXPECT_EQ(found, known);
}

TEST_F(CasesCommand, TornPinsAreSaid) {
  for (const auto& [name, strain] : {std::pair("adjacent_pins_torn", 1.3), std::pair("all_pins_torn", 5.3)}) {
    SCOPED_TRACE(name);
    Json scene = take(name);
    const Finished stopped = expect_ending(1);
    EXPECT_NE(stopped.errors.find("pin"), std::string::npos) << stopped.errors;
    EXPECT_EQ(stopped.errors.find("smaller step"), std::string::npos)
        << "no step mends it: " << stopped.errors;
    scene["projection"]["on_violation"] = "continue";
    write_scene("case.json", scene);
    expect_ending(1);
    EXPECT_GT(summary("out")["strain_max"], strain);
    EXPECT_GT(summary("out")["steps_violated"], 0);
  }
}

TEST_F(CasesCommand, MissedStepsAreSaid) {
  take("all_steps_missed_exit_0");
  expect_ending(1);
  EXPECT_EQ(summary("out")["steps_violated"], 20);
  Json disc = take("clamped_disc");
  disc["duration"] = 0.08;
  write_scene("case.json", disc);
  expect_ending(1);
  EXPECT_GT(summary("out")["steps_violated"], 0);
}

TEST_F(CasesCommand, StrainBetweenFramesCounts) {
  Json scene = take("strain_between_frames");
  expect_ending(0);
  const Json sparse = summary("out");
  scene["frame_interval"] = 0;
  write_scene("case.json", scene);
  expect_ending(0);
  const Json dense = summary("out");
  for (const char* key : {"strain_max", "strain_p95", "stretch_max", "compression_max", "row_strain_max"}) {
    ASSERT_TRUE(sparse.contains(key)) << key;
    EXPECT_EQ(sparse[key], dense[key]) << key;
  }
  const MeasuredStrain found = measured();
  EXPECT_NEAR(dense["strain_max"].get<double>(), found.edge_max, found.edge_rounding + 1e-9);
}

TEST_F(CasesCommand, CheckRefusesWhatRunRefuses) {
  take("check_valid_run_refuses_inside");
  const Finished inside = expect_ending(2);
  for (const char* word : {"inside", "obstacle 0", "21 of 81 nodes", "0.1"})
    EXPECT_NE(inside.errors.find(word), std::string::npos) << inside.errors;
  for (const char* name :
       {"check_valid_run_refuses_sliver", "message_internal_path", "message_nan_m_inside"}) {
    SCOPED_TRACE(name);
    take(name);
    expect_ending(2);
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(CasesCommand, FarFromTheOriginFramesAreAsGood) {
  take("far_from_origin");
  if (const Finished end = expect_ending(0); end.code != 0) return;
  const Json s = summary("out");
  const bool says_so = s["message"].get<std::string>().find("precision") != std::string::npos;
  EXPECT_TRUE(says_so || measured().edge_max < s["strain_max"].get<double>() + 1e-4)
      << measured().edge_max << " claimed " << s["strain_max"];
}

TEST_F(CasesCommand, LongStepsEndWhenAsked) {
  expect_end_within_a_step("one_step_of_100_s", SIGTERM);
  expect_end_within_a_step("unkillable_step", SIGINT);
}

TEST_F(CasesCommand, AFlagThatIsKilledGoesOn) {
  take("flag_2s");
  {
    Process run = start({"run", "case.json", "-o", "out", "--quiet", "--checkpoint-every", "0.05"});
    ASSERT_TRUE(
        run.wait_until([&] { return !partial(run).empty() && fs::exists(partial(run) / "checkpoint.h5"); }));
    run.send(SIGKILL);
    EXPECT_EQ(run.wait().code, -SIGKILL);
  }
  const Finished resumed = isocloth({"run", "case.json", "-o", "out", "--quiet", "--resume"});
  EXPECT_EQ(resumed.code, 0) << resumed.errors;
  expect_nothing_wrong(faults_of_result(folder_ / "case.json", folder_ / "out", 0));
  EXPECT_EQ(summary("out")["step_count"], 400);
  for (const std::string& name : names(folder_.path()))
    EXPECT_EQ(name.find("partial"), std::string::npos) << name;
}

// The towel that tears and one that does not, of the sixteen.
TEST_F(CasesCommand, ATowelThatTearsIsNamedAndTheOtherGoesOn) {
  Json scene = take("sixteen_towels_folded");
  Json towel = scene["garments"][0];
  towel.erase("replicas");
  towel.erase("vary");
  towel["name"] = "folded";
  Json torn = towel;
  torn["name"] = "torn";
  torn["fabric"]["density"] = 0.36117028726620382;
  torn["grippers"][0]["motion"]["translations"][9][1] = 0.19354298848640764;
  torn["grippers"][1]["motion"]["translations"][9][2] = 0.099612147064687642;
  scene["garments"] = {torn, towel};
  scene["duration"] = 2.7;
  scene["projection"]["max_substeps"] = 1;  // seconds instead of minutes
  scene["projection"]["max_iterations"] = 20;
  scene["frame_interval"] = 0.1;
  write_scene("case.json", scene);
  expect_ending(1);
  const Json s = summary("out");
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["step_count"], 540);
  EXPECT_NE(s["message"].get<std::string>().find("torn"), std::string::npos) << s["message"];
}

TEST_F(CasesCommand, ForeignFilesAreNotQuoted) {
  take("reads_foreign_file");
  fs::create_directory(folder_ / "scenes");
  fs::rename(folder_ / "case.json", folder_ / "scenes" / "case.json");
  folder_.write("outside.txt", "password=hunter2\nanother=secret\n");
  for (const char* command : {"check", "run"}) {
    std::vector<std::string> arguments{command, "scenes/case.json"};
    if (std::string(command) == "run") arguments.insert(arguments.end(), {"-o", "out"});
    expect_refused(isocloth(arguments),
                   "obstacles[0].shape.heights.file: found \"../outside.txt\", which is ");
    arguments.insert(arguments.end(), {"--allow", "."});
    const Finished refused = isocloth(arguments);
    expect_refused(refused, "outside.txt:2: column 1: found no number");
    EXPECT_EQ(refused.errors.find("hunter2"), std::string::npos) << refused.errors;
  }
  fs::remove(folder_ / "outside.txt");
  ASSERT_EQ(mkfifo((folder_ / "outside.txt").c_str(), 0600), 0);
  expect_refused(isocloth({"check", "scenes/case.json", "--allow", "."}), "outside.txt: found a pipe");
}

TEST_F(CasesCommand, LargeMeshesTakeSeconds) {
  for (const char* name : {"slow_irregular", "slow_tank_top"}) {
    SCOPED_TRACE(name);
    take(name);
    Process check = start({"check", "case.json"});
    while (check.is_running() && check.processor_time() < unless_sanitized(10, 300))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    ASSERT_FALSE(check.is_running()) << "takes too long";
    expect_nothing_wrong(faults_of_command(check.wait()));
  }
}

}  // namespace
}  // namespace isocloth
