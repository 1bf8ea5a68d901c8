// Obstacles from the scene file to the results: refused, kept beside the frames, part of what a run resumes.
#include "host/results/obstacle_poses.hpp"
#include "host/results/summary_file.hpp"
#include "tests/command/sweep_case.hpp"

namespace isocloth {
namespace {

/// The shaken sheet far above a ball at rest, a rising box and the ground.
Json sheet_above_obstacles(std::int64_t step_count) {
  Json scene = shaken_sheet(step_count);
  scene["obstacles"] = Json::parse(R"([
    {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -0.8]},
    {"name": "lift", "shape": {"type": "box", "size": [0.2, 0.3, 0.1], "rounding": 0.02}, "position": [0.5, 0, -0.9],
     "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [0, 0, 0.1]],
                "rotations_degrees": [[0, 0, 0], [0, 0, 90]], "center": [0.5, 0, 0]},
     "friction": {"static": 0.5, "dynamic": 0.4}},
    {"name": "ground", "shape": {"type": "plane"}, "position": [0, 0, -1]}])");
  scene["contact"] = Json::parse(
      R"({"margin": 0.001, "pairs": [{"garment": "sheet", "obstacle": "ground", "static": 0.3}]})");
  return scene;
}

class ObstacleCommand : public SweepTest {};

TEST_F(ObstacleCommand, KeepsObstaclesBesideTheFrames) {
  write_scene("scene.json", sheet_above_obstacles(6));
  complete("scene.json", "out");
  const Scene scene = read_scene(folder_ / "out" / "scene.json");
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  ASSERT_EQ(trajectory.layout().obstacles.size(), 3u);
  EXPECT_EQ(trajectory.layout().obstacles[1].name, "lift");
  EXPECT_EQ(trajectory.layout().obstacles[2].shape, "plane");
  ASSERT_EQ(trajectory.frame_count(), 7u);
  for (std::size_t f = 0; f < 7; ++f)
    EXPECT_EQ(trajectory.obstacle_poses(f), obstacle_poses(scene, {0}, trajectory.times()[f]));
  EXPECT_NE(trajectory.obstacle_poses(0), trajectory.obstacle_poses(6));
  const std::string page = read_whole_file(folder_ / "out" / "report.html");
  for (const char* part : {"\"name\":\"lift\",\"shape\":\"box\"", "\"name\":\"ground\",\"shape\":\"plane\""})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST_F(ObstacleCommand, ResumesOnlyWithTheSameObstacles) {
  write_scene("short.json", sheet_above_obstacles(3));
  write_scene("long.json", sheet_above_obstacles(6));
  complete("long.json", "whole");
  complete("short.json", "parts");
  const std::pair<const char*, const char*> changes[] = {{"/obstacles/0/shape/radius", "0.11"},
                                                         {"/obstacles/1/motion/times/1", "2"},
                                                         {"/obstacles/1/friction/dynamic", "0.3"},
                                                         {"/obstacles/2/position/2", "-1.1"},
                                                         {"/contact/margin", "0"},
                                                         {"/contact/pairs/0/static", "0.2"},
                                                         {"/contact/resolve_initial_penetration", "true"},
                                                         {"/garments/0/fabric/thickness", "0.001"}};
  for (const auto& [path, value] : changes) {
    Json other = sheet_above_obstacles(6);
    other[Json::json_pointer(path)] = Json::parse(value);
    write_scene("other.json", other);
    expect_refused(isocloth({"run", "other.json", "-o", "parts", "--resume"}),
                   "checkpoint.h5: found the state of another scene (\"shaken sheet\")");
  }
  complete("long.json", "parts", {"--resume"});
  expect_same_trajectory("whole", "parts");
  const TrajectoryFile whole(folder_ / "whole" / "trajectory.h5"), parts(folder_ / "parts" / "trajectory.h5");
  for (std::size_t f = 0; f < whole.frame_count(); ++f)
    EXPECT_EQ(whole.obstacle_poses(f), parts.obstacle_poses(f));
}

TEST_F(ObstacleCommand, CountsHowDeepAClothStarts) {
  write_scene("deep.json", Json::parse(R"({
      "step": 0.01, "duration": 0.02, "recipe": "coltraro2022",
      "garments": [{"name": "a", "fabric": {"density": 0.2, "gravity_density": 1, "bending_stiffness": 1e-5, "thickness": 0.002},
                    "mesh": {"generator": "quad_grid", "nodes": [5, 5], "size": [0.3, 0.3]}}],
      "obstacles": [{"name": "floor", "shape": {"type": "plane"}, "position": [0, 0, 0.005]}],
      "contact": {"resolve_initial_penetration": true, "margin": 0}, "projection": {"on_violation": "continue"}})"));
  isocloth({"run", "deep.json", "-o", "deep"});
  const TrajectoryFile trajectory(folder_ / "deep" / "trajectory.h5");
  EXPECT_NEAR(trajectory.metrics(0, 0).steps.penetration, 0.006, 1e-9);
  EXPECT_GE(read_summary(folder_ / "deep" / "summary.json").overall.steps.penetration, 0.006 - 1e-9);
}

TEST_F(ObstacleCommand, RefusesObstaclesThatCannotBeMet) {
  folder_.write("open.csv", "0, 0, 0\n");
  const std::pair<const char*, const char*> changes[] = {
      {R"({"obstacles": [{"shape": {"type": "sphere", "radius": -1}}], "contact": {}})",
       "scene.json: obstacles[0].shape.radius: found -1, expected a number > 0"},
      {R"({"obstacles": [{"shape": {"type": "mesh", "file": "none.obj"}}], "contact": {}})",
       "none.obj: cannot read: No such file or directory"},
      {R"({"obstacles": [{"shape": {"type": "plane"}, "motion": {"type": "recorded", "file": "open.csv"}}],
           "contact": {}})",
       "open.csv:1: found 3 columns, expected 7"},
      {R"({"obstacles": []})", "contact.pairs[0].obstacle: found \"ground\", expected a name"},
      {R"({"contact": {"pairs": [{"garment": "shirt", "obstacle": "ground", "static": 1}]}})",
       "contact.pairs[0].garment: found \"shirt\", expected a known name; the nearest is \"sheet\""}};
  for (const auto& [change, expected] : changes) {
    Json scene = sheet_above_obstacles(3);
    scene.update(Json::parse(change));
    write_scene("scene.json", scene);
    expect_refused(isocloth({"run", "scene.json", "-o", "out"}), expected);
    expect_refused(isocloth({"check", "scene.json"}), expected);
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

/// A sheet that falls from 2 mm onto a floor and the ball in it.
Json sheet_on_a_floor() {
  return Json::parse(
      R"({"name": "floor", "recipe": "coltraro2022", "step": 0.01, "duration": 0.2, "frame_interval": 0.02,
    "projection": {"max_substeps": 4},
    "garments": [{"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [6, 5], "size": [0.3, 0.2]},
                  "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 1e-5, "mass_damping": 0.1},
                  "transform": {"translation": [0, 0, 0.002]}}],
    "obstacles": [{"name": "floor", "shape": {"type": "plane"}, "friction": {"static": 0.5}},
                  {"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0.15, 0.1, -0.099]}],
    "contact": {"tolerance": 0.0005}})");
}

// Tables and summary say what the kept contacts are: p = force times h^2, times 1 / (rho + h alpha) where the
// metric is the mass.
TEST_F(ObstacleCommand, TellsForcesAndPenetration) {
  for (const double inertia : {1., 0.2 + 0.01 * 0.1}) {
    Json scene = sheet_on_a_floor();
    scene["projection"]["metric"] = inertia == 1 ? "implicit" : "mass";
    write_scene("scene.json", scene);
    complete("scene.json", "out", {"--overwrite"});
    Vec3d by[2];
    Index count = 0;
    const Checkpoint end = checkpoint("out");
    for (const ContactState& contact : end.garments[0].contacts) {
      if (contact.obstacle < 0 || norm(contact.force) == 0) continue;
      by[contact.obstacle] += inertia / (0.01 * 0.01) * contact.force;
      ++count;
    }
    const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
    double deepest = 0, largest = 0;
    Index most = 0;
    FrameMetrics last;
    for (std::size_t f = 0; f < trajectory.frame_count(); ++f) {
      last = trajectory.metrics(f, 0);
      deepest = std::max(deepest, last.steps.penetration);
      largest = std::max(largest, norm(last.contacts.force));
      most = std::max(most, last.contacts.count);
    }
    const double few_eps = 1e-13;  // sums of some tens of numbers
    ASSERT_GT(count, 0);
    EXPECT_EQ(last.contacts.count, count);
    EXPECT_LE(norm(last.contacts.force - by[0] - by[1]), few_eps * largest);
    const Json s = summary("out");
    EXPECT_NEAR(s["contact_force"]["floor"], norm(by[0]), few_eps * largest);
    EXPECT_NEAR(s["contact_force"]["ball"], norm(by[1]), few_eps * largest);
    EXPECT_EQ(s["penetration_max"], deepest);
    EXPECT_EQ(s["contact_force_max"], largest);
    EXPECT_EQ(s["contact_count_max"], most);
    EXPECT_LE(deepest, 0.0005);
    EXPECT_GT(last.contacts.force.z, 0);
  }
}

TEST_F(ObstacleCommand, NamesPenetrationWhereThatIsMissed) {
  Json scene = sheet_on_a_floor();
  scene["contact"]["tolerance"] = 1e-15;
  scene["projection"] = {{"max_iterations", 1}, {"tolerance", 0.1}};
  write_scene("scene.json", scene);
  const Finished run = isocloth({"run", "scene.json", "-o", "out"});
  EXPECT_EQ(run.code, 1);
  for (const char* part :
       {"garments[0] \"sheet\": penetration of obstacles by ",
        " m, expected <= 1e-15 (contact.tolerance) after 1 iterations", "projection.max_substeps 2"})
    EXPECT_NE(run.errors.find(part), std::string::npos) << run.errors;
  EXPECT_EQ(run.errors.find("residual"), std::string::npos) << run.errors;
}

// Every case of a sweep meets the obstacles with the friction of the file's garment.
TEST_F(ObstacleCommand, SweepsMeetObstaclesAsRunsDo) {
  Json scene = Json::parse(R"({"name": "slope", "step": 0.01, "duration": 0.1,
    "garments": [{"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [4, 4], "size": [0.3, 0.3]},
                  "fabric": {"density": 0.2, "gravity_density": 0.2, "mass_damping": 0.1}, "transform": {"rotation": [20, 0, 0]}}],
    "obstacles": [{"name": "slope", "shape": {"type": "plane"}, "position": [0, 0, -0.001],
                   "rotation_degrees": [20, 0, 0]}],
    "contact": {"pairs": [{"garment": "sheet", "obstacle": "slope", "static": 1}]}})");
  write_scene("scene.json", scene);
  sweep_to_the_end("out", {"--vary", "fabric.density=0.2,0.3", "--measure", "node:0"});
  const Cells rows = cells("out");
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t i = 0; i < 2; ++i) {
    scene["garments"][0]["fabric"]["density"] = std::stod(rows[i + 1][1]);
    write_scene("single.json", scene);
    complete("single.json", "single", {"--overwrite"});
    for (std::size_t k = 0; k < 3; ++k)
      EXPECT_EQ(std::stod(rows[i + 1][3 + k]), checkpoint("single").garments[0].positions[k]) << i;
  }
}

}  // namespace
}  // namespace isocloth
