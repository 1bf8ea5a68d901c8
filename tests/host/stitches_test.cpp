// Panels that are sewn together: what a user would measure of the seams.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/simulation/simulation.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/batch_case.hpp"

namespace isocloth {
namespace {

/// Two sheets of `count` x `count` nodes and `size` m, the second `gap` beyond the first and `lift` above it,
/// sewn along the sides that face each other.
Garment pair_of_panels(Index count, double size, double gap, double lift) {
  Garment garment;
  garment.name = "pair";
  const Mesh panel = quad_grid(count, count, size, size);
  garment.mesh = panel;
  const Index nodes = panel.node_count();
  for (const Vec3d& p : panel.positions) garment.mesh.positions.push_back(p + Vec3d{2 * size, 0, 0});
  for (Index f = 0; f < panel.face_count(); ++f) {
    std::vector<Index> face;
    for (const Index node : panel.face(f)) face.push_back(nodes + node);
    garment.mesh.add_face(face);
  }
  garment.mesh.corner_uvs.clear();
  for (const Vec3d& p : panel.positions) garment.initial_positions.push_back(p);
  for (const Vec3d& p : panel.positions) garment.initial_positions.push_back(p + Vec3d{size + gap, 0, lift});
  const double piece = size / (count - 1);
  for (Index row = 0; row < count; ++row)
    garment.mesh.stitches.push_back({.a = row * count + count - 1,
                                     .b = nodes + row * count,
                                     .length = row == 0 || row == count - 1 ? piece / 2 : piece});
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.2,
                    .bending_stiffness = 1e-6,
                    .stretch_stiffness = 1000,
                    .shear_stiffness = 100};
  return garment;
}

Scene scene_of(std::vector<Garment> garments) {
  Scene scene;
  scene.recipe = "membrane";
  scene.step = 0.005;
  scene.duration = 10;
  scene.projection.tolerance = 1e-4;
  scene.garments = std::move(garments);
  return scene;
}

double opening(const Simulation& simulation, const Garment& garment) {
  double most = 0;
  const auto positions = simulation.positions(0);
  for (const Stitch& stitch : garment.mesh.stitches)
    most = std::max(most, norm(positions[stitch.a] - positions[stitch.b]));
  return most;
}

class Stitches : public testing::TestWithParam<Index> {};

TEST_P(Stitches, DrawSeamsTogetherAtTheirSpeedAndKeepMomentum) {
  Garment garment = pair_of_panels(GetParam(), 0.3, 0.1, 0.05);
  garment.sewing = {.force = 20, .speed = 0.5};
  Scene scene = scene_of({garment});
  scene.gravity = 0;
  Simulation simulation(scene);
  const double way = std::hypot(0.1, 0.05);
  EXPECT_NEAR(opening(simulation, garment), way, 1e-12);
  double before = way, last = 1e30;
  for (int n = 0; n < 100; ++n) {
    simulation.step();
    const double now = opening(simulation, garment);
    // Both sides come nearer by the speed of the threads and what they had already.
    EXPECT_LT(before - now, 0.5 * scene.step + std::max(0.0, last) + 1e-6) << n;
    last = before - now;
    before = now;
    const Measures measures = simulation.measure().front();
    EXPECT_DOUBLE_EQ(measures.seam_opening, now);
    EXPECT_LT(norm(measures.linear_momentum), 1e-12);
  }
  EXPECT_LT(before, 1e-4);
}

TEST_P(Stitches, OfAHangingPanelOpenByItsWeightOverTheirStiffness) {
  const Index count = GetParam();
  Garment garment = pair_of_panels(count, 0.3, 0, 0);
  // Upright: the second hangs below the first.
  for (Vec3d& p : garment.initial_positions) p = {p.y, 0, -p.x};
  garment.sewing.stiffness = 1e4;
  Pin top{.name = "top", .nodes = {}, .motion = FixedMotion{}};
  for (Index row = 0; row < count; ++row) top.nodes.push_back(row * count);
  garment.pins = {top};
  garment.fabric.mass_damping = 5;
  Scene scene = scene_of({garment});
  scene.projection.tolerance = 1e-6;
  Simulation simulation(scene);
  for (int n = 0; n < 400; ++n) simulation.step();
  const double weight = 0.2 * 0.3 * 9.8;  // per metre of seam
  const auto positions = simulation.positions(0);
  double sum = 0;
  for (const Stitch& stitch : garment.mesh.stitches)
    sum += stitch.length / 0.3 * (positions[stitch.a].z - positions[stitch.b].z);
  EXPECT_NEAR(sum, weight / 1e4, 0.01 * weight / 1e4);
}

TEST_P(Stitches, HoldWithNoMoreThanTheirStrength) {
  const Index count = GetParam();
  // Both sides of the seam are held 2 mm apart, further than strength / stiffness, nearer than speed step.
  for (const double strength : {400.0, 50.0}) {
    Garment garment = pair_of_panels(count, 0.3, 0.002, 0);
    garment.sewing.strength = strength;
    Pin all{.name = "all but one", .nodes = {}, .motion = FixedMotion{}};
    for (Index row = 0; row < count; ++row) all.nodes.push_back(row * count + count - 1);
    garment.pins = {all};
    garment.fabric.density = garment.fabric.gravity_density = 20;  // hardly moves in a step
    Scene scene = scene_of({garment});
    scene.gravity = 0;
    scene.step = 1e-4;
    garment.sewing.speed = 50;
    scene.garments = {garment};
    Simulation simulation(scene);
    simulation.step();
    double momentum = 0;
    const std::vector<Vec3d> velocities = simulation.velocities(0);
    const double piece = 0.3 / (count - 1);
    for (Index node = count * count; node < 2 * count * count; ++node) {
      const Index row = (node - count * count) / count, column = (node - count * count) % count;
      const double sides =
          (row == 0 || row == count - 1 ? 0.5 : 1.0) * (column == 0 || column == count - 1 ? 0.5 : 1.0);
      momentum -= 20 * piece * piece * sides * velocities[node].x;
    }
    EXPECT_NEAR(momentum / scene.step, strength * 0.3, 0.03 * strength * 0.3) << strength;
  }
}

TEST_P(Stitches, AreThoseOfTheReference) {
  // At 10 m/s seams begin closer than what is drawn in: they are held with their strength.
  for (const double speed : {1.0, 10.0})
    for (const double gap : {0.0, 0.02}) {
      Garment garment = pair_of_panels(GetParam(), 0.3, gap, 0.01);
      garment.pins = {{.name = "corner", .nodes = {0, 1}, .motion = FixedMotion{}}};
      garment.sewing.speed = speed;
      const Scene scene = scene_of({garment});
      const ValidationReport report = validate(scene, {}, 12);
      EXPECT_TRUE(report.passed()) << gap << " " << speed;
      EXPECT_GT(report.garments.front().whole_steps, 6);
    }
}

TEST_P(Stitches, ToPinnedNodesPullTheOtherAlone) {
  Garment garment = pair_of_panels(GetParam(), 0.3, 0.05, 0);
  Pin side{.name = "side", .nodes = {}, .motion = FixedMotion{}};
  for (const Stitch& stitch : garment.mesh.stitches) side.nodes.push_back(stitch.a);
  garment.pins = {side};
  Scene scene = scene_of({garment});
  scene.gravity = 0;
  Simulation simulation(scene);
  for (int n = 0; n < 60; ++n) simulation.step();
  EXPECT_LT(opening(simulation, garment), 1e-4);
  for (const Index node : side.nodes)
    EXPECT_EQ(simulation.positions(0)[node], garment.initial_positions[node]);
}

INSTANTIATE_TEST_SUITE_P(LanesAndKernelByKernel, Stitches, testing::Values(5, 15),
                         [](const auto& test) { return test.param == 5 ? "Lanes" : "KernelByKernel"; });

TEST(StitchesInBatches, HaveTheBitsOfOneAlone) {
  std::vector<Garment> garments;
  for (int i = 0; i < 11; ++i) {
    garments.push_back(pair_of_panels(5, 0.3, 0.02 + 0.01 * i, 0.03));
    garments.back().name += std::to_string(i);
    garments.back().fabric.density = 0.1 + 0.02 * i;
  }
  Simulation all(scene_of(garments));
  expect_bits_of_each_alone(all, 40, [&](std::size_t g) { return scene_of({garments[g]}); });
  // Threads of another strength make another group, not another result.
  garments[4].sewing.force = 5;
  Simulation mixed(scene_of(garments));
  mixed.advance(40);
  EXPECT_EQ(mixed.positions(3), all.positions(3));
  EXPECT_NE(mixed.positions(4), all.positions(4));
}

TEST(StitchesOfScenes, AreRefusedWhereNothingKnowsThem) {
  Garment garment = pair_of_panels(5, 0.3, 0.02, 0);
  Scene scene = scene_of({garment});
  const auto refusal = [&] {
    try {
      validate_scene(scene);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(refusal(), "");
  scene.recipe = "bender_iterative";
  EXPECT_NE(
      refusal().find("garments[0].mesh: found 5 stitches, expected none with the recipe bender_iterative"),
      std::string::npos)
      << refusal();
  scene.recipe = "coltraro2022";
  scene.projection.method = ProjectionMethod::fast_projection;
  EXPECT_EQ(
      refusal(),
      "garments[0].mesh: found 5 stitches, expected none with projection.method \"fast_projection\": use "
      "\"proximal_newton\"");
  scene.recipe = "membrane";
  scene.projection.method = ProjectionMethod::proximal_newton;
  scene.garments[0].sewing.speed = 0;
  EXPECT_NE(refusal().find("garments[0].sewing.speed"), std::string::npos) << refusal();
}

}  // namespace
}  // namespace isocloth
