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
