// Figures of contacts between cloths: against weights, and against what states keep.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/cloth_contact/pair_geometry.hpp"
#include "tests/host/cloth_sheets.hpp"

namespace isocloth {
namespace {

constexpr double rho = 0.2;  // of sheet()

/// Three sheets, one on the other, over a floor.
Scene stack() {
  Scene scene =
      cloth_scene({sheet("lower", 9, 0.3, {0, 0, 0.002}), sheet("middle", 8, 0.25, {0.01, 0, 0.0045}),
                   sheet("upper", 7, 0.2, {0.01, 0.02, 0.007})});
  scene.contact.tolerance = thickness / 40;
  scene.obstacles = {floor_obstacle()};
  return scene;
}

/// Triangles of a mesh of quads, parted from corner 0 to corner 2.
std::vector<std::array<Vec3d, 3>> triangles(const Mesh& mesh, const std::vector<Vec3d>& x) {
  std::vector<std::array<Vec3d, 3>> all;
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto face = mesh.face(f);
    all.push_back({x[face[0]], x[face[1]], x[face[2]]});
    all.push_back({x[face[0]], x[face[2]], x[face[3]]});
  }
  return all;
}

/// Least distance of two sheets, by all corners against all triangles and all sides against all sides.
double distance(const Mesh& one, const std::vector<Vec3d>& of_one, const Mesh& other,
                const std::vector<Vec3d>& of_other) {
  double least = HUGE_VAL;
  const auto add = [&](const cpu::PointPair& pair) {
    least = std::min(least, cpu::nearest_points(pair).distance);
  };
  for (const auto& a : triangles(one, of_one))
    for (const auto& b : triangles(other, of_other))
      for (std::size_t i = 0; i < 3; ++i) {
        add({{a[i], b[0], b[1], b[2]}, 1});
        add({{b[i], a[0], a[1], a[2]}, 1});
        for (std::size_t j = 0; j < 3; ++j) add({{a[i], a[(i + 1) % 3], b[j], b[(j + 1) % 3]}, 2});
      }
  return least;
}

bool same_figures(const StepReport& a, const StepReport& b) {
  return a.cloth_contacts == b.cloth_contacts && a.cloth_loaded == b.cloth_loaded &&
         a.cloth_force == b.cloth_force && a.cloth_gap == b.cloth_gap && a.cg_iterations == b.cg_iterations &&
         a.substeps == b.substeps;
}

/// At rest each layer carries what lies on it, and layers are a thickness apart.
TEST(ClothFigures, LayersAtRestCarryTheWeightAboveThem) {
  const Scene scene = stack();
  Simulation simulation(scene);
  simulation.advance(400);
  const StepReport report = simulation.step().front();
  const std::vector<ClothLoads> loads = simulation.cloth_loads();
  ASSERT_EQ(loads.size(), 3u);
  Vec3d forces[3];
  double sums[3] = {};
  for (std::size_t g = 0; g < 3; ++g) {
    ASSERT_EQ(loads[g].forces.size(), scene.garments[g].mesh.positions.size());
    ASSERT_EQ(loads[g].loads.size(), loads[g].forces.size());
    for (const Vec3d& force : loads[g].forces) forces[g] += force;
    for (const double load : loads[g].loads) sums[g] += load;
  }
  const auto weight = [&](double size) { return rho * size * size * scene.gravity; };
  const double middle = weight(0.25), upper = weight(0.2), all = middle + upper;
  EXPECT_NEAR(forces[2].z, upper, 0.01 * upper);
  EXPECT_NEAR(forces[0].z, -all, 0.01 * all);
  EXPECT_NEAR(forces[1].z, middle, 0.01 * all);  // pushed up by `all`, down by `upper`
  EXPECT_LT(norm(forces[0] + forces[1] + forces[2]), 1e-12 * all);
  // Of a layer between two others the loads add up. Friction and tilt make sizes a little more than weights.
  EXPECT_NEAR(sums[2], upper, 0.01 * upper);
  EXPECT_NEAR(sums[1], all + upper, 0.01 * all);
  EXPECT_NEAR(sums[0], all, 0.01 * all);

  // All lie flat, so that heights tell how far they are apart.
  double least = HUGE_VAL, most = 0, least_above = HUGE_VAL;
  for (const Vec3d& x : simulation.positions(1)) {
    least = std::min(least, x.z);
    most = std::max(most, x.z);
  }
  for (const Vec3d& x : simulation.positions(2)) least_above = std::min(least_above, x.z);
  double top = 0;
  for (const Vec3d& x : simulation.positions(0)) top = std::max(top, x.z);
  const double apart = std::min(least - top, least_above - most) / thickness;
  EXPECT_GE(report.cloth_gap, std::min(apart, 1.0) - 1e-9);
  EXPECT_GT(report.cloth_gap, 0.95);
  EXPECT_LE(report.cloth_gap, 1);
  EXPECT_LT(apart, 1.05);

  double greatest = 0;
  Index count = 0;
  for (std::size_t g = 0; g < 3; ++g)
    for (const ClothContactState& contact : simulation.state(g).cloth_contacts) {
      greatest = std::max(greatest, norm(contact.force) / (scene.step * scene.step));
      ++count;
    }
  EXPECT_EQ(report.cloth_loaded, count);
  EXPECT_LE(report.cloth_loaded, report.cloth_contacts);
  EXPECT_NEAR(report.cloth_force, greatest, 1e-12 * greatest);
}

/// Layers that are pressed into each other are nearer than a thickness, and the figure says how near.
TEST(ClothFigures, TheGapIsThatOfTheNearestPoints) {
  Scene scene = stack();
  scene.contact.tolerance = thickness / 4;
  scene.garments.pop_back();
  for (Vec3d& p : scene.garments[0].initial_positions) p.z = thickness / 2;
  for (Vec3d& p : scene.garments[1].initial_positions) p.z = thickness / 2 + 0.8 * thickness;
  scene.gravity = 0;
  Simulation simulation(scene);
  const StepReport report = simulation.step().front();
  const double apart = distance(scene.garments[0].mesh, simulation.positions(0), scene.garments[1].mesh,
                                simulation.positions(1));
  EXPECT_NEAR(report.cloth_gap, apart / thickness, 1e-9);
  // A depth within the tolerance leaves by a tenth per step.
  EXPECT_GT(report.cloth_gap, 0.8);
  EXPECT_LT(report.cloth_gap, 0.83);
}

/// Figures of several steps are the worst of each of them, however many threads take them and from where.
TEST(ClothFigures, AreTheSameOfManyThreadsTogetherAndAfterARestore) {
  const Scene scene = stack();
  Simulation one(scene, {.threads = 1}), many(scene, {.threads = 3}), together(scene), again(scene);
  one.advance(60);
  many.advance(60);
  together.advance(60);
  again.restore(one.snapshot());
  StepReport worst;
  for (int n = 0; n < 5; ++n) {
    const StepReport report = one.step()[1];
    EXPECT_TRUE(same_figures(report, many.step()[1])) << n;
    EXPECT_TRUE(same_figures(report, again.step()[1])) << n;
    worst.cloth_force = std::max(worst.cloth_force, report.cloth_force);
    worst.cloth_gap = std::min(worst.cloth_gap, report.cloth_gap);
    worst.cg_iterations = std::max(worst.cg_iterations, report.cg_iterations);
    worst.cloth_loaded = std::max(worst.cloth_loaded, report.cloth_loaded);
    EXPECT_GT(report.cloth_loaded, 0);
  }
  const StepReport sum = together.advance(5)[1];
  EXPECT_EQ(sum.cloth_force, worst.cloth_force);
  EXPECT_EQ(sum.cloth_gap, worst.cloth_gap);
  EXPECT_EQ(sum.cg_iterations, worst.cg_iterations);
  EXPECT_EQ(sum.cloth_loaded, worst.cloth_loaded);
  const std::vector<ClothLoads> loads = one.cloth_loads(), others = many.cloth_loads();
  for (std::size_t g = 0; g < loads.size(); ++g) {
    EXPECT_EQ(loads[g].forces, others[g].forces);
    EXPECT_EQ(loads[g].loads, others[g].loads);
  }
}

/// A tighter solve takes more iterations; a step of several solves does not add them up.
TEST(ClothFigures, ConjugateGradientsAreThoseOfOneSolve) {
  int most[2] = {};
  for (const bool tight : {false, true}) {
    Scene scene = stack();
    scene.projection.cg_tolerance = tight ? 1e-12 : 1e-2;
    Simulation simulation(scene);
    for (int n = 0; n < 40; ++n) {
      const StepReport report = simulation.step().front();
      most[tight] = std::max(most[tight], report.cg_iterations);
      EXPECT_LE(report.cg_iterations, 100);
    }
  }
  EXPECT_GT(most[0], 0);
  EXPECT_GT(most[1], most[0]);
}

TEST(ClothFigures, ThereAreNoneWhereClothMeetsNoCloth) {
  Scene scene = stack();
  scene.contact.cloth = false;
  Simulation simulation(scene);
  const StepReport report = simulation.step().front();
  EXPECT_EQ(report.cloth_loaded, 0);
  EXPECT_EQ(report.cloth_force, 0);
  EXPECT_EQ(report.cloth_gap, 1);
  for (const ClothLoads& own : simulation.cloth_loads()) {
    EXPECT_TRUE(std::ranges::all_of(own.loads, [](double load) { return load == 0; }));
    EXPECT_FALSE(own.loads.empty());
  }
}

}  // namespace
}  // namespace isocloth
