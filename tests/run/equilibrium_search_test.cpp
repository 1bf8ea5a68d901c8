// Where cloth comes to rest: against the elastica, and by letting it go on moving.
#include "host/run/equilibrium_search.hpp"

#include "engine/core/errors.hpp"
#include "host/run/run_scene.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {
namespace {

class Equilibrium : public ResultTest {
 protected:
  RunSummary find_equilibrium(const Json& scene, const EquilibriumSettings& settings = {},
                              RunObserver* observer = nullptr, Monitor* monitor = nullptr) const {
    write_scene("scene.json", scene);
    return run_scene({.scene = folder_ / "scene.json",
                      .output = folder_ / "out",
                      .execution = {.threads = 1, .monitor = monitor},
                      .result = {.if_exists = IfExists::overwrite},
                      .equilibrium = settings},
                     observer);
  }
  std::vector<double> last_frame() const {
    const TrajectoryFile found(folder_ / "out" / "trajectory.h5");
    return found.positions(found.frame_count() - 1);
  }
};

/// A strip of 17 x 5 nodes clamped at its first two columns, 1 m from there to its end, delta g L^3 / D = 5.
Json cantilever(const std::string& recipe) {
  Json scene = Json::parse(R"({"step": 0.01, "duration": 1, "gravity": 9.8, "garments": [{
    "name": "strip", "mesh": {"generator": "quad_grid", "nodes": [17, 5], "size": [1.0666666666666667, 0.26]},
    "fabric": {"density": 1, "gravity_density": 1, "bending_stiffness": 1.96, "bending": "plate"},
    "pins": [{"select": {"box": {"min": [-1, -1, -1], "max": [0.07, 1, 1]}}}]}]})");
  scene["recipe"] = recipe;
  scene["projection"]["tolerance"] = recipe == "membrane" ? 5e-3 : 1e-6;
  if (recipe == "membrane") {
    scene["garments"][0]["fabric"]["stretch_stiffness"] = 1e5;
    scene["garments"][0]["fabric"]["shear_stiffness"] = 3e4;
  }
  return scene;
}

TEST_F(Equilibrium, OfAStripIsTheHeavyElastica) {
  for (const char* recipe : {"membrane", "coltraro2022"}) {
    const RunSummary found = find_equilibrium(cantilever(recipe));
    EXPECT_EQ(found.status, "completed") << found.message;
    EXPECT_EQ(found.message.rfind("at rest: ", 0), 0u) << found.message;
    EXPECT_LE(found.step_count, 100) << "no more than a third of the steps of a fall";
    const std::vector<double> x = last_frame();
    const std::size_t tip = 3 * (2 * 17 + 16);
    EXPECT_NEAR(-x[tip + 2] / 0.495905, 1, 0.01) << recipe;
    EXPECT_NEAR((x[tip] - 1.0 / 15) / 0.846657, 1, 0.01) << recipe;
  }
}

// Released from there, an unbalanced thousandth of its weight moves a node by less than g t^2 / 2000.
TEST_F(Equilibrium, StaysWhereItIs) {
  Json json = cantilever("membrane");
  ASSERT_EQ(find_equilibrium(json).status, "completed");
  const std::vector<double> x = last_frame();
  Scene scene = read_scene(folder_ / "scene.json");
  scene.duration = 0.2;
  scene.projection.tolerance = 1e-8;
  Simulation simulation(scene, {.threads = 1});
  std::vector<Vec3d> start(x.size() / 3);
  for (std::size_t i = 0; i < start.size(); ++i) start[i] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
  simulation.write(GarmentField::positions, {start.data(), start.size()});
  simulation.advance(20);
  double most = 0;
  for (std::size_t i = 0; i < start.size(); ++i)
    most = std::max(most, norm(simulation.positions(0)[i] - start[i]));
  EXPECT_LE(most, 1e-3 * 9.8 * 0.2 * 0.2 / 2);
}

// A sheet that lies on a ball, rubs on it and crumples around it: the ball bears its weight, and no more.
TEST_F(Equilibrium, OfASheetOnABallLeavesItsWeightThere) {
  const Json scene = Json::parse(R"({"step": 0.005, "duration": 1, "gravity": 9.8, "recipe": "membrane",
    "projection": {"tolerance": 5e-3}, "contact": {"tolerance": 1e-3, "margin": 1e-3},
    "garments": [{"name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [13, 13], "size": [0.4, 0.4]},
    "transform": {"translation": [-0.2, -0.19, 0.155]}, "rest_noise": {"normal_deviation": 1e-4},
    "fabric": {"density": 0.15, "gravity_density": 0.15, "bending_stiffness": 1e-5, "stretch_stiffness": 2000, "shear_stiffness": 100,
               "mass_damping": 0.15}}],
    "obstacles": [{"name": "ball", "shape": {"type": "sphere", "radius": 0.15}, "friction": {"static": 0.3}}]})");
  const RunSummary found = find_equilibrium(scene);
  EXPECT_EQ(found.status, "completed") << found.message;
  const TrajectoryFile trajectory(folder_ / "out" / "trajectory.h5");
  const FrameMetrics& last = trajectory.metrics(trajectory.frame_count() - 1, 0);
  const double weight = 0.15 * 9.8 * 0.16;
  EXPECT_NEAR(last.contacts.force.z, weight, 2e-3 * weight);
  EXPECT_LE(std::hypot(last.contacts.force.x, last.contacts.force.y), 2e-3 * weight);
  EXPECT_GT(last.contacts.sticking, 5);
}

TEST_F(Equilibrium, RefusesWhatMovesByItselfAndLeavesNothing) {
  Json moving = cantilever("membrane"), obstacle = moving, impulses = cantilever("bender_iterative"),
       unheld = moving;
  moving["garments"][0]["pins"][0]["motion"] =
      Json{{"type", "oscillation"}, {"amplitude", {0, 0.1, 0}}, {"frequency", 1}};
  unheld["garments"][0].erase("pins");
  obstacle["obstacles"] = Json::parse(
      R"([{"name": "ball", "shape": {"type": "sphere", "radius": 0.1}, "position": [0, 0, -1],
           "motion": {"type": "oscillation", "amplitude": [0, 0.1, 0], "frequency": 1}}])");
  for (const auto& [scene, expected] : {std::pair{moving, "garments[0].pins[0].motion"},
                                        {obstacle, "obstacles[0].motion: found a motion"},
                                        {unheld, "garments[0]: found no pins, and obstacles: found none"},
                                        {impulses, "recipe: found bender_iterative"}}) {
    try {
      find_equilibrium(scene);
      ADD_FAILURE() << expected;
    } catch (const SceneError& error) {
      EXPECT_NE(std::string(error.what()).find(expected), std::string::npos) << error.what();
    }
    EXPECT_FALSE(fs::exists(folder_ / "out"));
  }
}

TEST_F(Equilibrium, EndsWhereItMayOrMust) {
  RunSummary found = find_equilibrium(cantilever("membrane"), {.most_steps = 3});
  EXPECT_EQ(found.status, "stopped");
  EXPECT_NE(found.message.find("no rest within 3 steps"), std::string::npos) << found.message;

  struct Stopper : RunObserver {
    explicit Stopper(Monitor& m) : monitor(m) {}
    void on_step(std::int64_t done, double) override { monitor.stop = done == 5; }
    Monitor& monitor;
  };
  Monitor monitor;
  Stopper stopper(monitor);
  found = find_equilibrium(cantilever("membrane"), {}, &stopper, &monitor);
  EXPECT_EQ(found.status, "interrupted") << found.message;
  EXPECT_GE(last_frame().size(), 3u * 85) << "a valid result";
}

}  // namespace
}  // namespace isocloth
