// Sheets held by impulses among obstacles: what physics and the solvers' promises say.
#include <limits>

#include "tests/host/drop_case.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;
const std::vector<const char*> recipes =
    known_recipes({"bender_iterative", "bender_sle", "isometric_impulse"});

Scene impulse_contact_scene(const Garment& garment, const Obstacle& obstacle, const std::string& recipe,
                            ImpulseMode mode = ImpulseMode::substeps) {
  Scene scene = contact_scene(garment, obstacle, 0.01);
  scene.recipe = recipe;
  scene.impulse.mode = mode;
  return scene;
}

/// On a slope with tan = `slope` down along x.
Scene slope_scene(double mu, double slope, const std::string& recipe) {
  const double angle = std::atan(slope);
  Garment sheet = square_sheet(6, 1, 0);
  for (Vec3d& p : sheet.initial_positions) p = {p.x * std::cos(angle), p.y, -p.x * std::sin(angle)};
  return impulse_contact_scene(sheet, obstacle(PlaneShape{}, {}, mu, {0, angle, 0}), recipe);
}

TEST(ImpulseContact, SheetSticksToASlope) {
  for (const char* recipe : recipes)
    for (const Precision precision : both_precisions) {
      ExecutionOptions options = one_thread();
      options.precision = precision;
      Simulation simulation(slope_scene(0.5, 0.45, recipe), options);
      simulation.advance(20);
      const std::vector<Vec3d> before = simulation.positions(0);
      Vec3d force;
      for (int step = 0; step < 100; ++step) {
        simulation.step();
        force += 0.01 * simulation.contacts(0).force;
      }
      EXPECT_LT(largest_move(before, simulation.positions(0)), precision == Precision::float64 ? 1e-12 : 1e-5)
          << recipe;
      EXPECT_NEAR(force.z, gravity, 5e-3 * gravity) << recipe;
      EXPECT_NEAR(force.x, 0, 5e-3 * gravity) << recipe;
    }
}

TEST(ImpulseContact, SheetSlidesDownASlope) {
  for (const char* recipe : recipes)
    for (const auto& [mu, slope] : {std::pair{0.5, 0.75}, {0.2, 0.3}, {0.0, 0.5}}) {
      Simulation simulation(slope_scene(mu, slope, recipe), one_thread());
      const double angle = std::atan(slope);
      simulation.advance(20);
      const Vec3d before = mean(simulation.velocities(0));
      simulation.advance(30);
      const double expected = gravity * (std::sin(angle) - mu * std::cos(angle));
      EXPECT_NEAR(norm(mean(simulation.velocities(0)) - before) / 0.3, expected, 0.02 * expected)
          << recipe << " " << mu << " " << slope;
    }
}

TEST(ImpulseContact, SheetComesToRestOnAPlane) {
  for (const char* recipe : recipes)
    for (const ImpulseMode mode : both_modes) {
      Garment sheet = square_sheet(6, 1, 2);
      sheet.fabric.density = 0.3;
      for (Vec3d& p : sheet.initial_positions) p.z = 0.02;
      Simulation simulation(impulse_contact_scene(sheet, obstacle(PlaneShape{}, {}, 0.3), recipe, mode),
                            one_thread());
      simulation.advance(50);
      Vec3d force;
      for (int step = 0; step < 100; ++step) {
        const StepReport report = simulation.step()[0];
        EXPECT_LE(report.penetration, simulation.scene().contact.tolerance);
        EXPECT_EQ(report.status, StepStatus::converged);
        force += 0.01 * simulation.contacts(0).force;
      }
      const std::string what = std::string(recipe) + ", " + describe(mode);
      EXPECT_NEAR(force.z, gravity * sheet.fabric.gravity_density,
                  5e-3 * gravity * sheet.fabric.gravity_density)
          << what;
      EXPECT_NEAR(force.x, 0, 5e-3 * gravity) << what;
      EXPECT_LT(fastest(simulation), 1e-3) << what;
    }
}

/// A sheet above the solid, falling at `speed`.
Scene falling_scene(Index n, const ObstacleShape& shape, double mu, double height, double speed,
                    const std::string& recipe, ImpulseMode mode) {
  Garment sheet = square_sheet(n, 1, 1);
  Random random(1);
  for (Vec3d& p : sheet.initial_positions) p.z = height + 1e-3 * random.uniform(-1, 1);
  sheet.initial_velocities.assign(sheet.initial_positions.size(), Vec3d{0, 0, -speed});
  Obstacle solid = obstacle(shape, {0.01, 0.013, 0}, mu, {0.1, 0.2, 0.3});
  return impulse_contact_scene(sheet, solid, recipe, mode);
}

// The search for the deepest point of a face is exact to 1/256 of it, at a radius r of curvature to
// (h / 256)^2 / (2 r): 2.4e-6 m where 1/8 m lies over a rounding of 5 cm.
TEST(ImpulseContact, SheetsDrapeOverSolids) {
  for (const char* recipe : recipes)
    for (const ObstacleShape& shape : {ObstacleShape{SphereShape{0.3}}, {BoxShape{{0.5, 0.4, 0.5}, 0.05}}}) {
      Simulation simulation(falling_scene(9, shape, 0.4, 0.36, 1, recipe, ImpulseMode::substeps),
                            one_thread());
      const Scene& scene = simulation.scene();
      const reference::ObstacleDistance distance(scene.obstacles[0]);
      double deepest = 0;
      for (int step = 1; step <= 60; ++step) {
        const StepReport report = simulation.step()[0];
        const double depth = reference::deepest_penetration(scene.garments[0].mesh, simulation.positions(0),
                                                            distance, step * scene.step, 0);
        deepest = std::max(deepest, depth);
        EXPECT_LE(depth, std::max(report.penetration, 0.0) + 2.4e-6) << recipe << ", step " << step;
      }
      EXPECT_GT(simulation.contacts(0).count, 4) << recipe;
      EXPECT_LE(deepest, scene.contact.tolerance) << recipe;
    }
}

// No point of a face goes deeper than half of the solid, and none of a node deeper than the tolerance.
TEST(ImpulseContact, NothingPassesThrough) {
  int stalled = 0, steps = 0;
  double deepest = 0;
  for (int number = 0; number < 30; ++number) {
    Drop drop = random_drop(number);
    drop.scene.recipe = number % 9 == 4 ? "bender_sle"
                        : number % 2    ? "isometric_impulse"
                                        : "bender_iterative";
    if (!has_recipe(drop.scene.recipe)) continue;
    drop.scene.impulse.max_sweeps = 0;
    Simulation simulation(drop.scene, one_thread());
    const reference::ObstacleDistance distance(drop.scene.obstacles[0]);
    const double tolerance = drop.scene.contact.tolerance;
    for (int step = 1; step <= 40; ++step, ++steps) {
      const StepReport report = simulation.step()[0];
      ASSERT_NE(report.status, StepStatus::non_finite) << number;
      stalled += report.penetration > tolerance;
      const std::vector<Vec3d> positions = simulation.positions(0);
      const double time = step * drop.scene.step;
      double nodes = 0;
      for (const Vec3d& p : positions) nodes = std::max(nodes, -distance.at(p, time).value);
      EXPECT_LE(nodes, tolerance) << number << ", step " << step;
      if (step % 5 != 0) continue;
      const double depth =
          reference::deepest_penetration(drop.scene.garments[0].mesh, positions, distance, time, 0);
      deepest = std::max(deepest, depth);
      EXPECT_LT(depth, drop.thinnest) << number << ", step " << step;
    }
  }
  std::printf("%d of %d steps deeper than the tolerance; deepest of faces %.1e m\n", stalled, steps, deepest);
}

/// Three cloths among four obstacles, one of which moves.
Scene mixed_scene(const std::string& recipe, ImpulseMode mode) {
  Scene scene = among_solids(falling_scene(7, SphereShape{0.3}, 0.4, 0.32, 1, recipe, mode), 3, 0.01);
  scene.impulse.max_sweeps = mode == ImpulseMode::substeps ? 2 : 40;
  return scene;
}

void expect_same_contacts(const GarmentState& found, const GarmentState& expected, const std::string& what) {
  expect_same_state(found, expected, what);
  EXPECT_EQ(found.contacts, expected.contacts) << what;
}

TEST(ImpulseContact, BatchesBlocksAndThreadsGiveTheSameBits) {
  for (const char* recipe : sweep_recipes)
    for (const ImpulseMode mode : both_modes)
      for (const Precision precision : both_precisions) {
        if (recipe == std::string("isometric_impulse") &&
            (mode == ImpulseMode::converge) == (precision == Precision::float64))
          continue;
        const Scene scene = mixed_scene(recipe, mode);
        ExecutionOptions options = one_thread(StepSolver::batched);
        options.precision = precision;
        const int steps = 12;
        const BatchRun expected = run_batch(scene, options, steps);
        double contacts = 0;
        for (const GarmentState& state : expected.states) contacts += contacts_in(state);
        EXPECT_GT(contacts, 3);
        const auto check = [&](const ExecutionOptions& others, const char* what) {
          const BatchRun found = run_batch(scene, others, steps);
          for (std::size_t g = 0; g < 3; ++g) {
            expect_same_contacts(found.states[g], expected.states[g],
                                 std::string(recipe) + ", " + describe(mode) + ", " + what);
            expect_same(found, g, expected, g, what);
          }
        };
        options.threads = 3;
        check(options, "three threads");
        options.emulated_block = 5;
        check(options, "blocks of five");
        options.emulated_block = 0;
        options.solver = StepSolver::direct;
        check(options, "colour by colour");
      }
}

TEST(ImpulseContact, RunsGoOnFromTheirStates) {
  for (const char* recipe : recipes) {
    const Scene scene = mixed_scene(recipe, ImpulseMode::substeps);
    Simulation first(scene, one_thread());
    first.advance(12);
    const GarmentState middle = first.state(1);
    EXPECT_GT(contacts_in(middle), 0);
    first.advance(4);
    Simulation second(scene, one_thread());
    second.set_state(1, middle);
    EXPECT_EQ(second.state(1).contacts, middle.contacts);
    second.set_step_index(12);
    second.advance(4);
    expect_same_contacts(second.state(1), first.state(1), recipe);
  }
}

}  // namespace
}  // namespace isocloth
