// Balances of energy beside closed forms and other measures of the same.
#include "host/energy/energy_balance.hpp"

#include <numbers>

#include "tests/energy/energy_case.hpp"

namespace isocloth {
namespace {

constexpr double g = gravity_of_scenes, pi = std::numbers::pi;
const char* const recipes_of_the_projection[] = {"membrane",     "coltraro2022",     "inextensible_edges",
                                                 "springs",      "soft_constraints", "corotational",
                                                 "elastic_edges"};

// Backward Euler falls by g h^2 n (n + 1) / 2 in n steps, with n g h at the end, and loses m (g h)^2 / 2 a
// step.
TEST(EnergyBalance, OfAFreeFall) {
  const int n = 40;
  const double h = 0.01, mass = 0.5, end = n * g * h;
  for (const std::string recipe : recipes_of_the_projection) {
    const MeasuredBalance b = balance_of(energy_scene(half_kilogram(), h, recipe), n);
    constexpr double rounding = 1e-7;  // of strains, times the stiffness
    EXPECT_NEAR(b.sums.work_gravity, mass * g * g * h * h * n * (n + 1) / 2, rounding) << recipe;
    EXPECT_NEAR(b.end.kinetic_energy, mass * end * end / 2, rounding) << recipe;
    EXPECT_NEAR(b.sums.loss_integrator, n * mass * g * g * h * h / 2, rounding) << recipe;
    expect_closed(b, rounding, recipe);
  }
}

// Damping by alpha alone: v' = -(alpha / rho) v, by backward Euler v_n = v_0 / (1 + h alpha / rho)^n, which
// loses h alpha A v_n^2 a step.
TEST(EnergyBalance, OfASheetThatAirSlows) {
  Garment sheet = half_kilogram();
  sheet.fabric.mass_damping = 2;
  sheet.initial_velocities.assign(sheet.mesh.positions.size(), {3, 0, 0});
  Scene scene = energy_scene(sheet, 0.01);
  scene.gravity = 0;
  const MeasuredBalance b = balance_of(scene, 50);
  const double factor = 1 / (1 + 0.01 * 2 / 0.5);
  double lost = 0;
  for (int i = 1; i <= 50; ++i) lost += 0.01 * 2 * 9 * std::pow(factor, 2 * i);
  EXPECT_NEAR(b.sums.loss_damping, lost, 1e-9);
  expect_closed(b, 1e-9, "damped");
}

// A sheet slides down a plane at 26.6 degrees, whose friction of 0.2 takes mu m g cos(a) of every metre.
TEST(EnergyBalance, OfASheetThatSlidesDownAnIncline) {
  const double slope = std::atan(0.5), mu = 0.2, mass = 0.5;
  for (const std::string recipe : {"membrane", "coltraro2022"}) {
    Garment sheet = half_kilogram();
    for (Vec3d& p : sheet.initial_positions) p = {std::cos(slope) * p.x, p.y, -std::sin(slope) * p.x};
    Scene scene = energy_scene(sheet, 0.01, recipe);
    scene.obstacles = {obstacle(PlaneShape{}, {0, 0, 0}, mu, {0, slope, 0})};
    Simulation simulation(scene);
    const Vec3d from = simulation.positions(0)[12];
    const MeasuredBalance b = balance_after(simulation, 60);
    const double way = norm(simulation.positions(0)[12] - from);
    EXPECT_GT(way, 0.4) << recipe;
    const double lost = mu * mass * g * std::cos(slope) * way;
    EXPECT_NEAR(b.sums.loss_contact, lost, 1e-3 * lost) << recipe;
    EXPECT_NEAR(b.sums.work_gravity, mass * g * std::sin(slope) * way, 2e-3) << recipe;
    EXPECT_NEAR(b.sums.work_obstacles, 0, 1e-12) << recipe;
    expect_closed(b, 1e-4, recipe);
  }
}

// A gripper drags a sheet over a plane: its force along its way is its work, and friction takes it.
TEST(EnergyBalance, OfASheetThatAGripperDrags) {
  const double mu = 0.3, mass = 0.5;
  Garment sheet = half_kilogram(9);
  const KeyframeMotion motion{
      .times = {0, 2}, .translations = {{}, {1, 0, 0}}, .rotations = {}, .center = {}};
  for (const double stiffness : {0., 1e5}) {
    const std::string what = text("stiffness ", stiffness);
    sheet.grippers = {gripper({0.5, 0, 0}, 0.6, {{0, 10}}, motion)};
    sheet.grippers[0].stiffness = stiffness;
    Scene scene = energy_scene(sheet, 0.01);
    scene.obstacles = {obstacle(PlaneShape{}, {0, 0, 0}, mu)};
    Simulation simulation(scene);
    const double way = 0.5 * 0.01;  // in a step
    double work = 0, lost = 0;
    const MeasuredBalance b = balance_after(simulation, 200, 0, [&](const EnergyBalance&) {
      work += simulation.holds(0).force.x * way;
      lost += mu * simulation.contacts(0).force.z * way;  // the gripper carries a part of the weight
    });
    EXPECT_GT(lost, 0.4 * mu * mass * g) << what;
    EXPECT_NEAR(b.sums.loss_contact, lost, 0.02 * lost) << what;
    // What is set in motion at once takes m v^2, half of it to be lost; springs of a soft one lose, too.
    EXPECT_NEAR(b.sums.work_grippers, b.sums.loss_contact + mass * 0.5 * 0.5, 0.02 * work) << what;
    EXPECT_NEAR(b.sums.work_grippers, work, (stiffness > 0 ? 1e-2 : 1e-3) * work) << what;
    expect_closed(b, 1e-3, what);
  }
}

// What pins that go together do is the change of momentum and the weight along their way.
TEST(EnergyBalance, OfASheetThatPinsLift) {
  const double h = 0.01, mass = 0.5;
  for (const std::string recipe : {"membrane", "coltraro2022"}) {
    Garment sheet = half_kilogram(9);
    sheet.pins = {{"corners", {0, 8, 72, 80}, OscillationMotion{.amplitude = {0, 0, -0.2}, .frequency = 1}}};
    Scene scene = energy_scene(sheet, h, recipe);
    scene.projection.tolerance = 1e-6;
    scene.projection.force_tolerance = 1e-6;
    scene.projection.max_iterations = 200;
    Simulation simulation(scene);
    double work = 0;
    Measures before = simulation.measure(0);
    double height = simulation.positions(0)[0].z;
    const MeasuredBalance b = balance_after(simulation, 50, 0, [&](const EnergyBalance&) {
      const Measures now = simulation.measure(0);
      const double z = simulation.positions(0)[0].z;
      work += ((now.linear_momentum.z - before.linear_momentum.z) / h + mass * g) * (z - height);
      before = now;
      height = z;
    });
    EXPECT_GT(work, 1) << recipe;
    EXPECT_NEAR(b.sums.work_pins, work, 1e-4 * std::fabs(work)) << recipe;
    expect_closed(b, 1e-4, recipe);
  }
}

// Nothing acts on a sheet that spins: what it loses the integrator takes, and BDF2 takes less.
TEST(EnergyBalance, OfASheetThatSpins) {
  double lost[2];
  for (const Integrator integrator : {Integrator::backward_euler, Integrator::bdf2}) {
    Garment sheet = half_kilogram(9);
    for (const Vec3d& p : sheet.mesh.positions) sheet.initial_velocities.push_back({-6 * p.y, 6 * p.x, 0});
    Scene scene = energy_scene(sheet, 0.005);
    scene.gravity = 0;
    scene.projection.integrator = integrator;
    scene.projection.tolerance = 1e-6;
    const MeasuredBalance b = balance_of(scene, 100);
    EXPECT_EQ(b.sums.works(), 0);
    lost[static_cast<int>(integrator)] = b.sums.loss_integrator;
    EXPECT_GT(b.sums.loss_integrator, 0);
    expect_closed(b, 1e-4, text("integrator ", static_cast<int>(integrator)));
  }
  EXPECT_LT(lost[static_cast<int>(Integrator::bdf2)],
            0.2 * lost[static_cast<int>(Integrator::backward_euler)]);
}

// Of a linear energy, a sheet between springs of its own, half the step loses half.
TEST(EnergyBalance, LosesInProportionToTheStep) {
  double lost[2];
  for (const int parts : {1, 2}) {
    Garment strip = half_kilogram(5);
    strip.pins = {{"edge", {0, 1, 2, 3, 4}, FixedMotion{}}};
    Scene scene = energy_scene(strip, 0.002 / parts);
    scene.projection.tolerance = 1e-8;
    const MeasuredBalance b = balance_of(scene, 200 * parts);
    lost[parts - 1] = b.sums.loss_integrator;
    expect_closed(b, 1e-5, text(parts, " parts"));
  }
  EXPECT_NEAR(lost[0] / lost[1], 2, 0.2);
}

}  // namespace
}  // namespace isocloth
