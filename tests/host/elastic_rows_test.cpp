// Compliant rows: a step minimises inertia, bending and the energy of the springs. The minimum is found here
// by a dense Newton iteration with whole Hessians, which knows nothing of multipliers.
#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "engine/core/errors.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/reference/reference_cloth.hpp"
#include "host/validation/validation.hpp"

namespace isocloth {
namespace {

using Eigen::Matrix3d;
using Eigen::MatrixXd;
using Eigen::Vector3d;
using Eigen::VectorXd;

/// A sheet of springs that hangs by two corners.
Scene elastic_scene(Mesh mesh, double stiffness) {
  Garment sheet;
  sheet.name = "sheet";
  sheet.mesh = std::move(mesh);
  sheet.fabric = {.rho = 0.2, .delta = 0.2, .kappa = 1e-4, .alpha = 0.1, .stretch_stiffness = stiffness};
  sheet.pins = {{"corners", {0, 4}, FixedMotion{}}};
  Scene scene;
  scene.recipe = "elastic_edges";
  scene.step = 0.01;
  scene.projection.tolerance = 1e-11;
  scene.projection.max_iterations = 200;
  scene.garments = {sheet};
  return scene;
}

/// Adds first and second derivatives of the springs' energy, sum of K C^2 / 2.
void add_derivatives(const VectorXd& x, const reference::ReferenceCloth& cloth,
                     const std::vector<double>& stiffness, VectorXd& gradient, MatrixXd& hessian) {
  for (std::size_t e = 0; e < stiffness.size(); ++e) {
    const auto [a, b] = cloth.rows().edges[e];
    const auto rest = [&](Index i) {
      const Vec3d& p = cloth.mesh().positions[static_cast<std::size_t>(i)];
      return Vector3d(p.x, p.y, p.z);
    };
    const double l2 = (rest(b) - rest(a)).squaredNorm(), k = stiffness[e];
    const Vector3d d = x.segment<3>(3 * b) - x.segment<3>(3 * a);
    const double c = d.squaredNorm() / l2 - 1;
    const Vector3d force = 2 * k * c / l2 * d;
    const Matrix3d block = 2 * k / l2 * (2 / l2 * d * d.transpose() + c * Matrix3d::Identity());
    gradient.segment<3>(3 * a) -= force;
    gradient.segment<3>(3 * b) += force;
    for (const auto& [i, j, sign] : {std::tuple{a, a, 1.0}, {b, b, 1.0}, {a, b, -1.0}, {b, a, -1.0}})
      hessian.block<3, 3>(3 * i, 3 * j) += sign * block;
  }
}

/// The end of a backward Euler step.
VectorXd minimum(const Scene& scene, const GarmentState& before) {
  const Garment& garment = scene.garments[0];
  const double h = scene.step;
  ProjectionSettings settings = scene.projection;
  reference::ReferenceCloth cloth(garment, find_recipe("inextensible_edges"), settings, scene.gravity);
  const Eigen::Index nodes = garment.mesh.node_count();
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
  cloth.set_positions(Eigen::Map<const Rows>(before.positions.data(), nodes, 3));
  cloth.set_velocities(Eigen::Map<const Rows>(before.velocities.data(), nodes, 3));
  reference::MatrixX3d pinned(static_cast<Eigen::Index>(cloth.pinned_nodes().size()), 3);
  for (Eigen::Index i = 0; i < pinned.rows(); ++i)
    pinned.row(i) = cloth.positions().row(cloth.pinned_nodes()[static_cast<std::size_t>(i)]);
  const Rows free_flight = cloth.unconstrained_step(h, pinned);
  const MatrixXd b = MatrixXd(cloth.implicit_matrix(h));
  // Spring constants by hand: every mesh here has equal quads, so that an edge has half of the quads beside
  // it.
  std::vector<double> stiffness;
  const double area = garment.fabric.stretch_stiffness / 4 *
                      reference::face_areas(garment.mesh, reference::to_matrix(garment.mesh.positions))[0];
  for (const auto& [i, j] : cloth.rows().edges) {
    int beside = 0;
    for (Index f = 0; f < garment.mesh.face_count(); ++f)
      for (Index k = 0; k < 4; ++k) {
        const Index from = garment.mesh.face(f)[k], to = garment.mesh.face(f)[(k + 1) % 4];
        beside += (from == i && to == j) || (from == j && to == i);
      }
    stiffness.push_back(beside * area / 2);
  }
  const VectorXd flight = Eigen::Map<const VectorXd>(free_flight.data(), 3 * nodes);
  VectorXd x = flight;
  for (int iteration = 0; iteration < 100; ++iteration) {
    VectorXd gradient = VectorXd::Zero(3 * nodes);
    MatrixXd hessian = MatrixXd::Zero(3 * nodes, 3 * nodes);
    add_derivatives(x, cloth, stiffness, gradient, hessian);
    gradient *= h * h;
    hessian *= h * h;
    for (Eigen::Index i = 0; i < nodes; ++i)
      for (Eigen::Index j = 0; j < nodes; ++j) {
        hessian.block<3, 3>(3 * i, 3 * j) += b(i, j) * Matrix3d::Identity();
        gradient.segment<3>(3 * i) += b(i, j) * (x - flight).segment<3>(3 * j);
      }
    for (const Index node : cloth.pinned_nodes()) {
      gradient.segment<3>(3 * node).setZero();
      hessian.middleRows(3 * node, 3).setZero();
      hessian.middleCols(3 * node, 3).setZero();
      hessian.block<3, 3>(3 * node, 3 * node).setIdentity();
    }
    const VectorXd move = hessian.partialPivLu().solve(gradient);
    x -= move;
    if (move.norm() < 1e-14) break;
  }
  return x;
}

TEST(ElasticRows, AStepEndsAtTheMinimumOfItsEnergy) {
  double stretch = 10;
  for (const double stiffness : {20.0, 2000.0}) {
    const Scene scene = elastic_scene(quad_grid(5, 4, 0.4, 0.3), stiffness);
    for (const StepSolver solver : {StepSolver::batched, StepSolver::direct}) {
      Simulation simulation(scene, {.solver = solver, .threads = 1});
      for (int step = 0; step < 12; ++step) {
        const GarmentState before = simulation.state(0);
        const StepReport report = simulation.step().front();
        ASSERT_EQ(report.status, StepStatus::converged);
        if (step % 4 != 3) continue;
        const VectorXd expected = minimum(scene, before);
        const GarmentState after = simulation.state(0);
        const VectorXd found = Eigen::Map<const VectorXd>(after.positions.data(), expected.size());
        // Steps end by the mismatch of strains; what is left of the forces are the moves of the last
        // iteration.
        EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-8)
            << "stiffness " << stiffness << ", step " << step;
      }
      // A hundredth of the stiffness is seen.
      const double now = simulation.measure(0).residual;
      if (solver == StepSolver::direct) {
        EXPECT_LT(now, 0.2 * stretch);
        stretch = now;
      }
    }
  }
}

// The two schedules, both precisions, and the reference's own steps.
TEST(ElasticRows, AreThoseOfTheReference) {
  for (const StepSolver solver : {StepSolver::batched, StepSolver::direct})
    for (const Precision precision : {Precision::float64, Precision::float32}) {
      Scene scene = elastic_scene(quad_grid(5, 4, 0.4, 0.3), 200);
      scene.projection.tolerance = 1e-4;
      const ValidationReport report =
          validate(scene, {.precision = precision, .solver = solver, .threads = 1}, 6);
      EXPECT_TRUE(report.passed()) << to_string(solver);
    }
}

TEST(ElasticRows, FabricsOfABatchAreTheirOwn) {
  Scene scene = elastic_scene(quad_grid(5, 4, 0.4, 0.3), 20);
  scene.projection.tolerance = 1e-6;
  for (int i = 1; i < 6; ++i) {
    scene.garments.push_back(scene.garments[0]);
    scene.garments.back().name += std::to_string(i);
    scene.garments.back().fabric.stretch_stiffness *= 1 + i;
  }
  Simulation batch(scene, {.threads = 1});
  batch.advance(10);
  double before = 1;
  for (std::size_t g = 0; g < scene.garments.size(); ++g) {
    Scene alone = scene;
    alone.garments = {scene.garments[g]};
    Simulation single(alone, {.solver = StepSolver::batched, .threads = 1});
    single.advance(10);
    EXPECT_EQ(batch.state(g).positions, single.state(0).positions) << g;
    const double stretch = batch.measure(g).residual;
    EXPECT_LT(stretch, before);
    before = stretch;
  }
}

TEST(ElasticRows, AreRefusedWhereNothingCarriesTheirStress) {
  Scene scene = elastic_scene(quad_grid(5, 4, 0.4, 0.3), 20);
  scene.projection.method = ProjectionMethod::fast_projection;
  EXPECT_THROW(Simulation{scene}, SceneError);
  scene = elastic_scene(quad_grid(5, 4, 0.4, 0.3), 0);
  EXPECT_THROW(Simulation{scene}, SceneError);
}

}  // namespace
}  // namespace isocloth
