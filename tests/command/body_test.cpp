// Rigid bodies from the scene file to the results, and runs with them that are continued.
#include "engine/model/rigid_body.hpp"
#include "host/results/obstacle_poses.hpp"
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

/// A sheet held at its corners that come together, and two bodies that fall into it, one on the other.
Json sheet_with_bodies(std::int64_t step_count) {
  Json scene = Json::parse(R"({
    "name": "bodies in a sheet", "recipe": "coltraro2022", "step": 0.01, "seed": 7, "projection": {"max_substeps": 4},
    "contact": {"tolerance": 0.001},
    "garments": [{
      "name": "sheet",
      "mesh": {"generator": "quad_grid", "nodes": [7, 7], "size": [1, 1]},
      "transform": {"translation": [-0.5, -0.5, 0]},
      "rest_noise": {"normal_deviation": 0.0001},
      "fabric": {"density": 0.3, "gravity_density": 0.3, "bending_stiffness": 2e-5, "mass_damping": 1},
      "pins": []}],
    "obstacles": [{"name": "post", "shape": {"type": "sphere", "radius": 0.1}, "position": [3, 0, 0]}],
    "bodies": [
      {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "mass": 0.4, "position": [0.02, 0, 0.12],
       "friction": {"static": 0.4, "dynamic": 0.3}},
      {"name": "box", "shape": {"type": "box", "size": [0.2, 0.15, 0.1], "rounding": 0.01}, "mass": 0.5,
       "position": [0, 0.03, 0.35], "rotation_degrees": [10, 20, 0], "angular_velocity": [1, 2, 3],
       "friction": {"static": 0.4, "dynamic": 0.3}}]})");
  for (const double x : {-0.5, 0.5})
    for (const double y : {-0.5, 0.5})
      scene["garments"][0]["pins"].push_back({{"select", {{"nearest", {{x, y, 0}}}}},
                                              {"motion",
                                               {{"type", "keyframes"},
                                                {"times", {0, 0.2}},
                                                {"translations", {{0, 0, 0}, {-0.2 * x, -0.2 * y, 0}}}}}});
  scene["duration"] = 0.01 * static_cast<double>(step_count);
  return scene;
}

class BodyCommand : public CommandTest {
 protected:
  void expect_same_bodies(const std::string& a, const std::string& b) const {
    const std::vector<BodyState> first = checkpoint(a).bodies, second = checkpoint(b).bodies;
    ASSERT_EQ(first.size(), 2u);
    ASSERT_EQ(second.size(), 2u);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_EQ(first[k].pose.center, second[k].pose.center) << k;
      EXPECT_EQ(first[k].pose.axes, second[k].pose.axes) << k;
      EXPECT_EQ(first[k].velocity, second[k].velocity) << k;
      EXPECT_EQ(first[k].angular_momentum, second[k].angular_momentum) << k;
    }
    const TrajectoryFile whole(folder_ / a / "trajectory.h5"), parts(folder_ / b / "trajectory.h5");
    ASSERT_EQ(whole.frame_count(), parts.frame_count());
    for (std::size_t f = 0; f < whole.frame_count(); ++f)
      EXPECT_EQ(whole.obstacle_poses(f), parts.obstacle_poses(f)) << f;
  }
};

TEST_F(BodyCommand, KeepsPosesBesideTheFrames) {
  write_scene("scene.json", sheet_with_bodies(60));
  complete("scene.json", "out");
  const Scene scene = read_scene(folder_ / "out" / "scene.json");
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  ASSERT_EQ(trajectory.layout().obstacles.size(), 3u);
  EXPECT_EQ(trajectory.layout().obstacles[1].name, "ball");
  EXPECT_EQ(trajectory.layout().obstacles[2].shape, "box");
  ASSERT_EQ(trajectory.frame_count(), 61u);
  std::vector<BodyState> start;
  for (const RigidBody& body : scene.bodies) start.push_back(start_state(body, mass_properties(body.shape)));
  EXPECT_EQ(trajectory.obstacle_poses(0), obstacle_poses(scene, {0}, 0, start));
  const Checkpoint last = checkpoint("out");
  const std::vector<BodyState>& end = last.bodies;
  EXPECT_EQ(trajectory.obstacle_poses(60), obstacle_poses(scene, {0}, trajectory.times()[60], end));
  EXPECT_LT(end[0].pose.center.z, start[0].pose.center.z - 0.05);
  int of_ball = 0;
  for (const ContactState& contact : last.garments[0].contacts) of_ball += contact.obstacle == 1;
  EXPECT_GT(of_ball, 0);
  const std::string page = read_whole_file(folder_ / "out" / "report.html");
  for (const char* part : {"\"name\":\"ball\",\"shape\":\"sphere\"", "\"name\":\"box\",\"shape\":\"box\""})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(BodyCommand, ResumesBitForBitAndOnlyWithTheSameBodies) {
  write_scene("short.json", sheet_with_bodies(25));
  write_scene("long.json", sheet_with_bodies(50));
  complete("long.json", "whole");
  complete("short.json", "parts");
  const std::pair<const char*, const char*> changes[] = {
      {"/bodies/0/mass", "0.41"},
      {"/bodies/1/shape/size/0", "0.21"},
      {"/bodies/1/velocity", "[0, 0, 1]"},
      {"/contact/pairs", R"([{"body": "ball", "other_body": "box", "static": 1}])"}};
  for (const auto& [path, value] : changes) {
    Json other = sheet_with_bodies(50);
    other[Json::json_pointer(path)] = Json::parse(value);
    write_scene("other.json", other);
    expect_refused(isocloth({"run", "other.json", "-o", "parts", "--resume"}),
                   "checkpoint.h5: found the state of another scene (\"bodies in a sheet\")");
  }
  complete("long.json", "parts", {"--resume"});
  expect_same_trajectory("whole", "parts");
  expect_same_checkpoint("whole", "parts", Precision::float64);
  expect_same_bodies("whole", "parts");
}

TEST_F(BodyCommand, GoesOnBitForBitAfterAnInterrupt) {
  constexpr std::int64_t endless = 1000000;
  write_scene("endless.json", sheet_with_bodies(endless));
  Process run = start({"run", "endless.json", "-o", "out", "--json"});
  const fs::path metrics = folder_ / ("out.partial-" + std::to_string(run.pid())) / "metrics.csv";
  run.wait_until([&] { return fs::exists(metrics) && line_count(read_whole_file(metrics)) > 30; });
  run.send(SIGINT);
  const Finished finished = run.wait();
  EXPECT_EQ(finished.code, 130) << finished.errors;
  const std::int64_t reached = checkpoint("out").step_index;
  ASSERT_GT(reached, 0);
  write_scene("scene.json", sheet_with_bodies(reached + 20));
  complete("scene.json", "out", {"--resume"});
  complete("scene.json", "straight");
  expect_same_trajectory("out", "straight");
  expect_same_checkpoint("out", "straight", Precision::float64);
  expect_same_bodies("out", "straight");
}

}  // namespace
}  // namespace isocloth
