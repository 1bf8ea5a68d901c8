// Elastic bands, buttons and press studs: closed forms of statics, and the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "host/gradients/tape.hpp"
#include "host/validation/validation.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/hanging_case.hpp"

namespace isocloth {
namespace {

using namespace hanging;

class Fasteners : public testing::TestWithParam<Index> {};  // nodes along a side

TEST_P(Fasteners, BandsAreAsLongAsHookesLawSays) {
  // Each hangs on a band of its own, whose tension is a share of the weight.
  for (const double strain : {0.02, 0.5}) {
    Hanging hanging(GetParam(), 0.01);
    const double length = 0.01, stiffness = weight / static_cast<double>(hanging.count) / strain;
    for (Index c = 0; c < hanging.count; ++c)
      hanging.garment.mesh.bands.push_back({hanging.above(c), hanging.below(c), length, stiffness});
    Simulation simulation(scene_of({hanging.garment}));
    simulation.advance(300);
    double tension = 0;
    for (Index c = 0; c < hanging.count; ++c) {
      const double found = distance(simulation, hanging.above(c), hanging.below(c)) / length - 1;
      tension += stiffness * found;
      EXPECT_NEAR(found, strain, 0.3 * strain) << c;  // outer ones carry less: half an element hangs on them
    }
    EXPECT_NEAR(tension, weight, 1e-3 * weight) << strain;
  }
}

TEST_P(Fasteners, EnergyOfBandsIsThatOfSprings) {
  Hanging hanging(GetParam(), 0.03);
  const auto energy = [&](double length) {
    Garment garment = hanging.garment;
    for (Index c = 0; c < hanging.count; ++c)
      garment.mesh.bands.push_back({hanging.above(c), hanging.below(c), length, 7});
    return Simulation(scene_of({garment})).measure().front().elastic_energy;
  };
  const double before = Simulation(scene_of({hanging.garment})).measure().front().elastic_energy;
  const auto count = static_cast<double>(hanging.count);
  EXPECT_NEAR(energy(0.02) - before, count * 7 * 0.02 * 0.5 * 0.5 / 2, 1e-12);
  // A slack one keeps a thousandth of the stiffness: K (C / 2)^2 of Green's strain.
  const double c = 0.25 - 1;
  EXPECT_NEAR(energy(0.06) - before, 1e-3 * count * 7 * 0.06 / 8 * c * c, 1e-12);
}

TEST_P(Fasteners, WaistbandHoldsByFrictionWhatItsPressureCarries) {
  // A band of tension T presses with T / r per length on a cylinder: 2 pi T in all.
  constexpr double r = 0.1, tension = 1, friction = 0.4;
  constexpr Index around = 40;
  const Index along = GetParam() == 5 ? 3 : 9;
  for (const double share : {0.85, 1.15}) {
    Garment garment;
    garment.name = "tube";
    garment.mesh = tube(along, around, r + 0.0005, 0.05, FaceKind::quads);
    std::vector<Index> top;  // its circle, node by node
    for (Index node = 0; node < garment.mesh.node_count(); ++node)
      if (garment.mesh.positions[node].z > 0.05 - 1e-9) top.push_back(node);
    ASSERT_EQ(top.size(), static_cast<std::size_t>(around));
    for (std::size_t i = 0; i < top.size(); ++i) {
      const Index a = top[i], b = top[(i + 1) % top.size()];
      const double l = norm(garment.mesh.positions[a] - garment.mesh.positions[b]);
      garment.mesh.bands.push_back({a, b, 0.5 * l, tension});  // strain 1
    }
    const double area = 2 * std::numbers::pi * r * 0.05, held = 2 * std::numbers::pi * tension * friction;
    garment.fabric = {.density = 0.2,
                      .gravity_density = share * held / 9.8 / area,
                      .bending_stiffness = 1e-6,
                      .stretch_stiffness = 20,
                      .shear_stiffness = 20,
                      .thickness = 0.001};
    Scene scene = scene_of({garment});
    scene.projection.tolerance = 1e-4;
    scene.step = 0.002;
    scene.obstacles.push_back({.name = "post",
                               .shape = CylinderShape{.radius = r, .height = 1},
                               .position = {},
                               .rotation = {},
                               .motion = {},
                               .friction = {.static_ = friction, .dynamic = friction}});
    Simulation simulation(scene);
    simulation.advance(20);
    const double start = simulation.positions(0)[top[0]].z;
    simulation.advance(20);
    const double fallen = start - simulation.positions(0)[top[0]].z;
    if (share < 1)
      EXPECT_LT(fallen, 1e-4);
    else
      EXPECT_GT(fallen, 1e-3);
  }
}

TEST_P(Fasteners, ButtonsHangByTheirThreads) {
  Hanging hanging(GetParam(), 0.01);
  const Index last = hanging.count - 1;
  for (const Index c : {Index{0}, last})
    hanging.garment.mesh.buttons.push_back(
        {.a = hanging.above(c), .b = hanging.below(c), .distance = 0.004, .stiffness = 500});
  Simulation simulation(scene_of({hanging.garment}));
  simulation.advance(400);
  double tension = 0;
  for (const Index c : {Index{0}, last})
    tension += 500 * (distance(simulation, hanging.above(c), hanging.below(c)) - 0.004);
  // Its sides lean in by less than a degree.
  EXPECT_NEAR(tension, weight, 2e-3 * weight);
  EXPECT_NEAR(simulation.measure().front().seam_opening, weight / 2 / 500, 1e-2 * weight / 500);
}

TEST_P(Fasteners, ButtonsAreDrawnClosedAndGoSlackWithin) {
  Hanging hanging(GetParam(), 0.05);
  hanging.garment.sewing.speed = 0.5;
  hanging.garment.mesh.buttons.push_back(
      {.a = hanging.above(0), .b = hanging.below(0), .distance = 0.01, .stiffness = 1e4, .force = 0.2});
  Scene scene = scene_of({hanging.garment});
  scene.gravity = 0;
  Simulation simulation(scene);
  double before = 0.05;
  for (int n = 0; n < 100; ++n) {
    simulation.step();
    const double now = distance(simulation, hanging.above(0), hanging.below(0));
    EXPECT_LT(now, before + 0.5 * scene.step) << n;
    before = now;
  }
  EXPECT_LT(before, 0.01 + 1e-3);
  EXPECT_LE(simulation.measure().front().seam_opening, 1e-3);
}

TEST_P(Fasteners, PressStudsLetGoAboveTheirStrength) {
  for (const double strength : {0.8 * weight, 2 * weight}) {
    Hanging hanging(GetParam(), 0.004);
    const Index middle = hanging.count / 2;
    hanging.garment.mesh.buttons.push_back({.a = hanging.above(middle),
                                            .b = hanging.below(middle),
                                            .distance = 0.004,
                                            .stiffness = 500,
                                            .strength = strength});
    Simulation simulation(scene_of({hanging.garment}));
    simulation.advance(60);
    const double open = distance(simulation, hanging.above(middle), hanging.below(middle)) - 0.004;
    if (strength > weight)
      EXPECT_NEAR(open, weight / 500, 0.2 * weight / 500);
    else
      EXPECT_GT(open, 0.05);                           // 0.3 s of a free fall are 0.4 m
    EXPECT_EQ(simulation.measure(0).seam_opening, 0);  // what lets go is no seam
  }
}

TEST_P(Fasteners, AreThoseOfTheReference) {
  for (const double gap : {0.003, 0.02}) {
    Hanging hanging(GetParam(), gap);
    Mesh& mesh = hanging.garment.mesh;
    const Index last = hanging.count - 1;
    mesh.bands = {{hanging.above(1), hanging.below(1), 0.01, 3},
                  {hanging.above(2), hanging.below(3), 0.04, 3}};
    mesh.stitches = {{hanging.above(2), hanging.below(2), 0.02}};
    mesh.buttons = {
        {.a = hanging.above(0), .b = hanging.below(0), .distance = 0.004},
        {.a = hanging.above(last), .b = hanging.below(last), .distance = 0.005, .strength = 0.05}};
    Scene scene = scene_of({hanging.garment});
    for (const char* recipe : {"membrane", "springs", "elastic_edges"}) {
      scene.recipe = recipe;
      const ValidationReport report = validate(scene, {}, 8);
      EXPECT_TRUE(report.passed()) << gap << ' ' << recipe;
      EXPECT_GT(report.garments.front().whole_steps, 4) << recipe;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LanesAndKernelByKernel, Fasteners, testing::Values(5, 15),
                         [](const auto& test) { return test.param == 5 ? "Lanes" : "KernelByKernel"; });

TEST(FastenersInBatches, HaveTheBitsOfOneAlone) {
  std::vector<Garment> garments;
  for (int i = 0; i < 11; ++i) {
    Hanging hanging(5, 0.01);
    hanging.garment.name += std::to_string(i);
    hanging.garment.fabric.density = 0.1 + 0.02 * i;
    // Bands of another length and stiffness each.
    hanging.garment.mesh.bands = {{hanging.above(0), hanging.below(0), 0.005 + 0.001 * i, 2.0 + i}};
    hanging.garment.mesh.buttons = {{.a = hanging.above(4), .b = hanging.below(4)}};
    garments.push_back(hanging.garment);
  }
  Simulation all(scene_of(garments));
  expect_bits_of_each_alone(all, 40, [&](std::size_t g) { return scene_of({garments[g]}); });
  EXPECT_NE(all.positions(3), all.positions(4));
}

TEST(FastenersOfScenes, AreRefusedWhereNothingKnowsThem) {
  const Hanging hanging(5, 0.01);
  const auto refusal = [](const Scene& scene) {
    try {
      validate_scene(scene);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto expect = [&](const std::string& recipe, const auto& change, const std::string& expected) {
    Scene scene = scene_of({hanging.garment});
    scene.recipe = recipe;
    change(scene);
    EXPECT_NE(refusal(scene).find(expected), std::string::npos) << refusal(scene);
  };
  const auto band = [&](Scene& scene) {
    scene.garments[0].mesh.bands = {{hanging.above(0), hanging.below(0), 0.01, 1}};
  };
  const auto button = [&](Scene& scene) {
    scene.garments[0].mesh.buttons = {{.a = hanging.above(0), .b = hanging.below(0)}};
  };
  expect("coltraro2022", band, "garments[0].mesh: found 1 pieces of elastic band, expected none");
  expect("bender_iterative", button,
         "garments[0].mesh: found 1 buttons, expected none with the recipe bender_iterative");
  expect(
      "membrane", [&](Scene& s) { band(s), s.garments[0].mesh.bands[0].length = NAN; },
      "band 0: found a length [m] of nan, expected a number > 0");
  expect(
      "membrane", [&](Scene& s) { band(s), s.garments[0].mesh.bands[0].b = 1000; },
      "band 0 names a node that does not exist");
  expect(
      "membrane", [&](Scene& s) { button(s), s.garments[0].mesh.buttons[0].strength = -1; },
      "button 0: found a strength [N] of -1, expected a number >= 0");
  expect(
      "membrane",
      [&](Scene& s) {
        button(s);
        s.contact.cloth = true;
        s.contact.tolerance = 1e-4;
        s.garments[0].fabric.thickness = 0.003;
      },
      "garments[0].mesh.buttons[0].distance: found 0.002, expected at least 0.003, fabric.thickness");
  for (const auto& change : {std::function<void(Scene&)>(band), std::function<void(Scene&)>(button)}) {
    Scene scene = scene_of({hanging.garment});
    change(scene);
    Simulation simulation(scene);
    EXPECT_THROW(Tape{simulation}, Error);
  }
}

}  // namespace
}  // namespace isocloth
