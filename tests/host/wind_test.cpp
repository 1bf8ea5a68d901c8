// Sheets in the air.
#include "tests/host/contact_case.hpp"

namespace isocloth {
namespace {

Scene windy_scene(const Garment& sheet, Vec3d wind) {
  Scene scene;
  scene.recipe = "coltraro2022";
  scene.garments = {sheet};
  scene.gravity = 0;
  scene.step = 0.01;
  scene.duration = 10;
  scene.wind.velocity = wind;
  return scene;
}

class WindTest : public ::testing::TestWithParam<std::tuple<StepSolver, ProjectionMethod>> {};
INSTANTIATE_TEST_SUITE_P(Solvers, WindTest,
                         ::testing::Combine(::testing::Values(StepSolver::batched, StepSolver::direct),
                                            ::testing::Values(ProjectionMethod::proximal_newton,
                                                              ProjectionMethod::fast_projection)));

// A flat free sheet moves as one: rho dv = h q (u - v), across and along it with its own coefficients.
TEST_P(WindTest, FlatSheetsFollowTheLaw) {
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.density = 0.3;
  sheet.fabric.drag = {.normal = 2, .tangential = 0.25};
  const Vec3d wind{1, -2, 3};
  Scene scene = windy_scene(sheet, wind);
  scene.projection.method = std::get<1>(GetParam());
  Simulation simulation(scene, one_thread(std::get<0>(GetParam())));
  Vec3d v;
  for (int n = 0; n < 20; ++n) {
    simulation.step();
    const auto next = [](double from, double u, double q) {
      const double part = 0.01 * q / 0.3;
      return (from + part * u) / (1 + part);
    };
    v = {next(v.x, wind.x, 0.25), next(v.y, wind.y, 0.25), next(v.z, wind.z, 2)};
    // Rounding of positions over a step, 1e-16 / 0.01, a thousandfold by the rows of a flat sheet.
    for (const Vec3d& found : simulation.velocities(0)) EXPECT_LT(norm(found - v), 1e-11 * (n + 1));
  }
}

class QuadraticDragTest : public ::testing::TestWithParam<StepSolver> {};
INSTANTIATE_TEST_SUITE_P(Solvers, QuadraticDragTest,
                         ::testing::Values(StepSolver::batched, StepSolver::direct));

// rho_s dv = h (1/2 rho C_n |v_n| v_n - rho_s g): the speed of each step is a root of a quadratic, and tends
// to sqrt(2 rho_s g / (rho C_n)).
TEST_P(QuadraticDragTest, HasItsTerminalVelocity) {
  constexpr double mass = 0.2, gravity = 9.81, air = 1.25, coefficient = 1.17, h = 0.01;
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.density = sheet.fabric.gravity_density = mass;
  sheet.fabric.drag = {.normal_coefficient = coefficient, .tangential_coefficient = 0.02};
  Scene scene = windy_scene(sheet, {});
  scene.wind.density = air;
  scene.gravity = gravity;
  scene.step = h;
  Simulation simulation(scene, one_thread(GetParam()));
  const double k = air * coefficient / (2 * mass), last = std::sqrt(gravity / k);
  double v = 0, newton = 0;
  for (int n = 0; n < 200; ++n) {
    simulation.step();
    // One iteration is one of Newton's from the speed before: what it misses is the square of the change.
    const double change = (h * gravity - h * k * v * v) / (1 + 2 * h * k * v);
    newton += h * k * change * change;
    v = (std::sqrt(1 + 4 * h * k * (v + h * gravity)) - 1) / (2 * h * k);
    for (const Vec3d& found : simulation.velocities(0))
      EXPECT_LT(norm(found + Vec3d{0, 0, v}), newton + 1e-9);
  }
  EXPECT_NEAR(v, last, 1e-6 * last);
  for (const Vec3d& found : simulation.velocities(0)) EXPECT_LT(norm(found + Vec3d{0, 0, last}), 1e-6 * last);
}

// Across and along do not see each other: each component follows its own law.
TEST_P(QuadraticDragTest, ActsAcrossAndAlongByThemselves) {
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.density = 0.3;
  sheet.fabric.drag = {.normal_coefficient = 1.2, .tangential_coefficient = 0.5};
  const Vec3d wind{3, 0, 2};
  Scene scene = windy_scene(sheet, wind);
  scene.step = 0.001;
  Simulation simulation(scene, one_thread(GetParam()));
  simulation.advance(500);
  // dw/dt = -k w^2: w = u / (1 + k u t); backward Euler is behind by a part of h k u.
  const auto speed = [](double u, double coefficient) {
    const double k = 0.5 * 1.2 * coefficient / 0.3;
    return u - u / (1 + k * u * 0.5);
  };
  for (const Vec3d& found : simulation.velocities(0)) {
    EXPECT_NEAR(found.x, speed(3, 0.5), 3 * 0.001 * 1 * 3);
    EXPECT_NEAR(found.z, speed(2, 1.2), 2 * 0.001 * 2.4 * 2);
    EXPECT_LT(std::fabs(found.y), 1e-9);
  }
}

TEST(Wind, QuadraticDragIsRefusedWhereItsSpeedIsNotKnown) {
  Garment sheet = square_sheet(5, 0.3, 0);
  sheet.fabric.drag = {.normal = 1, .normal_coefficient = 1.2};
  Scene scene = windy_scene(sheet, {});
  scene.projection.method = ProjectionMethod::fast_projection;
  EXPECT_THROW(Simulation{scene}, SceneError);
  scene.projection.method = ProjectionMethod::proximal_newton;
  Simulation simulation(scene, one_thread());
  Fabric none = sheet.fabric;
  none.drag.normal_coefficient = 0;  // nor may it come or go
  EXPECT_THROW(simulation.set_fabric(0, none), SceneError);
}

TEST(Wind, StillAirTakesEnergy) {
  Garment sheet = square_sheet(7, 0.3, 0);
  sheet.fabric.drag = {.normal = 1, .tangential = 0.1};
  for (std::size_t i = 0; i < sheet.mesh.positions.size(); ++i) {
    const Vec3d p = sheet.mesh.positions[i];
    sheet.initial_velocities.push_back(cross(Vec3d{3, 1, -2}, p) + Vec3d{0.5, 0, 1});
  }
  Simulation simulation(windy_scene(sheet, {}), one_thread());
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

TEST(Wind, GustsHaveTheirMeanAndDeviation) {
  const Wind wind{.velocity = {2, 0, 1}, .gusts = 0.4, .gust_period = 0.5};
  double sum = 0, squares = 0;
  constexpr int count = 200'000;
  for (int n = 0; n < count; ++n) {
    const Vec3d u = wind_velocity(wind, 7, 0.01 * n);
    EXPECT_DOUBLE_EQ(u.y, 0);
    EXPECT_NEAR(u.z, 0.5 * u.x, 1e-12);
    const double gust = u.x / 2 - 1;
    sum += gust;
    squares += gust * gust;
  }
  // Over a thousand periods each sine averages out.
  EXPECT_NEAR(sum / count, 0, 0.4 * 0.01);
  EXPECT_NEAR(std::sqrt(squares / count), 0.4, 0.4 * 0.01);
  EXPECT_NE(wind_velocity(wind, 7, 0.3).x, wind_velocity(wind, 8, 0.3).x);
}

}  // namespace
}  // namespace isocloth
