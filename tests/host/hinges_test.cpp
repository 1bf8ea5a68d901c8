// Bending by discrete shells: rows of angles between triangles.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/mesh/topology.hpp"
#include "host/reference/rows.hpp"
#include "host/simulation/simulation.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {
namespace {

/// A sheet that bends by hinges; warp is x.
Garment sheet(Mesh mesh, double kappa = 1e-3) {
  Garment garment;
  garment.name = "sheet";
  garment.mesh = std::move(mesh);
  garment.fabric = {.density = 0.2,
                    .gravity_density = 0.2,
                    .bending = BendingModel::discrete_shells,
                    .bending_stiffness = kappa,
                    .mass_damping = 0.1,
                    .stretch_stiffness = 500,
                    .shear_stiffness = 50};
  return garment;
}
Scene scene_of(Garment garment, const std::string& recipe = "membrane") {
  Scene scene;
  scene.recipe = recipe;
  scene.step = 0.01;
  scene.duration = 1;
  scene.garments.push_back(std::move(garment));
  return scene;
}

/// On a polygon whose sides are the columns of a grid, each turned by an angle against the one before it.
std::vector<Vec3d> rolled(const std::vector<Vec3d>& flat, double spacing, double turn) {
  std::vector<Vec3d> found;
  for (const Vec3d& p : flat) {
    Vec3d q{0, p.y, 0};
    for (int i = 0; i < std::lround(p.x / spacing); ++i)
      q += {spacing * std::cos(turn * i), 0, spacing * std::sin(turn * i)};
    found.push_back(q);
  }
  return found;
}

// kappa / 2 R^-2 per area; the outermost half columns of the grid have no hinge.
TEST(Hinges, OfACylinderHaveTheEnergyOfAPlate) {
  const Index along = 41, across = 9;
  const double spacing = 0.02, width = 0.12, radius = 0.3, turn = spacing / radius;
  for (const Diagonals diagonals : {Diagonals::parallel, Diagonals::alternating})
    for (const double bend : {1.0, -1.0}) {
      Garment garment = sheet(triangle_grid(along, across, 0.8, width, diagonals));
      garment.initial_positions = rolled(garment.mesh.positions, spacing, bend * turn);
      const Simulation simulation(scene_of(garment));
      const double expected = 1e-3 / 2 / (radius * radius) * 0.8 * width,
                   found = simulation.measure(0).elastic_energy;
      EXPECT_NEAR(found / expected, 1 - 1.0 / (along - 1), 1e-9);
    }
  // Bent about any other axis by the three edges of equilateral triangles.
  const double side = 0.02, height = side * std::sqrt(3) / 2;
  Mesh mesh = triangle_grid(41, 41, 40 * side, 40 * height, Diagonals::parallel);
  for (Vec3d& p : mesh.positions) p.x -= p.y * (side / 2) / height;
  mesh.corner_uvs.clear();
  for (const double angle : {0.0, 0.3, 0.8}) {
    Garment garment = sheet(mesh);
    garment.fabric.stretch_stiffness = garment.fabric.shear_stiffness = 1e-9;
    for (const Vec3d& p : mesh.positions) {
      const double c = std::cos(angle), s = std::sin(angle), u = c * p.x + s * p.y, v = c * p.y - s * p.x,
                   x = radius * std::sin(u / radius), z = radius * (1 - std::cos(u / radius));
      garment.initial_positions.push_back({c * x - s * v, s * x + c * v, z});
    }
    const Simulation simulation(scene_of(garment));
    const double expected = 1e-3 / 2 / (radius * radius) * 40 * side * 40 * height;
    EXPECT_NEAR(simulation.measure(0).elastic_energy / expected, 1, 0.04) << angle;
  }
}

// The energy of a curve is that of its moments by curvature.
TEST(Hinges, BendByTheirCurve) {
  const double spacing = 0.02, width = 0.12;
  Garment garment = sheet(triangle_grid(41, 9, 0.8, width, Diagonals::alternating));
  garment.fabric.curves.bend.polynomial = {1e-3, 2e-5, 3e-6};
  garment.fabric.curves.bend.up_to = 20;
  for (const double kappa : {1e-3, 5e-3, 0.0})
    for (const double curvature : {2.0, -10.0, 30.0}) {
      garment.fabric.bending_stiffness = kappa;
      garment.initial_positions = rolled(garment.mesh.positions, spacing, curvature * spacing);
      const Simulation simulation(scene_of(garment));
      const double c = std::fabs(curvature), bent = std::min(c, 20.0);
      double density = 1e-3 / 2 * bent * bent + 2e-5 / 3 * std::pow(bent, 3) + 3e-6 / 4 * std::pow(bent, 4);
      const double moment = 1e-3 * bent + 2e-5 * bent * bent + 3e-6 * std::pow(bent, 3),
                   slope = 1e-3 + 4e-5 * bent + 9e-6 * bent * bent, beyond = c - bent;
      density += moment * beyond + slope * beyond * beyond / 2;
      EXPECT_NEAR(simulation.measure(0).elastic_energy / (density * width * 39 * spacing), 1, 1e-9)
          << kappa << ", " << curvature;
    }
}

TEST(Hinges, OfTheReferenceHaveTheGradientOfDifferences) {
  const Mesh mesh = irregular_triangles(4, 9, 0.4, 0.3, 3);
  const reference::HingeRows hinges(mesh, std::vector<char>(mesh.positions.size(), 1));
  ASSERT_GT(hinges.count(), 20);
  reference::MatrixX3d x = reference::to_matrix(mesh.positions);
  EXPECT_LT(hinges.values(x).cwiseAbs().maxCoeff(), 1e-15);
  for (Eigen::Index i = 0; i < x.rows(); ++i) x(i, 2) += 0.05 * std::sin(7.0 * static_cast<double>(i));
  const reference::SparseMatrix jacobian = hinges.jacobian(x, hinges.count());
  const double h = 1e-6;
  for (Eigen::Index node = 0; node < x.rows(); ++node)
    for (Eigen::Index axis = 0; axis < 3; ++axis) {
      reference::MatrixX3d ahead = x, behind = x;
      ahead(node, axis) += h;
      behind(node, axis) -= h;
      const reference::VectorXd expected = (hinges.values(ahead) - hinges.values(behind)) / (2 * h),
                                found = jacobian.col(3 * node + axis);
      EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-6);
    }
}

/// A sheet of irregular triangles that hangs by two corners which come together.
Scene hung(const std::string& recipe, bool has_curve, double beta) {
  Garment garment = sheet(irregular_triangles(5, 20, 0.4, 0.4, 7), 2e-4);
  garment.fabric.stiffness_damping = beta;
  if (has_curve) garment.fabric.curves.bend.points = {{5, 5e-4}, {20, 6e-3}, {60, 6e-2}};
  garment.pins = {{"corners", {0, 5}, FixedMotion{}}};
  for (const Vec3d& p : garment.mesh.positions)
    garment.initial_positions.push_back({0.9 * p.x, p.y, 0.02 * std::sin(20 * p.x) * std::cos(9 * p.y)});
  return scene_of(garment, recipe);
}

TEST(Hinges, StepAsTheReferenceDoes) {
  for (const char* recipe : {"membrane", "soft_constraints", "corotational", "springs", "elastic_edges"})
    for (const auto& [has_curve, beta] : {std::pair{false, 0.0}, {true, 0.0}, {true, 1e-5}})
      for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
        for (const Precision precision : {Precision::float64, Precision::float32}) {
          Scene scene = hung(recipe, has_curve, beta);
          scene.projection.tolerance = 1e-4;
          const ValidationReport report =
              validate(scene, {.precision = precision, .solver = solver, .threads = 1}, 6);
          EXPECT_TRUE(report.passed()) << recipe << (has_curve ? ", curve, " : ", ") << to_string(solver)
                                       << ' ' << to_string(precision);
        }
}

TEST(Hinges, OfABatchHaveTheirOwnBits) {
  Scene scene = hung("membrane", false, 0);
  for (int i = 1; i < 5; ++i) {
    scene.garments.push_back(scene.garments[0]);
    Garment& garment = scene.garments.back();
    garment.name += std::to_string(i);
    garment.fabric.bending_stiffness *= 1 + i;
    if (i > 2) garment.fabric.curves.bend.points = {{5, 5e-4 * i}, {20, 6e-3 * i}};
    if (i > 3) garment.fabric.curves.bend.points.push_back({60, 0.1});
  }
  Simulation batch(scene, {.threads = 1});
  batch.advance(20);
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Scene alone = scene;
    alone.garments = {scene.garments[g]};
    Simulation single(alone, {.solver = StepSolver::batched, .threads = 1});
    single.advance(20);
    EXPECT_EQ(batch.state(g).positions, single.state(0).positions) << g;
    if (g > 0) {
      EXPECT_NE(batch.state(g).positions, batch.state(g - 1).positions) << g;
    }
  }
}

// theta'' = -Gamma (1 - s) cos theta, of a clamp at the last nodes that are held: between Gamma = 5, of a
// strip that stays a cylinder, and 5 / 0.8, of one that twists as it likes (engine/rows/hinges.hpp).
TEST(Hinges, HangBetweenTwoElasticas) {
  const Index along = 17, across = 5;
  const double edge = 1.0 / (along - 2), gravity = 9.8;
  for (const Diagonals diagonals : {Diagonals::alternating, Diagonals::parallel}) {
    Garment garment =
        sheet(triangle_grid(along, across, edge * (along - 1), 4 * edge, diagonals), gravity / 5);
    garment.fabric.density = garment.fabric.gravity_density = 1;
    garment.fabric.mass_damping = 4;
    garment.fabric.stretch_stiffness = 1e5;
    garment.fabric.shear_stiffness = 3e4;
    std::vector<Index> clamped;
    for (Index row = 0; row < across; ++row)
      for (const Index column : {0, 1}) clamped.push_back(along * row + column);
    garment.pins = {{"clamp", clamped, FixedMotion{}}};
    Scene scene = scene_of(garment);
    scene.gravity = gravity;
    scene.projection.tolerance = 1e-6;
    Simulation simulation(scene, {.threads = 1});
    for (int step = 0; step < 300; ++step)
      ASSERT_EQ(simulation.step().front().status, StepStatus::converged) << step;
    const Vec3d tip = simulation.positions(0)[along * (across / 2) + along - 1];
    const double drop = -tip.z, reach = tip.x - edge;
    EXPECT_GT(drop, 0.495905);
    EXPECT_LT(drop, 0.566708);
    EXPECT_LT(reach, 0.846657);
    EXPECT_GT(reach, 0.793262);
  }
}

// Two corners come together by half: folds in all directions, of a few elements each.
TEST(Hinges, CrumpleWithinTheTolerance) {
  for (const bool has_curve : {false, true}) {
    Garment garment = sheet(irregular_triangles(16, 256, 0.4, 0.4, 1), 2e-5);
    if (has_curve) garment.fabric.curves.bend.points = {{20, 4e-4}, {60, 6e-3}, {150, 6e-2}};
    garment.pins = {
        {"left", {0, 48}, FixedMotion{}},
        {"right",
         {16, 32},
         KeyframeMotion{.times = {0, 1}, .translations = {{}, {-0.2, 0, 0}}, .rotations = {}, .center = {}}}};
    Scene scene = scene_of(garment);
    scene.step = 0.005;
    Simulation simulation(scene, {.threads = 1});
    int iterations = 0;
    for (int step = 0; step < 200; ++step) {
      const StepReport report = simulation.step().front();
      ASSERT_EQ(report.status, StepStatus::converged) << step;
      iterations += report.iterations;
    }
    EXPECT_LT(iterations, 200 * 2.5);
  }
}

TEST(Hinges, AreRefusedWhereNothingIsKnownOfThem) {
  const auto message = [](const Scene& scene) -> std::string {
    try {
      Simulation simulation(scene, {.threads = 1});
    } catch (const SceneError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message(scene_of(sheet(triangle_grid(4, 4, 0.1, 0.1, Diagonals::parallel)))), "");
  EXPECT_EQ(
      message(scene_of(sheet(quad_grid(4, 4, 0.1, 0.1)))),
      "garments[0].fabric.bending: found \"discrete_shells\" on a mesh with 9 quads, expected triangles "
      "alone, between which angles are measured: use \"plate\", or a triangle_grid");
  const Garment plain = sheet(triangle_grid(4, 4, 0.1, 0.1, Diagonals::parallel));
  EXPECT_NE(message(scene_of(plain, "coltraro2022")).find("another with the recipe coltraro2022"),
            std::string::npos);
  Garment uneven = plain;
  uneven.fabric.weft_bending_stiffness = 1e-4;
  EXPECT_NE(
      message(scene_of(uneven)).find("weft_bending_stiffness: found 0.0001, expected 0 with discrete_shells"),
      std::string::npos);
}

}  // namespace
}  // namespace isocloth
