// Balances of what is sewn, buttoned and held by elastic bands; what garments of a scene share, and what a
// balance goes on from.
#include "tests/energy/energy_case.hpp"
#include "tests/host/hanging_case.hpp"

namespace isocloth {
namespace {

using hanging::Hanging, hanging::weight;

/// Steps whose forces balance.
Scene exact(std::vector<Garment> garments, const std::string& recipe = "membrane") {
  Scene scene = hanging::scene_of(std::move(garments));
  scene.recipe = recipe;
  scene.projection.tolerance = 1e-6;
  scene.projection.force_tolerance = 1e-4;
  scene.projection.max_iterations = 200;
  scene.projection.on_violation = OnViolation::go_on;
  return scene;
}

// 5 nodes along a side are stepped in lanes, 15 kernel by kernel.
TEST(EnergyFasteners, OfSeamsAddUp) {
  for (const Index count : {5, 15})
    for (const double gap : {0.02, 1e-4}) {
      Hanging hanging(count, gap);
      hanging.garment.sewing.speed = 0.5;
      hanging.garment.sewing.force = 20;
      hanging.garment.sewing.stiffness = 5000;
      for (Index c = 0; c < count; ++c)
        hanging.garment.mesh.stitches.push_back(
            {hanging.above(c), hanging.below(c), hanging::size / static_cast<double>(count - 1)});
      const MeasuredBalance b = balance_of(exact({hanging.garment}), count == 5 ? 150 : 40);
      const std::string what = text("seam of ", count, ", open by ", gap);
      expect_closed(b, 1e-4, what);
      EXPECT_LT(b.end.seam_opening, 2e-3) << what;
      // Threads that draw the lower sheet up lift its weight.
      if (gap > 0.01) {
        EXPECT_GT(b.sums.work_seams, 0.5 * weight * gap) << what;
      }
    }
}

// Threads that are taut are springs: of the way d to hang by, k d^2 / 2 goes into them, and with backward
// Euler k / 2 of the square of each step's way.
TEST(EnergyFasteners, OfClosedThreadsAreThoseOfSprings) {
  Hanging hanging(5, 0.004);
  constexpr double k = 200, length = 0.004;
  hanging.garment.mesh.buttons = {
      {.a = hanging.above(2), .b = hanging.below(2), .distance = length, .stiffness = k}};
  Scene scene = exact({hanging.garment});
  Simulation simulation(scene);
  const auto between = [&] {
    const auto positions = simulation.positions(0);
    return positions[static_cast<std::size_t>(hanging.above(2))] -
           positions[static_cast<std::size_t>(hanging.below(2))];
  };
  Vec3d last = between();
  double before = norm(last) - length, expected = 0;
  const MeasuredBalance b = balance_after(simulation, 100, 0, [&](const EnergyBalance&) {
    const Vec3d now = between();
    // Threads are linear within a step, about where they begin it.
    if (before >= 0) expected -= k * dot(now - length * normalized(last), now - last);
    before = norm(now) - length;
    last = now;
  });
  EXPECT_NEAR(before, weight / k, 0.05 * weight / k);
  EXPECT_NEAR(b.sums.work_seams, expected, 1e-3 * std::fabs(expected));
  EXPECT_LT(expected, -k * before * before / 2);
  expect_closed(b, 1e-4, "a button");
}

TEST(EnergyFasteners, OfButtonsAndPressStudsAddUp) {
  for (const Index count : {5, 15})
    for (const double strength : {0.0, 0.4 * weight, 2 * weight}) {
      Hanging hanging(count, strength > 0 ? 0.004 : 0.03);
      hanging.garment.sewing.speed = 0.5;
      for (const Index c : {Index{0}, count - 1})
        hanging.garment.mesh.buttons.push_back({.a = hanging.above(c),
                                                .b = hanging.below(c),
                                                .distance = 0.004,
                                                .stiffness = 500,
                                                .force = 2,
                                                .strength = strength});
      const MeasuredBalance b = balance_of(exact({hanging.garment}), count == 5 ? 100 : 40);
      const std::string what = text("buttons of ", count, ", strength ", strength);
      expect_closed(b, 1e-4, what);
      EXPECT_NE(b.sums.work_seams, 0) << what;
      const bool lets_go = strength > 0 && strength < weight / 2;
      const double falls = norm(b.end.linear_momentum) / (weight / 9.8);  // [m/s]
      EXPECT_EQ(falls > 0.2, lets_go) << what << ": " << falls;
    }
}

TEST(EnergyFasteners, OfElasticBandsAddUp) {
  for (const Index count : {5, 15})
    for (const std::string recipe : {"membrane", "springs", "elastic_edges"})
      for (const bool has_curves : {false, true}) {
        if (has_curves && recipe == "elastic_edges") continue;
        Hanging hanging(count, 0.012);
        const double stiffness = weight / static_cast<double>(count) / 0.5;
        for (Index c = 0; c < count; ++c)
          hanging.garment.mesh.bands.push_back({hanging.above(c), hanging.below(c), 0.01, stiffness});
        // One that is slack all the time.
        hanging.garment.mesh.bands.push_back({hanging.above(1), hanging.below(2), 0.2, stiffness});
        if (has_curves) {
          hanging.garment.fabric.curves.warp.points = {{0.01, 5}, {0.05, 40}, {0.2, 400}};
          hanging.garment.fabric.curves.shear.points = {{0.1, 2}, {0.5, 40}};
        }
        const std::string what = text(recipe, has_curves ? " with curves, " : ", ", count);
        const MeasuredBalance b = balance_of(exact({hanging.garment}, recipe), count == 5 ? 100 : 30);
        expect_closed(b, 1e-4, what);
        if (count == 5) {
          EXPECT_GT(b.sums.stretch_energy, 0.5 * 0.01 * 5 * stiffness * 0.25 / 2) << what;
        }
      }
}

TEST(EnergyFasteners, OfAllTogetherAddUp) {
  Hanging hanging(5, 0.006);
  Mesh& mesh = hanging.garment.mesh;
  mesh.bands = {{hanging.above(1), hanging.below(1), 0.005, 3}};
  mesh.stitches = {{hanging.above(2), hanging.below(2), 0.02}};
  mesh.buttons = {{.a = hanging.above(0), .b = hanging.below(0), .distance = 0.004},
                  {.a = hanging.above(4), .b = hanging.below(4), .distance = 0.005, .strength = 0.05}};
  hanging.garment.fabric.viscosity = {.stretch = 2, .shear = 0.5};
  Scene scene = exact({hanging.garment});
  expect_closed(balance_of(scene, 60), 1e-4, "all");
  scene.projection.integrator = Integrator::bdf2;
  expect_closed(balance_of(scene, 60), 1e-4, "all, bdf2");
}

// Garments beside each other that are alike share what a balance computes by; those that are not do not.
TEST(EnergyBalance, OfGarmentsThatAreNearlyAlikeAreThoseOfEachAlone) {
  std::vector<Garment> garments;
  for (int i = 0; i < 7; ++i) {
    Garment sheet = half_kilogram(5);
    sheet.name += text(i);
    sheet.pins = {{"corners", {0, i == 2 || i == 3 ? 20 : 4}, FixedMotion{}}};
    if (i == 4) sheet.fabric.shear_stiffness *= 2;
    if (i == 5) sheet.fabric.mass_damping = 1;
    if (i == 6) sheet.mesh.positions[12].x += 0.05;
    garments.push_back(sheet);
  }
  Simulation all(exact(garments));
  EnergyBalance balance(all);
  balance.advance(20);
  for (std::size_t g = 0; g < garments.size(); ++g) {
    const MeasuredBalance alone = balance_of(exact({garments[g]}), 20);
    EXPECT_EQ(balance.sums(g), alone.sums) << g;
    expect_closed(alone, 1e-4, text("sheet ", g));
  }
}

TEST(EnergyBalance, GoesOnFromTheStateThatIsThere) {
  Hanging hanging(5, 0.01);
  hanging.garment.mesh.bands = {{hanging.above(2), hanging.below(2), 0.01, 3}};
  Simulation simulation(exact({hanging.garment}));
  EnergyBalance balance(simulation);
  const std::vector<StepReport> reports = balance.advance(5);
  EXPECT_EQ(reports.front().substeps, 5);
  const GarmentState state = simulation.state(0);
  const EnergySums sums = balance.sums(0);
  balance.advance(5);
  const EnergySums expected = balance.sums(0);
  EXPECT_NE(expected, sums);
  simulation.set_state(0, state);
  balance.set_sums(0, sums);
  EXPECT_EQ(balance.sums(0), sums);
  balance.advance(5);
  EXPECT_EQ(balance.sums(0), expected);
}

}  // namespace
}  // namespace isocloth
