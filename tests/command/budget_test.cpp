// Scenes with a budget of a step: what run and check say of them.
#include "tests/command/command_case.hpp"

namespace isocloth {
namespace {

/// A sheet that falls over the edge of a box, and on itself.
Json sheet_over_edge(double duration) {
  return Json::parse(R"({
    "name": "over an edge", "recipe": "membrane", "step": 0.01, "frame_interval": 0.01,
    "projection": {"budget": {"solves": 1}}, "contact": {"cloth": true},
    "garments": [{
      "name": "sheet", "mesh": {"generator": "quad_grid", "nodes": [13, 13], "size": [0.3, 0.3]},
      "transform": {"translation": [0, 0, 0.11]},
      "fabric": {"density": 0.2, "gravity_density": 0.2, "bending_stiffness": 1e-5, "thickness": 1e-3}}],
    "obstacles": [{"name": "box", "shape": {"type": "box", "size": [0.3, 0.3, 0.2]}}]})")
      .patch(Json::array({{{"op", "add"}, {"path", "/duration"}, {"value", duration}}}));
}

class BudgetCommand : public CommandTest {};

TEST_F(BudgetCommand, CountsStepsThatAreCutApartFromThoseThatMiss) {
  write_scene("scene.json", sheet_over_edge(0.3));
  const Finished run = isocloth({"run", "scene.json", "-o", "out", "--quiet", "--certify"});
  EXPECT_EQ(run.code, 0) << run.errors;
  const Json s = summary("out");
  EXPECT_EQ(s["status"], "completed");
  EXPECT_EQ(s["steps_violated"], 0);
  EXPECT_EQ(s["garments_stalled"], 0);
  EXPECT_LE(s["iterations_per_step_max"], 3);
  EXPECT_GT(s["steps_cut"], 0);
  EXPECT_GT(s["imbalance_max"], 0);
  EXPECT_EQ(s["steps_intersecting"], 0);
  EXPECT_EQ(s["steps_passing_within"], 0);
  EXPECT_NE(run.output.find(s["steps_cut"].dump() + " steps of garments were cut by projection.budget"),
            std::string::npos)
      << run.output;
  const std::string metrics = read_whole_file(folder_ / "out" / "metrics.csv");
  EXPECT_NE(metrics.find(",cut,"), std::string::npos);  // status, and the column
  EXPECT_NE(metrics.find(",imbalance"), std::string::npos);
}

TEST_F(BudgetCommand, GoesOnBitForBit) {
  write_scene("short.json", sheet_over_edge(0.1));
  write_scene("long.json", sheet_over_edge(0.2));
  complete("long.json", "whole");
  complete("short.json", "parts");
  complete("long.json", "parts", {"--resume"});
  EXPECT_EQ(checkpoint("whole").garments, checkpoint("parts").garments);
  EXPECT_EQ(summary("whole")["steps_cut"], summary("parts")["steps_cut"]);
}

TEST_F(BudgetCommand, IsSaidByCheck) {
  write_scene("scene.json", sheet_over_edge(0.1));
  const Finished check = isocloth({"check", "scene.json"});
  EXPECT_EQ(check.code, 0) << check.errors;
  EXPECT_NE(check.output.find("a step ends, within its tolerances or not (steps_cut), after 1 solve"),
            std::string::npos)
      << check.output;
}

}  // namespace
}  // namespace isocloth
