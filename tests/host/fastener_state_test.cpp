// What programs say of zippers and drawstrings, and what soft pins have let go: part of the state.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/core/errors.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

/// A strip whose ends a seam with a zipper draws together, and a drawstring along it.
Scene fastened() {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.01;
  scene.gravity = 0;
  Garment garment = square_sheet(4, 0.3, 0);
  garment.fabric.density = garment.fabric.gravity_density = 0.2;
  garment.mesh.stitches = {{0, 12, 0.1}, {3, 15, 0.1}};
  garment.mesh.bands = {{1, 5, 0.05, 3}};
  garment.zippers = {
      {.name = "front", .stitches = {0, 1}, .shares = {0, 1}, .closed = {.times = {0, 1}, .values = {0, 1}}}};
  garment.drawstrings = {
      {.name = "waist", .bands = {0}, .lengths = {0.1}, .share = {.times = {0}, .values = {0.5}}}};
  scene.garments = {garment};
  return scene;
}

TEST(FastenerState, IsWhatAProgramSaidUntilItGoesBack) {
  const Scene scene = fastened();
  Simulation simulation(scene, {.threads = 1});
  simulation.advance(3);
  EXPECT_EQ(simulation.state(0).fasteners, FastenerState{});
  const Snapshot untold = simulation.snapshot();
  simulation.advance(4);
  const GarmentState as_untold = simulation.state(0);
  simulation.restore(untold);

  simulation.set_zipper(0, 0, 1);
  simulation.set_drawstring(0, 0, 0.2);
  simulation.set_drawstring(0, 0, 0.3);
  const FastenerState told{.zippers = {{0, 1}}, .drawstrings = {{0, 0.3}}, .released = {}};
  EXPECT_EQ(simulation.state(0).fasteners, told);
  simulation.advance(2);
  const Snapshot snapshot = simulation.snapshot();
  simulation.advance(2);
  const GarmentState as_told = simulation.state(0);
  EXPECT_NE(as_told.positions, as_untold.positions);

  // Another simulation of the scene goes on as this one.
  Simulation other(scene, {.threads = 1});
  other.restore(snapshot);
  other.advance(2);
  EXPECT_EQ(other.state(0), as_told);
  // What was said is taken back with the state.
  simulation.restore(untold);
  simulation.advance(4);
  EXPECT_EQ(simulation.state(0), as_untold);
  simulation.set_zipper(0, 0, 1);
  simulation.reset();
  EXPECT_EQ(simulation.state(0).fasteners, FastenerState{});
}

TEST(FastenerState, WhatTheSceneHasNotIsRefused) {
  Simulation simulation(fastened(), {.threads = 1});
  const GarmentState good = simulation.state(0);
  const auto refused = [&](auto spoil) {
    GarmentState state = good;
    spoil(state.fasteners);
    EXPECT_THROW(simulation.set_state(0, state), Error);
    EXPECT_EQ(simulation.state(0), good);
  };
  refused([](FastenerState& state) { state.zippers = {{1, 0.5}}; });
  refused([](FastenerState& state) { state.drawstrings = {{-1, 0.5}}; });
  refused([](FastenerState& state) { state.drawstrings = {{0, 0}}; });
  refused([](FastenerState& state) { state.released = {0}; });
}

/// A sheet of 1 kg that hangs from soft pins at two corners, 200 N/m each.
Scene hung(double strength) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.01;
  Garment garment = square_sheet(3, 0.2, 0);
  garment.fabric.density = garment.fabric.gravity_density = 1 / 0.04;
  garment.forces.resize(9);
  garment.force_slopes.resize(9);
  for (const std::size_t node : {0, 2})
    garment.force_slopes[node] = {.stiffness = isotropic_tensor(200),
                                  .damping = {},
                                  .position = start_positions(garment)[node],
                                  .velocity = {},
                                  .strength = strength};
  scene.garments = {garment};
  return scene;
}

TEST(SoftPins, LetGoOfWhatPullsHarderForGood) {
  // Both carry 9.8 N, by 0.0245 m of their springs and twice that where it swings.
  for (const double strength : {0.0, 30.0}) {
    Simulation simulation(hung(strength), {.threads = 1});
    simulation.advance(60);
    EXPECT_TRUE(simulation.state(0).fasteners.released.empty()) << strength;
    EXPECT_GT(simulation.positions(0)[0].z, -0.2) << strength;
  }
  Simulation simulation(hung(2), {.threads = 1});
  const Snapshot start = simulation.snapshot();
  int let_go = 0;
  for (; let_go < 60 && simulation.state(0).fasteners.released.size() < 2; ++let_go) {
    // It is let go where a step begins with more than 2 N, 0.01 m.
    const bool is_beyond =
        norm(simulation.positions(0)[0] - start_positions(simulation.scene().garments[0])[0]) > 0.01;
    simulation.step();
    EXPECT_EQ(is_beyond, !simulation.state(0).fasteners.released.empty()) << let_go;
  }
  ASSERT_LT(let_go, 60);
  EXPECT_EQ(simulation.state(0).fasteners.released, (std::vector<Index>{0, 2}));
  simulation.advance(60 - let_go);
  EXPECT_LT(simulation.positions(0)[0].z, -0.5);
  const GarmentState fallen = simulation.state(0);
  // Held again where it goes back, and let go again.
  simulation.restore(start);
  EXPECT_TRUE(simulation.state(0).fasteners.released.empty());
  simulation.advance(60);
  EXPECT_EQ(simulation.state(0), fallen);
}

}  // namespace
}  // namespace isocloth
