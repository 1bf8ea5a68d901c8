// What fits find of recordings whose numbers are known.
#include <numbers>

#include "engine/core/rotation.hpp"
#include "tests/run/fit_case.hpp"

namespace isocloth {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TEST_F(FitTest, FindsWhatMadeTheRecording) {
  write_shaken_scene();
  simulate(shaken_fit());
  const FitRecord found = fit(blind(shaken_fit()));
  EXPECT_EQ(found.status, "completed");
  expect_found(found, "fabric.mass_damping", 2.69, 0.03);
  expect_found(found, "fabric.gravity_density", 0.52, 0.03);
  EXPECT_NEAR(found.noise_factor, 1, 0.05);
  // Mean length of a vector of three normal numbers, on samples that it has not seen, too.
  const double mean = 2 * std::sqrt(2 / std::numbers::pi) * 0.002;
  ASSERT_EQ(found.experiments.size(), 1u);
  EXPECT_NEAR(found.experiments[0].train.mean_distance, mean, 0.05 * mean);
  EXPECT_NEAR(found.experiments[0].test.mean_distance, mean, 0.05 * mean);
  EXPECT_GT(found.experiments[0].start_test.mean_distance, 2 * mean);
  EXPECT_EQ(names(folder_ / "out"), (std::vector<std::string>{"fit.csv", "fit.html", "fit.json", "fitted"}));
  EXPECT_EQ(names(folder_ / "out" / "fitted"), (std::vector<std::string>{"shake.fabric.json", "shake.json"}));
  // The fitted scene is one, and its fabric a file for others.
  const Scene fitted = read_scene(folder_ / "out" / "fitted" / "shake.json");
  EXPECT_EQ(fitted.garments[0].fabric.mass_damping, number(found, "fabric.mass_damping").value);
  Json scene = shaken_sheet(10);
  scene["garments"][0]["fabric"] = {{"file", "out/fitted/shake.fabric.json"}, {"mass_damping", 1}};
  write_scene("other.json", scene);
  const Scene other = read_scene(folder_ / "other.json");
  EXPECT_EQ(other.garments[0].fabric.mass_damping, 1);
  EXPECT_EQ(other.garments[0].fabric.gravity_density, number(found, "fabric.gravity_density").value);
  EXPECT_NE(portable_scene_text(folder_ / "other.json").find("\"gravity_density\""), std::string::npos);
  const std::string page = read_whole_file(folder_ / "out" / "fit.html");
  for (const char* reference :
       {"<script src", "src=\"http", "href=\"http", "@import", "url(http", ">nan", "\"nan"})
    EXPECT_EQ(page.find(reference), std::string::npos) << reference;
}

TEST_F(FitTest, DoesNotDependOnThreadsOrWhatLiesBeside) {
  write_shaken_scene();
  Json plan = shaken_fit();
  plan["most_iterations"] = 2;
  simulate(plan);
  const FitRecord one = fit(plan);
  plan["starts"] = 1;  // its first is then all there is: the value
  const FitRecord other = fit(plan);
  ASSERT_GE(one.history.size(), 2u);
  EXPECT_EQ(one.history[0].loss, other.history[0].loss);
  write_scene("fit.json", shaken_fit());
  Json three = shaken_fit();
  three["most_iterations"] = 2;
  write_scene("fit.json", three);
  const FitRecord threads =
      run_fit({.file = folder_ / "fit.json", .output = folder_ / "threads", .execution = {.threads = 3}});
  for (std::size_t u = 0; u < 2; ++u) EXPECT_EQ(threads.numbers[u].value, one.numbers[u].value);
}

TEST_F(FitTest, LeavesOutWhatWasNotSeenAndTakesAnyNodes) {
  write_shaken_scene();
  Json plan = shaken_fit();
  plan["experiments"][0]["positions"]["nodes"] = {7, 0, 3, 29, 12, 18};
  simulate(plan);
  change_recording("shake.csv", [](Recording& recording) {
    ASSERT_EQ(recording.point_count, 6u);
    for (std::size_t k = 0; k < recording.values.size(); k += 3) recording.values[k] = {nan, nan, nan};
  });
  const FitRecord found = fit(blind(plan));
  expect_found(found, "fabric.mass_damping", 2.69, 0.06);
  expect_found(found, "fabric.gravity_density", 0.52, 0.06);
  EXPECT_EQ(found.experiments[0].train.positions, 71u * 6 * 2 / 3);
}

TEST_F(FitTest, FindsNumbersFromCloudsOfPoints) {
  write_shaken_scene();
  Json plan = shaken_fit();
  plan["experiments"][0]["positions"]["match"] = "surface";
  simulate(plan);
  // Which point is which is lost: an order that was kept would be good to the noise.
  const Recording cloud = read_recording(folder_ / "shake.csv", 0, "");
  EXPECT_GT(norm(cloud.at(0, 0) - shaken_start()[0]) + norm(cloud.at(0, 1) - shaken_start()[1]), 0.05);
  const FitRecord found = fit(blind(plan));
  EXPECT_NEAR(number(found, "fabric.mass_damping").value, 2.69, 0.05 * 2.69);
  EXPECT_NEAR(number(found, "fabric.gravity_density").value, 0.52, 0.05 * 0.52);
  // Nearer than the points that were meant, whose mean distance is 3.2 mm.
  EXPECT_LT(found.experiments[0].test.mean_distance, 0.0025);
  plan["experiments"][0]["follow"] = {{{"pin", "pin 0"}}};
  EXPECT_THROW(fit(plan), SceneError);
}

TEST_F(FitTest, BearsOutliersWhereTheLossSaysSo) {
  write_shaken_scene();
  simulate(shaken_fit());
  change_recording("shake.csv", [](Recording& recording) {
    for (std::size_t k = 0; k < recording.values.size(); k += 37)
      recording.values[k] += Vec3d{0.3, 0.1, -0.2};
  });
  Json plan = blind(shaken_fit());
  const FitRecord squares = fit(plan);
  plan["loss"] = "cauchy";
  const FitRecord cauchy = fit(plan);
  plan["loss"] = "huber";
  const FitRecord huber = fit(plan);
  const auto error = [](const FitRecord& record) {
    return std::fabs(number(record, "fabric.mass_damping").value / 2.69 - 1);
  };
  EXPECT_LT(error(cauchy), 0.03);
  EXPECT_LT(error(huber), 0.03);
  EXPECT_GT(squares.noise_factor, 5);  // and says that something is amiss
  EXPECT_FALSE(squares.notes.empty());
}

TEST_F(FitTest, SaysWhatTheRecordingDoesNotSay) {
  write_shaken_scene();
  Json plan = shaken_fit();
  // Nothing of this recipe has it, and a bound that the truth lies beyond.
  plan["parameters"].push_back(
      {{"number", "fabric.stretch_stiffness"}, {"from", 100}, {"to", 2000}, {"value", 1000}});
  simulate(plan);
  plan["parameters"][0] = {{"number", "fabric.mass_damping"}, {"from", 0.3}, {"to", 2}, {"value", 1}};
  plan["starts"] = 1;
  const FitRecord found = fit(plan);
  EXPECT_EQ(number(found, "fabric.stretch_stiffness").verdict, Verdict::not_found);
  EXPECT_EQ(number(found, "fabric.mass_damping").verdict, Verdict::at_its_bound);
  std::string notes;
  for (const std::string& note : found.notes) notes += note + "\n";
  EXPECT_NE(notes.find("fabric.stretch_stiffness: the recordings do not say"), std::string::npos) << notes;
  EXPECT_NE(notes.find("fabric.mass_damping: ends at its bound, 2"), std::string::npos) << notes;
}

TEST_F(FitTest, FindsTiltAndDelayOfTheRecording) {
  write_shaken_scene();
  simulate(shaken_fit());
  const Vec3d tilt = std::numbers::pi / 180 * Vec3d{2, -3, 0};
  change_recording("shake.csv", [&](Recording& recording) {
    Vec3d middle;
    for (std::size_t i = 0; i < recording.point_count; ++i) middle += 1.0 / 30 * recording.at(0, i);
    for (Vec3d& p : recording.values) p = middle + rotated(-tilt, p - middle);
    for (double& t : recording.times) t = std::round((t + 0.03) * 1e6) / 1e6;
  });
  Json plan = blind(shaken_fit());
  plan["experiments"][0].update({{"most_tilt", 10}, {"most_delay", 0.1}, {"train", {0.15, 1.4}}});
  const FitRecord found = fit(plan);
  expect_found(found, "fabric.mass_damping", 2.69, 0.04);
  EXPECT_NEAR(number(found, "tilt about x (shake)").value, 2, 0.1);
  EXPECT_NEAR(number(found, "tilt about y (shake)").value, -3, 0.1);
  EXPECT_NEAR(number(found, "delay (shake)").value, -0.03, 0.002);
  EXPECT_NEAR(found.noise_factor, 1, 0.1);
}

TEST_F(FitTest, FollowsPinsThatWereRecorded) {
  // The cloth has moved for a second when the recording begins, away from where the scene has it.
  Json scene = shaken_sheet(600);
  scene["frame_interval"] = 0.02;
  scene["projection"]["tolerance"] = 5e-3;  // of corners that noise takes apart
  write_scene("scene.json", scene);
  Json truth = shaken_fit();
  truth["experiments"][0]["positions"]["noise"] = 0.0002;
  truth["experiments"][0]["train"] = {0, 6};
  truth["experiments"][0].erase("test");
  simulate(truth);
  change_recording("shake.csv", [](Recording& recording) {
    const auto first = 50 * static_cast<std::ptrdiff_t>(recording.point_count);
    recording.times.erase(recording.times.begin(), recording.times.begin() + 50);
    recording.values.erase(recording.values.begin(), recording.values.begin() + first);
    recording.values[25] = {nan, nan, nan};  // a corner that was not seen for a moment
  });
  scene["garments"][0]["pins"][0]["name"] = "corners";
  scene["garments"][0]["pins"][0].erase("motion");
  write_scene("scene.json", scene);
  Json plan = blind(truth);
  plan["experiments"][0].update(
      {{"follow", {{{"pin", "corners"}}}}, {"smoothing", 0.1}, {"lead_in", 3}, {"train", {4.5, 6}}});
  const FitRecord found = fit(plan);
  // What the noise of corners between which the cloth is taut leaves: 4 mm where it is not smoothed.
  EXPECT_LT(found.experiments[0].train.mean_distance, 0.003);
  EXPECT_NEAR(number(found, "fabric.mass_damping").value, 2.69, 0.27);
  EXPECT_NEAR(number(found, "fabric.gravity_density").value, 0.52, 0.05);
  // Ten times the noise would tear it, but for corners that keep their distance.
  change_recording("shake.csv", [](Recording& recording) {
    for (std::size_t k = 0; k < recording.values.size(); ++k) {
      const double x = std::fmod(static_cast<double>(k * k), 1e4);
      recording.values[k] += 0.003 * Vec3d{std::sin(3 * x), std::cos(5 * x), std::sin(7 * x)};
    }
  });
  plan["experiments"][0]["follow"][0]["rigid"] = true;
  plan["experiments"][0]["positions"]["noise"] = 0.002;
  const FitRecord rigid = fit(plan);
  EXPECT_LT(rigid.experiments[0].train.mean_distance, 0.005);
  EXPECT_NEAR(number(rigid, "fabric.mass_damping").value, 2.69, 0.27);
  EXPECT_EQ(rigid.missed_steps, 0);
}

TEST_F(FitTest, GrowsInLevels) {
  write_shaken_scene();
  simulate(shaken_fit());
  Json plan = blind(shaken_fit());
  plan["levels"] = 3;
  const FitRecord found = fit(plan);
  expect_found(found, "fabric.mass_damping", 2.69, 0.03);
  EXPECT_EQ(std::ranges::count_if(found.history,
                                  [](const FitStep& step) { return step.stage.ends_with("iteration 1"); }),
            3);
}

TEST_F(FitTest, FindsNumbersOfEachExperiment) {
  write_shaken_scene();
  Json plan = shaken_fit();
  plan["parameters"].erase(1);
  Json second = plan["experiments"][0];
  second.update({{"name", "again"}, {"scene", "scene.json"}});
  second["positions"]["file"] = "again.csv";
  plan["experiments"].push_back(second);
  simulate(plan);
  plan["parameters"][0]["value"] = 5;  // another cloth, shaken the same way
  fs::remove(folder_ / "again.csv");
  Json other = plan;
  other["experiments"].erase(0);
  simulate(other);
  plan = blind(plan);
  plan["parameters"][0]["own"] = true;
  const FitRecord found = fit(plan);
  expect_found(found, "fabric.mass_damping (shake)", 2.69, 0.03);
  expect_found(found, "fabric.mass_damping (again)", 5, 0.03);
}

TEST_F(FitTest, FindsStiffnessesFromForcesOfAClip) {
  write_scene("pull.json", Json::parse(R"({
    "recipe": "membrane", "gravity": 0, "step": 0.02, "duration": 1, "frame_interval": 0.1,
    "projection": {"tolerance": 1e-6},
    "garments": [{
      "name": "specimen", "mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.1, 0.1]},
      "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0.5, "stretch_stiffness": 900, "weft_stretch_stiffness": 500,
                 "shear_stiffness": 40},
      "pins": [{"select": {"box": {"min": [-1, -1, -1], "max": [0.001, 1, 1]}}}],
      "grippers": [{"name": "clip", "region": {"type": "box", "size": [0.01, 0.2, 0.01]}, "position": [0.1, 0.05, 0],
                    "motion": {"type": "keyframes", "times": [0, 0.5, 1],
                               "translations": [[0, 0, 0], [0.004, 0, 0], [0.004, 0.012, 0]]},
                    "holds": [{"from": 0, "to": 2}]}]}]})"));
  const Json plan = Json::parse(R"({
    "parameters": [
      {"number": "fabric.stretch_stiffness", "from": 100, "to": 5000, "scale": "log", "value": 900},
      {"number": "fabric.shear_stiffness", "from": 5, "to": 500, "scale": "log", "value": 40}],
    "experiments": [{"name": "pull", "scene": "pull.json", "train": [0, 1],
                     "forces": [{"gripper": "clip", "file": "clip.csv", "noise": 0.02}]}]})");
  simulate(plan);
  const FitRecord found = fit(blind(plan));
  expect_found(found, "fabric.stretch_stiffness", 900, 0.03);
  expect_found(found, "fabric.shear_stiffness", 40, 0.05);
  EXPECT_NEAR(found.experiments[0].train.rms_force, 0.02 * std::sqrt(3), 0.01);
  EXPECT_EQ(found.experiments[0].train.forces, 11u);
}

TEST_F(FitTest, GoesOnFromWhereItWasInterrupted) {
  write_shaken_scene();
  simulate(shaken_fit());
  struct Stop : FitObserver {
    Monitor monitor;
    void on_step(const FitProblem&, const FitStep& step) override {
      if (step.stage == "search iteration 2") monitor.stop = true;
    }
  } stop;
  const FitRecord part = fit(blind(shaken_fit()), IfExists::refuse, &stop, &stop.monitor);
  EXPECT_EQ(part.status, "interrupted");
  EXPECT_EQ(Json::parse(read_whole_file(folder_ / "out" / "fit.json"))["status"], "interrupted");
  EXPECT_THROW(fit(blind(shaken_fit()), IfExists::refuse), FileError);
  const FitRecord rest = fit(blind(shaken_fit()), IfExists::resume);
  EXPECT_EQ(rest.status, "completed");
  expect_found(rest, "fabric.mass_damping", 2.69, 0.03);
  EXPECT_TRUE(rest.history[0].stage.starts_with("search")) << rest.history[0].stage;
  Json other = blind(shaken_fit());
  other["levels"] = 2;
  EXPECT_THROW(fit(other, IfExists::resume), FileError);
}

TEST(FitAlignment, IsTheRigidMotionOfTheLeastSquares) {
  Recording recorded{.file = "", .point_count = 4, .times = {0, 1}, .values = {}};
  Comparison rigid;
  const Vec3d turn{0.2, -0.3, 0.5}, shift{0.3, 0.1, -2};
  for (int k = 0; k < 8; ++k) {
    const Vec3d p{0.3 * k, std::sin(2.0 * k), std::cos(3.0 * k)};
    recorded.values.push_back(p);
    rigid.positions.push_back(rotated(turn, p) + shift - p);
  }
  rigid.positions[5] = {nan, nan, nan};
  Comparison shifted = rigid;
  align(recorded, Alignment::rigid, {0, 1}, rigid);
  for (std::size_t k = 0; k < 8; ++k) {
    if (k != 5) {
      EXPECT_LT(norm(rigid.positions[k]), 1e-12);
    }
  }
  EXPECT_TRUE(std::isnan(rigid.positions[5].x));
  align(recorded, Alignment::translation, {0, 1}, shifted);
  Vec3d mean;
  for (std::size_t k = 0; k < 8; ++k)
    if (k != 5) mean += shifted.positions[k];
  EXPECT_LT(norm(mean), 1e-12);
}

}  // namespace
}  // namespace isocloth
