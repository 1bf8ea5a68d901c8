// Derivatives of runs in which cloth meets cloth against central differences of runs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/host/touching.hpp"

namespace isocloth {
namespace {

constexpr double of_runs = 1e-6;

Touching cloth_on_cloth(const Friction& friction) {
  Touching t;
  t.scene.contact.cloth = true;
  t.scene.contact.cloth_friction = friction;
  t.scene.contact.tolerance = 1e-13;
  return t;
}

/// A sheet above one that hangs from its corners.
Touching two_sheets(const Friction& friction, double height, const Vec3d& velocity = {}) {
  Touching t = cloth_on_cloth(friction);
  t.add_sheet(quad_grid(4, 3, 0.15, 0.1), [&](Vec3d p) { return p + Vec3d{0.063, 0.071, height}; });
  t.sheet().initial_velocities.assign(12, velocity);
  t.add_sheet(quad_grid(6, 5, 0.3, 0.25), [](Vec3d p) { return p; });
  t.scene.garments[1].name = "below";
  t.scene.garments[1].pins.push_back({"corners", {0, 5, 24, 29}, FixedMotion{}});
  return t;
}

TEST(ClothGradients, OfASheetThatLandsOnAnother) {
  Touching t = two_sheets({}, 0.0055);
  t.settling = 4;
  expect_gradient_of_differences(t, of_runs);
}

TEST(ClothGradients, OfASheetThatLiesOnAnother) {
  Touching t = two_sheets({0.4, 0.3}, 0.0052);
  t.settling = 20;
  t.moves_whole = true;
  expect_gradient_of_differences(t, of_runs);
}

TEST(ClothGradients, OfASheetThatSlidesOnAnother) {
  Touching t = two_sheets({0.2, 0.2}, 0.0052, {0.5, 0.2, 0});
  t.settling = 8;
  t.moves_whole = true;
  expect_gradient_of_differences(t, of_runs);
}

TEST(ClothGradients, OfSheetsThatAreSqueezed) {
  Touching t = two_sheets({0.4, 0.3}, 0.0052);
  t.settling = 20;
  t.moves_whole = true;
  t.scene.garments[1].pins[0].nodes = {0, 5, 6, 11, 12, 17, 18, 23, 24, 29};
  t.sheet().pins.push_back(
      {"edges",
       {0, 3, 4, 7, 8, 11},
       KeyframeMotion{.times = {0, 1}, .translations = {{}, {0, 0, -0.05}}, .rotations = {}, .center = {}}});
  expect_gradient_of_differences(t, of_runs);
}

/// A strip whose second half lies on the first.
Touching folded() {
  Touching t = cloth_on_cloth({});
  constexpr double bend = 0.183, radius = 0.011, arc = 3.14159265358979 * radius;
  t.add_sheet(quad_grid(12, 3, 0.4, 0.09), [&](Vec3d p) {
    const double angle = std::min(std::max(p.x - bend, 0.0), arc) / radius,
                 beyond = std::max(p.x - bend - arc, 0.0);
    return Vec3d{std::min(p.x, bend) + radius * std::sin(angle) - beyond, p.y + 0.03 * beyond,
                 0.0025 + radius * (1 - std::cos(angle))};
  });
  t.sheet().fabric.mass_damping = 5;
  return t;
}

TEST(ClothGradients, OfASheetThatIsFoldedOnItself) {
  Touching t = folded();
  t.settling = 30;
  t.moves_whole = true;
  t.sheet().pins.push_back({"ends", {0, 12, 24, 5, 17, 29}, FixedMotion{}});
  expect_gradient_of_differences(t, of_runs);
}

// Of what a sheet does by where the one below it is led.
TEST(ClothGradients, KnowWhoMeets) {
  Touching t = two_sheets({0.4, 0.3}, 0.0052);
  Simulation simulation(t.scene, {.threads = 1});
  Tape tape(simulation);
  for (int n = 0; n < 8; ++n) tape.step();
  std::vector<StateGradient> loss(9);
  loss.back().positions.assign(12, Vec3d{0, 0, 1});
  EXPECT_EQ(tape.gradient(0, loss, 1).positions.size(), 30u);
  EXPECT_GT(norm(tape.gradient(0, loss, 1).targets[7][0]), 1e-6);
  int began = 0;
  for (const ContactChanges& own : tape.contact_changes(0)) began += own.began - own.ended;
  EXPECT_EQ(began, static_cast<int>(simulation.state(0).cloth_contacts.size()));
  EXPECT_GT(began, 0);
  t.sheet().world = 0;
  t.scene.garments[1].world = 1;
  Simulation apart(t.scene, {.threads = 1});
  Tape other(apart);
  for (int n = 0; n < 8; ++n) other.step();
  for (const Vec3d& by : other.gradient(0, loss, 1).positions) EXPECT_EQ(by, Vec3d{});
}

}  // namespace
}  // namespace isocloth
