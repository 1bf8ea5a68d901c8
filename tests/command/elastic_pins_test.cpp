// Elastic cloth follows its pins: nothing is torn but rigid rows and limits of strain.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

class ElasticPins : public CommandTest {
 protected:
  /// A sheet of 0.2 m whose rim is pinned; its right side is taken away by `distance` within 0.1 s.
  static Json drum(const std::string& recipe, double distance) {
    Json scene = Json::parse(R"({"step": 0.002, "duration": 0.1, "gravity": 0, "frame_interval": 0.02,
        "garments": [{"name": "drum", "mesh": {"generator": "triangle_grid", "nodes": [7, 7], "size": [0.2, 0.2]},
          "fabric": {"density": 0.2, "mass_damping": 1, "stretch_stiffness": 1000, "shear_stiffness": 50}, "pins": []}]})");
    scene["recipe"] = recipe;
    Json left = Json::array(), right = Json::array();
    for (int j = 0; j < 7; ++j)
      for (int i = 0; i < 7; ++i)
        if (i == 0 || ((j == 0 || j == 6) && i < 6))
          left.push_back(7 * j + i);
        else if (i == 6)
          right.push_back(7 * j + i);
    scene["garments"][0]["pins"] = {
        {{"select", {{"nodes", left}}}},
        {{"select", {{"nodes", right}}},
         {"motion",
          {{"type", "keyframes"}, {"times", {0, 0.1}}, {"translations", {{0, 0, 0}, {distance, 0, 0}}}}}}};
    return scene;
  }
  /// The warnings of pins.
  Json told(const Json& scene) {
    write_scene("scene.json", scene);
    const Finished run = isocloth({"check", "scene.json", "--json"});
    EXPECT_EQ(run.code, 0) << run.errors;
    const Json result = Json::parse(run.output);
    Json found = Json::array();
    for (const Json& line : result["warnings"])
      if (line.get<std::string>().find("pins ") != std::string::npos) found.push_back(line);
    return found;
  }
};

// Edges between pins grow by 1 % of the width in their last column, 6 %.
TEST_F(ElasticPins, MayBeStretchedByThem) {
  for (const std::string recipe :
       {"membrane", "elastic_edges", "springs", "soft_constraints", "corotational"}) {
    EXPECT_EQ(told(drum(recipe, 0.002)), Json::array()) << recipe;
    const Finished run = isocloth({"run", "scene.json", "-o", recipe, "--quiet"});
    EXPECT_EQ(run.code, 0) << recipe << run.errors;
    EXPECT_EQ(summary(recipe)["steps_violated"], 0) << recipe;
    EXPECT_GT(summary(recipe)["strain_max"], 0.05) << recipe;
  }
}

TEST_F(ElasticPins, TearRigidRowsAndLimits) {
  Json limited = drum("membrane", 0.004);
  limited["garments"][0]["fabric"]["strain_limit"] = 0.05;
  for (const Json& scene : {drum("coltraro2022", 0.004), drum("inextensible_edges", 0.004), limited}) {
    const Json warnings = told(scene);
    ASSERT_EQ(warnings.size(), 1U) << warnings;
    EXPECT_NE(warnings[0].get<std::string>().find("cannot follow"), std::string::npos) << warnings;
    const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"});
    EXPECT_EQ(run.code, 1) << run.errors;
    EXPECT_EQ(summary("out")["status"], "stopped");
  }
  // Within its limit it may be stretched, and shortened as far as one likes.
  limited["garments"][0]["fabric"]["strain_limit"] = 0.2;
  EXPECT_EQ(told(limited), Json::array());
  EXPECT_EQ(isocloth({"run", "scene.json", "-o", "out", "--quiet", "--overwrite"}).code, 0);
  EXPECT_EQ(summary("out")["steps_violated"], 0);
}

}  // namespace
}  // namespace isocloth
