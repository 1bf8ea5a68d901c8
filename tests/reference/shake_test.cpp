// The shaken A3 sheet of Coltraro 2022, section 9: two upper corners follow x = A cos(2 pi f t).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "tests/reference/cloth_cases.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth::reference {
namespace {

struct ShakeFigures {
  double iterations_per_step = 0, largest_row = 0, total_area_error = 0, mean_area_error = 0;
  int unmet_steps = 0;
  Eigen::RowVector3d tip;
};

ShakeFigures shake(Mesh mesh, Index nx, Index ny, ProjectionMethod method, Metric metric, double seconds) {
  for (Vec3d& p : mesh.positions) p = {0, p.x, p.y - 0.42};
  Garment garment = garment_of(mesh, {(ny - 1) * nx, ny * nx - 1});
  garment.fabric = {.density = 1,
                    .gravity_density = 0.52,
                    .bending_stiffness = 0,
                    .mass_damping = 2.69,
                    .stiffness_damping = 0};
  ProjectionSettings settings;
  settings.method = method;
  settings.metric = metric;
  ReferenceCloth cloth = isometric_cloth(garment, settings);
  const MatrixX3d start = pinned_positions(cloth);
  const double h = 0.01, amplitude = 0.075, frequency = 0.6;
  const int step_count = static_cast<int>(std::lround(seconds / h));
  ShakeFigures figures;
  for (int n = 1; n <= step_count; ++n) {
    const double moving = std::clamp(n * h - 1, 0.0, 10.0);
    MatrixX3d prescribed = start;
    prescribed.col(0).array() += amplitude * (std::cos(2 * std::numbers::pi * frequency * moving) - 1);
    const StepResult result = cloth.step(h, prescribed);
    const AreaErrors areas = cloth.area_errors(cloth.positions());
    figures.iterations_per_step += static_cast<double>(result.iterations) / step_count;
    figures.unmet_steps += !result.converged;
    figures.largest_row = std::max(figures.largest_row, result.residual);
    figures.total_area_error = std::max(figures.total_area_error, areas.total);
    figures.mean_area_error = std::max(figures.mean_area_error, areas.mean);
  }
  figures.tip = cloth.positions().row(nx / 2);
  ::testing::Test::RecordProperty("iterations_per_step", std::to_string(figures.iterations_per_step));
  ::testing::Test::RecordProperty("total_area_error", std::to_string(figures.total_area_error));
  ::testing::Test::RecordProperty("mean_area_error", std::to_string(figures.mean_area_error));
  return figures;
}

void expect_inextensible(const ShakeFigures& figures) {
  EXPECT_EQ(figures.unmet_steps, 0);
  EXPECT_LE(figures.largest_row, 1e-3);
  EXPECT_LE(figures.total_area_error, 1e-3);
  EXPECT_LE(figures.mean_area_error, 0.03);
}

TEST(Shake, FastProjectionReproducesThePublishedIterationCount) {
  const ShakeFigures figures =
      shake(quad_grid(9, 9, 0.297, 0.42), 9, 9, ProjectionMethod::fast_projection, Metric::mass, 4);
  expect_inextensible(figures);
  EXPECT_GE(figures.iterations_per_step, 1.3);
  EXPECT_LE(figures.iterations_per_step, 2.0);
}

TEST(Shake, ProximalNewtonNeedsOneIteration) {
  if (is_sanitized) GTEST_SKIP() << "a figure of a long run";
  const ShakeFigures figures =
      shake(quad_grid(9, 9, 0.297, 0.42), 9, 9, ProjectionMethod::proximal_newton, Metric::implicit_b, 4);
  expect_inextensible(figures);
  EXPECT_LE(figures.iterations_per_step, 1.1);
}

TEST(Shake, TrianglesMoveLikeQuads) {
  if (is_sanitized) GTEST_SKIP() << "a figure of a long run";
  const ProjectionMethod method = ProjectionMethod::proximal_newton;
  const ShakeFigures quads = shake(quad_grid(9, 9, 0.297, 0.42), 9, 9, method, Metric::implicit_b, 2.2);
  const ShakeFigures triangles =
      shake(triangle_grid(9, 9, 0.297, 0.42, Diagonals::alternating), 9, 9, method, Metric::implicit_b, 2.2);
  expect_inextensible(triangles);
  EXPECT_LE(triangles.iterations_per_step, 1.1);
  EXPECT_LE((quads.tip - triangles.tip).norm(), 0.01);
}

}  // namespace
}  // namespace isocloth::reference
