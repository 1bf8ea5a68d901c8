// Given forces on nodes, against the law of motion, and told to scenes that had none.
#include "engine/core/errors.hpp"
#include "tests/host/force_case.hpp"

namespace isocloth {
namespace {

constexpr double step = 0.005, gravity = 2;

// dv = h F / m of each node of a flat free sheet, whose rows have nothing to do.
TEST(NodeForces, AccelerateByForceOverMass) {
  const Vec3d a{1, -2, 3};
  for (const Way& way : ways()) {
    Simulation simulation(bare_scene(way, 3), way.options);
    const std::vector<Vec3d> forces = even_forces(simulation.scene().garments[1], a);
    simulation.set_forces(1, forces);
    constexpr int steps = 10;
    simulation.advance(steps);
    // Rounding of positions over a step, a thousandfold by the rows of a flat sheet.
    const double bound = 1000 * steps * rounding(way) * 0.3 / step;
    for (std::size_t g = 0; g < 3; ++g) {
      const Vec3d v = steps * step * (Vec3d{0, 0, -gravity} + (g == 1 ? a : Vec3d{}));
      for (const Vec3d& found : simulation.velocities(g)) EXPECT_LT(norm(found - v), bound) << way.name;
    }
    simulation.set_forces(1, {});
    simulation.advance(steps);
    const Vec3d v = steps * step * (Vec3d{0, 0, -2 * gravity} + a);
    for (const Vec3d& found : simulation.velocities(1)) EXPECT_LT(norm(found - v), 2 * bound) << way.name;
  }
}

// Whatever the rows do: dP/dt is the sum of the forces.
TEST(NodeForces, GiveTheirMomentum) {
  for (const Way& way : ways()) {
    Simulation simulation(bare_scene(way, 1), way.options);
    std::vector<Vec3d> forces(49);
    forces[3] = {0.01, 0.02, 0.03};
    forces[40] = {-0.02, 0.01, -0.01};
    simulation.set_forces(0, forces);
    constexpr int steps = 10;
    const int iterations = simulation.advance(steps)[0].iterations;
    const double mass = 0.2 * 0.3 * 0.3;
    const Vec3d expected = steps * step * (forces[3] + forces[40] + Vec3d{0, 0, -mass * gravity});
    // Of positions over a step, in solves: an iteration of the proximal Newton mends what the last one left,
    // those of the fast projection add up, and its rows are ten times as hard (eps).
    const int solves = way.method == ProjectionMethod::fast_projection ? 10 * iterations : steps;
    const double bound = 100 * solves * rounding(way) * mass * 0.3 / step;
    EXPECT_LT(norm(simulation.measure(0).linear_momentum - expected), bound) << way.name;
    EXPECT_GT(norm(simulation.velocities(0)[3] - simulation.velocities(0)[40]), 0.01) << way.name;
  }
}

// In a scene where nothing surrounds the cloths: room for forces is made when they come.
TEST(NodeForces, ComeAndGoBitForBit) {
  for (const Way& way : ways()) {
    Simulation told(bare_scene(way, 3), way.options), untold(bare_scene(way, 3), way.options);
    const auto restarted = [&] {
      Simulation other(told.scene(), told.options());
      other.restore(told.snapshot());
      return other;
    };
    const auto expect_same_as = [&](const Simulation& other, std::size_t garment) {
      expect_same_state(told.state(garment), other.state(garment),
                        way.name + ", garment " + std::to_string(garment));
    };
    std::vector<Vec3d> forces(49);
    forces[3] = {0.01, 0.02, 0.03};
    for (const bool acts : {true, false, true}) {
      told.set_forces(1, acts ? forces : std::vector<Vec3d>());
      Simulation anew = restarted();
      for (Simulation* each : {&told, &untold, &anew}) each->advance(7);
      for (std::size_t g = 0; g < 3; ++g) expect_same_as(anew, g);
      // The batched fast projection predicts all cloths by a solve where one is pulled.
      if (way.method == ProjectionMethod::proximal_newton || way.options.solver == StepSolver::direct)
        for (const std::size_t g : {0, 2}) expect_same_as(untold, g);
      EXPECT_NE(told.state(1).positions, untold.state(1).positions) << way.name;
    }
    const Snapshot middle = told.snapshot();
    told.advance(5);
    const GarmentState end = told.state(1);
    told.restore(middle);
    told.advance(5);
    expect_same_state(told.state(1), end, way.name + ", restored");
    told.reset();
    Simulation anew(told.scene(), told.options());
    for (Simulation* each : {&told, &anew}) each->advance(5);
    expect_same_as(anew, 1);
  }
}

TEST(NodeForces, BadOnesAreRefusedAndChangeNothing) {
  Scene scene = bare_scene(ways().front(), 2);
  Simulation simulation(scene);
  const auto expect_refused = [](Simulation& own, const std::vector<Vec3d>& forces, const std::string& part) {
    try {
      own.set_forces(1, forces);
      ADD_FAILURE() << "not refused: " << part;
    } catch (const SceneError& error) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    }
    EXPECT_TRUE(own.scene().garments[1].forces.empty());
  };
  std::vector<Vec3d> forces(49);
  expect_refused(simulation, std::vector<Vec3d>(48), "garments[1].forces");
  EXPECT_THROW(simulation.set_forces(2, forces), ShapeError);
  scene.projection.metric = Metric::mass;
  Simulation other(scene);
  expect_refused(other, forces, "use \"implicit\"");
  forces[7].y = std::nan("");
  expect_refused(simulation, forces, "garments[1].forces");
  scene.projection.metric = Metric::implicit_b;
  scene.garments[1].forces = forces;
  EXPECT_THROW(validate_scene(scene), SceneError);
}

}  // namespace
}  // namespace isocloth
