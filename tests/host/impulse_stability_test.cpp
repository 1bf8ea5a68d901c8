// Long runs, far places and broken cloths under impulses.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "host/files/text_file.hpp"
#include "host/scene/scene_file.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/known_recipes.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

Vec3d mean(const std::vector<Vec3d>& nodes) {
  Vec3d sum{};
  for (const Vec3d& p : nodes) sum += p;
  return (1.0 / static_cast<double>(nodes.size())) * sum;
}
double extent(const std::vector<Vec3d>& nodes) {
  const Vec3d centre = mean(nodes);
  double most = 0;
  for (const Vec3d& p : nodes) most = std::max(most, norm(p - centre));
  return most;
}

// Impulses and inner forces come in pairs; each end is rounded by u of the velocity: sweeps x pairs of them.
TEST(ImpulseStability, AFreeClothKeepsItsMomentum) {
  for (const char* recipe : sweep_recipes)
    for (const ImpulseMode mode : both_modes)
      for (const Precision precision : both_precisions) {
        SCOPED_TRACE(std::string(recipe) + ", " + describe(mode) + ", " + to_string(precision));
        Garment garment = shaken("free", quad_grid(8, 8, 0.3, 0.3), springy_fabric(), {});
        garment.fabric.mass_damping = 0;
        garment.gravity = 0;
        Simulation simulation(impulse_scene({garment}, recipe, mode), {.precision = precision, .threads = 1});
        const Vec3d before = simulation.measure(0).linear_momentum;
        double fastest = 0, updates = 0;
        for (int n = 0; n < unless_sanitized(20, 2); ++n) {
          const StepReport report = simulation.step()[0];
          updates += 400.0 * (report.iterations + 3.0 * report.substeps);
          for (const Vec3d& v : simulation.velocities(0)) fastest = std::max(fastest, norm(v));
        }
        const double u = precision == Precision::float32 ? std::numeric_limits<float>::epsilon()
                                                         : std::numeric_limits<double>::epsilon();
        const double mass = garment.fabric.density * 0.3 * 0.3;
        // Signs of roundings are mixed; 10 for those of single precision's moves, which are differences.
        EXPECT_LE(norm(simulation.measure(0).linear_momentum - before),
                  10 * u * std::sqrt(updates) * mass * fastest);
      }
}

/// Steps such that all scenes together take some seconds.
int steps_for(const Scene& scene, int parts_and_sweeps) {
  double nodes = 0;
  for (const Garment& garment : scene.garments) nodes += garment.mesh.node_count();
  return static_cast<int>(std::clamp(unless_sanitized(5e6, 5e3) / nodes / parts_and_sweeps,
                                     unless_sanitized(20.0, 1.0), 10'000.0));
}

// Whatever the number of sweeps, nothing blows up: a cloth stays within a few times its own size (one sweep
// per part stretches), and edges keep its speed within what it may fall and be swung; blocks of rows that
// hang together, as near pins, may give a node 1 / (2 sqrt(softness)) times as much.
TEST(ImpulseStability, NoSceneBlowsUp) {
  const auto folder = std::filesystem::path(ISOCLOTH_SOURCE_DIR) / "bench" / "scenes";
  int scenes = 0, most_steps = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json" || !is_known_scene(read_whole_file(entry.path()))) continue;
    Scene scene = read_scene(entry.path());
    if (has_surroundings(scene)) continue;  // obstacles have their own tests; impulses know nothing else
    if (scene.garments.size() > 8) scene.garments.resize(8);
    ++scenes;
    for (const char* recipe : sweep_recipes)
      for (const int sweeps : {0, 1, 2, 5}) {
        if (sweeps != 0 && std::string(recipe) != sweep_recipes[0]) continue;
        SCOPED_TRACE(entry.path().stem().string() + ", " + recipe + ", " + std::to_string(sweeps) +
                     " sweeps");
        scene.recipe = recipe;
        scene.impulse = {};
        scene.impulse.max_sweeps = sweeps;
        scene.contact.cloth = false;               // each cloth alone
        for (Garment& garment : scene.garments) {  // threads are edges held by impulses, not springs
          garment.fabric.structural_spring = {};
          garment.fabric.strain_limit = 0;
          garment.fabric.plasticity = {};
        }
        Simulation simulation(scene, {.precision = Precision::float32, .threads = 1});
        const int parts = simulation.step()[0].substeps;
        const int steps = steps_for(
            scene, parts * std::max(sweeps, 1) * (recipe == std::string(sweep_recipes[0]) ? 1 : 12));
        most_steps = std::max(most_steps, steps);
        for (const StepReport& report : simulation.advance(steps))
          EXPECT_NE(report.status, StepStatus::non_finite);
        for (std::size_t g = 0; g < scene.garments.size(); ++g) {
          const Garment& garment = scene.garments[g];
          EXPECT_LE(extent(simulation.positions(g)), 3 * extent(garment.mesh.positions)) << garment.name;
          const double time = steps * scene.step, fall = garment.pins.empty() ? 10 * time : 0;
          const double factor = recipe == std::string(sweep_recipes[0]) ? 1 : 1 / (2 * std::sqrt(1e-3));
          for (const Vec3d& v : simulation.velocities(g))
            ASSERT_LE(norm(v), factor * (10 + fall)) << garment.name;
        }
      }
  }
  EXPECT_GE(scenes, 20);
  EXPECT_GE(most_steps, unless_sanitized(10'000, 1));
}

// One kilometre away a float's neighbours are 6e-5 m apart: more than a node moves in a part of 1e-5 s.
// Rounding of u = h v by half a unit in each part adds up to parts u v / 2 at most.
TEST(ImpulseStability, FarFromTheOriginFloatFallsAsDoubleDoes) {
  for (const char* recipe : sweep_recipes) {
    Garment garment =
        shaken("far", quad_grid(6, 6, 0.25, 0.25), {.density = 0.3, .gravity_density = 0.3}, {});
    for (Vec3d& p : garment.initial_positions) p += Vec3d{1000, -1000, 1000};
    garment.initial_velocities.clear();
    garment.initial_positions.clear();
    for (const Vec3d& p : garment.mesh.positions)
      garment.initial_positions.push_back(p + Vec3d{1000, -1000, 1000});
    Scene scene = impulse_scene({garment}, recipe, ImpulseMode::substeps);
    scene.impulse.substeps = 1000;
    const int steps = 10;
    std::vector<Vec3d> ends[2];
    for (const Precision precision : both_precisions) {
      Simulation simulation(scene, {.precision = precision, .threads = 1});
      simulation.advance(steps);
      ends[precision == Precision::float32 ? 0 : 1] = simulation.positions(0);
    }
    const double time = steps * scene.step, speed = 9.8 * time, parts = steps * 1000.0;
    const double u = std::numeric_limits<float>::epsilon();
    const double bound = time * parts * u / 2 * speed;
    EXPECT_LE(bound, 0.01 * speed * time / 2);
    EXPECT_NEAR(mean(ends[1]).z - mean(garment.initial_positions).z, -9.8 * time * time / 2,
                9.8 * time * scene.step / 1000 * 2);
    EXPECT_LE(norm(mean(ends[0]) - mean(ends[1])), bound) << recipe;
    EXPECT_LE(extent(ends[0]), (1 + 1e-4) * extent(ends[1])) << recipe;
  }
}

// A sheet at rest keeps its place: gravity and impulses balance part by part, and what rounding leaves of
// them must not add up. Where it rests, one sweep per part stretches it; both precisions rest there.
TEST(ImpulseStability, AtRestFloatStaysWhereDoubleDoes) {
  for (const char* recipe : sweep_recipes) {
    Garment garment;
    garment.name = "sheet";
    garment.mesh = quad_grid(9, 9, 0.4, 0.4);
    for (Vec3d& p : garment.mesh.positions) p = {p.x, 0, p.y};
    garment.fabric = {.density = 0.3,
                      .gravity_density = 0.3,
                      .bending_stiffness = 0,
                      .mass_damping = 3,
                      .stiffness_damping = 0};
    std::vector<Index> top(9);
    for (Index i = 0; i < 9; ++i) top[static_cast<std::size_t>(i)] = 72 + i;
    garment.pins = {{"top", top, FixedMotion{}}};
    Scene scene = impulse_scene({garment}, recipe, ImpulseMode::substeps);
    scene.step = 1e-4;
    scene.impulse.substeps = 1;
    std::vector<Vec3d> ends[2];
    for (const Precision precision : both_precisions) {
      Simulation simulation(scene, {.precision = precision, .threads = 1});
      simulation.advance(unless_sanitized(2000, 200));
      ends[precision == Precision::float32 ? 0 : 1] = simulation.positions(0);
    }
    double apart = 0, moved = 0;
    for (std::size_t i = 0; i < ends[0].size(); ++i) {
      apart = std::max(apart, norm(ends[0][i] - ends[1][i]));
      moved = std::max(moved, norm(ends[1][i] - garment.mesh.positions[i]));
    }
    // Places are rounded by u 0.4 m / 2; every sweep takes that for strain, in each of 8 rows of edges.
    EXPECT_LE(apart, 10 * 8 * std::numeric_limits<float>::epsilon() * 0.4) << recipe << ", moved " << moved;
    EXPECT_LE(moved, 0.01) << recipe;
  }
}

Scene broken_scene(const std::string& recipe, ImpulseMode mode, Garment garment) {
  garment.name = "broken";
  if (garment.fabric.shear_spring.exists() || garment.fabric.bending_stiffness > 0)
    garment.fabric = springy_fabric();
  Scene scene = impulse_scene({std::move(garment)}, recipe, mode);
  scene.impulse.max_sweeps = mode == ImpulseMode::substeps ? 1 : 100;
  return scene;
}

std::vector<Garment> degenerate_garments() {
  std::vector<Garment> all;
  const auto add = [&all](Mesh mesh, std::vector<Index> pinned, const auto& spoil) {
    Garment garment;
    garment.mesh = std::move(mesh);
    garment.fabric = springy_fabric();
    garment.initial_positions = garment.mesh.positions;
    if (!pinned.empty()) garment.pins = {{"pins", std::move(pinned), FixedMotion{}}};
    spoil(garment.initial_positions);
    all.push_back(garment);
  };
  const auto leave = [](std::vector<Vec3d>&) {};
  Mesh triangle;
  triangle.positions = {{0, 0, 0}, {0.1, 0, 0}, {0, 0.1, 0}};
  triangle.add_face({0, 1, 2});
  add(triangle, {}, leave);
  add(triangle, {0}, leave);
  add(quad_grid(2, 2, 0.1, 0.1), {}, leave);
  add(quad_grid(2, 2, 0.1, 0.1), {0, 1, 2, 3}, leave);                // nothing free
  add(quad_grid(3, 3, 0.2, 0.2), {0, 1, 2, 3, 5, 6, 7, 8}, leave);    // one free node
  add(quad_grid(5, 5, 0.2, 0.2), {}, leave);                          // no pins
  add(quad_grid(5, 5, 0.2, 0.2), {0}, [](auto& x) { x[7] = x[6]; });  // two nodes in one place
  add(quad_grid(5, 5, 0.2, 0.2), {0, 4}, [](auto& x) { x[6] = x[5] = x[1] = x[0]; });  // a quad in a point
  add(quad_grid(5, 5, 0.2, 0.2), {0, 4}, [](auto& x) {                                 // all in one line
    for (Vec3d& p : x) p = {p.x, 0, 0};
  });
  add(quad_grid(5, 5, 0.2, 0.2), {0}, [](auto& x) {  // all in one point
    for (Vec3d& p : x) p = {0, 0, 0};
  });
  return all;
}

TEST(ImpulseStability, DegenerateClothsStayFiniteAndHonest) {
  for (const char* recipe : sweep_recipes)
    for (const ImpulseMode mode : both_modes)
      for (const Precision precision : both_precisions)
        for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
          int number = 0;
          for (const Garment& garment : degenerate_garments()) {
            SCOPED_TRACE(std::string(recipe) + ", " + describe(mode) + ", " + to_string(precision) + ", " +
                         to_string(solver) + ", case " + std::to_string(number++));
            const Scene scene = broken_scene(recipe, mode, garment);
            Simulation simulation(scene, {.precision = precision, .solver = solver, .threads = 1});
            for (int n = 0; n < 5; ++n) {
              const StepReport report = simulation.step()[0];
              EXPECT_NE(report.status, StepStatus::non_finite);
              EXPECT_EQ(report.status == StepStatus::converged, report.residual <= scene.impulse.tolerance);
              EXPECT_TRUE(std::isfinite(report.residual));
              EXPECT_TRUE(is_finite(simulation.state(0)));
              // Edges give no more than the lengths that they lack, 0.3 m, in a part of 5 to 0.1 ms; blocks
              // of rows that hang together 1 / (2 sqrt(softness)) times as much.
              const double most = recipe == std::string(sweep_recipes[0]) ? 500 : 500 / (2 * std::sqrt(1e-3));
              for (const Vec3d& v : simulation.velocities(0)) EXPECT_LE(norm(v), most);
            }
          }
        }
}

}  // namespace
}  // namespace isocloth
