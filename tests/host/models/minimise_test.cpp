// Minimisers of particles' energies: the same rest from both, closed forms, and a cloth over a cube.
#include "host/models/particles/minimise.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/models/drape/catenary.hpp"
#include "engine/models/grids/particle_grid.hpp"
#include "engine/models/particles/bare_model.hpp"
#include "engine/models/particles/breen1994.hpp"
#include "engine/models/particles/feynman1986.hpp"
#include "host/models/particles/multigrid.hpp"
#include "host/models/particles/obstacle_gap.hpp"

namespace isocloth {
namespace {

constexpr double w = 0.05;

Fabric cloth() {
  Fabric fabric;
  fabric.gravity_density = 0.2;
  fabric.bending_stiffness = 2e-5;
  return fabric;
}

/// A square of n x n particles in the plane z = 0 about the z axis.
std::vector<Vec3d> flat_square(Index n) {
  std::vector<Vec3d> x = quad_grid(n, n, (n - 1) * w, (n - 1) * w).positions;
  for (Vec3d& p : x) p -= Vec3d{(n - 1) * w / 2, (n - 1) * w / 2, 0};
  return x;
}

void expect_descent(const MinimiserResult& result) {
  for (std::size_t k = 1; k < result.history.size(); ++k)
    EXPECT_LE(result.history[k].energy,
              result.history[k - 1].energy + 1e-14 * std::fabs(result.history[0].energy))
        << k;
}

/// Hung from its corners.
ParticleEnergy hung() {
  ParticleModel model = breen_model(9, 9, w, cloth(), {0, 0, -9.81}, {}, "garments[0]");
  for (const std::size_t node : {0, 8, 72, 80}) model.is_held[node] = 1;
  return ParticleEnergy(std::move(model));
}

// On 33 x 33 particles: host/docs/ENERGIES.md.
TEST(Minimise, AllMinimisersFindTheSameRest) {
  ParticleEnergy energy = hung();
  std::vector<Vec3d> start = flat_square(9), newton, relaxed, descended;
  for (Vec3d& p : start) p = {0.9 * p.x, 0.9 * p.y, p.x * p.x + p.y * p.y - 0.08};
  newton = relaxed = descended = start;
  MinimiserSettings settings{.tolerance = 1e-5, .most_iterations = 500};
  const MinimiserResult first = minimise_by_newton(energy, newton, settings);
  EXPECT_EQ(first.status, "at rest") << first.history.back().residual;
  expect_descent(first);
  const MinimiserResult second = minimise_by_relaxation(
      energy, relaxed, {.search = {.tolerance = 2e-3, .most_iterations = 20000}, .falls = false});
  expect_descent(second);
  const double lowest = first.history.back().energy;
  EXPECT_NEAR(second.history.back().energy, lowest, 1e-6 * std::fabs(lowest))
      << second.status << " " << second.history.back().residual << " " << second.history.back().iteration;
  const MinimiserResult third =
      minimise_by_descent(energy, descended, {.tolerance = 1e-3, .most_iterations = 20000});
  expect_descent(third);
  EXPECT_EQ(third.status, "at rest") << third.history.back().residual;
  EXPECT_NEAR(third.history.back().energy, lowest, 1e-6 * std::fabs(lowest));
}

TEST(Minimise, AStripThatHardlyStretchesHangsInACatenary) {
  const Index n = 41;
  Fabric fabric = cloth();
  fabric.bending_stiffness = 1e-9;
  BreenSettings stiff;
  stiff.strain = 1e-3;
  const double length = (n - 1) * w, span = 0.8 * length;
  ParticleModel model = breen_model(n, 3, w, fabric, {0, 0, -9.81}, stiff, "garments[0]");
  for (std::size_t j = 0; j < 3; ++j) model.is_held[j * n] = model.is_held[j * n + n - 1] = 1;
  ParticleEnergy energy(std::move(model));
  std::vector<Vec3d> x = quad_grid(n, 3, length, 2 * w).positions;
  for (Vec3d& p : x) {
    const double s = p.x / length;
    p = {s * span, p.y, -1.2 * length * 0.5 * s * (1 - s)};
  }
  const MinimiserResult result = minimise_by_newton(energy, x, {.tolerance = 1e-5, .most_iterations = 2000});
  EXPECT_EQ(result.status, "at rest") << result.history.back().residual;
  // z = a cosh(x / a): 0.8 L = 2 a t and L = 2 a sinh(t), sinh(t) / t = 1.25.
  double t = 1;
  for (int k = 0; k < 50; ++k) t -= (std::sinh(t) - 1.25 * t) / (std::cosh(t) - 1.25);
  const double sag = span / (2 * t) * (std::cosh(t) - 1);
  // A chain of 40 links sags less by O(1 / 40^2); threads stretch by 1e-3 or so.
  EXPECT_NEAR(-x[static_cast<std::size_t>(n + n / 2)].z, sag, 0.005 * sag);
}

TEST(Minimise, ClothOverACubeLiesOnItAndFolds) {
  const Index n = 13;
  ParticleModel model = breen_model(n, n, w, cloth(), {0, 0, -9.81}, {}, "garments[0]");
  Obstacle cube;
  cube.shape = BoxShape{{0.3, 0.3, 0.3}, 0.01};
  model.gap = obstacle_gap({cube}, 0, 0);
  model.is_held[n * n / 2] = 1;  // or it slides off, without friction
  ParticleEnergy energy(std::move(model));
  const ParticleGrid grid{n, n, w};
  for (const bool newton : {true, false}) {
    std::vector<Vec3d> x = flat_square(n);
    for (std::size_t i = 0; i < x.size(); ++i) x[i].z = 0.15 + 1e-3 * w * static_cast<double>(i * 7919 % 13);
    const MinimiserResult result =
        newton ? minimise_by_newton(energy, x, {.tolerance = 1e-3, .most_iterations = 600})
               : minimise_by_relaxation(energy, x, {.search = {.tolerance = 1e-1, .most_iterations = 800}});
    expect_descent(result);
    EXPECT_LT(result.history.back().residual, newton ? 1e-3 : 1) << result.status;
    std::vector<Vec3d> edge;
    for (const Index node : rim(grid)) edge.push_back(x[static_cast<std::size_t>(node)]);
    EXPECT_GE(fold_count(edge), 4) << newton;
    double deepest = 0;
    for (const Vec3d& p : x) deepest = std::min(deepest, energy.model().gap(p).value);
    EXPECT_GT(deepest, -0.15 * w);
    EXPECT_LT(deepest, 0);
  }
}

const ParticleGrid hung_grid{17, 17, w};

ParticleModel hung_model(bool feynman, const ParticleGrid& grid) {
  const Vec3d gravity{0, 0, -9.81};
  return feynman ? feynman_model(grid, cloth(), gravity, "garments[0]")
                 : breen_model(grid.columns, grid.rows, grid.spacing, cloth(), gravity, {}, "garments[0]");
}

/// 17 x 17 particles that hang from the corners, which are drawn together by a tenth.
struct HungSheet {
  explicit HungSheet(bool feynman) : energy(held(feynman)), start(flat_square(17)) {
    for (Vec3d& p : start) p = {0.9 * p.x, 0.9 * p.y, p.x * p.x + p.y * p.y - 0.32};
  }
  static ParticleModel held(bool feynman) {
    ParticleModel model = hung_model(feynman, hung_grid);
    for (const std::size_t node : {0, 16, 272, 288}) model.is_held[node] = 1;
    return model;
  }
  ParticleEnergy energy;
  std::vector<Vec3d> start;
};

TEST(Multigrid, FindsTheRestOfNewtonAndDescendsOnEveryLevel) {
  for (const bool feynman : {true, false}) {
    HungSheet sheet(feynman);
    const MinimiserSettings settings{.tolerance = 1e-5, .most_iterations = 1000};
    std::vector<Vec3d> by_newton = sheet.start, x = sheet.start;
    const MinimiserResult newton = minimise_by_newton(sheet.energy, by_newton, settings);
    EXPECT_EQ(newton.status, "at rest") << newton.history.back().residual;
    std::int64_t seen = 0;
    MinimiserSettings watched = settings;
    watched.observer = [&seen](const MinimiserPoint& p) { EXPECT_EQ(p.iteration, ++seen); };
    const auto levels = minimise_by_multigrid(
        sheet.energy, hung_grid, [feynman](const ParticleGrid& g) { return hung_model(feynman, g); }, x,
        watched);
    ASSERT_EQ(levels.size(), 4u);
    Index n = 3;
    for (const MultigridLevel& level : levels) {
      EXPECT_EQ(level.grid.columns, n);
      EXPECT_DOUBLE_EQ(level.grid.spacing * static_cast<double>(n - 1), 16 * w);
      EXPECT_EQ(level.result.status, "at rest") << n;
      expect_descent(level.result);
      n = 2 * n - 1;
    }
    EXPECT_EQ(levels.back().result.history.back().iteration, seen);
    const double lowest = newton.history.back().energy;
    EXPECT_NEAR(levels.back().result.history.back().energy, lowest, 1e-6 * std::fabs(lowest)) << feynman;
    EXPECT_EQ(x[16], sheet.start[16]);
  }
}

TEST(Multigrid, EnergiesOfFeynmansRestConvergeWithTheGrid) {
  // A stiff sheet hangs between two edges that are nearer to each other than it is long.
  std::vector<double> energies, weights;
  for (const Index n : {9, 17, 33}) {
    Fabric board = cloth();
    board.bending_stiffness = 2e-3;
    board.stretch_stiffness = 1000;
    const double spacing = 0.4 / static_cast<double>(n - 1);
    ParticleModel model = feynman_model({n, n, spacing}, board, {0, 0, -9.81}, "garments[0]");
    std::vector<Vec3d> x = quad_grid(n, n, 0.4, 0.4).positions;
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double s = x[i].x / 0.4;
      model.is_held[i] = std::fabs(s - 0.5) > 0.4999;
      x[i] = {0.32 * s, x[i].y, -0.48 * s * (1 - s)};
    }
    ParticleEnergy energy(std::move(model));
    const MinimiserResult result = minimise_by_newton(energy, x, {.tolerance = 1e-3, .most_iterations = 500});
    EXPECT_EQ(result.status, "at rest") << n;
    energies.push_back(result.history.back().energy);
    for (const auto& [name, value] : energy.parts(x))
      if (name == "gravity") weights.push_back(value);
  }
  for (const double coarse : energies)
    EXPECT_NEAR(coarse, energies.back(), 2e-3 * std::fabs(energies.back()));
  // The shape is of second order.
  EXPECT_NEAR((weights[2] - weights[1]) / (weights[1] - weights[0]), 0.25, 0.05);
}

TEST(Multigrid, GridsCoarsenAsFarAsCellsAndPinsAllow) {
  const auto coarse = [](Index columns, Index rows, const std::vector<std::size_t>& held) {
    std::vector<char> is_held(static_cast<std::size_t>(columns * rows));
    for (const std::size_t node : held) is_held[node] = 1;
    return coarser_grid({columns, rows, w}, is_held).columns;
  };
  EXPECT_EQ(coarse(9, 5, {0, 8}), 5);
  EXPECT_EQ(coarse(9, 5, {0, 1, 2}), 5);  // 1 lies between 0 and 2
  EXPECT_EQ(coarse(9, 5, {0, 1}), 0);
  EXPECT_EQ(coarse(9, 5, {10}), 0);
  EXPECT_EQ(coarse(9, 6, {}), 0);
  EXPECT_EQ(coarse(9, 3, {}), 0);
  // A plane is interpolated to a plane.
  const ParticleGrid grid{4, 3, 2 * w};
  const std::vector<Vec3d> x = quad_grid(4, 3, 6 * w, 4 * w).positions, fine = prolonged(grid, x),
                           expected = quad_grid(7, 5, 6 * w, 4 * w).positions;
  ASSERT_EQ(fine.size(), expected.size());
  for (std::size_t i = 0; i < fine.size(); ++i) EXPECT_LT(norm(fine[i] - expected[i]), 1e-15);
  EXPECT_EQ(every_second({7, 5, w}, fine), x);
}

TEST(Multigrid, AMonitorStopsAndLimitsHoldOverAllLevels) {
  HungSheet sheet(true);
  const auto model_of = [](const ParticleGrid& g) { return hung_model(true, g); };
  std::vector<Vec3d> x = sheet.start;
  const auto few =
      minimise_by_multigrid(sheet.energy, hung_grid, model_of, x, {.tolerance = 1e-9, .most_iterations = 3});
  EXPECT_EQ(few.back().result.status, "iterations");
  EXPECT_EQ(few.back().result.history.back().iteration, 3);
  Monitor monitor;
  monitor.stop = true;
  x = sheet.start;
  const auto stopped = minimise_by_multigrid(sheet.energy, hung_grid, model_of, x, {.monitor = &monitor});
  EXPECT_EQ(stopped.back().result.status, "interrupted");
  EXPECT_TRUE(std::isfinite(stopped.back().result.history.back().energy));
}

TEST(Minimise, AStartThatTheEnergyForbidsIsRefusedAndAMonitorStops) {
  ParticleEnergy energy = hung();
  std::vector<Vec3d> sheared = flat_square(9);
  for (Vec3d& p : sheared) p.x += 3 * p.y;
  EXPECT_THROW(minimise_by_newton(energy, sheared, {}), NumericalError);
  EXPECT_THROW(minimise_by_relaxation(energy, sheared, {}), NumericalError);
  EXPECT_THROW(minimise_by_descent(energy, sheared, {}), NumericalError);

  Monitor monitor;
  monitor.stop = true;
  std::vector<Vec3d> x = flat_square(9);
  const MinimiserResult result = minimise_by_newton(energy, x, {.monitor = &monitor});
  EXPECT_EQ(result.status, "interrupted");
  EXPECT_EQ(x.front(), flat_square(9).front());
}

}  // namespace
}  // namespace isocloth
