// `isocloth rest --recipe`.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

Json hung() {
  return Json::parse(R"({
    "name": "hung", "recipe": "membrane", "step": 0.01, "duration": 0.1,
    "garments": [{
      "name": "sheet",
      "mesh": {"generator": "quad_grid", "nodes": [7, 7], "size": [0.3, 0.3]},
      "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 1e-5},
      "pins": [{"select": {"nodes": [0, 6]}}]}]})");
}

class MinimiseCommand : public CommandTest {
 protected:
  Finished rest(const Json& scene, const std::vector<std::string>& options = {"--recipe", "breen1994"}) {
    write_scene("scene.json", scene);
    std::vector<std::string> arguments{"rest", "scene.json", "-o", "out", "--overwrite", "--json"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return isocloth(arguments);
  }
  void expect_refusal(const Json& scene, const std::string& reason) {
    const Finished run = rest(scene);
    EXPECT_EQ(run.code, 2);
    EXPECT_NE(run.errors.find(reason), std::string::npos) << run.errors;
  }
};

TEST_F(MinimiseCommand, WritesShapeSummaryEnergiesAndReport) {
  const Finished run = rest(hung());
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_EQ(names(folder_ / "out"), (std::vector<std::string>{"energy.csv", "report.html", "rest.obj",
                                                              "scene.json", "summary.json"}));
  const Json said = Json::parse(run.output);
  EXPECT_EQ(said, summary("out"));
  EXPECT_EQ(said["status"], "at rest");
  double sum = 0;
  for (const auto& [name, value] : said["energies"].items()) sum += value.get<double>();
  EXPECT_NEAR(sum, said["energy"].get<double>(), 1e-12);
  EXPECT_LT(said["energies"]["gravity"].get<double>(), 0);
  EXPECT_EQ(rest(hung(), {"--recipe", "breen1994", "--most-iterations", "1"}).code, 1);
}

TEST_F(MinimiseCommand, MultigridSaysItsLevels) {
  const std::vector<std::string> options{"--recipe", "feynman1986", "--minimiser", "multigrid"};
  Json scene = hung();
  scene["garments"][0]["mesh"] = {{"generator", "quad_grid"}, {"nodes", {9, 9}}, {"size", {0.4, 0.4}}};
  scene["garments"][0]["pins"][0]["select"]["nodes"] = {0, 8};
  Finished run = rest(scene, options);
  ASSERT_EQ(run.code, 0) << run.errors;
  Json said = summary("out");
  EXPECT_EQ(said["recipe"], "feynman1986");
  EXPECT_EQ(said["minimiser"], "multigrid");
  ASSERT_EQ(said["levels"].size(), 3u);
  EXPECT_EQ(said["levels"][0]["nodes"], Json({3, 3}));
  EXPECT_EQ(said["levels"][2]["energy"], said["energy"]);
  EXPECT_EQ(said["warnings"].size(), 0u);
  scene["garments"][0]["mesh"]["nodes"] = {10, 10};
  scene["garments"][0]["pins"][0]["select"]["nodes"] = {0, 9};
  run = rest(scene, options);
  EXPECT_EQ(summary("out")["levels"].size(), 1u);
  EXPECT_NE(run.errors.find("10 x 10"), std::string::npos) << run.errors;
  scene["garments"][0]["fabric"].erase("bending_stiffness");
  EXPECT_NE(rest(scene, options).errors.find("garments[0].fabric.bending_stiffness"), std::string::npos);
  EXPECT_EQ(rest(scene, {"--recipe", "feynmann"}).code, 2);
}

TEST_F(MinimiseCommand, BendsByAMeasuredCurveWhichOtherRecipesDoNotKnow) {
  Json scene = hung();
  rest(scene);
  const double stiff = summary("out")["energy"];
  scene["garments"][0]["fabric"]["curves"] = {{"bend", {{"curvature", {5, 100}}, {"moment", {5e-5, 6e-5}}}}};
  ASSERT_EQ(rest(scene).code, 0);
  EXPECT_EQ(summary("out")["warnings"].size(), 0u);
  EXPECT_LT(summary("out")["energy"].get<double>(), stiff);  // it is softer where it bends more
  write_scene("scene.json", scene);
  EXPECT_NE(isocloth({"check", "scene.json"}).output.find("fabric.curves.bend"), std::string::npos);
  // Poisson's ratio of a preset does not stand in a curve's way.
  scene["garments"][0]["fabric"] = {{"preset", "cotton"},
                                    {"curves", {{"shear", {{"strain", {0.1, 0.2}}, {"force", {5, 20}}}}}}};
  EXPECT_EQ(rest(scene).code, 0);
}

TEST_F(MinimiseCommand, TakesThePlaceOfTheScenesRecipe) {
  Json scene = hung();
  scene["recipe"] = "provot1995";
  scene["garments"][0]["fabric"]["structural_spring"] = {{"stiffness", 20}};
  const Finished run = rest(scene);
  EXPECT_EQ(run.code, 0) << run.errors;
}

TEST_F(MinimiseCommand, RefusesWhatTheEnergiesDoNotKnow) {
  Json scene = hung();
  scene["garments"][0]["mesh"]["size"] = {0.3, 0.4};
  expect_refusal(scene, "garments[0].mesh");
  scene = hung();
  scene["garments"][0].erase("pins");
  expect_refusal(scene, "something that holds the cloth");
  scene = hung();
  scene["garments"][0]["fabric"].erase("bending_stiffness");
  expect_refusal(scene, "garments[0].fabric.bending_stiffness");
  scene = hung();
  scene["garments"][0]["fabric"]["curves"] = {{"shear", {{"strain", {0.1, 1.8}}, {"force", {5, 90}}}}};
  expect_refusal(scene, "garments[0].fabric.curves.shear");
  scene["garments"][0]["fabric"]["curves"] = {{"bend", {{"curvature", {10, 5}}, {"moment", {1e-4, 2e-4}}}}};
  expect_refusal(scene, "garments[0].fabric.curves.bend[1].curvature: found 5");
  scene = hung();
  scene["garments"][0]["pressure"] = 100;
  expect_refusal(scene, "garments[0].pressure: found 100");
  scene = hung();
  scene["garments"][0]["fabric"]["drag"] = {{"normal", 0.5}};
  EXPECT_EQ(rest(scene).code, 0);
  scene["wind"] = {{"velocity", {3, 0, 0}}};
  expect_refusal(scene, "wind.velocity: found wind and garments[0].fabric.drag");
  scene = hung();
  scene["garments"][0]["fabric"]["gravity_density"] = 0;
  expect_refusal(scene, "garments[0].fabric.gravity_density: found 0");
  EXPECT_EQ(rest(hung(), {"--recipe", "breen1994", "--most-steps", "3"}).code, 2);
  EXPECT_EQ(rest(hung(), {"--seed", "3"}).code, 2);
}

}  // namespace
}  // namespace isocloth
