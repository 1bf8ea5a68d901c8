// Runs that miss their tolerance, and motions that no cloth can follow.
#include <cmath>

#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class ViolationCommand : public CommandTest {
 protected:
  /// The shaken sheet with a solver that may do too little.
  static Json violent(std::int64_t step_count, int max_iterations, int max_substeps,
                      const char* on_violation) {
    Json scene = shaken_sheet(step_count);
    scene["garments"][0]["pins"][0]["motion"] = {
        {"type", "oscillation"}, {"amplitude", {0, 0.2, 0}}, {"frequency", 3}};
    scene["projection"] = {
        {"max_iterations", max_iterations}, {"max_substeps", max_substeps}, {"on_violation", on_violation}};
    return scene;
  }

  /// Two corners pulled apart, from rest to twice the width of the sheet in 1 s.
  static Json torn(const char* on_violation, double distance) {
    Json scene = shaken_sheet(200);
    scene["projection"] = {{"max_substeps", 4}, {"max_iterations", 20}, {"on_violation", on_violation}};
    scene["garments"][0]["pins"] = {
        {{"select", {{"nearest", {{0, 0, 0.42}}}}}},
        {{"select", {{"nearest", {{0.297, 0, 0.42}}}}},
         {"motion",
          {{"type", "keyframes"}, {"times", {0.2, 1.2}}, {"translations", {{0, 0, 0}, {distance, 0, 0}}}}}}};
    return scene;
  }

  /// Every number in every file is finite.
  void expect_finite_files(const std::string& output, Precision precision) const {
    const std::string metrics = read_whole_file(folder_ / output / "metrics.csv");
    // Numbers only, but for header, garment and status.
    for (const char* word : {",nan", ",-nan", ",inf", ",-inf"})
      EXPECT_EQ(metrics.find(word), std::string::npos) << word;
    const Json all = summary(output);
    for (const auto& [key, value] : all.items()) EXPECT_FALSE(value.is_null()) << key;
    const TrajectoryFile trajectory(folder_ / output / "trajectory.h5");
    for (std::size_t f = 0; f < trajectory.frame_count(); ++f)
      for (const double x : trajectory.positions(f)) ASSERT_TRUE(std::isfinite(x)) << "frame " << f;
    for (const GarmentState& state : checkpoint(output, precision).garments)
      for (const auto* values : {&state.positions, &state.velocities, &state.multipliers})
        for (const double x : *values) ASSERT_TRUE(std::isfinite(x));
    const Finished report = isocloth({"report", output});
    EXPECT_EQ(report.code, 0) << report.errors;
  }

  /// Exit code 1, one line that names the garment and contains every one of `words`.
  static void expect_ended(const Finished& run, const std::vector<std::string>& words) {
    EXPECT_EQ(run.code, 1) << run.errors;
    const std::string errors = without_warnings(run.errors);
    EXPECT_EQ(errors.rfind("isocloth: garments[0] \"sheet\": ", 0), 0U) << errors;
    EXPECT_EQ(line_count(errors), 1U) << errors;
    for (const std::string& word : words)
      EXPECT_NE(errors.find(word), std::string::npos) << errors << "expected: " << word;
  }
};

// What the message of a stopped run advises is done again and again: the run comes to its end.
TEST_F(ViolationCommand, ItsAdviceHelps) {
  Json scene = violent(60, 4, 1, "stop");
  std::int64_t reached = 0;
  for (int trial = 0;; ++trial) {
    write_scene("scene.json", scene);
    const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"});
    const std::int64_t steps = summary("out")["step_count"];
    EXPECT_GE(steps, reached);
    reached = steps;
    if (run.code == 0) break;
    ASSERT_LT(trial, 6) << run.errors;
    const std::string word = "projection.max_substeps ";
    const std::size_t at = run.errors.find(word);
    ASSERT_NE(at, std::string::npos) << run.errors;
    scene["projection"]["max_substeps"] = std::atoi(run.errors.c_str() + at + word.size());
  }
  EXPECT_EQ(reached, 60);
}

TEST_F(ViolationCommand, StopsAtAMissedTolerance) {
  write_scene("stop.json", violent(60, 4, 1, "stop"));
  const Finished run = isocloth({"run", "stop.json", "-o", "out", "--json"});
  expect_ended(run, {"residual ", " after 4 iterations", "expected <= 0.001", "smaller step",
                     "projection.max_substeps 2", "\"continue\""});
  EXPECT_EQ(run.output, read_whole_file(folder_ / "out" / "summary.json"));
  const Json s = summary("out");
  EXPECT_EQ(s["status"], "stopped");
  EXPECT_EQ(s["message"].get<std::string>(), run.errors.substr(10, run.errors.size() - 11));
  EXPECT_EQ(s["steps_violated"], 1);
  EXPECT_GT(s["residual_max"], 1e-3);
  EXPECT_LT(s["step_count"], 60);

  // The step that missed it is the last frame; the frame before is converged and is what the checkpoint
  // holds.
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  const std::size_t last = trajectory.frame_count() - 1;
  ASSERT_GT(last, 0U);
  EXPECT_EQ(trajectory.steps()[last], s["step_count"]);
  EXPECT_EQ(trajectory.metrics(last, 0).steps.status, StepStatus::stalled);
  EXPECT_EQ(trajectory.metrics(last - 1, 0).steps.status, StepStatus::converged);
  const Checkpoint left = checkpoint("out");
  EXPECT_EQ(left.step_index, s["step_count"].get<std::int64_t>() - 1);
  const std::vector<double> before = trajectory.positions(last - 1);
  for (std::size_t i = 0; i < before.size(); ++i)
    EXPECT_EQ(before[i], static_cast<float>(left.garments[0].positions[i]));
  expect_finite_files("out", Precision::float64);

  // Resumed as it is, it stops there again; told to go on, it does as if it had never stopped.
  expect_ended(isocloth({"run", "stop.json", "-o", "out", "--resume"}), {"residual "});
  EXPECT_EQ(summary("out")["step_count"], s["step_count"]);
  write_scene("go_on.json", violent(60, 4, 1, "continue"));
  EXPECT_EQ(isocloth({"run", "go_on.json", "-o", "out", "--quiet", "--resume"}).code, 1);
  EXPECT_EQ(isocloth({"run", "go_on.json", "-o", "straight", "--quiet"}).code, 1);
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float64);
  expect_same_summary("out", "straight");
}

TEST_F(ViolationCommand, NamesForcesThatDoNotBalance) {
  Json scene = shaken_sheet(20);
  scene["recipe"] = "membrane";
  scene["projection"] = {{"force_tolerance", 1e-9}, {"max_iterations", 1}, {"max_substeps", 1}};
  write_scene("scene.json", scene);
  expect_ended(isocloth({"run", "scene.json", "-o", "out", "--quiet"}),
               {"forces on a node do not balance to 1e-09 of its weight (projection.force_tolerance) after 1 "
                "iteration"});
}

TEST_F(ViolationCommand, CountsWhatItGoesOnFrom) {
  write_scene("go_on.json", violent(60, 2, 1, "continue"));
  const Finished run = isocloth({"run", "go_on.json", "-o", "out"});
  EXPECT_EQ(run.code, 1) << run.errors;
  const Json s = summary("out");
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["step_count"], 60);
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  int violated = 0;
  for (std::size_t f = 1; f < trajectory.frame_count(); ++f)
    violated += trajectory.metrics(f, 0).steps.residual > 1e-3;
  EXPECT_GT(violated, 0);
  EXPECT_EQ(s["steps_violated"], violated);
  EXPECT_NE(run.output.find("tolerance 0.001 missed in " + std::to_string(violated) + " of 60 steps"),
            std::string::npos)
      << run.output;
}

TEST_F(ViolationCommand, SubstepsMeetTheTolerance) {
  write_scene("scene.json", violent(60, 4, 16, "stop"));
  write_scene("without.json", violent(60, 4, 1, "stop"));
  EXPECT_EQ(isocloth({"run", "without.json", "-o", "without"}).code, 1);
  complete("scene.json", "out");
  const Json s = summary("out");
  EXPECT_EQ(s["steps_violated"], 0);
  EXPECT_LE(s["residual_max"], 1e-3);
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  int substeps = 0;
  for (std::size_t f = 1; f < trajectory.frame_count(); ++f)
    substeps += trajectory.metrics(f, 0).steps.substeps;
  EXPECT_GT(substeps, 60);
}

TEST_F(ViolationCommand, StopsWhenPinsTearTheCloth) {
  write_scene("scene.json", torn("stop", 1));
  for (const Precision precision : {Precision::float64, Precision::float32}) {
    const std::string out = to_string(precision);
    const Finished run = isocloth({"run", "scene.json", "-o", out, "--precision", out});
    expect_ended(run, {"residual ", "expected <= 0.001", "change their motion"});
    const Json s = summary(out);
    EXPECT_EQ(s["status"], "stopped");
    // Pins move from 0.2 s on, and the sheet is taut at once: within a few steps.
    EXPECT_GT(s["step_count"], 20);
    EXPECT_LT(s["step_count"], 40);
    expect_finite_files(out, precision);
  }
}

TEST_F(ViolationCommand, AGarmentThatDivergesIsFrozenAndNamedAndTheOthersFinish) {
  Json scene = torn("continue", 20);  // 20 m/s: past 1000 % within 0.2 s
  Json sound = scene["garments"][0];
  scene["garments"][0]["name"] = "torn";
  sound["name"] = "sound";
  sound["pins"][1].erase("motion");
  scene["garments"].push_back(sound);
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet"});
  const Json s = summary("out");
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["step_count"], 200);
  EXPECT_EQ(s["garments_frozen"], 1);
  ASSERT_EQ(s["frozen"].size(), 1U);
  const std::string why = s["frozen"][0];
  EXPECT_EQ(why.rfind("torn (the step to t = 0.", 0), 0U) << why;
  EXPECT_NE(why.find(" s diverges: strain 1"), std::string::npos) << why;
  EXPECT_NE(why.find(", expected <= 10)"), std::string::npos) << why;
  EXPECT_NE(run.output.find(why), std::string::npos) << run.output;
  expect_finite_files("out", Precision::float64);
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  EXPECT_EQ(trajectory.metrics(200, 0).steps.status, StepStatus::diverged);
  EXPECT_EQ(trajectory.metrics(200, 1).steps.status, StepStatus::converged);
  EXPECT_NE(read_whole_file(folder_ / "out" / "metrics.csv").find(",torn,diverged,"), std::string::npos);

  // The same from a checkpoint of before and of after.
  for (const double duration : {0.1, 1.0}) {
    Json shorter = scene;
    shorter["duration"] = duration;
    write_scene("short.json", shorter);
    isocloth({"run", "short.json", "-o", "parted", "--quiet", "--overwrite"});
    isocloth({"run", "scene.json", "-o", "parted", "--quiet", "--resume"});
    expect_same_trajectory("parted", "out");
    expect_same_checkpoint("parted", "out", Precision::float64);
    expect_same_summary("parted", "out");
  }
}

TEST_F(ViolationCommand, EndsWhenNoGarmentHasAFiniteStepLeft) {
  Json scene = torn("continue", 1e200);
  scene["garments"].push_back(scene["garments"][0]);
  scene["garments"][1]["name"] = "second";
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out"});
  expect_ended(run, {"frozen, as are all 2 garments"});
  EXPECT_EQ(summary("out")["status"], "failed");
  EXPECT_EQ(summary("out")["garments_frozen"], 2);
  EXPECT_LT(summary("out")["step_count"], 200);
}

TEST_F(ViolationCommand, ALostStepIsBlamedOnTheFabricWherePinsAreFixed) {
  Json scene = shaken_sheet(50);
  scene["recipe"] = "membrane";
  scene["garments"][0]["fabric"] = {{"density", 0.2}, {"gravity_density", 0.2}};
  scene["garments"][0]["mesh"] = {{"generator", "triangle_grid"}, {"nodes", {11, 11}}, {"size", {0.3, 0.3}}};
  scene["garments"][0]["transform"]["rotation"] = {0, 0, 0};
  scene["garments"][0]["pins"] = {{{"select", {{"nodes", {0, 10}}}}}};
  for (const double stiffness : {1e12, 1e10}) {  // in the first step, and in later ones
    for (const char* key : {"stretch_stiffness", "shear_stiffness"})
      scene["garments"][0]["fabric"][key] = stiffness;
    write_scene("scene.json", scene);
    const Finished run =
        isocloth({"run", "scene.json", "-o", "out", "--precision", "float32", "--overwrite"});
    expect_ended(run, {"stiffness and viscosity of its fabric (stretch_stiffness ",
                       "smaller step or --precision float64"});
    EXPECT_EQ(without_warnings(run.errors).find("pins"), std::string::npos) << run.errors;
  }
}

// Pulled by a corner to a fifth more than its length, where a limit allows 1 %: how far beyond which limit.
TEST_F(ViolationCommand, NamesTheLimitThatGaveWay) {
  Json scene = torn("continue", 0.06);
  scene["recipe"] = "membrane";
  scene["garments"][0]["fabric"] = {{"density", 0.2}, {"stretch_stiffness", 100}, {"strain_limit", 0.01}};
  Json sound = scene["garments"][0];
  sound["name"] = "sound";
  sound["pins"][1].erase("motion");
  scene["garments"].push_back(sound);
  for (const char* on_violation : {"continue", "stop"}) {
    scene["projection"]["on_violation"] = on_violation;
    write_scene("scene.json", scene);
    isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"});
    const std::string message = summary("out")["message"];
    EXPECT_NE(message.find("sheet: edges grew by "), std::string::npos) << message;
    EXPECT_NE(message.find(" %, fabric.strain_limit is 1 % (at "), std::string::npos) << message;
    EXPECT_EQ(message.find("sound: edges"), std::string::npos) << message;
  }
}

TEST_F(ViolationCommand, StaysFiniteWhenTornAndToldToGoOn) {
  for (const double distance : {1.0, 1e12, 1e100}) {
    write_scene("scene.json", torn("continue", distance));
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      const std::string out = to_string(precision) + std::to_string(std::log10(distance));
      const Finished run =
          isocloth({"run", "scene.json", "-o", out, "--precision", to_string(precision), "--quiet"});
      const Json s = summary(out);
      EXPECT_GT(s["steps_violated"], 0);
      EXPECT_EQ(run.code, 1) << run.errors;
      if (s["status"] != "completed") {
        // Rounding decides how far apart the pins are by then, and so whether the message names them.
        expect_ended(run, {"motion", "pins"});
        EXPECT_EQ(s["status"], "failed");
      }
      expect_finite_files(out, precision);
    }
  }
}

}  // namespace
}  // namespace isocloth
