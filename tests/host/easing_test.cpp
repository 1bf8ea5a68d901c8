// Cloth that starts inside of obstacles and is eased out over contact.initial_penetration_time.
#include "engine/core/errors.hpp"
#include "host/surroundings/start_depths.hpp"
#include "tests/host/batch_case.hpp"
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

constexpr double step = 0.01, time = 0.4;

Scene eased(Scene scene) {
  scene.contact.resolve_initial_penetration = true;
  scene.contact.initial_penetration_time = time;
  scene.contact.tolerance = 2e-4;
  return scene;
}
/// n x n nodes, `depth` below the top of a ball of 0.25 m.
Scene in_ball(Index n, double depth) {
  Garment sheet = square_sheet(n, 0.3, 0.3);
  for (Vec3d& p : sheet.initial_positions) p.z = 0.25 - depth;
  return eased(contact_scene(sheet, obstacle(SphereShape{0.25}, {0.004, 0.003, 0}, 0.2), step));
}
/// The corners of a box with sides of 2 half [m], turned outwards.
Mesh closed_box(const Vec3d& half) {
  Mesh mesh;
  for (int k = 0; k < 8; ++k)
    mesh.positions.push_back({k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z});
  for (const auto& face :
       {std::array{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}})
    mesh.add_face({face.begin(), face.end()});
  return mesh;
}
/// In the upper side of a mesh that rises, turns and shifts.
Scene in_moving_mesh(Index n, double depth) {
  Scene scene = in_ball(n, 0);
  for (Vec3d& p : scene.garments[0].initial_positions) p.z = 0.1 - depth;
  scene.obstacles[0].shape = MeshShape{closed_box({0.3, 0.3, 0.1}), 0, 0};
  scene.obstacles[0].position = {};
  scene.obstacles[0].motion = KeyframeMotion{.times = {0, 1},
                                             .translations = {{0, 0, 0}, {0.05, 0.02, 0.1}},
                                             .rotations = {{0, 0, 0}, {0.1, 0.05, 0.3}},
                                             .center = {}};
  return scene;
}
/// Half of the nodes in a step of 0.2 m that ends below the middle of the sheet.
Scene half_inside(Index n, double depth) {
  Scene scene = in_ball(n, 0);
  for (Vec3d& p : scene.garments[0].initial_positions) p.z = 0.2 - depth;
  scene.obstacles[0].shape = BoxShape{{0.4, 0.8, 0.4}, 0.01};
  scene.obstacles[0].position = {-0.2 + 0.3 / (2.0 * n), 0, 0};
  return scene;
}

/// Against the true surfaces, as the reference measures them [m].
double true_depth(const Simulation& simulation) {
  const Scene& scene = simulation.scene();
  const Garment& garment = scene.garments[0];
  double depth = 0;
  for (const Obstacle& o : scene.obstacles)
    depth = std::max(depth, reference::deepest_penetration(garment.mesh, simulation.positions(0),
                                                           reference::ObstacleDistance(o), simulation.time(0),
                                                           garment.fabric.thickness));
  return depth;
}

struct Course {
  double start = 0;         ///< greatest depth [m]
  double fastest = 0;       ///< of any node at any step until the time is over [m/s]
  double end = 0;           ///< depth at last [m]
  int most_iterations = 0;  ///< of a step
  int stalled = 0;          ///< steps
};
/// rounding: of distances [m].
Course take(const Scene& scene, const ExecutionOptions& options, double rounding) {
  Simulation simulation(scene, options);
  Course course;
  course.start = true_depth(simulation);
  double left = course.start;
  for (int n = 0; n < 80; ++n) {
    const StepReport report = simulation.step()[0];
    course.most_iterations = std::max(course.most_iterations, report.iterations);
    course.stalled += report.status != StepStatus::converged;
    if (simulation.time() <= scene.contact.initial_penetration_time)
      course.fastest = std::max(course.fastest, fastest(simulation));
    course.end = true_depth(simulation);
    const double share = eased_share(simulation.time() / scene.contact.initial_penetration_time);
    // No deeper than e(t), which never grows; and what is reported is no less than what is.
    EXPECT_LE(report.eased_depth, left + rounding) << "step " << n;
    EXPECT_LE(report.eased_depth, share * course.start + rounding) << "step " << n;
    EXPECT_LE(course.end, report.penetration + rounding) << "step " << n;
    EXPECT_LE(course.end, report.eased_depth + scene.contact.tolerance + rounding) << "step " << n;
    left = report.eased_depth;
  }
  EXPECT_EQ(left, 0);
  return course;
}

struct Kind {
  const char* name;
  Scene scene;
  double rounding;  ///< of what the kernels' searches and grids leave of the reference's distances [m]
  double speed;     ///< of the obstacle's surface [m/s]
};
std::vector<Kind> kinds(Index n) {
  return {{"ball", in_ball(n, 0.04), 2e-4, 0},
          {"moving mesh", in_moving_mesh(n, 0.03), 2e-4, 0.2},
          {"half inside", half_inside(n, 0.02), 2e-4, 0}};
}

TEST(Easing, EndsOutsideInFewIterationsAtNoGreatSpeed) {
  for (const auto& [solver, n] : {std::pair{StepSolver::batched, 9}, {StepSolver::direct, 13}})
    for (Kind& kind : kinds(n))
      for (const Precision precision : both_precisions) {
        SCOPED_TRACE(std::string(kind.name) + ", " + to_string(solver) + ", " + to_string(precision));
        ExecutionOptions options = one_thread(solver);
        options.precision = precision;
        kind.scene.gravity = 0;  // what moves is moved by the obstacle
        const Course course = take(kind.scene, options, kind.rounding);
        EXPECT_GT(course.start, 0.015);
        EXPECT_LE(course.end, 1e-3);
        EXPECT_LE(course.most_iterations, 50);
        EXPECT_EQ(course.stalled, 0);
        // The surface comes back at 1.5 d / T at most; a sheet over it may turn about what it rests on.
        EXPECT_LE(course.fastest, 3.2 * course.start / time + kind.speed);
        kind.scene.gravity = 9.8;
        const Course falling = take(kind.scene, options, kind.rounding);
        EXPECT_LE(falling.end, 1e-3);
        EXPECT_LE(falling.most_iterations, 50);
        EXPECT_EQ(falling.stalled, 0);
      }
}

TEST(Easing, AtOnceIsFaster) {
  Scene scene = in_ball(9, 0.04);
  scene.gravity = 0;
  const Course slow = take(scene, one_thread(), 2e-4);
  scene.contact.initial_penetration_time = 0;
  Simulation simulation(scene, one_thread());
  simulation.step();
  EXPECT_GT(fastest(simulation), 10 * slow.fastest);
}

TEST(Easing, ImpulsesEaseOutToo) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : both_precisions) {
      Scene scene = in_ball(9, 0.04);
      scene.recipe = "bender_iterative";
      ExecutionOptions options = one_thread(solver);
      options.precision = precision;
      // Impulses hold lengths loosely, and contacts last.
      Simulation simulation(scene, options);
      double left = true_depth(simulation);
      for (int n = 0; n < 80; ++n) {
        const StepReport report = simulation.step()[0];
        EXPECT_LE(report.eased_depth, left + 1e-6);
        EXPECT_LE(true_depth(simulation), report.penetration + 2e-4) << n;
        left = report.eased_depth;
      }
      EXPECT_EQ(left, 0);
      EXPECT_LE(true_depth(simulation), 1e-3);
    }
}

// Thrown out, the sheet falls back on a surface that is where it is.
TEST(Easing, WhatIsOutStaysOut) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
    Scene scene = in_ball(9, 0.01);
    scene.contact.initial_penetration_time = 10;
    scene.garments[0].initial_velocities.assign(81, Vec3d{0, 0, 1.5});
    Simulation simulation(scene, one_thread(solver));
    double highest = 0, deepest = 0;
    for (int n = 0; n < 60; ++n) {
      const StepReport report = simulation.step()[0];
      highest = std::max(highest, mean(simulation.positions(0)).z);
      if (n < 5) continue;
      EXPECT_EQ(report.eased_depth, 0) << n;
      deepest = std::max(deepest, true_depth(simulation));
    }
    EXPECT_GT(highest, 0.3);
    EXPECT_GT(contact_force(simulation).z, 0);
    EXPECT_LE(deepest, 1e-3);
  }
}

TEST(Easing, RunsGoOnFromTheirStates) {
  for (const char* recipe : {"coltraro2022", "bender_iterative"})
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
      for (const Precision precision : both_precisions) {
        Scene scene = in_moving_mesh(7, 0.03);
        scene.recipe = recipe;
        ExecutionOptions options = one_thread(solver);
        options.precision = precision;
        Simulation first(scene, options);
        first.advance(15);
        const GarmentState middle = first.state(0);
        EXPECT_TRUE(std::ranges::any_of(middle.eased, [](const EasedState& e) { return e.depth > 0.001; }));
        first.advance(15);
        Simulation second(scene, options);
        second.set_state(0, middle);
        second.set_step_index(15);
        second.advance(15);
        EXPECT_TRUE(second.state(0) == first.state(0)) << recipe << ", " << to_string(solver);
        // What is not restored shows.
        GarmentState other = middle;
        for (EasedState& e : other.eased) e = {};
        second.set_state(0, other);
        second.set_step_index(15);
        second.advance(1);
        first.reset();
        first.advance(16);
        EXPECT_FALSE(second.state(0) == first.state(0));
      }
}

TEST(Easing, PlaceInABatchDoesNotShow) {
  Scene scene = in_ball(7, 0.02);
  const Garment sheet = scene.garments[0];
  scene.garments.clear();
  for (int g = 0; g < 5; ++g) {
    Garment own = sheet;
    own.name += std::to_string(g);
    own.time_offset = 0.1 * g;
    own.fabric.thickness = 1e-3 * (g % 2);
    for (Vec3d& p : own.initial_positions) p.z -= 0.005 * g;
    scene.garments.push_back(own);
  }
  // Within tight tolerances, too: steps of many iterations meet every part of the law.
  for (const auto& [recipe, is_tight] :
       {std::pair{"coltraro2022", false}, {"bender_iterative", false}, {"coltraro2022", true}}) {
    scene.recipe = recipe;
    if (is_tight) {
      scene.projection.tolerance = 1e-7;
      scene.projection.on_violation = OnViolation::go_on;
      scene.contact.tolerance = 1e-6;
    }
    const BatchRun all = run_batch(scene, one_thread(StepSolver::batched), 12);
    for (std::size_t g : {0u, 3u}) {
      Scene alone = scene;
      alone.garments = {scene.garments[g]};
      expect_same(run_batch(alone, one_thread(StepSolver::batched), 12), 0, all, g, recipe);
    }
    // Clocks of a garment, not of the simulation, count.
    Simulation simulation(scene, one_thread(StepSolver::batched));
    simulation.advance(5);
    simulation.reset({1});
    simulation.advance(12);
    EXPECT_TRUE(simulation.state(1) == all.states[1]) << recipe;
  }
}

TEST(Easing, StartsWithoutAWayOutAreRefused) {
  const auto expect_refused = [](const Scene& scene, const std::vector<const char*>& parts) {
    try {
      Simulation simulation(scene, one_thread());
      FAIL() << "not refused";
    } catch (const SceneError& error) {
      const std::string message = error.what();
      for (const char* part : parts) EXPECT_NE(message.find(part), std::string::npos) << message;
    }
  };
  // Through the middle of the ball: nodes beside it would leave to all sides.
  Scene scene = in_ball(9, 0.25);
  for (Vec3d& p : scene.garments[0].initial_positions) p.x += 0.004;
  expect_refused(scene, {"garments[0] \"sheet\": found ", " nodes: ", "40", "0.24", "obstacle \"obstacle\"",
                         "neighbours would leave by opposite sides"});
  // A sheet that sags through the middle of a plate.
  scene = in_ball(9, 0);
  scene.obstacles[0].shape = BoxShape{{1, 1, 0.02}, 0};
  scene.obstacles[0].position = {};
  for (Vec3d& p : scene.garments[0].initial_positions) p.z = 0.005 - 0.01 * (std::abs(p.x) < 0.05);
  expect_refused(scene, {"opposite sides"});
  scene = in_ball(9, 0.02);
  for (const char* name : {"b", "c", "d"}) {
    scene.obstacles.push_back(scene.obstacles[0]);
    scene.obstacles.back().name = name;
  }
  expect_refused(scene, {"obstacle \"d\"", "and of 3 others"});
  scene.contact.initial_penetration_time = -1;
  expect_refused(scene, {"contact.initial_penetration_time: found -1"});
}

TEST(Easing, WhereDistancesAreFlatNothingLeadsOut) {
  const Scene scene = in_ball(9, 0);
  const std::vector<float> distances(64, -0.05f);
  ShapeView<double> flat{.kind = ShapeKind::grid,
                         .origin = {-0.5, -0.5, -0.25},
                         .cell = 0.5,
                         .nodes = {4, 4, 4},
                         .distances = distances,
                         .blocks = {}};
  StartDepths<double> depths(scene);
  try {
    depths.add("obstacle \"fog\"",
               [](double) {
                 return Pose{{}, {Vec3d{1, 0, 0}, Vec3d{0, 1, 0}, Vec3d{0, 0, 1}}};
               },
               flat, {Vec3d{-1, -1, -1}, Vec3d{1, 1, 1}});
    FAIL() << "not refused";
  } catch (const SceneError& error) {
    const std::string message = error.what();
    for (const char* part : {"81 nodes: 0, 1, 2, 3, 4, 5, 6, 7, ... of 81, up to 0.05",
                             "inside of obstacle \"fog\"", "no direction leads out"})
      EXPECT_NE(message.find(part), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace isocloth
