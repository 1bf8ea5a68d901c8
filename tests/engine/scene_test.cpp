#include "engine/model/scene.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/nearest_name.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/resolved_scene.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

Scene good_scene() {
  Scene scene;
  scene.recipe = "coltraro2022";
  Garment garment;
  garment.mesh = quad_grid(3, 3, 1, 1);
  garment.pins = {{"left", {0, 3}, FixedMotion{}}, {"right", {2}, OscillationMotion{{0.1, 0, 0}, 1, 0, 1}}};
  scene.garments = {garment, garment};
  return scene;
}

std::string refusal(const std::function<void(Scene&)>& spoil) {
  Scene scene = good_scene();
  spoil(scene);
  try {
    validate_scene(scene);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ValidateScene, AcceptsWhatIsInOrder) {
  EXPECT_EQ(refusal([](Scene&) {}), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].pins.clear(); }), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].initial_velocities.resize(9); }), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.projection.max_substeps = 8; }), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.frame_interval = 1e300; }),
            "frame_interval: found 1e+300, expected at most 1e+09 steps of 0.01 s");
  EXPECT_EQ(refusal([](Scene& s) { s.gravity = 0; }), "accepted");
}

TEST(ValidateScene, NamesTimes) {
  EXPECT_EQ(refusal([](Scene& s) { s.step = 0; }), "step: found 0, expected a number > 0");
  EXPECT_EQ(refusal([](Scene& s) { s.duration = -1; }), "duration: found -1, expected a number > 0");
  EXPECT_EQ(refusal([](Scene& s) { s.duration = 1.004; }),
            "duration: found 1.004, expected a whole number of steps of 0.01 s");
  EXPECT_EQ(refusal([](Scene& s) { s.duration = 0.004; }),
            "duration: found 0.004, expected a whole number of steps of 0.01 s");
  EXPECT_EQ(refusal([](Scene& s) { s.frame_interval = -1; }),
            "frame_interval: found -1, expected a number >= 0");
  EXPECT_EQ(refusal([](Scene& s) { s.frame_interval = 0.025; }),
            "frame_interval: found 0.025, expected 0 for every step, or a whole number of steps of 0.01 s");
  EXPECT_EQ(refusal([](Scene& s) { s.gravity = std::numeric_limits<double>::infinity(); }),
            "gravity: found inf, expected a finite number");
}

TEST(ValidateScene, NamesAGarmentsOwnGravityAndTime) {
  EXPECT_EQ(refusal([](Scene& s) { s.garments[1].gravity = -3; }), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[1].gravity = std::numeric_limits<double>::infinity(); }),
            "garments[1].gravity: found inf, expected a finite number");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].time_offset = -std::numeric_limits<double>::infinity(); }),
            "garments[0].time_offset: found -inf, expected a finite number");
}

TEST(ValidateScene, BoundsStepsAndPlaces) {
  EXPECT_EQ(refusal([](Scene& s) { s.duration = 1e12; }),
            "duration: found 1e+12, expected at most 1e+09 steps of 0.01 s: 10000000 s");
  EXPECT_EQ(refusal([](Scene& s) {
              for (Vec3d& p : s.garments[0].mesh.positions) p.x += 3e9;
            }),
            "garments[0].mesh.positions[0]: found 3e+09, expected at most 1e+09 m from the origin");
}

TEST(PinsAtStart, AJumpIsRefusedAndNamed) {
  Garment garment = good_scene().garments[0];
  EXPECT_NO_THROW(require_pins_at_start(garment, "garments[3]"));
  garment.pins[1].motion = RecordedMotion{"path.csv", {0, 1}, {{1.2, 0, 0}, {1.4, 0, 0}}};
  const auto refused = [&] {
    try {
      require_pins_at_start(garment, "garments[3]");
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(
      refused(),
      "garments[3].pins[1].motion: found node 2 at (1.2 0 0) at the start (0 s), 0.2 m from where it "
      "starts, (1 0 0), expected at most 1 % of an element, 0.005 m: move the cloth or the motion, or set "
      "ramp to the seconds in which to bring it there");
  garment.pins[1].ramp = 0.5;
  EXPECT_EQ(refused(), "accepted");
  garment.pins[1] = {"right", {2}, OscillationMotion{{0.1, 0, 0}, 1, 0, 1}};
  garment.time_offset = 0.5;  // at the other end of the swing
  EXPECT_NE(refused().find("0.2 m from where it starts"), std::string::npos) << refused();
}

TEST(PinsAtStart, ARampLeadsSmoothlyToTheMotion) {
  Garment garment = good_scene().garments[0];
  garment.time_offset = 2;
  garment.pins[1].motion = RecordedMotion{"path.csv", {2, 3}, {{1.2, 0, 0}, {1.4, 0, 0}}};
  garment.pins[1].ramp = 0.5;
  const auto place = [&](double t) { return pin_position(garment, garment.pins[1], 0, t).x; };
  EXPECT_EQ(place(2), 1);
  EXPECT_NEAR(place(2.25), 1.25 - 0.1, 1e-15);  // half of the way
  EXPECT_DOUBLE_EQ(place(2.5), 1.3);
  EXPECT_EQ(place(3), 1.4);
  EXPECT_LT(place(2.001) - place(2), 3e-4);  // at first the motion alone
}

TEST(ValidateScene, CountsStepsAndFrames) {
  Scene scene = good_scene();
  EXPECT_EQ(step_count(scene), 100);
  EXPECT_EQ(steps_per_frame(scene), 1);
  scene.step = 1.0 / 300;
  scene.duration = 14;
  scene.frame_interval = 1.0 / 60;  // in binary neither divides the other
  EXPECT_NO_THROW(validate_scene(scene));
  EXPECT_EQ(step_count(scene), 4200);
  EXPECT_EQ(steps_per_frame(scene), 5);
  scene.duration = 0.01;  // the last frame may be cut
  EXPECT_NO_THROW(validate_scene(scene));
  EXPECT_EQ(step_count(scene), 3);
}

TEST(ValidateScene, NamesProjection) {
  for (const double tolerance : {0.0, 1.0, -1.0}) {
    EXPECT_EQ(refusal([=](Scene& s) {
                s.projection.tolerance = tolerance;
              }).rfind("projection.tolerance: found ", 0),
              0u);
  }
  EXPECT_EQ(refusal([](Scene& s) { s.projection.max_iterations = -1; }),
            "projection.max_iterations: found -1, expected 0 for the default, or at least 1");
  EXPECT_EQ(refusal([](Scene& s) { s.projection.eps = 1; }),
            "projection.eps: found 1, expected 0 for the default, or a number between 0 and 1");
  for (const int parts : {-1, -2, 3, 12}) {
    EXPECT_EQ(refusal([=](Scene& s) { s.projection.max_substeps = parts; }),
              "projection.max_substeps: found " + std::to_string(parts) +
                  ", expected 0 for the default, 1 or another power of two");
  }
}

TEST(ValidateScene, NamesFabric) {
  const auto spoiled = [](double Fabric::*member, double value) {
    return refusal([=](Scene& s) { s.garments[1].fabric.*member = value; });
  };
  EXPECT_EQ(spoiled(&Fabric::density, -1), "garments[1].fabric.density: found -1, expected a number > 0");
  EXPECT_EQ(spoiled(&Fabric::density, 0), "garments[1].fabric.density: found 0, expected a number > 0");
  const auto squeezed = [&](Compression c) {
    return refusal([=](Scene& s) { s.garments[1].fabric.compression = c; });
  };
  EXPECT_EQ(
      squeezed({.thickness = 5e-4, .core = 5e-4, .stiffness = 1e-9}),
      "garments[1].fabric.compression.c: found 0.0005, expected less than the thickness T without load, "
      "0.0005 m");
  EXPECT_EQ(squeezed({.thickness = 4e-4, .core = 3e-4, .stiffness = 1}).substr(0, 50),
            "garments[1].fabric.compression: found a slope of 3");
  EXPECT_EQ(spoiled(&Fabric::gravity_density, -1),
            "garments[1].fabric.gravity_density: found -1, expected a number >= 0");
  EXPECT_EQ(spoiled(&Fabric::bending_stiffness, -1),
            "garments[1].fabric.bending_stiffness: found -1, expected a number >= 0");
  EXPECT_EQ(spoiled(&Fabric::mass_damping, -1),
            "garments[1].fabric.mass_damping: found -1, expected a number >= 0");
  EXPECT_EQ(spoiled(&Fabric::stiffness_damping, std::numeric_limits<double>::quiet_NaN()),
            "garments[1].fabric.stiffness_damping: found nan, expected a number >= 0");
}

TEST(ValidateScene, NamesImpulses) {
  const auto spoiled = [](const std::function<void(ImpulseSettings&)>& spoil) {
    return refusal([&](Scene& s) { spoil(s.impulse); });
  };
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.tolerance = 0; }),
            "impulse.tolerance: found 0, expected a number between 0 and 1");
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.substeps = -1; }),
            "impulse.substeps: found -1, expected 0 for the default, or at least 1");
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.max_sweeps = -2; }),
            "impulse.max_sweeps: found -2, expected 0 for the default, or at least 1");
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.relaxation = 2; }),
            "impulse.relaxation: found 2, expected 0 for the default, or a number below 2");
  EXPECT_EQ(
      spoiled([](ImpulseSettings& i) { i.relaxation = 1.1; }),
      "impulse.relaxation: found 1.1, expected at most 1 in mode substeps: more pays only in sweeps that "
      "converge, and blows up in the others");
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.mode = ImpulseMode::converge, i.relaxation = 1.9; }),
            "accepted");
  EXPECT_EQ(spoiled([](ImpulseSettings& i) { i.max_solves = 0; }),
            "impulse.max_solves: found 0, expected at least 1");
}

TEST(ValidateScene, NamesSprings) {
  const auto spoiled = [](const char* recipe, const std::function<void(Fabric&)>& spoil) {
    return refusal([&](Scene& s) {
      s.recipe = recipe;
      spoil(s.garments[1].fabric);
    });
  };
  const auto springy = [](Fabric& f) { f.shear_spring = {.stiffness = 3, .damping = 0}; };
  EXPECT_EQ(spoiled("bender_iterative", springy), "accepted");
  EXPECT_EQ(spoiled("coltraro2022", springy),
            "garments[1].fabric.shear_spring: found stiffness 3 and damping 0, expected none with the recipe "
            "coltraro2022, which has no springs: use bending_stiffness, or an impulse recipe");
  const auto start = [](const std::string& text) { return text.substr(0, text.find(", expected")); };
  EXPECT_EQ(start(spoiled("bender_iterative", [](Fabric& f) { f.shear_spring.stiffness = -1; })),
            "garments[1].fabric.shear_spring.stiffness: found -1");
  EXPECT_EQ(start(spoiled("bender_iterative", [](Fabric& f) { f.bend_spring.damping = -1; })),
            "garments[1].fabric.bend_spring.damping: found -1");
  EXPECT_EQ(start(spoiled("bender_iterative", [](Fabric& f) { f.shear_diagonals = 3; })),
            "garments[1].fabric.shear_diagonals: found 3");
}

// h rate <= 1 in every part, and 0.5 ms in mode substeps; a given number stays.
TEST(ResolveImpulse, ChoosesWhatIsLeftOpen) {
  Scene scene = good_scene();
  scene.recipe = "bender_iterative";
  scene.step = 0.01;
  ImpulseSettings settings = ResolvedScene(scene).impulse(0);
  EXPECT_EQ(settings.substeps, 20);
  EXPECT_EQ(settings.max_sweeps, 1);
  EXPECT_EQ(settings.relaxation, 1);
  EXPECT_EQ(settings.velocity_pass, VelocityPass::off);
  EXPECT_EQ(ResolvedScene(scene).impulse(1999).substeps, 20);
  EXPECT_EQ(ResolvedScene(scene).impulse(2001).substeps, 21);
  EXPECT_EQ(ResolvedScene(scene).impulse(12345).substeps, 124);
  scene.impulse.substeps = 7;
  EXPECT_EQ(ResolvedScene(scene).impulse(12345).substeps, 7);

  scene.impulse = {};
  scene.impulse.mode = ImpulseMode::converge;
  settings = ResolvedScene(scene).impulse(0);
  EXPECT_EQ(settings.substeps, 1);
  EXPECT_EQ(settings.max_sweeps, 10'000);
  EXPECT_EQ(settings.relaxation, 0);
  EXPECT_EQ(settings.velocity_pass, VelocityPass::on);
  EXPECT_EQ(ResolvedScene(scene).impulse(100).substeps, 1);
  EXPECT_EQ(ResolvedScene(scene).impulse(101).substeps, 2);

  if (!has_recipe("bender_sle") || !has_recipe("isometric_impulse")) return;
  scene.impulse = {};
  scene.recipe = "bender_sle";  // no mode
  settings = ResolvedScene(scene).impulse(12345);
  EXPECT_EQ(settings.substeps, 124);
  EXPECT_EQ(ResolvedScene(scene).impulse(0).substeps, 10);
  EXPECT_EQ(settings.max_sweeps, 10'000);
  EXPECT_EQ(settings.velocity_pass, VelocityPass::on);
  scene.recipe = "isometric_impulse";
  EXPECT_EQ(ResolvedScene(scene).impulse(0).velocity_pass, VelocityPass::on);
}

TEST(ValidateScene, NamesGarments) {
  EXPECT_EQ(refusal([](Scene& s) { s.garments.clear(); }),
            "garments: found none, expected at least one garment");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[1].mesh = {}; }),
            "garments[1].mesh: the mesh is empty: found no nodes, expected at least 3; add vertices");
  EXPECT_EQ(refusal([](Scene& s) {
              std::reverse(s.garments[0].mesh.face_nodes.begin() + 4,
                           s.garments[0].mesh.face_nodes.begin() + 8);
            }),
            "garments[0].mesh: found 1 faces that run against the others, expected one orientation; call "
            "validate_mesh, which turns them");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].initial_positions.resize(4); }),
            "garments[0].initial_positions: found 4 vectors, expected 9, one per node");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].initial_velocities.resize(10); }),
            "garments[0].initial_velocities: found 10 vectors, expected 9, one per node");
  EXPECT_EQ(refusal([](Scene& s) {
              s.garments[0].initial_velocities.resize(9);
              s.garments[0].initial_velocities[7].y = std::numeric_limits<double>::quiet_NaN();
            }),
            "garments[0].initial_velocities[7]: found nan, expected three finite numbers");
}

TEST(ValidateScene, NamesPins) {
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].pins[1].nodes.clear(); }),
            "garments[0].pins[1].nodes: found none, expected at least one node");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].pins[0].nodes[1] = 9; }),
            "garments[0].pins[0].nodes[1]: found 9, expected a node from 0 to 8");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].pins[0].nodes[1] = -1; }),
            "garments[0].pins[0].nodes[1]: found -1, expected a node from 0 to 8");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].pins[0].nodes[1] = 0; }),
            "garments[0].pins[0].nodes[1]: found node 0, already in pins[0], expected each node once, in one "
            "pin at most");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[1].pins[1].nodes[0] = 3; }),
            "garments[1].pins[1].nodes[0]: found node 3, already in pins[0], expected each node once, in one "
            "pin at most");
}

TEST(ValidateScene, NamesMotions) {
  const auto spoiled = [](const Motion& motion) {
    return refusal([&](Scene& s) { s.garments[0].pins[0].motion = motion; });
  };
  const std::string key = "garments[0].pins[0].motion";
  EXPECT_EQ(spoiled(OscillationMotion{{1, 0, 0}, 0, 0, 1}),
            key + ".frequency: found 0, expected a number > 0");
  EXPECT_EQ(spoiled(OscillationMotion{{1, 0, 0}, 1, 0, -1}),
            key + ".duration: found -1, expected a number > 0");
  EXPECT_EQ(spoiled(KeyframeMotion{}), key + ".times: found no times, expected at least one");
  EXPECT_EQ(spoiled(KeyframeMotion{{0, 1, 1}, {}, {}, {}}),
            key + ".times[2]: found 1, expected more than the time before it, 1");
  EXPECT_EQ(spoiled(KeyframeMotion{{0, 1}, {{}}, {}, {}}),
            key + ".translations: found 1 vectors, expected 2, one per time");
  EXPECT_EQ(spoiled(KeyframeMotion{{0, 1}, {}, {{}, {}, {}}, {}}),
            key + ".rotations: found 3 vectors, expected 2, one per time");
  EXPECT_EQ(spoiled(KeyframeMotion{{0, 1}, {{}, {}}, {{}, {}}, {}}), "accepted");
  EXPECT_EQ(spoiled(RecordedMotion{"a.csv", {0, 1}, {{}, {}, {}}}),
            key + " (a.csv).positions: found 3 vectors, expected 4, one per time and driven node");
  EXPECT_EQ(spoiled(RecordedMotion{"a.csv", {0, 1}, {{}, {}, {}, {}}}), "accepted");
  EXPECT_EQ(spoiled(RecordedMotion{"a.csv", {1, 0}, {{}, {}, {}, {}}}),
            key + " (a.csv).times[1]: found 0, expected more than the time before it, 1");
}

TEST(Recipes, AreFoundByName) {
  const std::vector<RowFamily> isometry{RowFamily::isometry, RowFamily::corner_shear,
                                        RowFamily::boundary_edges};
  EXPECT_EQ(find_recipe("coltraro2022").rows, isometry);
  EXPECT_TRUE(find_recipe("inextensible_edges").holds_edges());
  EXPECT_TRUE(find_recipe("bender_iterative").holds_edges());
  EXPECT_EQ(find_recipe("bender_iterative").solver, SolverFamily::impulse);
  if (has_recipe("bender_sle")) {
    EXPECT_EQ(find_recipe("bender_sle").solver, SolverFamily::impulse_system);
  }
  if (has_recipe("isometric_impulse")) {
    EXPECT_EQ(find_recipe("isometric_impulse").rows, isometry);
  }
  for (const std::string_view missing : models().missing)
    EXPECT_EQ(refusal([&](Scene& s) { s.recipe = missing; }),
              "recipe " + std::string(missing) + ": not in this build; configure with -DISOCLOTH_MODELS=ON");
  for (const Recipe& recipe : recipes()) EXPECT_EQ(&find_recipe(recipe.name), &recipe);
  EXPECT_EQ(refusal([](Scene& s) { s.recipe = "coltraro22"; }),
            "recipe: found \"coltraro22\", expected a known recipe; the nearest is \"coltraro2022\"");
}

// h^2 kappa beside 300 rho dx^4, dx^2 = 1/9 of 1 m^2: 1e-4 kappa beside 300 / 81. On finer meshes more.
TEST(ResolvedScene, FactorisesRowsWhereBendingIsSoft) {
  Scene scene = good_scene();
  Garment& garment = scene.garments[0];
  scene.recipe = "membrane";
  scene.step = 0.01;
  garment.fabric = {.density = 1, .bending_stiffness = 37000};
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::rows);
  garment.fabric.bending_stiffness = 37100;
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::whole);
  garment.fabric.mass_damping = 1;  // damping is inertia, too
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::rows);
  garment.fabric.stiffness_damping = 10;  // and that of bending is bending
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::whole);
  scene.projection.factorization = FactorPattern::rows;
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::rows);
  scene.projection.factorization = FactorPattern::automatic;
  garment.fabric = {.density = 1, .bending_stiffness = 1};
  scene.recipe = "coltraro2022";
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::whole);
  scene.recipe = "membrane";
  garment.mesh = quad_grid(50, 40, 1, 1);  // 0.3 times 2,000 nodes of 1 / 2,000 m^2
  garment.fabric.bending_stiffness = 1.49;
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::rows);
  garment.fabric.bending_stiffness = 1.51;
  EXPECT_EQ(ResolvedScene(scene).factor(garment), FactorPattern::whole);
}

TEST(NearestName, CountsEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("ab", "ba"), 2u);
  EXPECT_EQ(nearest_name("frame_intervall", {"step", "frame_interval", "frames"}), "frame_interval");
  EXPECT_EQ(nearest_name("x", {"a", "b"}), "a");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace isocloth
