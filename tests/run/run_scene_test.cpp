// Runs by the library alone: what they leave, what they tell, and how they are stopped.
#include "host/run/run_scene.hpp"

#include "engine/core/text.hpp"
#include "host/results/summary_file.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {
namespace {

/// Remembers what it is told, and stops the run after a step, -1: during set-up.
class Listener : public RunObserver {
 public:
  explicit Listener(std::int64_t stop_after = 1000000) : stop_after_(stop_after) {}
  void on_set_up() override { monitor.stop = stop_after_ < 0; }
  void on_warning(const std::string& line) override { warnings.push_back(line); }
  void on_start(const RunStart& told) override {
    start = told;
    monitor.stop = stop_after_ == 0;
  }
  void on_step(std::int64_t done, double realtime_factor) override {
    EXPECT_EQ(done, start.step_index + ++step_count);
    EXPECT_GT(realtime_factor, 0);
    if (done == stop_after_) monitor.stop = true;
  }
  void on_last_step() override { ++end_count; }

  Monitor monitor;
  RunStart start;
  std::vector<std::string> warnings;
  int step_count = 0, end_count = 0;

 private:
  const std::int64_t stop_after_;
};

class RunScene : public ResultTest {
 protected:
  RunScene() { write_scene("scene.json", scene_); }

  RunSummary run(const std::string& output, Listener& listener, IfExists if_exists = IfExists::refuse,
                 Precision precision = Precision::float64) const {
    return run_scene({.scene = folder_ / "scene.json",
                      .output = folder_ / output,
                      .execution = {.precision = precision, .monitor = &listener.monitor},
                      .result = {.if_exists = if_exists}},
                     &listener);
  }

  /// 20 steps, a frame after every third.
  Json scene_ = [] {
    Json scene = shaken_sheet(20);
    scene["frame_interval"] = 0.03;
    return scene;
  }();
};

TEST_F(RunScene, SaysWhichSeamsAndButtonsStayedOpen) {
  for (const double away : {0.01, 9.0}) {
    Json panels = Json::array();
    for (const char* name : {"front", "back"})
      panels.push_back({{"name", name},
                        {"outline", {{0, 0}, {0.2, 0}, {0.2, 0.2}, {0, 0.2}}},
                        {"translation", {0, panels.empty() ? 0 : away, 0}}});
    const Json mesh = {
        {"edge_length", 0.1},
        {"panels", panels},
        {"buttons",
         {{{"panel", "front"}, {"at", {0.1, 0.1}}, {"other_panel", "back"}, {"other_at", {0.1, 0.1}}}}},
        {"seams", {{{"panel", "front"}, {"edge", 0}, {"other_panel", "back"}, {"other_edge", 0}}}}};
    write_scene("sewn.json", {{"step", 0.01},
                              {"duration", 0.05},
                              {"frame_interval", 0.02},
                              {"garments", {{{"name", "bag"}, {"mesh", mesh}}}}});
    RunRequest request;
    request.scene = folder_ / "sewn.json";
    request.output = folder_ / text("sewn", away);
    const RunSummary found = run_scene(request);
    EXPECT_EQ(found.status, "completed");
    const std::size_t said =
        found.message.find("1 garments have seams that did not close: bag, by up to 8.9");
    EXPECT_EQ(said != std::string::npos, away > 1) << found.message;
    const std::size_t button =
        found.message.find("1 garments have buttons that did not close: bag, by up to 8.9");
    EXPECT_EQ(button != std::string::npos, away > 1) << found.message;
  }
}

TEST_F(RunScene, SaysAfterAResumeWhatItSaidAtTheStart) {
  scene_["obstacles"] = Json::parse(
      R"([{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0.1, 0.06, 0.1]}])");
  scene_["contact"] = {{"resolve_initial_penetration", true}, {"initial_penetration_time", 0.03}};
  write_scene("scene.json", scene_);
  Listener whole, first(6), second;
  run("whole", whole);
  run("parts", first);
  const RunSummary found = run("parts", second, IfExists::resume);
  EXPECT_EQ(found.status, "completed") << found.message;
  ASSERT_EQ(
      std::count_if(whole.warnings.begin(), whole.warnings.end(),
                    [](const std::string& line) { return line.find("is eased out") != std::string::npos; }),
      1);
  EXPECT_EQ(second.warnings, whole.warnings);
}

TEST_F(RunScene, WritesItsFramesAndPrintsNothing) {
  scene_["garments"][0]["fabric"]["density"] = 25;  // more than any cloth
  write_scene("scene.json", scene_);
  Listener listener;
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const RunSummary found = run("above/out", listener);
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");

  EXPECT_EQ(found.status, "completed") << found.message;
  EXPECT_EQ(found.step_count, 20);
  EXPECT_EQ(listener.start.step_count, 20);
  EXPECT_EQ(listener.start.created_folders, std::vector<fs::path>{fs::canonical(folder_ / "above")});
  EXPECT_EQ(listener.step_count, 20);
  EXPECT_EQ(listener.end_count, 1);
  EXPECT_EQ(listener.warnings.size(), 1U);
  EXPECT_EQ(found.warnings, listener.warnings);
  const TrajectoryFile trajectory(folder_ / "above/out" / "trajectory.h5");
  EXPECT_EQ(trajectory.steps(), (std::vector<std::int64_t>{0, 3, 6, 9, 12, 15, 18, 20}));
  EXPECT_EQ(summary("above/out")["frame_count"], 8);
  EXPECT_EQ(names(folder_ / "above/out"),
            (std::vector<std::string>{"checkpoint.h5", "metrics.csv", "report.html", "scene.json",
                                      "summary.json", "trajectory.h5"}));
}

// In frames between which the run was stopped, too; asked for otherwise it is another run.
TEST_F(RunScene, BalancesEnergiesAndResumesThem) {
  scene_["projection"] = {{"max_substeps", 1}, {"force_tolerance", 1e-3}};
  write_scene("scene.json", scene_);
  const auto run_with = [&](const std::string& output, Listener& listener, IfExists if_exists,
                            bool balances) {
    return run_scene({.scene = folder_ / "scene.json",
                      .output = folder_ / output,
                      .execution = {.monitor = &listener.monitor},
                      .result = {.if_exists = if_exists, .has_energies = balances}},
                     &listener);
  };
  Listener whole, stopped(10), again, other;
  run_with("whole", whole, IfExists::refuse, true);
  EXPECT_EQ(run_with("parts", stopped, IfExists::refuse, true).status, "interrupted");
  EXPECT_NE(message_of<FileError>([&] {
              run_with("parts", other, IfExists::resume, false);
            }).find("found a run with a balance of energies"),
            std::string::npos);
  run_with("parts", again, IfExists::resume, true);
  const TrajectoryFile found(folder_ / "parts" / "trajectory.h5"),
      expected(folder_ / "whole" / "trajectory.h5");
  EXPECT_TRUE(expected.layout().has_energies);
  ASSERT_EQ(found.frame_count(), expected.frame_count());
  for (std::size_t f = 0; f < found.frame_count(); ++f)
    EXPECT_EQ(found.metrics(f, 0).energy, expected.metrics(f, 0).energy) << f;
  const EnergySums& last = expected.metrics(expected.frame_count() - 1, 0).energy;
  EXPECT_NE(last.work_pins, 0);
  EXPECT_LT(std::fabs(last.energy_error), 1e-2 * last.energy_scale);
  const std::string table = read_whole_file(folder_ / "whole" / "metrics.csv");
  EXPECT_NE(table.substr(0, table.find('\n')).find(",loss_integrator,error_rows,energy_error,energy_scale"),
            std::string::npos);
}

// A warning where tolerances put in more than a hundredth of what was turned over, and only there.
TEST_F(RunScene, WarnsOfEnergyThatTolerancesPutIn) {
  const auto share_missed = [&](const std::string& output) {
    scene_["recipe"] = output;
    scene_["projection"] = {{"max_substeps", 1}, {"force_tolerance", 1e-3}, {"on_violation", "continue"}};
    write_scene("scene.json", scene_);
    Listener listener;
    const RunSummary summary = run_scene({.scene = folder_ / "scene.json",
                                          .output = folder_ / output,
                                          .execution = {.monitor = &listener.monitor},
                                          .result = {.has_energies = true}},
                                         &listener);
    EXPECT_EQ(summary.status, "completed") << summary.message;
    const TrajectoryFile file(folder_ / output / "trajectory.h5");
    const EnergySums sums = file.metrics(file.frame_count() - 1, 0).energy;
    const double share = (std::fabs(sums.error_rows) + std::fabs(sums.energy_error)) / sums.energy_scale;
    const bool warns = std::any_of(listener.warnings.begin(), listener.warnings.end(), [](const auto& line) {
      return line.find("the balance of energy misses") != std::string::npos;
    });
    EXPECT_EQ(warns, share > 0.01) << output << ": " << share;
    return share;
  };
  EXPECT_LT(share_missed("membrane"), 0.01);
  EXPECT_GT(share_missed("coltraro2022"), 0.01);  // of rigid rows that drift within their tolerance
}

TEST_F(RunScene, NeedsNeitherMonitorNorObserver) {
  const RunSummary found =
      run_scene({.scene = folder_ / "scene.json", .output = folder_ / "out", .execution = {}, .result = {}});
  EXPECT_EQ(found.status, "completed") << found.message;
}

TEST_F(RunScene, ACertificateGoesOnWithItsRun) {
  // Across the sheet from the start, and higher than it swings.
  scene_["garments"].push_back(Json::parse(R"({
    "name": "shelf", "mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [0.5, 0.4]},
    "transform": {"translation": [-0.1, -0.21, 0.3]}, "pins": [{"select": {"box": {"min": [-9, -9, -9], "max": [9, 9, 9]}}}]})"));
  write_scene("scene.json", scene_);
  const auto certified = [&](const std::string& output, Listener& listener, IfExists if_exists) {
    return run_scene({.scene = folder_ / "scene.json",
                      .output = folder_ / output,
                      .execution = {.monitor = &listener.monitor},
                      .result = {.if_exists = if_exists},
                      .certify = true},
                     &listener);
  };
  Listener first(7), last, straight;
  EXPECT_EQ(certified("out", first, IfExists::refuse).status, "interrupted");
  EXPECT_EQ(summary("out")["steps_certified"], 7);
  EXPECT_EQ(summary("out")["steps_intersecting"], 7);
  const RunSummary whole = certified("out", last, IfExists::resume);
  EXPECT_EQ(whole.steps_certified, 20);
  EXPECT_EQ(whole.steps_intersecting, 20);
  ASSERT_FALSE(whole.first_intersections.empty());
  EXPECT_DOUBLE_EQ(whole.first_intersections[0].time, 0.01);
  certified("straight", straight, IfExists::refuse);
  expect_same_summary("out", "straight");
}

TEST_F(RunScene, AStoppedRunIsAResultThatGoesOnBitForBit) {
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const std::string out = to_string(precision);
    SCOPED_TRACE(out);
    Listener first(7), second(11), last, straight;
    EXPECT_EQ(run(out, first, IfExists::refuse, precision).status, "interrupted");
    EXPECT_EQ(first.end_count, 1);
    const Checkpoint left = checkpoint(out, precision);
    EXPECT_EQ(left.step_index, 7);
    EXPECT_GT(left.since_frame.at(0).steps.iterations, 0);  // stopped between frames
    EXPECT_EQ(summary(out)["step_count"], 7);
    EXPECT_EQ(TrajectoryFile(folder_ / out / "trajectory.h5").steps(), (std::vector<std::int64_t>{0, 3, 6}));
    EXPECT_TRUE(fs::exists(folder_ / out / "report.html"));
    EXPECT_EQ(run(out, second, IfExists::resume, precision).status, "interrupted");
    EXPECT_EQ(second.start.step_index, 7);
    EXPECT_EQ(second.start.resumed_folder, fs::path());
    EXPECT_EQ(run(out, last, IfExists::resume, precision).status, "completed");
    EXPECT_EQ(last.step_count, 9);

    run(out + "_straight", straight, IfExists::refuse, precision);
    expect_same_trajectory(out, out + "_straight");
    expect_same_checkpoint(out, out + "_straight", precision);
    expect_same_summary(out, out + "_straight");
  }
}

/// A sheet falls on one that hangs by its corners: figures of their contacts are those of the run that was
/// not stopped.
TEST_F(RunScene, FiguresOfClothOnClothGoOnWithTheirRun) {
  scene_ = Json::parse(R"({
    "step": 0.005, "duration": 0.2, "frame_interval": 0.015, "recipe": "membrane",
    "contact": {"cloth": true, "tolerance": 0.0002},
    "garments": [
      {"name": "below", "mesh": {"generator": "quad_grid", "nodes": [6, 6], "size": [0.2, 0.2]},
       "pins": [{"select": {"nearest": [[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0.2, 0.2, 0]]}}]},
      {"name": "above", "mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.12, 0.12]},
       "transform": {"translation": [0.03, 0.05, 0.0015]}}]})");
  for (Json& garment : scene_["garments"])
    garment["fabric"] = Json::parse(R"({"density": 0.2, "thickness": 0.001, "stretch_stiffness": 1000})");
  write_scene("scene.json", scene_);
  Listener first(13), last, straight;
  EXPECT_EQ(run("out", first).status, "interrupted");
  EXPECT_EQ(run("out", last, IfExists::resume).status, "completed");
  const RunSummary whole = run("straight", straight);
  EXPECT_GT(whole.overall.steps.cloth_loaded, 0);
  EXPECT_GT(whole.overall.steps.cloth_force, 0);
  EXPECT_LE(whole.overall.steps.cloth_gap, 1);
  EXPECT_GT(whole.overall.steps.cg_iterations, 0);
  EXPECT_GT(whole.overall.substeps_max, 0);
  expect_same_trajectory("out", "straight");
  expect_same_summary("out", "straight");
  const TrajectoryFile trajectory(folder_ / "straight" / "trajectory.h5");
  double load = 0;
  for (std::size_t f = 0; f < trajectory.frame_count(); ++f)
    for (const float own : trajectory.contact_loads(f)) load += static_cast<double>(own);
  EXPECT_GT(load, 0);
}

TEST_F(RunScene, RefusesWhatIsNoRequest) {
  RunRequest request;
  request.scene = folder_ / "scene.json";
  EXPECT_THROW(run_scene(request), FileError);
  request.output = folder_ / "out";
  request.checkpoint_every = -3;
  EXPECT_THROW(run_scene(request), SceneError);
  EXPECT_EQ(names(folder_.path()), std::vector<std::string>{"scene.json"});
}

TEST_F(RunScene, AStopDuringSetUpLeavesNothing) {
  Listener listener(-1);
  EXPECT_THROW(run("above/out", listener), Interrupted);
  EXPECT_EQ(listener.step_count + listener.end_count, 0);
  EXPECT_EQ(names(folder_.path()), std::vector<std::string>{"scene.json"});
}

TEST_F(RunScene, AStopBeforeTheFirstStepSparesWhatItWouldOverwrite) {
  Listener whole, stopped(0), fresh(0);
  EXPECT_EQ(run("out", whole).step_count, 20);
  EXPECT_THROW(run("out", stopped, IfExists::overwrite), Interrupted);
  EXPECT_EQ(read_summary(folder_ / "out" / "summary.json").step_count, 20);
  EXPECT_EQ(names(folder_.path()), (std::vector<std::string>{"out", "scene.json"}));
  EXPECT_EQ(run("new", fresh, IfExists::overwrite).status, "interrupted");  // what was set up can be resumed
}

}  // namespace
}  // namespace isocloth
