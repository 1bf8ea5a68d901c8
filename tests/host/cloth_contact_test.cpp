// Cloth meets cloth: what a user would measure of it, and nothing that the contacts themselves say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/errors.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

/// Without gravity, 2 cm above one that rests, of 13 x 13 nodes and 0.4 m.
Scene sheet_flies_at_sheet(Index nodes, double size, const Vec3d& velocity) {
  Scene scene = cloth_scene(
      {sheet("resting", 13, 0.4, {0, 0, 0}), sheet("flying", nodes, size, {0.05, 0.02, 0.02}, velocity)});
  scene.gravity = 0;
  return scene;
}

TEST(ClothContact, SheetsThatCollideInFlightNeitherCrossNorGainMomentumOrEnergy) {
  const Scene scene = sheet_flies_at_sheet(13, 0.4, {0, 0, -5});
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  const auto total = [&] {
    Measures sum;
    for (const Measures& m : simulation.measure()) {
      sum.linear_momentum += m.linear_momentum;
      sum.kinetic_energy += m.kinetic_energy + m.elastic_energy + m.potential_energy;
    }
    return sum;
  };
  const Measures first = total();
  double energy = first.kinetic_energy, slowest = 0;
  Index most_contacts = 0;
  for (int n = 0; n < 30; ++n) {
    for (const StepReport& report : simulation.step()) {
      EXPECT_EQ(report.status, StepStatus::converged) << n;
      EXPECT_EQ(report.held_back, 0);
      most_contacts = std::max(most_contacts, report.cloth_contacts);
    }
    EXPECT_EQ(crossings(search, simulation), 0) << n;
    const Measures now = total();
    EXPECT_NEAR(norm(now.linear_momentum - first.linear_momentum), 0, 1e-12 * norm(first.linear_momentum));
    EXPECT_LE(now.kinetic_energy, energy * (1 + 1e-3)) << n;
    energy = now.kinetic_energy;
    slowest = simulation.measure(0).linear_momentum.z;
  }
  EXPECT_GT(most_contacts, 50);
  EXPECT_LT(slowest, 0.3 * first.linear_momentum.z);  // the flying one has taken the resting one along
}

/// At rest the forces between two sheets carry the weight of the upper one, and keep them a thickness apart.
TEST(ClothContact, AStackAtRestCarriesItsWeight) {
  Scene scene =
      cloth_scene({sheet("lower", 9, 0.3, {0, 0, 0.002}), sheet("upper", 7, 0.2, {0.01, 0.02, 0.0045})});
  scene.obstacles = {floor_obstacle()};
  Simulation simulation(scene);
  simulation.advance(300);
  Vec3d force;
  for (const ClothContactState& contact : simulation.state(0).cloth_contacts) {
    // Of nodes of the upper sheet on the lower one, or the other way: all are pulled apart along z.
    force += Vec3d{0, 0, std::abs(contact.force.z)};
  }
  const double weight = 0.2 * 0.2 * 0.2 * scene.gravity;
  EXPECT_NEAR(force.z / (scene.step * scene.step), weight, 0.01 * weight);
  double least = HUGE_VAL, most = 0;
  for (const Vec3d& x : simulation.positions(1)) {
    least = std::min(least, x.z);
    most = std::max(most, x.z);
  }
  EXPECT_GT(least, 1.5 * thickness - 2 * scene.contact.tolerance);
  EXPECT_LT(most, 1.5 * thickness + scene.contact.tolerance);
  // Nothing creeps.
  const std::vector<Vec3d> before = simulation.positions(1);
  simulation.advance(100);
  const std::vector<Vec3d> after = simulation.positions(1);
  for (std::size_t i = 0; i < before.size(); ++i) EXPECT_LT(norm(after[i] - before[i]), 2e-5) << i;
}

/// Faster than an element per step, in both precisions, with edges and with elements as rows.
TEST(ClothContact, NothingPassesAtAnySpeed) {
  for (const double speed : {5.0, 50.0, 200.0})
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const char* recipe : {"membrane", "elastic_edges"}) {
        Scene scene = cloth_scene(
            {sheet("held", 9, 0.4, {0, 0, 0}), sheet("thrown", 7, 0.2, {0.01, 0.01, 0.3}, {0, 0, -speed})});
        scene.recipe = recipe;
        scene.projection.on_violation = OnViolation::go_on;
        scene.garments[0].pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
        Simulation simulation(scene, {.precision = precision});
        IntersectionSearch search = search_of(scene);
        for (int n = 0; n < 20; ++n) {
          const StepReport report = simulation.step().front();
          EXPECT_LE(report.cloth_loaded, report.cloth_contacts);
          ASSERT_EQ(crossings(search, simulation), 0)
              << speed << " m/s, " << recipe << ", " << to_string(precision) << ", step " << n;
        }
        EXPECT_FALSE(simulation.frozen(0));
        EXPECT_FALSE(simulation.frozen(1));
      }
}

/// One iteration per step cannot meet anything: nodes are held back, say so, and still nothing passes.
TEST(ClothContact, WhereIterationsFailNodesAreHeldBack) {
  Scene scene = cloth_scene(
      {sheet("held", 9, 0.4, {0, 0, 0}), sheet("thrown", 7, 0.2, {0.01, 0.01, 0.1}, {0, 0, -50})});
  scene.projection.max_iterations = scene.projection.max_substeps = 1;
  scene.projection.on_violation = OnViolation::go_on;
  scene.garments[0].pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  std::int64_t held_back = 0;
  for (int n = 0; n < 20; ++n) {
    for (const StepReport& report : simulation.step()) {
      held_back += report.held_back;
      if (report.held_back > 0) {
        EXPECT_EQ(report.status, StepStatus::stalled);
      }
    }
    ASSERT_EQ(crossings(search, simulation), 0) << n;
  }
  EXPECT_GT(held_back, 0);
}

/// What is held back goes on as fast as it and what it meets were together: no momentum is lost, and no
/// energy is gained.
TEST(ClothContact, WhatIsHeldBackKeepsItsMomentum) {
  for (const double speed : {5.0, 50.0, 200.0}) {
    Scene scene = cloth_scene({sheet("resting", 13, 0.4, {0, 0, 0}),
                               sheet("flying", 9, 0.2, {0.05, 0.02, 0.02}, {0.2 * speed, 0, -speed})});
    scene.gravity = 0;
    scene.projection.max_iterations = scene.projection.max_substeps = 1;
    scene.projection.on_violation = OnViolation::go_on;
    Simulation simulation(scene);
    IntersectionSearch search = search_of(scene);
    const auto total = [&] {
      Measures sum;
      for (const Measures& m : simulation.measure()) {
        sum.linear_momentum += m.linear_momentum;
        sum.kinetic_energy += m.kinetic_energy;
      }
      return sum;
    };
    const Measures first = total();
    std::int64_t held_back = 0;
    for (int n = 0; n < 20; ++n) {
      for (const StepReport& report : simulation.step()) held_back += report.held_back;
      ASSERT_EQ(crossings(search, simulation), 0) << speed << " m/s, step " << n;
      const Measures now = total();
      EXPECT_NEAR(norm(now.linear_momentum - first.linear_momentum), 0, 1e-9 * norm(first.linear_momentum))
          << speed << " m/s, step " << n;
      EXPECT_LE(now.kinetic_energy, 1.01 * first.kinetic_energy) << speed << " m/s, step " << n;
    }
    EXPECT_GT(held_back, 0) << speed;
  }
}

/// At 200 m/s a sheet goes a metre per step, twenty of its elements: as many parts as it takes are taken.
TEST(ClothContact, AFastImpactKeepsMomentumAndHoldsNothingBack) {
  const Scene scene = sheet_flies_at_sheet(9, 0.2, {60, 0, -200});
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  const auto momentum = [&] {
    Vec3d sum;
    for (const Measures& m : simulation.measure()) sum += m.linear_momentum;
    return sum;
  };
  const Vec3d first = momentum();
  for (int n = 0; n < 4; ++n) {
    for (const StepReport& report : simulation.step()) {
      EXPECT_EQ(report.status, StepStatus::converged) << n;
      EXPECT_EQ(report.held_back, 0) << n;
    }
    EXPECT_EQ(crossings(search, simulation), 0) << n;
    EXPECT_NEAR(norm(momentum() - first), 0, 1e-9 * norm(first)) << n;
  }
}

/// Of many garments that touch nothing each costs as much as of few.
TEST(ClothContact, SetUpGrowsWithTheGarmentsAndNotWithTheirSquare) {
  const auto bytes_of = [](Index count) {
    std::vector<Garment> garments;
    for (Index g = 0; g < count; ++g)
      garments.push_back(sheet("sheet", 4, 0.1, {0.2 * (g % 32), 0.2 * (g / 32), 0}));
    const Simulation simulation(cloth_scene(garments));
    std::size_t bytes = 0;
    for (Index g = 0; g < count; ++g) bytes += simulation.info(static_cast<std::size_t>(g)).memory_bytes;
    return static_cast<double>(bytes);
  };
  const double few = bytes_of(48), many = bytes_of(384);  // whole tiles of 2 to 16 lanes
  EXPECT_LT(many / few, 8.4);
  EXPECT_GT(many / few, 6);  // less than 8 by what is there once, which wider lanes make larger
}

/// A strip on its edge folds onto itself; a restart has the same bits, and so has a world beside others.
TEST(ClothContact, RestartsAndWorldsHaveTheSameBits) {
  Garment strip;
  strip.name = "strip";
  strip.mesh = quad_grid(31, 4, 0.6, 0.06);
  Random random(4);
  for (const Vec3d& p : strip.mesh.positions)
    strip.initial_positions.push_back({5e-4 * random.uniform(-1, 1), p.y, 0.01 + p.x});
  strip.fabric = sheet("", 3, 1, {}).fabric;
  strip.world = 0;
  Scene scene = cloth_scene({strip});
  scene.obstacles = {floor_obstacle()};
  scene.projection.on_violation = OnViolation::go_on;
  Simulation simulation(scene);
  IntersectionSearch search = search_of(scene);
  Snapshot middle;
  Index most = 0;
  for (int n = 0; n < 70; ++n) {
    if (n == 55) middle = simulation.snapshot();
    most = std::max(most, simulation.step().front().cloth_contacts);
    ASSERT_EQ(crossings(search, simulation), 0) << n;
  }
  EXPECT_GT(most, 5);
  EXPECT_FALSE(middle.garments[0].cloth_contacts.empty());
  Simulation again(scene);
  again.restore(middle);
  again.advance(15);
  EXPECT_EQ(again.state(0), simulation.state(0));

  Garment other = strip;
  other.name = "other";
  other.world = 1;
  for (Vec3d& p : other.initial_positions) p.x += 0.01;  // where the first one is, but for that
  scene.garments.push_back(other);
  Simulation both(scene, {.threads = 2});
  both.advance(70);
  EXPECT_EQ(both.state(0), simulation.state(0));
}

/// Replicas of one sheet, exactly where each other are, over a cloth that all of them meet.
TEST(ClothContact, ReplicasMeetWhatHasNoneAndNotEachOther) {
  std::vector<Garment> garments{sheet("below", 9, 0.3, {0, 0, 0})};
  garments[0].pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
  for (const Index world : {0, 1, 2}) {
    garments.push_back(sheet("copy", 7, 0.2, {0.01, 0.01, 0.002}));
    garments.back().world = world;
  }
  Simulation simulation(cloth_scene(garments));
  for (int n = 0; n < 40; ++n)
    for (const StepReport& report : simulation.step()) {
      EXPECT_EQ(report.status, StepStatus::converged) << n;
      EXPECT_EQ(report.held_back, 0) << n;
    }
  // They press on one cloth, each alike, and stay together.
  for (std::size_t i = 0; i < garments[1].mesh.positions.size(); ++i)
    EXPECT_LT(norm(simulation.positions(1)[i] - simulation.positions(3)[i]), 1e-3) << i;
  EXPECT_LT(simulation.positions(0)[40].z, -1e-3);
}

/// Nodes that no step can part are nobody's fault.
TEST(ClothContact, PinsThatAreTooNearDoNotStall) {
  std::vector<Garment> garments{sheet("one", 7, 0.3, {0, 0, 0}), sheet("other", 7, 0.3, {0, 0, 4e-4})};
  for (Garment& garment : garments) garment.pins = {{"edge", {0, 1, 2, 3, 4, 5, 6}, FixedMotion{}}};
  for (Vec3d& p : garments[1].initial_positions)
    p = {p.x, -0.15 + 0.8 * (p.y + 0.15), p.z + 0.6 * (p.y + 0.15)};
  Simulation simulation(cloth_scene(garments));
  for (int n = 0; n < 5; ++n)
    for (const StepReport& report : simulation.step()) EXPECT_EQ(report.status, StepStatus::converged) << n;
}

/// A reset takes away the contacts of what is reset, and leaves those of others.
TEST(ClothContact, ResetsKeepTheContactsOfOthers) {
  Scene scene = cloth_scene({sheet("apart", 5, 0.2, {2, 0, 0.1}), sheet("lower", 7, 0.3, {0, 0, 0.002}),
                             sheet("upper", 5, 0.2, {0.01, 0.02, 0.0045})});
  scene.obstacles = {floor_obstacle()};
  Simulation simulation(scene);
  simulation.advance(60);
  const auto kept = [&](std::size_t g) { return simulation.state(g).cloth_contacts; };
  const std::vector<ClothContactState> before = kept(1);
  ASSERT_FALSE(before.empty());
  EXPECT_TRUE(kept(2).empty());  // with the first of the two
  simulation.reset({0});
  EXPECT_EQ(kept(1), before);
  simulation.reset({1});
  EXPECT_TRUE(kept(1).empty());
  GarmentState state = simulation.state(2);
  state.cloth_contacts = {{.key = 3, .force = {}}};  // a node of the first garment
  EXPECT_THROW(simulation.set_state(2, state), ShapeError);
}

/// A plate, all of whose nodes are driven, sinks in the middle while it goes sideways: what lies on it
/// follows as friction has it, and the plate, whose rest shape is long gone, is no cloth that is measured.
TEST(ClothContact, CarriesClothOnABodyThatDeforms) {
  for (const double friction : {0.0, 0.5}) {
    Garment plate = sheet("plate", 13, 0.6, {});
    plate.initial_positions.clear();
    RecordedMotion motion{.file = "", .times = {0, 0.2, 0.6, 1}, .positions = {}};
    Pin pin{"skin", {}, FixedMotion{}};
    for (Index i = 0; i < plate.mesh.node_count(); ++i) pin.nodes.push_back(i);
    for (const double t : motion.times)
      for (const Vec3d& p : plate.mesh.positions) {
        const double dx = p.x - 0.3, dy = p.y - 0.3;
        motion.positions.push_back(
            {p.x + 0.1 * t * t, 1.1 * p.y, -0.1 * t * std::exp(-20 * (dx * dx + dy * dy))});
      }
    for (std::size_t i = 0; i < plate.mesh.positions.size(); ++i)
      plate.initial_positions.push_back(motion.positions[i]);
    pin.motion = motion;
    plate.pins = {pin};
    ASSERT_TRUE(is_kinematic(plate));
    Scene scene = cloth_scene({sheet("towel", 13, 0.25, {0.3, 0.3, 1.5 * thickness}), plate});
    scene.contact.cloth_pairs = {{.garment = 1, .other = 0, .friction = {friction, friction}}};
    Simulation simulation(scene);
    IntersectionSearch search({&scene.garments[0].mesh, &scene.garments[1].mesh}, {}, {false, true});
    for (int n = 0; n < 200; ++n) {
      const std::vector<StepReport> reports = simulation.step();
      EXPECT_EQ(reports[0].status, StepStatus::converged) << n;
      EXPECT_EQ(reports[1].strain.max, 0);
      ASSERT_EQ(crossings(search, simulation), 0) << n;
    }
    for (std::size_t i = 0; i < plate.mesh.positions.size(); ++i)
      EXPECT_LT(norm(simulation.positions(1)[i] - motion.positions[3 * plate.mesh.positions.size() + i]),
                1e-12);
    const Vec3d middle = simulation.positions(0)[84];
    EXPECT_NEAR(middle.z, -0.1, 0.01);  // it lies in the hollow
    if (friction > 0) {
      EXPECT_NEAR(middle.x, 0.4, 0.02);
    }
    EXPECT_EQ(simulation.measure(1), Measures{});
  }
}

TEST(ClothContact, WhatItCannotDoIsRefused) {
  const auto refusal = [](const auto& change) {
    Scene scene = cloth_scene({sheet("sheet", 5, 0.4, {})});
    change(scene);
    try {
      validate_scene(scene);
    } catch (const SceneError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_EQ(refusal([](Scene&) {}), "accepted");
  EXPECT_EQ(refusal([](Scene& s) { s.garments[0].fabric.thickness = 0; }),
            "garments[0].fabric.thickness: found 0, expected more than 0 with contact.cloth");
  EXPECT_EQ(
      refusal([](Scene& s) { s.garments[0].fabric.thickness = 0.2; }),
      "garments[0].fabric.thickness: found 0.2, expected at most 0.1 with contact.cloth, the median edge "
      "of the mesh [m]");
  // One short edge thins nothing, unless it is next to none or at a seam.
  const auto with_edge = [](double length) {
    return [length](Scene& s) {
      std::vector<Vec3d>& rest = s.garments[0].mesh.positions;
      rest[7] = rest[6] + Vec3d{length, 0, 0};
      s.garments[0].initial_positions.clear();
    };
  };
  EXPECT_EQ(refusal(with_edge(5e-4)), "accepted");
  EXPECT_EQ(
      refusal(with_edge(4e-5)),
      "garments[0].fabric.thickness: found 0.001, expected at most 0.000799999999 with contact.cloth, 20 "
      "times the "
      "shortest edge of the mesh, 4e-05 m, between nodes 6 and 7 [m]; mesh.repair collapses such of a file");
  EXPECT_EQ(
      refusal([&](Scene& s) {
        with_edge(5e-4)(s);
        s.garments[0].mesh.stitches.push_back({7, 24, 0.01});
      }),
      "garments[0].fabric.thickness: found 0.001, expected at most 0.00025 with contact.cloth, half of the "
      "shortest edge at a seam, between nodes 6 and 7 [m]");
  EXPECT_EQ(
      refusal([](Scene& s) { s.garments[0].initial_positions[7] = s.garments[0].initial_positions[3]; }),
      "garments[0]: found nodes 3 and 7 at one place, expected all more than 1e-07 m apart with "
      "contact.cloth: set mesh.weld to unite the nodes of an open seam, or move layers apart by their "
      "thickness");
  EXPECT_EQ(refusal([](Scene& s) { s.contact.tolerance = 1e-3; }),
            "contact.tolerance: found 0.001, expected at most 0.00025 with contact.cloth, a quarter of "
            "garments[0].fabric.thickness");
  EXPECT_EQ(refusal([](Scene& s) {
              s.recipe = "coltraro2022";
              s.projection.method = ProjectionMethod::fast_projection;
            }),
            "contact.cloth: found true, expected false with projection.method \"fast_projection\": use "
            "\"proximal_newton\"");
  EXPECT_EQ(refusal([](Scene& s) {
              s.recipe = "coltraro2022";
              s.projection.metric = Metric::mass;
            }),
            "contact.cloth: found true, expected false with projection.metric \"mass\": use \"implicit\"");
  EXPECT_EQ(refusal([](Scene& s) { s.recipe = "bender_iterative"; }), "accepted");
  if (!has_recipe("terzopoulos1987")) return;
  EXPECT_EQ(
      refusal([](Scene& s) { s.recipe = "terzopoulos1987"; }),
      "contact.cloth: found true, expected false with the recipe terzopoulos1987, whose systems know no "
      "contact between cloths: use \"membrane\"");
}

}  // namespace
}  // namespace isocloth
