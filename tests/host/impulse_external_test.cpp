// Grippers and the air on sheets that impulses hold.
#include "engine/model/resolved_scene.hpp"
#include "tests/host/gripper_case.hpp"
#include "tests/host/impulse_case.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth {
namespace {

constexpr double gravity = 9.8;

struct Solver {
  const char* recipe;
  StepSolver solver;
};
std::string describe(const Solver& s) {
  return std::string(s.recipe) + "_" + std::string(to_string(s.solver));
}

class ImpulseExternalTest : public ::testing::TestWithParam<Solver> {
 protected:
  ExecutionOptions options(Precision precision = Precision::float64) const {
    return {.precision = precision, .solver = GetParam().solver, .threads = 1};
  }
  Scene scene_of(const Garment& garment, double step = 0.01) const {
    Scene scene;
    scene.recipe = GetParam().recipe;
    scene.garments = {garment};
    scene.gravity = gravity;
    scene.step = step;
    scene.duration = 1000 * step;
    scene.impulse.substeps = 10;
    scene.impulse.on_violation = OnViolation::go_on;
    return scene;
  }
};
INSTANTIATE_TEST_SUITE_P(
    Solvers, ImpulseExternalTest,
    ::testing::ValuesIn(of_known_recipes<Solver>({{"bender_iterative", StepSolver::batched},
                                                  {"bender_iterative", StepSolver::direct},
                                                  {"isometric_impulse", StepSolver::batched},
                                                  {"isometric_impulse", StepSolver::direct},
                                                  {"bender_sle", StepSolver::automatic}})),
    [](const auto& which) { return describe(which.param); });

// A sheet falls, is caught at a corner where that has got to, carried along a turning way, and dropped.
TEST_P(ImpulseExternalTest, HeldNodesKeepTheirPlacesInTheFrame) {
  Garment sheet = square_sheet(9, 0.4, 0);
  const double caught = 0.1, dropped = 0.5, depth = 0.5 * gravity * caught * (caught + 0.001);
  const Vec3d corner{-0.2, -0.2, -depth};
  sheet.grippers = {gripper(corner, 0.06, {{caught, dropped}},
                            KeyframeMotion{.times = {caught, dropped},
                                           .translations = {{}, {0.1, 0.05, 0.2}},
                                           .rotations = {{}, {0.3, -0.2, 0.9}},
                                           .center = corner})};
  for (const Precision precision : both_precisions) {
    Simulation simulation(scene_of(sheet), options(precision));
    simulation.advance(10);
    EXPECT_TRUE(held_nodes(simulation).empty());
    EXPECT_NEAR(simulation.positions(0)[0].z, -depth, precision == Precision::float64 ? 1e-12 : 1e-6);
    std::vector<Vec3d> places;
    for (int n = 10; n < 50; ++n) {
      const std::vector<Vec3d> before = simulation.positions(0);
      simulation.step();
      const std::vector<std::size_t> held = held_nodes(simulation);
      ASSERT_EQ(held, (std::vector<std::size_t>{0, 1, 9}));
      const auto local = [&](const Vec3d& x, double t) {
        const Pose pose = gripper_pose(sheet.grippers[0], t);
        const Vec3d r = x - pose.center;
        return Vec3d{dot(pose.axes[0], r), dot(pose.axes[1], r), dot(pose.axes[2], r)};
      };
      if (n == 10)
        for (const std::size_t i : held) places.push_back(local(before[i], caught));
      // Rounding of places, in single precision of the last way, 1 mm.
      for (std::size_t i = 0; i < held.size(); ++i)
        EXPECT_LT(norm(local(simulation.positions(0)[held[i]], 0.01 * (n + 1)) - places[i]),
                  precision == Precision::float64 ? 1e-14 : 1e-9);
    }
    // Nothing but its weight acts on what was let go.
    const double mass = 0.4 * 0.4, u = precision == Precision::float64 ? 1e-16 : 1e-7;
    Vec3d momentum = simulation.measure(0).linear_momentum;
    for (int n = 0; n < 10; ++n) {
      simulation.step();
      EXPECT_TRUE(held_nodes(simulation).empty());
      EXPECT_EQ(norm(simulation.holds(0).force), 0);
      momentum -= Vec3d{0, 0, gravity * 0.01 * mass};
      // Of 10 parts with 200 rows, at 3 m/s.
      EXPECT_LT(norm(simulation.measure(0).linear_momentum - momentum), 10 * 200 * u * 3 * mass * (n + 1));
    }
  }
}

TEST_P(ImpulseExternalTest, ForcesAtRestAreTheWeight) {
  for (const Precision precision : both_precisions) {
    Garment sheet = square_sheet(7, 0.3, 8);
    sheet.fabric.shear_spring = {.stiffness = 20, .damping = 0.01};
    sheet.grippers = {gripper({-0.15, -0.15, 0}, 0.06, {{0, 100}}),
                      gripper({0.12, -0.15, 0}, 0.06, {{0, 100}})};
    sheet.grippers[1].name = "other";
    Simulation simulation(scene_of(sheet), options(precision));
    simulation.advance(400);
    const double weight = gravity * 0.3 * 0.3;
    Vec3d sum, air;
    constexpr int steps = 200;
    for (int n = 0; n < steps; ++n) {
      simulation.step();
      const HoldMeasures found = simulation.holds(0);
      EXPECT_EQ(found.count, 7);
      EXPECT_NEAR(norm(found.forces[0] + found.forces[1] - found.force), 0, 1e-12);
      sum += (1.0 / steps) * found.force;
      air += (8.0 / steps) * simulation.measure(0).linear_momentum;
    }
    // One linear solve per part leaves the sheet trembling at 5 cm/s, which air damps unevenly.
    if (std::string(GetParam().recipe) != "bender_sle") air = {};
    EXPECT_LT(norm(sum - air - Vec3d{0, 0, weight}), 5e-3 * weight);
  }
}

// Over each step of a sheet in motion: momentum changes by what acts from outside, to rounding.
TEST_P(ImpulseExternalTest, ForcesAreTheBalanceOfMomentum) {
  for (const ImpulseMode mode : both_modes)
    for (const bool soft : {false, true}) {
      Garment sheet = square_sheet(7, 0.3, 0);
      sheet.fabric.gravity_density = 0.8;
      sheet.fabric.bending_stiffness = 1e-4;
      sheet.fabric.shear_spring = {.stiffness = 20, .damping = 0.01};
      sheet.initial_velocities.assign(49, Vec3d{0.3, -0.2, 0.1});
      const OscillationMotion motion{.amplitude = {0.02, 0, 0.03}, .frequency = 2, .start = 0, .duration = 9};
      sheet.grippers = {gripper({-0.15, -0.15, 0}, 0.06, {{0.02, 0.2}}, motion),
                        gripper({0.1, -0.1, 0}, 0.06, {{0.0, 0.3}})};
      sheet.grippers[1].name = "other";
      if (soft) sheet.grippers[0].stiffness = 3e4;
      Scene scene = scene_of(sheet);
      scene.impulse.mode = mode;
      scene.impulse.max_sweeps = mode == ImpulseMode::converge ? 50 : 2;
      scene.obstacles = {obstacle(PlaneShape{}, {0, 0, -0.1}, 0.3)};
      Simulation simulation(scene, options());
      const double mass = 0.3 * 0.3;
      double touched = 0;
      for (int n = 0; n < 25; ++n) {
        const Vec3d before = simulation.measure(0).linear_momentum;
        simulation.step();
        const Vec3d change = simulation.measure(0).linear_momentum - before;
        const Vec3d force =
            simulation.holds(0).force + simulation.contacts(0).force - Vec3d{0, 0, 0.8 * gravity * mass};
        touched += norm(simulation.contacts(0).force);
        // Roundings of as many impulses of all rows, each below the largest force.
        EXPECT_LT(norm(change - scene.step * force), 1e-16 * 10 * 50 * 200 * scene.step * (1 + norm(force)))
            << "step " << n;
        EXPECT_GT(simulation.holds(0).count, 0);
      }
      EXPECT_GT(touched, 0);
    }
}

// A rigid hold from the start is a pin with the same motion, up to rounding; springs and bending beside it.
TEST_P(ImpulseExternalTest, HoldsFromTheStartAreWorthPins) {
  for (const Precision precision : both_precisions) {
    const OscillationMotion motion{.amplitude = {0.05, 0, 0.02}, .frequency = 1, .start = 0, .duration = 100};
    Garment held = square_sheet(7, 0.3, 2);
    held.fabric.bending_stiffness = 1e-5;
    held.fabric.bend_spring = {.stiffness = 1, .damping = 1e-3};
    Garment pinned = held;
    held.grippers = {gripper({-0.15, -0.15, 0}, 0.04, {{0, 100}}, motion),
                     gripper({0.15, 0.15, 0}, 0.04, {{0, 100}}, motion)};
    held.grippers[1].name = "other";
    // No two on an edge: without one the sweeps would go in another order.
    pinned.pins = {{.name = "pin", .nodes = {0, 48}, .motion = motion}};
    Simulation first(scene_of(held), options(precision)), second(scene_of(pinned), options(precision));
    first.advance(5);
    second.advance(5);
    // Fifty parts, each of which turns rounding of places into moves of a few times its size, sweeps mix it.
    const double u = precision == Precision::float64 ? 1e-16 : 1e-7 * 1e-2;
    EXPECT_LT(largest_move(first.positions(0), second.positions(0)), 1e4 * u);
  }
}

// A sheet all of whose nodes a spring holds sinks by delta g / k, flat.
TEST_P(ImpulseExternalTest, SoftHoldsAreSprings) {
  Garment sheet = square_sheet(5, 0.2, 30);
  sheet.fabric.gravity_density = 0.7;
  sheet.grippers = {gripper({}, 1, {{0, 100}})};
  sheet.grippers[0].stiffness = 400;
  Simulation simulation(scene_of(sheet), options());
  simulation.advance(600);
  const double sag = 0.7 * gravity / 400;
  for (const Vec3d& p : simulation.positions(0)) EXPECT_NEAR(p.z, -sag, 1e-6 * sag);
  const double weight = 0.7 * gravity * 0.2 * 0.2;
  EXPECT_NEAR(simulation.holds(0).force.z, weight, 1e-6 * weight);
}

// One edge on a stiff spring, explicit steps of which would blow up: it gives by weight / (k area), whatever
// the parts of a step, because rows know of the spring.
TEST_P(ImpulseExternalTest, RowsPullAtSoftHolds) {
  for (const int parts : {5, 20}) {
    Garment sheet = square_sheet(5, 0.2, 20);
    sheet.fabric.shear_spring = {.stiffness = 20, .damping = 0.01};
    for (Vec3d& p : sheet.initial_positions) p = {p.x, 0, p.y - 0.1};  // hangs
    sheet.grippers = {gripper({}, 1, {{0, 100}})};
    sheet.grippers[0].region = BoxShape{{0.3, 0.01, 0.01}, 0};
    sheet.grippers[0].stiffness = 1e6;
    Scene scene = scene_of(sheet);
    scene.impulse.substeps = parts;
    Simulation simulation(scene, options());
    simulation.advance(600);
    ASSERT_EQ(held_nodes(simulation).size(), 5u);
    double moved = 0;  // mean over the area that is held
    const double masses[] = {1, 2, 2, 2, 1};
    for (std::size_t i = 0; i < 5; ++i)
      moved += masses[i] / 8 * (simulation.positions(0)[20 + i].z - sheet.initial_positions[20 + i].z);
    const double weight = gravity * 0.2 * 0.2, area = 0.2 * 0.025;
    EXPECT_NEAR(moved, -weight / (1e6 * area), 5e-3 * weight / (1e6 * area)) << parts << " parts";
  }
}

// Two grippers pull the cloth apart by a tenth: what cannot be met is reported, the hold stays, and when
// they come back so does the cloth.
TEST_P(ImpulseExternalTest, TornClothIsReportedAndRecovers) {
  Garment sheet = square_sheet(9, 0.4, 2);
  const KeyframeMotion motion{.times = {0.1, 0.3, 0.4, 0.6},
                              .translations = {{}, {0.04, 0, 0}, {0.04, 0, 0}, {-0.02, 0, 0}},
                              .rotations = {},
                              .center = {}};
  sheet.grippers = {gripper({-0.2, 0, 0}, 0.06, {{0, 100}}), gripper({0.2, 0, 0}, 0.06, {{0, 100}}, motion)};
  sheet.grippers[1].name = "pulls";
  Simulation simulation(scene_of(sheet), options());
  simulation.advance(35);
  const StepReport torn = simulation.step()[0];
  EXPECT_EQ(torn.status, StepStatus::stalled);
  EXPECT_GT(torn.residual, 0.05);  // a tenth of the length between them
  EXPECT_NEAR(simulation.positions(0)[44].x, 0.24, 1e-9);
  EXPECT_EQ(held_nodes(simulation).size(), 8u);
  simulation.advance(60);
  EXPECT_LT(ResolvedScene(simulation.scene()).row_strain(simulation.measure(0).residual),
            std::string(GetParam().recipe) == "bender_sle" ? 0.02 : 0.1);
}

// A gripper that closes on nothing changes no bit.
TEST_P(ImpulseExternalTest, WithoutAHoldThereIsNoDifference) {
  for (const ImpulseMode mode : both_modes) {
    Scene scene = impulse_scene(impulse_garments(), GetParam().recipe, mode);
    if (std::string(GetParam().recipe) == "bender_sle") scene.impulse.mode = ImpulseMode::converge;
    Scene other = scene;
    for (Garment& garment : other.garments) garment.grippers = {gripper({5, 5, 5}, 0.1, {{0, 100}})};
    const BatchRun first = run_batch(scene, options(), 2), second = run_batch(other, options(), 2);
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      EXPECT_EQ(first.states[g].positions, second.states[g].positions) << scene.garments[g].name;
      EXPECT_EQ(first.states[g].velocities, second.states[g].velocities) << scene.garments[g].name;
    }
  }
}

// Alone, together, kernel by kernel, on any threads and in any block: the same bits.
TEST_P(ImpulseExternalTest, WhoeverStepsThemTheBitsAreTheSame) {
  const Scene scene = many_grippers(scene_of(square_sheet(6, 0.3, 1)));
  for (const Precision precision : both_precisions) {
    const ExecutionOptions own = options(precision);
    const BatchRun batch = run_batch(scene, own, 25);
    const auto expect_same_run = [&](const ExecutionOptions& other, const char* what) {
      const BatchRun run = run_batch(scene, other, 25);
      for (std::size_t g = 0; g < scene.garments.size(); ++g) {
        expect_same(run, g, batch, g, what + scene.garments[g].name);
        EXPECT_EQ(run.states[g].holds, batch.states[g].holds) << what << scene.garments[g].name;
        EXPECT_EQ(run.states[g].contacts, batch.states[g].contacts) << what << scene.garments[g].name;
      }
    };
    ExecutionOptions other = own;
    other.threads = 2;
    expect_same_run(other, "two threads ");
    other = own;
    other.emulated_block = 7;
    if (precision == Precision::float64) expect_same_run(other, "blocks of seven ");
    if (own.solver == StepSolver::batched) {
      other = own;
      other.solver = StepSolver::direct;
      expect_same_run(other, "kernel by kernel ");
    }
    for (std::size_t g = 0; g < scene.garments.size(); ++g) {
      Scene one = scene;
      one.garments = {scene.garments[g]};
      const BatchRun single = run_batch(one, own, 25);
      expect_same(batch, g, single, 0, scene.garments[g].name);
      EXPECT_EQ(batch.states[g].holds, single.states[0].holds);
    }
  }
}

TEST_P(ImpulseExternalTest, StatesGoOnBitForBit) {
  for (const Precision precision : both_precisions) {
    Scene scene = many_grippers(scene_of(square_sheet(6, 0.3, 1)));
    scene.garments = {scene.garments[4]};
    Simulation whole(scene, options(precision)), first(scene, options(precision));
    whole.advance(30);
    first.advance(12);
    ASSERT_FALSE(held_nodes(first).empty());
    Simulation second(scene, options(precision));
    second.set_state(0, first.state(0));
    expect_same_state(second.state(0), first.state(0), "round trip");
    EXPECT_EQ(second.state(0).holds, first.state(0).holds);
    second.set_step_index(12);
    second.advance(18);
    expect_same_state(second.state(0), whole.state(0), "resumed");
    EXPECT_EQ(second.state(0).holds, whole.state(0).holds);
  }
}

// A flat free sheet moves as one: rho dv = h q (u - v) in each part, across and along it with its own
// coefficients.
TEST_P(ImpulseExternalTest, FlatSheetsInWindFollowTheLaw) {
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.density = 0.3;
  sheet.fabric.drag = {.normal = 2, .tangential = 0.25};
  const Vec3d wind{1, -2, 3};
  Scene scene = scene_of(sheet);
  scene.gravity = 0;
  scene.wind.velocity = wind;
  Simulation simulation(scene, options());
  Vec3d v;
  for (int n = 0; n < 20; ++n) {
    simulation.step();
    const auto next = [](double& own, double u, double q) {
      for (int part = 0; part < 10; ++part) own = (own + 1e-3 * q / 0.3 * u) / (1 + 1e-3 * q / 0.3);
    };
    next(v.x, wind.x, 0.25);
    next(v.y, wind.y, 0.25);
    next(v.z, wind.z, 2);
    // Rounding of moves, which add up to places of 0.3 m: 1e-16 / 0.001 in each of ten parts.
    for (const Vec3d& found : simulation.velocities(0)) EXPECT_LT(norm(found - v), 1e-12 * (n + 1));
  }
  EXPECT_GT(v.z, 2);
}

// Quadratic drag is linear about the speed before each part, which it changes by (g - k v^2) h / (1 + 2 h k
// v).
TEST_P(ImpulseExternalTest, QuadraticDragHasItsTerminalVelocity) {
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = 0.3;
  sheet.fabric.drag = {.normal_coefficient = 1.2, .tangential_coefficient = 0.1};
  Scene scene = scene_of(sheet);
  scene.gravity = 9.8;
  Simulation simulation(scene, options());
  constexpr double k = 0.5 * 1.2 * 1.2 / 0.3, part = 1e-3;
  double v = 0;
  for (int n = 0; n < 300; ++n) {
    simulation.step();
    for (int p = 0; p < 10; ++p) v += part * (9.8 - k * v * v) / (1 + 2 * part * k * v);
    for (const Vec3d& found : simulation.velocities(0))
      EXPECT_LT(norm(found + Vec3d{0, 0, v}), 1e-11 * (n + 1));
  }
  EXPECT_NEAR(v, std::sqrt(9.8 / k), 1e-6 * v);
}

// What is held in steady wind feels q (u . n) n and its share along: the gripper takes it up.
TEST_P(ImpulseExternalTest, GrippersTakeUpTheWind) {
  Garment sheet = square_sheet(5, 0.3, 2);
  sheet.fabric.density = 0.1;
  sheet.fabric.drag = {.normal = 2, .tangential = 0.25};
  sheet.grippers = {gripper({}, 1, {{0, 100}})};
  Scene scene = scene_of(sheet);
  scene.gravity = 0;
  scene.wind.velocity = {1, -2, 3};
  Simulation simulation(scene, options());
  simulation.advance(3);
  const double area = 0.3 * 0.3;
  EXPECT_LT(norm(simulation.holds(0).force + area * Vec3d{0.25, -0.5, 6}), 1e-12);
  // A corner alone: rows bring the wind's force to it, all of it but a part h q / rho, in parts of 1 ms 2 %.
  sheet.grippers = {gripper({-0.15, -0.15, 0}, 0.1, {{0, 100}})};
  sheet.fabric.mass_damping = 0.5;
  sheet.fabric.shear_spring = {.stiffness = 20, .damping = 0.01};
  scene.garments = {sheet};
  Simulation hung(scene, options());
  hung.advance(600);
  Vec3d sum;
  for (int n = 0; n < 200; ++n) {
    hung.step();
    sum += 1.0 / 200 * hung.holds(0).force;
  }
  // At rest it lies along the wind, but for what it is bent: no less than the tangential drag.
  EXPECT_LT(dot(sum, Vec3d{1, -2, 3}), -0.97 * 0.25 * 14 * area);
}

TEST_P(ImpulseExternalTest, LightClothInAStormStaysFinite) {
  Garment sheet = square_sheet(7, 0.3, 0);
  sheet.fabric.density = 0.02;
  sheet.fabric.drag = {.normal = 3, .tangential = 0.3};
  sheet.grippers = {gripper({-0.15, 0, 0}, 0.1, {{0, 100}})};
  Scene scene = scene_of(sheet);
  scene.impulse.substeps = 2;
  scene.wind = {.velocity = {20, 5, 3}, .gusts = 0.3, .gust_period = 0.2};
  Simulation simulation(scene, options());
  for (int n = 0; n < 100; ++n) {
    simulation.step();
    ASSERT_TRUE(is_finite(simulation.state(0)));
    EXPECT_LT(fastest(simulation), 60);  // the fastest gust
  }
}

TEST_P(ImpulseExternalTest, StillAirTakesEnergy) {
  Garment sheet = square_sheet(7, 0.3, 0);
  sheet.fabric.drag = {.normal = 1, .tangential = 0.1};
  for (const Vec3d& p : sheet.mesh.positions)
    sheet.initial_velocities.push_back(cross(Vec3d{3, 1, -2}, p) + Vec3d{0.5, 0, 1});
  Scene scene = scene_of(sheet);
  scene.gravity = 0;
  Simulation simulation(scene, options());
  double before = simulation.measure(0).kinetic_energy;
  const double start = before;
  for (int n = 0; n < 60; ++n) {
    simulation.step();
    const double now = simulation.measure(0).kinetic_energy;
    EXPECT_LT(now, before);
    before = now;
  }
  EXPECT_LT(before, 0.7 * start);
}

}  // namespace
}  // namespace isocloth
