// Grippers, drag and wind of scene files.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/results/scene_digest.hpp"
#include "tests/io/changed_scene.hpp"

namespace isocloth {
namespace {

constexpr const char* good = R"({"step": 0.01, "duration": 1, "seed": 5,
  "wind": {"velocity": [1, 2, 3], "gusts": 0.5, "gust_period": 2},
  "garments": [{"mesh": {"generator": "quad_grid", "nodes": [3, 3], "size": [1, 1]},
    "fabric": {"drag": {"normal": 0.75, "tangential": 0.25}},
    "grippers": [
      {"name": "left", "region": {"type": "box", "size": [1, 2, 3]}, "position": [1, 2, 3],
       "rotation_degrees": [0, 0, 180], "holds": [{"from": 0, "to": 1}, {"from": 2, "to": 3}], "stiffness": 7,
       "motion": {"type": "keyframes", "times": [0, 1], "translations": [[0, 0, 0], [0, 0, 4]]}},
      {"region": {"type": "cylinder", "radius": 2, "height": 1}, "holds": [{"from": 0, "to": 1}],
       "motion": {"type": "recorded", "file": "poses.csv"}}]}]})";

class GripperFile : public ChangedScene {
 protected:
  GripperFile() : ChangedScene(good) {
    folder_.write("poses.csv", "0, 1, 1, 1, 0, 0, 0\n1, 2, 1, 1, 0, 0, 90\n");
  }
};

TEST_F(GripperFile, AllKeysArrive) {
  const Scene scene = read(parse_json(good, "good"));
  EXPECT_EQ(scene.wind.velocity, (Vec3d{1, 2, 3}));
  EXPECT_EQ(scene.wind.gusts, 0.5);
  EXPECT_EQ(scene.wind.gust_period, 2);
  const Garment& garment = scene.garments[0];
  EXPECT_EQ(garment.fabric.drag.normal, 0.75);
  EXPECT_EQ(garment.fabric.drag.tangential, 0.25);
  ASSERT_EQ(garment.grippers.size(), 2u);
  const Gripper &left = garment.grippers[0], &other = garment.grippers[1];
  EXPECT_EQ(left.name, "left");
  EXPECT_EQ(std::get<BoxShape>(left.region).size, (Vec3d{1, 2, 3}));
  ASSERT_EQ(left.holds.size(), 2u);
  EXPECT_EQ(left.holds[1].from, 2);
  EXPECT_EQ(left.holds[1].to, 3);
  EXPECT_EQ(left.stiffness, 7);
  const Pose half = gripper_pose(left, 0.5);
  EXPECT_EQ(half.center, (Vec3d{1, 2, 5}));
  EXPECT_NEAR(half.axes[0].x, -1, 1e-15);
  EXPECT_EQ(other.name, "gripper 1");
  EXPECT_EQ(std::get<CylinderShape>(other.region).radius, 2);
  const Pose end = gripper_pose(other, 1);
  EXPECT_NEAR(norm(end.center - Vec3d{2, 1, 1}), 0, 1e-15);
  EXPECT_NEAR(end.axes[0].y, 1, 1e-15);
}

TEST_F(GripperFile, MistakesAreNamed) {
  const std::string key = "garments[0].grippers[0]";
  const std::vector<std::pair<std::function<void(Json&)>, std::string>> cases = {
      {[](Json& s) { s["garments"][0]["grippers"][0]["holds"] = 1; }, key + ".holds: found 1"},
      {[](Json& s) { s["garments"][0]["grippers"][0]["holds"][1]["from"] = 1; },
       key + ".holds[1].from: found 1, expected more than 1"},
      {[](Json& s) { s["garments"][0]["grippers"][0].erase("region"); }, key + ".region: not found"},
      {[](Json& s) { s["garments"][0]["grippers"][0]["region"]["type"] = "plane"; },
       key + ".region.type: found \"plane\", expected sphere, cylinder or box"},
      {[](Json& s) { s["garments"][0]["grippers"][0]["stifness"] = 1; }, "the nearest is \"stiffness\""},
      {[](Json& s) { s["garments"][0]["grippers"][1]["name"] = "left"; },
       "garments[0].grippers[1].name: found \"left\", already the name of grippers[0]"},
      {[](Json& s) {
         s["garments"][0]["grippers"][1]["position"] = {1, 0, 0};
       },
       "garments[0].grippers[1]: found position or rotation_degrees beside a recorded motion"},
      {[](Json& s) { s["garments"][0]["fabric"]["drag"]["normal"] = -1; },
       "garments[0].fabric.drag.normal: found -1"},
      {[](Json& s) { s["wind"]["gust_period"] = 0; }, "wind.gust_period: found 0"},
  };
  EXPECT_EQ(message([](Json&) {}), "accepted");
  // Commands alone close it.
  EXPECT_EQ(message([](Json& s) { s["garments"][0]["grippers"][0]["holds"] = Json::array(); }), "accepted");
  for (const auto& [change, expected] : cases) {
    const std::string found = message(change);
    EXPECT_NE(found.find(expected), std::string::npos) << found << "\nexpected " << expected;
  }
}

TEST_F(GripperFile, DigestsTellThemApart) {
  const auto digest = [&](const std::function<void(Json&)>& change) {
    Json scene = parse_json(good, "good");
    change(scene);
    return scene_digest(read(scene));
  };
  std::vector<std::uint64_t> found = {digest([](Json&) {})};
  EXPECT_EQ(digest([](Json&) {}), found[0]);
  const std::vector<std::function<void(Json&)>> changes = {
      [](Json& s) { s["garments"][0]["grippers"][0]["holds"][0]["to"] = 1.5; },
      [](Json& s) {
        s["garments"][0]["grippers"][0]["region"]["size"] = {1, 2, 4};
      },
      [](Json& s) { s["garments"][0]["grippers"][0]["stiffness"] = 0; },
      [](Json& s) {
        s["garments"][0]["grippers"][0]["motion"]["times"] = {0, 2};
      },
      [](Json& s) { s["garments"][0]["fabric"]["drag"]["tangential"] = 0; },
      [](Json& s) { s["wind"]["gusts"] = 0; },
      [](Json& s) { s["seed"] = 6; }};
  for (const auto& change : changes) {
    const std::uint64_t own = digest(change);
    for (const std::uint64_t other : found) EXPECT_NE(own, other);
    found.push_back(own);
  }
}

}  // namespace
}  // namespace isocloth
