#include "engine/model/taut_pins.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/mesh/generators.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

Garment sheet(const std::vector<Index>& pinned) {
  Garment garment;
  garment.mesh = quad_grid(5, 4, 1, 0.6);
  if (!pinned.empty()) garment.pins.push_back({"pins", pinned, FixedMotion{}});
  return garment;
}

TEST(TautPins, AStraightBorderBetweenPinsHasNoSlack) {
  const auto pairs = find_taut_pins(sheet({4, 0}));
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(pairs[0].a, 0);
  EXPECT_EQ(pairs[0].b, 4);
  EXPECT_DOUBLE_EQ(pairs[0].distance, 1);
  EXPECT_DOUBLE_EQ(pairs[0].length, 1);
  EXPECT_EQ(describe(pairs), "pins 0 and 4 are at the full length of the edges between them");
}

TEST(TautPins, APathAroundACornerOrThroughPinsHasSlack) {
  EXPECT_TRUE(find_taut_pins(sheet({})).empty());
  EXPECT_TRUE(find_taut_pins(sheet({3})).empty());
  EXPECT_TRUE(find_taut_pins(sheet({0, 19})).empty());  // opposite corners: 1.6 m along edges, 1.17 m apart
  // Edges between pinned nodes are no constraints, and what lies beyond a pin is that pin's own pair.
  EXPECT_TRUE(find_taut_pins(sheet({0, 1, 2, 3, 4})).empty());
  const auto pairs = find_taut_pins(sheet({0, 2, 4}));
  ASSERT_EQ(pairs.size(), 2);
  EXPECT_EQ(pairs[1].a, 2);
  EXPECT_EQ(pairs[1].b, 4);
}

TEST(TautPins, CloserPinsHaveSlackAndFartherOnesCannotBeHeld) {
  Garment garment = sheet({0, 4});
  garment.initial_positions = garment.mesh.positions;
  garment.initial_positions[4].x *= 1 - 1e-6;
  EXPECT_TRUE(find_taut_pins(garment).empty());
  garment.initial_positions[4].x = 1.25;
  const auto pairs = find_taut_pins(garment);
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(describe(pairs),
            "pins 0 and 4 are farther apart (1.25 m) than the edges between them are long (1 m)");
}

TEST(TautPins, DrivenPinsCountWhereTheyStart) {
  Garment garment = sheet({});
  garment.pins.push_back({"fixed", {0}, FixedMotion{}});
  garment.pins.push_back({"driven", {4}, OscillationMotion{{0.1, 0, 0}, 1}});
  EXPECT_EQ(find_taut_pins(garment).size(), 1);
  garment.time_offset = 0.25;  // 0.1 m closer
  EXPECT_TRUE(find_taut_pins(garment).empty());
}

KeyframeMotion away(double distance) {
  return {.times = {0, 1}, .translations = {{}, {distance, 0, 0}}, .rotations = {}, .center = {}};
}

TEST(TornPins, AreFoundWhenTheirMotionPartsThem) {
  Garment garment = sheet({0});
  garment.pins.push_back({"driven", {4}, away(0.5)});
  const OverstretchedPins search(garment, true);
  EXPECT_EQ(describe(search.at(0, 1e-3)), "");
  EXPECT_EQ(
      describe(search.at(1, 1e-3)),
      "pins 0 and 4 are taken 1.5 m apart, which the cloth between them, 1 m long, cannot follow: change "
      "their motion");
}

TEST(TornPins, NeighboursAndDiagonalsCount) {
  Garment garment = sheet({0});
  garment.pins.push_back({"neighbour", {1}, away(0.1)});
  EXPECT_DOUBLE_EQ(OverstretchedPins(garment, false).at(1, 0).length, 0.25);
  garment = sheet({0});
  garment.pins.push_back({"across", {6}, away(0.05)});  // the first quad, of 0.25 m x 0.2 m
  EXPECT_EQ(OverstretchedPins(garment, false).at(1, 0).a, -1);
  EXPECT_NEAR(OverstretchedPins(garment, true).at(1, 0).length, 0.320156, 1e-6);
}

Scene scene_of(const std::string& recipe, const Fabric& fabric) {
  Scene scene;
  scene.recipe = recipe;
  scene.garments = {sheet({0})};
  scene.garments[0].fabric = fabric;
  return scene;
}

Tearing tearing(const std::string& recipe, const Fabric& fabric = {}) {
  const Scene scene = scene_of(recipe, fabric);
  return tearing_of(scene, scene.garments[0]);
}

TEST(TornPins, RigidRowsAreTornByAnyStretchAndElasticOnesByNone) {
  for (const char* rigid : known_recipes(
           {"coltraro2022", "inextensible_edges", "bender_iterative", "bender_sle", "isometric_impulse"})) {
    const Scene scene = scene_of(rigid, {});
    EXPECT_EQ(tearing(rigid).stretch, ResolvedScene(scene).tolerance) << rigid;
    EXPECT_TRUE(tearing(rigid).by_compression) << rigid;
  }
  for (const Recipe& recipe : recipes()) {
    if (tearing(std::string(recipe.name)).by_compression) continue;
    EXPECT_EQ(tearing(std::string(recipe.name)).stretch, HUGE_VAL) << recipe.name;
    Garment garment = sheet({0});
    garment.pins.push_back({"driven", {4}, away(0.5)});
    const Scene scene = scene_of(std::string(recipe.name), {});
    EXPECT_EQ(OverstretchedPins(garment, true).at(1, tearing_of(scene, garment).stretch).a, -1)
        << recipe.name;
  }
}

TEST(TornPins, ALimitOfStrainIsWhatElasticClothIsTornBeyond) {
  Garment garment = sheet({0});
  garment.pins.push_back({"driven", {4}, away(0.08)});
  for (const Fabric& fabric : {Fabric{.strain_limit = 0.1}, Fabric{.principal_strain_limit = 0.1},
                               Fabric{.strain_limit = 0.1, .principal_strain_limit = 0.2}}) {
    garment.fabric = fabric;
    Scene scene = scene_of("membrane", fabric);
    const Tearing own = tearing_of(scene, garment);
    EXPECT_NEAR(own.stretch, 0.1, 2e-3);
    EXPECT_FALSE(own.by_compression);
    EXPECT_EQ(OverstretchedPins(garment, own.across_quads).at(1, own.stretch).a, -1);
    garment.pins.back().motion = away(0.12);
    const TornPins torn = OverstretchedPins(garment, own.across_quads).at(1, own.stretch);
    EXPECT_EQ(torn.a, 0);
    EXPECT_NE(describe(torn).find("1 m long and 1.10"), std::string::npos) << describe(torn);
    EXPECT_NE(describe(torn).find(" m with its limit of strain, cannot follow"), std::string::npos);
    garment.pins.back().motion = away(0.08);
  }
  if (has_recipe("provot1995")) {
    EXPECT_NEAR(tearing("provot1995", {.strain_limit = 0.1}).stretch, 0.1, 0.02);
  }
}

TEST(TautPins, ManyPairsAreCounted) {
  EXPECT_EQ(describe(find_taut_pins(sheet({0, 2, 4}))),
            "pins 0 and 2 are at the full length of the edges between them (and 1 more pair)");
}

}  // namespace
}  // namespace isocloth
