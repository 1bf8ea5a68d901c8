// Cloth that impulses hold meets cloth: what a user would measure of it, and tests that contacts have no part
// in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/flat_vectors.hpp"
#include "engine/geometry/passage_search.hpp"
#include "host/state/step_record.hpp"
#include "tests/host/cloth_sheets.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

Scene impulse_cloth_scene(const char* recipe, ImpulseMode mode, std::vector<Garment> garments) {
  Scene scene = cloth_scene(std::move(garments));
  scene.recipe = recipe;
  scene.impulse.mode = mode;
  scene.impulse.on_violation = OnViolation::go_on;
  return scene;
}

struct Way {
  const char* recipe;
  ImpulseMode mode;
};
const std::vector<Way> ways = of_known_recipes<Way>({{"bender_iterative", ImpulseMode::substeps},
                                                     {"isometric_impulse", ImpulseMode::substeps},
                                                     {"isometric_impulse", ImpulseMode::converge},
                                                     {"bender_sle", ImpulseMode::converge}});
std::string describe(const Way& way) {
  return std::string(way.recipe) + (way.mode == ImpulseMode::substeps ? ", substeps" : ", converge");
}

/// Steps of which neither the ends nor the straight ways of their parts pass through anything.
class Certified {
 public:
  Certified(const Scene& scene, Simulation& simulation)
      : simulation_(simulation), search_(search_of(scene)), passages_(meshes(scene), {}, {}) {
    simulation_.keep_step_records(true);
  }

  std::vector<StepReport> step() {
    std::vector<std::vector<Vec3d>> from = simulation_.positions();
    std::vector<StepReport> reports = simulation_.step();
    EXPECT_EQ(crossings(search_, simulation_), 0);
    const std::vector<StepRecord> steps = simulation_.take_step_records();
    const auto parts = static_cast<std::size_t>(reports.front().substeps);
    for (std::size_t p = 0; p < parts; ++p) {
      std::vector<std::vector<Vec3d>> to = from;
      for (std::size_t g = 0; g < to.size(); ++g)
        if (!steps[g].parts.empty()) to[g] = as_vectors(steps[g].parts.at(p).state.positions);
      const Passages found = passages_.find(from, to);
      EXPECT_TRUE(found.is_complete);
      EXPECT_EQ(found.count, 0) << "part " << p << " of " << parts;
      from = std::move(to);
    }
    return reports;
  }

 private:
  static std::vector<const Mesh*> meshes(const Scene& scene) {
    std::vector<const Mesh*> all;
    for (const Garment& garment : scene.garments) all.push_back(&garment.mesh);
    return all;
  }
  Simulation& simulation_;
  IntersectionSearch search_;
  PassageSearch passages_;
};

TEST(ImpulseClothContact, SheetsThatCollideInFlightKeepTheirMomentum) {
  for (const Way& way : ways) {
    Scene scene = impulse_cloth_scene(
        way.recipe, way.mode,
        {sheet("resting", 13, 0.4, {0, 0, 0}), sheet("flying", 13, 0.4, {0.05, 0.02, 0.02}, {0, 0, -5})});
    scene.gravity = 0;
    Simulation simulation(scene);
    Certified certified(scene, simulation);
    const auto momentum = [&] {
      return simulation.measure(0).linear_momentum + simulation.measure(1).linear_momentum;
    };
    const Vec3d first = momentum();
    Index most_contacts = 0;
    for (int n = 0; n < 30; ++n) {
      for (const StepReport& report : certified.step()) {
        EXPECT_EQ(report.held_back, 0) << describe(way) << ", step " << n;
        most_contacts = std::max(most_contacts, report.cloth_contacts);
      }
      EXPECT_LT(norm(momentum() - first), 1e-10 * norm(first)) << describe(way) << ", step " << n;
    }
    EXPECT_GT(most_contacts, 50) << describe(way);
    EXPECT_LT(simulation.measure(0).linear_momentum.z, 0.3 * first.z) << describe(way);
  }
}

TEST(ImpulseClothContact, NothingPassesAtAnySpeed) {
  for (const double speed : {5.0, 50.0})
    for (const Precision precision : {Precision::float64, Precision::float32})
      for (const Way& way : ways) {
        SCOPED_TRACE(describe(way) + ", " + std::to_string(speed) + " m/s, " + to_string(precision));
        Scene scene = impulse_cloth_scene(
            way.recipe, way.mode,
            {sheet("held", 9, 0.4, {0, 0, 0}), sheet("thrown", 7, 0.2, {0.01, 0.01, 0.3}, {0, 0, -speed})});
        scene.garments[0].pins = {{"corners", {0, 8, 72, 80}, FixedMotion{}}};
        Simulation simulation(scene, {.precision = precision});
        Certified certified(scene, simulation);
        for (int n = 0; n < 20 && !HasFailure(); ++n) certified.step();
        EXPECT_FALSE(simulation.frozen(0));
        EXPECT_FALSE(simulation.frozen(1));
      }
}

/// A pin that leads through a sheet all of whose nodes are pinned, which no impulse and no more parts can
/// help: its node is held back, and the step says so.
TEST(ImpulseClothContact, WhereImpulsesFailNodesAreHeldBack) {
  if (!has_recipe("bender_sle")) GTEST_SKIP() << "bender_sle is not in this build";
  Scene scene =
      impulse_cloth_scene("bender_sle", ImpulseMode::converge,
                          {sheet("held", 9, 0.4, {0, 0, 0}), sheet("led", 7, 0.2, {0.01, 0.01, 0.02})});
  Pin all{"all", {}, FixedMotion{}};
  for (Index i = 0; i < 81; ++i) all.nodes.push_back(i);
  scene.garments[0].pins = {all};
  scene.garments[1].pins = {
      {"middle",
       {24},
       KeyframeMotion{
           .times = {0, 0.05}, .translations = {{}, {0, 0, -0.06}}, .rotations = {}, .center = {}}}};
  for (const int parts : {0, 2}) {
    scene.impulse.substeps = parts;
    Simulation simulation(scene);
    Certified certified(scene, simulation);
    std::int64_t held_back = 0, blocked = 0;
    for (int n = 0; n < 6; ++n)
      for (const StepReport& report : certified.step()) {
        held_back += report.held_back;
        blocked += report.blocked;
        if (report.held_back > 0) {
          EXPECT_EQ(report.status, StepStatus::stalled);
        }
        if (parts > 0) {
          EXPECT_EQ(report.substeps, parts);
        }
      }
    EXPECT_GT(held_back, 0) << parts;
    EXPECT_GT(blocked, 0) << parts;
    EXPECT_GT(simulation.positions(1)[24].z, 0) << parts;
  }
}

/// A strip that stands on its edge folds onto itself. Where rows converge, they and contacts miss each other
/// in some steps, in which nodes are held back.
TEST(ImpulseClothContact, AStripThatFoldsStaysOutOfItself) {
  for (const Way& way : {ways[1], ways[2]}) {
    SCOPED_TRACE(describe(way));
    Garment strip = sheet("strip", 2, 0.3, {});
    strip.mesh = quad_grid(3, 21, 0.03, 0.3);
    strip.initial_positions.clear();
    for (const Vec3d& p : strip.mesh.positions)
      strip.initial_positions.push_back(
          {p.x + 0.001 * std::sin(30 * p.y), 0.01 * std::sin(8 * p.y), 0.01 + p.y});
    strip.initial_velocities.clear();
    Scene scene = impulse_cloth_scene(way.recipe, way.mode, {strip});
    scene.obstacles = {floor_obstacle()};
    Simulation simulation(scene);
    Certified certified(scene, simulation);
    double least_gap = 1;
    Index most_contacts = 0;
    for (int n = 0; n < 80; ++n) {
      const StepReport report = certified.step().front();
      least_gap = std::min(least_gap, report.cloth_gap);
      most_contacts = std::max(most_contacts, report.cloth_contacts);
      if (way.mode == ImpulseMode::substeps) {
        EXPECT_EQ(report.held_back, 0) << n;
      }
    }
    EXPECT_GT(most_contacts, 10);
    EXPECT_GT(least_gap, way.mode == ImpulseMode::substeps ? 0.7 : 0.05);  // tolerance: a quarter
  }
}

/// A sheet on a held one, both tilted by 25 degrees: it stays where friction bears it, else it gains
/// g (sin - mu cos) t.
TEST(ImpulseClothContact, SlidesAsFrictionHasIt) {
  constexpr double angle = 25 * 3.14159265358979 / 180;
  for (const Way& way : {ways[0], ways[1]})
    for (const double mu : {0.2, 0.6}) {
      SCOPED_TRACE(describe(way) + ", " + std::to_string(mu));
      Garment held = sheet("held", 9, 0.6, {0, 0, 0}), upper = sheet("upper", 5, 0.2, {0, 0, 0.0012});
      for (Garment* garment : {&held, &upper})
        for (Vec3d& p : garment->initial_positions)
          p = {std::cos(angle) * p.x + std::sin(angle) * p.z, p.y,
               std::cos(angle) * p.z - std::sin(angle) * p.x};
      Pin all{"all", {}, FixedMotion{}};
      for (Index i = 0; i < held.mesh.node_count(); ++i) all.nodes.push_back(i);
      held.pins = {all};
      Scene scene = impulse_cloth_scene(way.recipe, way.mode, {held, upper});
      scene.contact.cloth_friction = {.static_ = mu, .dynamic = mu};
      Simulation simulation(scene);
      simulation.advance(50);
      const Vec3d momentum = simulation.measure(1).linear_momentum;
      const double speed = norm(momentum) / (0.2 * 0.2 * 0.2), t = 50 * scene.step,
                   expected = std::max(0.0, scene.gravity * (std::sin(angle) - mu * std::cos(angle)) * t);
      EXPECT_NEAR(speed, expected, 0.1 * expected + 0.01);
    }
}

/// A sheet that falls on another one on the floor.
Scene sheet_falls_on_sheet(const Way& way) {
  Scene scene = impulse_cloth_scene(
      way.recipe, way.mode,
      {sheet("lower", 9, 0.3, {0, 0, 0.002}), sheet("upper", 7, 0.2, {0.01, 0.02, 0.006}, {0.3, 0, -1})});
  scene.obstacles = {floor_obstacle()};
  return scene;
}

TEST(ImpulseClothContact, AStackAtRestCarriesItsWeight) {
  for (const Way& way : ways) {
    SCOPED_TRACE(describe(way));
    Scene scene = sheet_falls_on_sheet(way);
    Simulation simulation(scene);
    simulation.advance(150);
    Vec3d force;
    for (const ClothContactState& contact : simulation.state(0).cloth_contacts)
      force += Vec3d{0, 0, std::abs(contact.force.z)};
    const double weight = 0.2 * 0.2 * 0.2 * scene.gravity;
    EXPECT_NEAR(force.z / (scene.step * scene.step), weight, 0.05 * weight);
    EXPECT_LT(norm(simulation.measure(1).linear_momentum), 0.2 * 0.2 * 0.2 * 0.01);  // 1 cm/s
  }
}

TEST(ImpulseClothContact, TheBitsAreTheSameOnAnyThreadsAndAfterAResume) {
  for (const Precision precision : {Precision::float64, Precision::float32})
    for (const Way& way : ways) {
      SCOPED_TRACE(describe(way) + ", " + to_string(precision));
      const Scene scene = sheet_falls_on_sheet(way);
      Simulation first(scene, {.precision = precision, .threads = 1}),
          second(scene, {.precision = precision, .threads = 2});
      first.advance(12);
      second.advance(12);
      Simulation third(scene, {.precision = precision, .threads = 2});
      third.restore(first.snapshot());
      for (Simulation* each : {&first, &second, &third}) each->advance(12);
      for (std::size_t g = 0; g < 2; ++g) {
        EXPECT_EQ(first.positions(g), second.positions(g));
        EXPECT_EQ(first.positions(g), third.positions(g));
        EXPECT_EQ(first.state(g).velocities, second.state(g).velocities);
        EXPECT_EQ(first.state(g).velocities, third.state(g).velocities);
        EXPECT_EQ(first.state(g).cloth_contacts, third.state(g).cloth_contacts);
      }
      EXPECT_FALSE(first.state(0).cloth_contacts.empty());
    }
}

/// What is lost stands still, and what comes upon it goes no farther.
TEST(ImpulseClothContact, NothingPassesThroughWhatIsLost) {
  for (const Way& way : ways) {
    SCOPED_TRACE(describe(way));
    Scene scene = impulse_cloth_scene(
        way.recipe, way.mode,
        {sheet("lost", 9, 0.4, {0, 0, 0}), sheet("thrown", 7, 0.2, {0.01, 0.01, 0.03}, {0, 0, -2})});
    Simulation simulation(scene);
    Certified certified(scene, simulation);
    GarmentState state = simulation.state(0);
    state.velocities[3 * 40] = 1e30;
    simulation.set_state(0, state);
    const std::vector<Vec3d> before = simulation.positions(0);
    for (int n = 0; n < 15; ++n) certified.step();
    EXPECT_TRUE(simulation.frozen(0));
    EXPECT_FALSE(simulation.frozen(1));
    EXPECT_EQ(simulation.positions(0), before);
    EXPECT_GT(std::ranges::max(simulation.positions(1), {}, &Vec3d::z).z, 0);
  }
}

/// A garment far from all others goes as if it were alone.
TEST(ImpulseClothContact, WhatIsFarAwayGoesAsIfAlone) {
  for (const Way& way : ways) {
    SCOPED_TRACE(describe(way));
    Scene scene = sheet_falls_on_sheet(way), alone = scene;
    scene.garments.push_back(sheet("far", 5, 0.2, {5, 0, 0.3}));
    alone.garments = {scene.garments.back()};
    alone.contact.cloth = false;
    Simulation both(scene), one(alone, {.solver = StepSolver::direct});
    both.advance(20);
    one.advance(20);
    EXPECT_EQ(both.positions(2), one.positions(0));
  }
}

}  // namespace
}  // namespace isocloth
