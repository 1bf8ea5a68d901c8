// Sewing before time begins: what is closed, what stays open and why, and where it can be taken from there.
#include "host/run/sew.hpp"

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/weld.hpp"
#include "engine/model/scene_intersections.hpp"
#include "host/files/text_file.hpp"
#include "host/run/run_scene.hpp"
#include "host/scene/sewn_file.hpp"
#include "tests/run/result_case.hpp"

namespace isocloth {
namespace {

Json panel(const std::string& name, double width, double height, double y, bool is_back) {
  Json json{{"name", name},
            {"outline", {{-width / 2, 0}, {width / 2, 0}, {width / 2, height}, {-width / 2, height}}},
            {"translation", {0, y, 0}}};
  if (is_back) json["rotation"] = {0, 0, 180};
  return json;
}

Json seam(const std::string& one, int edge, const std::string& other, int other_edge) {
  return {{"panel", one}, {"edge", edge}, {"other_panel", other}, {"other_edge", other_edge}};
}

/// Two upright panels `gap` apart, sewn to a tube.
Json tube(const std::string& name, double width, double height, double gap) {
  return {{"name", name},
          {"mesh",
           {{"panels",
             {panel("front", width, height, -gap / 2, false), panel("back", width, height, gap / 2, true)}},
            {"seams", {seam("front", 1, "back", 3), seam("front", 3, "back", 1)}},
            {"edge_length", 0.03}}},
          {"fabric", {{"preset", "cotton"}, {"thickness", 0.001}}}};
}

/// Around an upright cylinder of 0.07 m radius, 0.44 m around.
Json around_a_body(const std::vector<Json>& garments) {
  Json scene = Json::parse(
      R"({"recipe": "membrane", "step": 0.005, "duration": 0.02, "projection": {"tolerance": 0.005},
    "contact": {"tolerance": 0.00025, "cloth": true, "cloth_friction": {"static": 0.3}}, "sewing": {},
    "obstacles": [{"name": "body", "shape": {"type": "cylinder", "radius": 0.07, "height": 0.6, "rounding": 0.02},
                   "position": [0, 0, 0.1], "friction": {"static": 0.3}}]})");
  scene["garments"] = Json::array();
  for (const Json& garment : garments) scene["garments"].push_back(garment);
  return scene;
}

class Sewing : public ResultTest {
 protected:
  Scene read(const Json& json) {
    write_scene("scene.json", json);
    std::vector<std::string> warnings;
    return read_scene(folder_ / "scene.json", warnings, plan_);
  }
  SewnScene sewn(const Json& json) {
    const Scene scene = read(json);
    return sew(scene, plan_, {.threads = 1});
  }
  RunSummary run(const Json& json, const std::string& output, IfExists if_exists = IfExists::refuse) {
    write_scene(output + ".json", json);
    return run_scene({.scene = folder_ / (output + ".json"),
                      .output = folder_ / output,
                      .execution = {.threads = 1},
                      .result = {.if_exists = if_exists}});
  }
  SewingPlan plan_;
};

double mean_radius(const Garment& garment) {
  double sum = 0;
  for (const Vec3d& p : start_positions(garment)) sum += std::hypot(p.x, p.y);
  return sum / static_cast<double>(garment.mesh.node_count());
}

TEST_F(Sewing, ClosesWithoutNumbersAndBeforeAnythingFalls) {
  const SewnScene found = sewn(around_a_body({tube("tube", 0.24, 0.21, 0.3)}));
  EXPECT_LE(found.opening, 2e-4);
  EXPECT_LE(found.imbalance, 0.02);
  EXPECT_TRUE(found.unclosed.empty());
  const Garment& garment = found.scene.garments.front();
  EXPECT_LE(sewn_openings(garment.mesh, start_positions(garment)).seam, 2e-4);
  // Without gravity it stays at its height: 0 to 0.21 m.
  double z = 0;
  for (const Vec3d& p : start_positions(garment)) z += p.z / garment.mesh.node_count();
  EXPECT_NEAR(z, 0.105, 0.01);
  // 0.48 m of cloth around 0.44 m of body and as much as half its thickness beyond.
  EXPECT_GT(mean_radius(garment), 0.07);
  EXPECT_LT(mean_radius(garment), 0.08);
  // What was sewn is a valid start, and the run goes on from standstill.
  Simulation simulation(found.scene, {.threads = 1});
  EXPECT_EQ(simulation.step().front().status, StepStatus::converged);
}

TEST_F(Sewing, RepeatsItselfToTheLastBit) {
  const Json scene = around_a_body({tube("tube", 0.24, 0.21, 0.3)});
  EXPECT_EQ(sewn(scene).scene.garments[0].initial_positions, sewn(scene).scene.garments[0].initial_positions);
}

TEST_F(Sewing, SaysWhatKeepsASeamOpen) {
  // 0.36 m of cloth around 0.44 m.
  const SewnScene found = sewn(around_a_body({tube("tube", 0.18, 0.21, 0.3)}));
  ASSERT_EQ(found.unclosed.size(), 2u);
  const std::string line = describe(found.unclosed.front(), found.scene);
  EXPECT_NE(line.find("tube: front."), std::string::npos) << line;
  EXPECT_NE(line.find("held by \"body\""), std::string::npos) << line;
}

TEST_F(Sewing, SaysThatPinsKeepASeamOpen) {
  Json garment = tube("tube", 0.24, 0.21, 0.1);
  const Json nail =
      Json::parse(R"({"name": "nail", "select": {"nearest": [[0.12, -0.05, 0], [0.12, 0.05, 0]]}})");
  garment["pins"] = Json::array();
  garment["pins"].push_back(nail);
  Json scene = around_a_body({garment});
  scene["obstacles"] = Json::array();
  const SewnScene found = sewn(scene);
  ASSERT_FALSE(found.unclosed.empty());
  EXPECT_NE(found.unclosed.front().cause.find("held by pin \"nail\""), std::string::npos)
      << found.unclosed.front().cause;
}

TEST_F(Sewing, ClosesDartsFirstAndPanelsByTheirLayers) {
  Json garment = tube("skirt", 0.24, 0.21, 0.3);
  garment["mesh"]["panels"][0]["outline"] = {{-0.12, 0}, {0.12, 0},     {0.12, 0.21}, {0.02, 0.21},
                                             {0, 0.12},  {-0.02, 0.21}, {-0.12, 0.21}};
  garment["mesh"]["seams"] = {seam("front", 1, "back", 3), seam("front", 6, "back", 1),
                              seam("front", 3, "front", 4)};
  garment["mesh"]["seams"][1]["order"] = 7;
  read(around_a_body({garment}));
  EXPECT_EQ(plan_.seams.front()->orders, (std::vector<Index>{1, 7, 0}));
  garment["mesh"]["panels"][1]["layer"] = 1;
  read(around_a_body({garment}));
  EXPECT_EQ(plan_.seams.front()->orders, (std::vector<Index>{1001 + 1, 1001 + 7, 0}));
  const SewnScene found = sewn(around_a_body({garment}));
  EXPECT_LE(found.opening, 2e-4);
}

TEST_F(Sewing, DressesLayerByLayer) {
  // The outer one is named first, and both stand in one place but for a centimetre.
  Json outer = tube("outer", 0.28, 0.15, 0.32), inner = tube("inner", 0.24, 0.21, 0.3);
  outer["layer"] = 1;
  const SewnScene found = sewn(around_a_body({outer, inner}));
  EXPECT_TRUE(found.unclosed.empty());
  EXPECT_GT(mean_radius(found.scene.garments[0]), mean_radius(found.scene.garments[1]) + 0.0005);
  const IntersectionReport start = SceneIntersections(found.scene).of_start();
  EXPECT_TRUE(start.pairs.empty());
}

TEST_F(Sewing, ClosesWhatBeginsFarFromTheBody) {
  // A shirt with sleeves over a skirt: panels a quarter of a metre away meet arms and each other on their
  // way.
  Json scene =
      Json::parse(read_whole_file(std::string(ISOCLOTH_SOURCE_DIR) + "/bench/scenes/skirt_and_shirt.json"));
  scene["sewing"] = Json::object();
  Json &skirt = scene["garments"][0], &shirt = scene["garments"][1];
  skirt.erase("sewing");
  shirt.erase("grippers");
  shirt["layer"] = 1;
  for (const std::size_t panel : {0, 1})
    ASSERT_EQ(std::abs(shirt["mesh"]["panels"][panel]["translation"][1].get<double>()), 0.27);
  const SewnScene found = sewn(scene);
  EXPECT_TRUE(found.unclosed.empty()) << describe(found);
  EXPECT_LE(found.opening, 2e-4);
}

TEST_F(Sewing, IsOneFileThatOtherScenesBeginWith) {
  Json scene = around_a_body({tube("tube", 0.24, 0.21, 0.3)});
  scene["sewing"]["frames"] = 4;
  ASSERT_EQ(run(scene, "out").status, "completed");
  EXPECT_GE(TrajectoryFile(folder_ / "out" / "sewing.h5").frame_count(), 3u);
  const TrajectoryFile first(folder_ / "out" / "trajectory.h5");
  // The same cloth, held by the same seams, in a scene that knows of no panels.
  scene.erase("sewing");
  Json& garment = scene["garments"][0];
  garment["mesh"] = {{"file", "out/sewn.h5"}, {"garment", "tube"}};
  ASSERT_EQ(run(scene, "again").status, "completed");
  const TrajectoryFile second(folder_ / "again" / "trajectory.h5");
  ASSERT_EQ(first.frame_count(), second.frame_count());
  for (std::size_t f = 0; f < first.frame_count(); ++f)
    EXPECT_TRUE(same_bits(first.positions(f), second.positions(f))) << "frame " << f;
  garment["mesh"]["garment"] = "tub";
  EXPECT_NE(message_of<SceneError>([&] { run(scene, "third"); }).find("the nearest is \"tube\""),
            std::string::npos);
  garment["mesh"] = {{"file", "out/trajectory.h5"}};
  EXPECT_NE(message_of<FileError>([&] { run(scene, "third"); }).find("expected the sewn.h5 of a result"),
            std::string::npos);
}

TEST_F(Sewing, StopsBeforeTimeBeginsWhereSeamsStayOpen) {
  Json scene = around_a_body({tube("tube", 0.18, 0.21, 0.3)});
  const RunSummary stopped = run(scene, "out");
  EXPECT_EQ(stopped.status, "stopped");
  EXPECT_EQ(stopped.step_count, 0);
  EXPECT_NE(stopped.message.find("held by \"body\""), std::string::npos) << stopped.message;
  scene["sewing"]["if_open"] = "continue";
  const RunSummary other = run(scene, "other");
  EXPECT_EQ(other.step_count, 4);
}

TEST_F(Sewing, GoesOnWhereItWasInterrupted) {
  struct Interruption : RunObserver {
    explicit Interruption(Monitor& m) : monitor(m) {}
    void on_step(std::int64_t done, double) override { monitor.stop = done == 2; }
    Monitor& monitor;
  };
  const Json scene = around_a_body({tube("tube", 0.24, 0.21, 0.3)});
  ASSERT_EQ(run(scene, "whole").status, "completed");
  Monitor monitor;
  Interruption interruption(monitor);
  write_scene("parts.json", scene);
  RunRequest request{.scene = folder_ / "parts.json",
                     .output = folder_ / "parts",
                     .execution = {.threads = 1, .monitor = &monitor},
                     .result = {}};
  ASSERT_EQ(run_scene(request, &interruption).status, "interrupted");
  ASSERT_EQ(run(scene, "parts", IfExists::resume).status, "completed");
  expect_same_trajectory("whole", "parts");
}

TEST_F(Sewing, LeavesNothingWhereItIsInterruptedWhileItSews) {
  struct Interruption : RunObserver {
    explicit Interruption(Monitor& m) : monitor(m) {}
    void on_sewing(const SewingProgress& sewing) override { monitor.stop = sewing.step == 3; }
    Monitor& monitor;
  };
  Monitor monitor;
  Interruption interruption(monitor);
  write_scene("scene.json", around_a_body({tube("tube", 0.24, 0.21, 0.3)}));
  EXPECT_THROW(run_scene({.scene = folder_ / "scene.json",
                          .output = folder_ / "out",
                          .execution = {.threads = 1, .monitor = &monitor},
                          .result = {}},
                         &interruption),
               Interrupted);
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(Sewing, RefusesWhatItCannotSew) {
  const auto message = [&](const Json& json) { return message_of<SceneError>([&] { read(json); }); };
  Json scene = around_a_body({tube("tube", 0.24, 0.21, 0.3)});
  scene["garments"][0]["mesh"]["seams"] = Json::array();
  EXPECT_NE(message(scene).find("sewing: found no garment with seams"), std::string::npos) << message(scene);
  scene = around_a_body({tube("tube", 0.24, 0.21, 0.3)});
  scene["sewing"]["strain"] = 2;
  EXPECT_NE(message(scene).find("sewing.strain"), std::string::npos) << message(scene);
}

}  // namespace
}  // namespace isocloth
