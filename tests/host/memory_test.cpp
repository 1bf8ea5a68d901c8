// Cloth that remembers in batches, on every backend and after a restart; and what is refused of it.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/model/methods.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/support/bending_strip.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

/// Strips of other memories that are bent and let go a little, in half a second.
Scene batch(const std::vector<int>& members) {
  const BendingStrip strip{.elements = 6};
  Scene scene = strip.scene(even_times(40, 0.0125), [](double t) { return 300 * std::sin(8 * t); });
  const Garment first = scene.garments[0];
  scene.garments.clear();
  for (const int member : members) {
    Garment own = first;
    own.name = "strip " + std::to_string(member);
    own.fabric.bending_stiffness *= 1 + 0.2 * member;
    if (member % 4 != 3)  // else it forgets
      own.fabric.memory = {.bending_friction = 1e-4 * (member % 3),
                           .bending_yield = 60.0 + 10 * member,
                           .stretch_friction = 0.5,
                           .shear_friction = 0.2,
                           .flow_time = 0.02 * (member % 2)};
    scene.garments.push_back(own);
  }
  return scene;
}

TEST(ClothMemory, OfABatchHasItsOwnBits) {
  const std::vector<int> members{4, 0, 7, 2, 5, 3, 1};
  const int steps = unless_sanitized(40, 5);
  for (const std::string& simd : simd_names())
    for (const Precision precision : both_precisions) {
      ExecutionOptions options{
          .precision = precision, .solver = StepSolver::batched, .simd = simd, .threads = 1};
      const BatchRun together = run_batch(batch(members), options, steps);
      double most = 0;
      for (const GarmentState& state : together.states)
        for (const double plastic : state.plastic_strains) most = std::max(most, std::fabs(plastic));
      EXPECT_GT(most, 10);
      for (std::size_t g = 0; g < members.size(); ++g) {
        if (members[g] % 4 == 3) continue;  // alone it has no plastic strains, here they are 0
        expect_same(together, g, run_batch(batch({members[g]}), options, steps), 0,
                    "cloth " + std::to_string(members[g]));
      }
      options.emulated_block = 7;
      const BatchRun in_blocks = run_batch(batch(members), options, steps);
      for (std::size_t g = 0; g < members.size(); ++g) expect_same(together, g, in_blocks, g, "blocks of 7");
    }
}

// By another factor; curvatures are sums of many steps.
TEST(ClothMemory, IsThatOfOneClothAtATime) {
  const Scene scene = batch({0, 1, 2});
  Simulation batched(scene, {.solver = StepSolver::batched, .threads = 1}),
      direct(scene, {.solver = StepSolver::direct, .threads = 1});
  batched.advance(40);
  direct.advance(40);
  for (std::size_t g = 0; g < 3; ++g) {
    const GarmentState a = batched.state(g), b = direct.state(g);
    ASSERT_EQ(a.plastic_strains.size(), b.plastic_strains.size());
    for (std::size_t i = 0; i < a.positions.size(); ++i) EXPECT_NEAR(a.positions[i], b.positions[i], 1e-7);
    for (std::size_t i = 0; i < a.plastic_strains.size(); ++i)
      EXPECT_NEAR(a.plastic_strains[i], b.plastic_strains[i], 0.5) << g << ", " << i;
  }
}

TEST(ClothMemory, ComesBackWithASnapshotAndGoesWithAReset) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : both_precisions) {
      Simulation simulation(batch({1, 2}), {.precision = precision, .solver = solver, .threads = 1});
      const GarmentState start = simulation.state(1);
      EXPECT_EQ(start.plastic_strains.size(), 2 * start.multipliers.size());
      simulation.advance(15);
      const Snapshot middle = simulation.snapshot();
      simulation.advance(15);
      const GarmentState end = simulation.state(1);
      EXPECT_NE(middle.garments[1].plastic_strains, end.plastic_strains);
      simulation.restore(middle);
      simulation.advance(15);
      expect_same_state(simulation.state(1), end, "again");
      GarmentState wrong = end;
      wrong.plastic_strains.pop_back();
      EXPECT_THROW(simulation.set_state(1, wrong), ShapeError);
      simulation.reset({1});
      expect_same_state(simulation.state(1), start, "reset");
    }
}

// Without memory nothing of it is kept, and its numbers change no bit.
TEST(ClothMemory, ThatIsNoneIsNotThere) {
  Scene scene = batch({3});
  Simulation plain(scene, {.threads = 1});
  scene.garments[0].fabric.memory.bending_slip = 3;
  Simulation idle(scene, {.threads = 1});
  plain.advance(10);
  idle.advance(10);
  EXPECT_TRUE(idle.state(0).plastic_strains.empty());
  expect_same_state(idle.state(0), plain.state(0), "idle numbers");
}

std::string message(const Scene& scene) {
  try {
    Simulation simulation(scene);
    return "none";
  } catch (const SceneError& error) {
    return error.what();
  }
}

TEST(ClothMemory, IsRefusedWhereItHasNoPlace) {
  const auto with = [](const auto& change) {
    Scene scene = batch({1});
    change(scene.garments[0].fabric, scene);
    return message(scene);
  };
  EXPECT_EQ(with([](Fabric&, Scene&) {}), "none");
  EXPECT_EQ(
      with([](Fabric& f, Scene&) { f.bending = BendingModel::plate; }).find("garments[0].fabric.memory"), 0);
  EXPECT_EQ(with([](Fabric&, Scene& s) {
              s.recipe = "corotational";
            }).find("garments[0].fabric.memory: found some, expected none with the recipe corotational"),
            0);
  EXPECT_NE(with([](Fabric& f, Scene&) {
              f.curves.bend.points = {{1, 1e-5}, {100, 1e-2}};
            }).find("bending_yield: found 70, expected 0 beside the curve bend"),
            std::string::npos);
  EXPECT_NE(
      with([](Fabric& f, Scene&) { f.memory.shear_friction_growth = 1000; }).find("shear_friction_growth"),
      std::string::npos);
  EXPECT_NE(with([](Fabric& f, Scene&) {
              f.memory = {.bending_friction = 1e-4, .flow_time = 1};
            }).find("flow_time: found 1, expected 0 where nothing yields"),
            std::string::npos);
  EXPECT_NE(with([](Fabric& f, Scene&) { f.memory.hardening = 0; }).find("hardening"), std::string::npos);
  EXPECT_THROW(require_known(methods::gradients, batch({1})), SceneError);
}

}  // namespace
}  // namespace isocloth
