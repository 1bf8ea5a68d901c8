// Steps that a budget ends: what they may cost, what they say, and what they keep all the same.
#include <gtest/gtest.h>

#include "engine/core/errors.hpp"
#include "tests/host/cloth_sheets.hpp"

namespace isocloth {
namespace {

/// A sheet that is thrown at one that hangs by its corners.
Scene thrown_sheet(double speed = 10) {
  Scene scene = cloth_scene(
      {sheet("held", 9, 0.4, {0, 0, 0}), sheet("thrown", 7, 0.2, {0.01, 0.01, 0.05}, {0, 0, -speed})});
  scene.garments[0].pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
  return scene;
}

TEST(StepBudget, OfSolvesIsKeptInEveryStepAndNothingPasses) {
  for (const double speed : {10.0, 50.0})
    for (const int solves : {1, 2, 3}) {
      Scene scene = thrown_sheet(speed);
      scene.projection.budget.solves = solves;
      Simulation simulation(scene);
      IntersectionSearch search = search_of(scene);
      std::int64_t cut = 0;
      for (int n = 0; n < 60; ++n) {
        for (const StepReport& report : simulation.step()) {
          EXPECT_LE(report.iterations, solves + 2);  // two, where cloth would pass through cloth
          EXPECT_EQ(report.substeps, 1);
          EXPECT_EQ(report.cut, report.status == StepStatus::cut);
          EXPECT_LE(report.status, StepStatus::cut);
          EXPECT_TRUE(std::isfinite(report.imbalance));
          if (report.cut == 0) {
            EXPECT_EQ(report.imbalance, 0);
          }
          cut += report.cut;
        }
        ASSERT_EQ(crossings(search, simulation), 0) << speed << " m/s, " << solves << " solves, step " << n;
      }
      EXPECT_GT(cut, 0);
    }
}

TEST(StepBudget, OfSolvesHasTheSameBitsOfAnyThreadsAndFromAnyState) {
  Scene scene = thrown_sheet();
  scene.projection.budget.solves = 1;
  Simulation one(scene, {.threads = 1}), two(scene, {.threads = 2});
  one.advance(10);
  two.advance(10);
  Simulation later(scene, {.threads = 1});
  later.restore(one.snapshot());
  for (Simulation* simulation : {&one, &two, &later}) simulation->advance(10);
  for (std::size_t g = 0; g < 2; ++g) {
    EXPECT_EQ(one.state(g), two.state(g));
    EXPECT_EQ(one.state(g), later.state(g));
  }
}

/// A solve of a step may begin where the last one ended: cloth that a single one cuts hangs as others do.
TEST(StepBudget, OfOneSolveHoldsHangingCloth) {
  Scene scene = cloth_scene({sheet("hung", 17, 0.5, {0, 0, 0})});
  scene.garments[0].pins = {{"corners", {0, 16}, FixedMotion{}}};
  scene.garments[0].fabric.mass_damping = 1;
  Simulation whole(scene);
  scene.projection.budget.solves = 1;
  Simulation cut(scene);
  double stretch_whole = 0, stretch_cut = 0;
  for (int n = 0; n < 200; ++n) {
    stretch_whole = std::max(stretch_whole, whole.step().front().strain.thread_max);
    stretch_cut = std::max(stretch_cut, cut.step().front().strain.thread_max);
  }
  EXPECT_LT(stretch_cut, 1.5 * stretch_whole);
  double apart = 0;
  for (std::size_t i = 0; i < whole.positions(0).size(); ++i)
    apart = std::max(apart, norm(whole.positions(0)[i] - cut.positions(0)[i]));
  EXPECT_LT(apart, 0.05);
}

TEST(StepBudget, OfTimeTakesASolveAtLeastAndAllWhereThereIsTime) {
  Scene scene = thrown_sheet();
  scene.projection.max_substeps = 1;
  scene.projection.on_violation = OnViolation::go_on;
  Simulation whole(scene);
  scene.projection.budget.milliseconds = 1e9;
  Simulation slow(scene);
  scene.projection.budget.milliseconds = 1e-6;
  Simulation fast(scene);
  for (int n = 0; n < 20; ++n) {
    whole.step();
    slow.step();
    for (const StepReport& report : fast.step()) EXPECT_LE(report.iterations, 3);
  }
  // What is cut keeps its stress.
  EXPECT_EQ(whole.state(0).positions.size(), slow.state(0).positions.size());
  EXPECT_EQ(fast.frozen(0), false);
}

TEST(StepBudget, IsRefusedWhereItIsNone) {
  const auto refusal = [](const auto& change) -> std::string {
    Scene scene = thrown_sheet();
    change(scene.projection);
    try {
      Simulation simulation(scene);
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal([](auto& p) { p.budget.solves = -1; }).find("projection.budget.solves: found -1"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& p) { p.budget.milliseconds = -1; }).find("projection.budget.milliseconds"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& p) {
              p.budget.solves = 1;
              p.max_substeps = 4;
            }).find("projection.max_substeps: found 4, expected 0 or 1"),
            std::string::npos);
}

}  // namespace
}  // namespace isocloth
