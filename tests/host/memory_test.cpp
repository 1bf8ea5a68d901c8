// Cloth that remembers in batches, on every backend and after a restart; and what is refused of it.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

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

/// What is left of a fold of 180 degrees.
struct Crease {
  double friction = 3e-4, yield = 900;
  int elements = 8;  ///< along the arc
  double step = 0.01;
  double press = 4;  ///< time of the press [s]

  /// Angle between the halves of a strip [degrees] that a gripper folded on an arc of the curvature 2000 / m,
  /// pressed and let go, as in ISO 2313 and DIN 53890; bench/crease_recovery.py.
  double recovery() const {
    const double arc = std::numbers::pi / 2 * 1e-3, spacing = arc / elements;
    const int limb = 2 * elements, along = elements + 2 * limb;
    Garment strip = BendingStrip{}.garment();
    strip.mesh = triangle_grid(along + 1, 3, along * spacing, 2 * spacing, Diagonals::parallel);
    strip.fabric.bending_stiffness = 6e-6;
    strip.fabric.mass_damping = 1000;
    strip.fabric.memory = {.bending_friction = friction, .bending_yield = yield, .flow_time = 1};
    const double clamp = limb * spacing;
    std::vector<Index> held;
    for (std::size_t i = 0; i < strip.mesh.positions.size(); ++i)
      if (strip.mesh.positions[i].x < clamp + spacing / 9) held.push_back(static_cast<Index>(i));
    strip.pins = {{"clamp", held, FixedMotion{}}};
    KeyframeMotion fold;
    fold.center = {clamp + arc, 0, 0};
    for (int i = 0; i <= 40; ++i) {
      const double turn = std::numbers::pi * i / 40 / elements, whole = turn * elements,
                   radius = i > 0 ? spacing / (2 * std::sin(turn / 2)) : 0;
      fold.times.push_back(i / 40.0);
      fold.translations.push_back(
          {(i > 0 ? radius * std::sin(whole) : arc) - arc, 0, radius * (1 - std::cos(whole))});
      fold.rotations.push_back({0, -whole, 0});
    }
    Gripper gripper;
    gripper.name = "press";
    gripper.region = BoxShape{{(limb + 0.2) * spacing, 1, 1e-4}};
    gripper.position = {clamp + arc + limb * spacing / 2, 0, 0};
    gripper.motion = fold;
    gripper.holds = {{0, 1 + press}};
    strip.grippers = {gripper};
    Scene scene;
    scene.recipe = "membrane";
    scene.gravity = 0;
    scene.step = step;
    scene.duration = 2 + press;
    scene.garments = {strip};
    Simulation simulation(scene, {.threads = 1});
    simulation.advance(static_cast<int>(std::lround(scene.duration / step)));
    const std::vector<Vec3d> x = simulation.positions(0);
    const std::size_t row = static_cast<std::size_t>(along) + 1, tip = 2 * row - 1;
    const Vec3d way = x[tip] - x[tip - static_cast<std::size_t>(limb / 2)];
    return 180 - std::atan2(way.z, way.x) * 180 / std::numbers::pi;
  }
};

// Less the more friction and the longer the press, and more the later it yields; the same on finer meshes and
// in shorter steps.
TEST(ClothMemory, ACreaseRecoversByItsFabric) {
  const double found = Crease{}.recovery();
  double before = 150;
  for (const double friction : {1e-4, 3e-4, 6e-4}) {
    const double angle = Crease{.friction = friction}.recovery();
    EXPECT_GT(angle, 60);
    EXPECT_LT(angle, before - 3) << friction;
    before = angle;
  }
  EXPECT_GT(Crease{.yield = 1300}.recovery(), found + 20);
  EXPECT_GT(Crease{.press = 0.5}.recovery(), found + 5);
  EXPECT_NEAR(Crease{.elements = 16}.recovery(), found, 2);
  EXPECT_NEAR(Crease{.step = 0.005}.recovery(), found, 2);
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
