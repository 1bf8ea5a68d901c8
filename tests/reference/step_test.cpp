#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <limits>

#include "engine/core/errors.hpp"
#include "host/reference/saddle_point.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {
namespace {

Garment stiff_garment(const Mesh& mesh, const std::vector<Index>& pinned) {
  Garment garment = garment_of(mesh, pinned);
  garment.fabric = {.density = 0.8,
                    .gravity_density = 0.6,
                    .bending_stiffness = 1e-4,
                    .mass_damping = 1.5,
                    .stiffness_damping = 2e-5};
  return garment;
}

/// A cloth somewhere in a violent motion: positions off their rest shape, velocities and multipliers not
/// zero.
ReferenceCloth disturbed_cloth(const Mesh& mesh, const std::vector<Index>& pinned,
                               const ProjectionSettings& settings, double amplitude = 0.01) {
  ReferenceCloth cloth = isometric_cloth(stiff_garment(mesh, pinned), settings);
  cloth.set_positions(cloth.positions() + noise(mesh.node_count(), amplitude, 11));
  cloth.set_velocities(noise(mesh.node_count(), 50 * amplitude, 12));
  cloth.set_multipliers(1e-4 * noise(cloth.rows().row_count(), 1, 13).col(0));
  return cloth;
}

Eigen::MatrixXd free_coordinates(const ReferenceCloth& cloth) {
  const auto count = static_cast<Eigen::Index>(cloth.free_nodes().size());
  Eigen::MatrixXd select = Eigen::MatrixXd::Zero(3 * count, 3 * cloth.mesh().node_count());
  for (Eigen::Index i = 0; i < count; ++i)
    select.block<3, 3>(3 * i, 3 * cloth.free_nodes()[static_cast<std::size_t>(i)]).setIdentity();
  return select;
}

Eigen::MatrixXd on_three(const SparseMatrix& matrix) {
  Eigen::MatrixXd expanded = Eigen::MatrixXd::Zero(3 * matrix.rows(), 3 * matrix.cols());
  for (int column = 0; column < matrix.outerSize(); ++column)
    for (SparseMatrix::InnerIterator entry(matrix, column); entry; ++entry)
      expanded.block<3, 3>(3 * entry.row(), 3 * column) = entry.value() * Eigen::Matrix3d::Identity();
  return expanded;
}

VectorXd flat(const MatrixX3d& matrix) {
  VectorXd vector(matrix.size());
  for (Eigen::Index i = 0; i < matrix.rows(); ++i) vector.segment<3>(3 * i) = matrix.row(i);
  return vector;
}

ProjectionSettings settings_of(ProjectionMethod method, Metric metric, double tolerance = 1e-3) {
  ProjectionSettings settings;
  settings.method = method;
  settings.metric = metric;
  settings.tolerance = tolerance;
  return settings;
}

// Off flat the rows are independent; on a nearly flat sheet J loses rank and eps alone holds the system.
TEST(SaddlePoint, AgreesWithAPivotedSolveInLongDouble) {
  struct Case {
    double eps, amplitude;
  };
  for (const auto& [eps, amplitude] : {Case{1e-4, 1e-2}, {1e-7, 1e-2}, {1e-4, 1e-7}, {1e-7, 1e-7}}) {
    ProjectionSettings settings = settings_of(ProjectionMethod::proximal_newton, Metric::implicit_b);
    settings.eps = eps;
    const ReferenceCloth cloth = disturbed_cloth(quad_grid(6, 5, 0.5, 0.4), {0, 5}, settings, amplitude);
    const double h = 0.01;
    const MatrixX3d unconstrained = cloth.unconstrained_step(h, pinned_positions(cloth));
    const Iteration iteration = cloth.single_iteration(unconstrained, unconstrained, cloth.multipliers(), h);

    const Eigen::MatrixXd select = free_coordinates(cloth);
    const Eigen::MatrixXd block =
        select * on_three(cloth.metric_matrix(h) + cloth.geometric_stiffness(cloth.multipliers())) *
        select.transpose();
    const Eigen::MatrixXd jacobian = cloth.row_jacobian(unconstrained) * select.transpose();
    const VectorXd compliance = eps * cloth.row_scale_d(unconstrained, h);
    const Eigen::Index free_count = block.rows(), row_count = jacobian.rows();
    Eigen::MatrixXd matrix(free_count + row_count, free_count + row_count);
    matrix << block, jacobian.transpose(), jacobian, -Eigen::MatrixXd(compliance.asDiagonal());
    VectorXd side(free_count + row_count);
    side << VectorXd::Zero(free_count),
        -cloth.row_values(unconstrained) - compliance.cwiseProduct(cloth.multipliers());
    using Extended = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
    const Eigen::PartialPivLU<Extended> factor(matrix.cast<long double>());
    const VectorXd exact = factor.solve(side.cast<long double>()).cast<double>();
    const VectorXd found = select * flat(iteration.displacement);
    EXPECT_LE((found - exact.head(free_count)).norm(), 1e-11 * exact.head(free_count).norm())
        << "eps " << eps << ", amplitude " << amplitude;
    EXPECT_LE((iteration.multipliers - exact.tail(row_count)).norm(), 1e-11 * exact.tail(row_count).norm())
        << "eps " << eps << ", amplitude " << amplitude;
  }
}

// With lambda' eliminated: (A + G+ + J^T (eps D)^-1 J) d = -A (phi - phi~) - J^T (lambda + C / (eps D)),
// lambda' = lambda + (C + J d) / (eps D).
TEST(SingleIteration, DualAndPrimalFormsAgree) {
  for (const Metric metric : {Metric::implicit_b, Metric::mass}) {
    for (const auto& [name, mesh] : assorted_meshes()) {
      ProjectionSettings settings = settings_of(ProjectionMethod::proximal_newton, metric);
      settings.eps = 1e-4;  // the primal system is dense and conditioned like 1 / eps
      const ReferenceCloth cloth = disturbed_cloth(mesh, {0, 3}, settings);
      const double h = 0.01;
      const MatrixX3d unconstrained = cloth.unconstrained_step(h, pinned_positions(cloth));
      MatrixX3d at = unconstrained + noise(mesh.node_count(), 0.004, 14);
      for (const Index node : cloth.pinned_nodes()) at.row(node) = unconstrained.row(node);
      const Iteration dual = cloth.single_iteration(at, unconstrained, cloth.multipliers(), h);

      const Eigen::MatrixXd select = free_coordinates(cloth);
      const Eigen::MatrixXd metric_block = select * on_three(cloth.metric_matrix(h)) * select.transpose();
      const Eigen::MatrixXd stiffness =
          select * on_three(cloth.geometric_stiffness(cloth.multipliers())) * select.transpose();
      const Eigen::MatrixXd jacobian = cloth.row_jacobian(at) * select.transpose();
      const VectorXd inverse = (cloth.settings().eps * cloth.row_scale_d(at, h)).cwiseInverse();
      const VectorXd values = cloth.row_values(at), lambda = cloth.multipliers();
      const Eigen::MatrixXd matrix =
          metric_block + stiffness + jacobian.transpose() * inverse.asDiagonal() * jacobian;
      const VectorXd side = -metric_block * (select * flat(at - unconstrained)) -
                            jacobian.transpose() * (lambda + values.cwiseProduct(inverse));
      const VectorXd primal = matrix.llt().solve(side);
      const VectorXd primal_lambda = lambda + (values + jacobian * primal).cwiseProduct(inverse);
      // Rounding of 1e-16 times the condition numbers of both systems; measured errors stay under 2e-12.
      EXPECT_LE((select * flat(dual.displacement) - primal).norm(), 1e-10 * primal.norm()) << name;
      EXPECT_LE((dual.multipliers - primal_lambda).norm(), 1e-10 * primal_lambda.norm()) << name;
    }
  }
}

TEST(SingleIteration, FastProjectionIsTheRegularisedMinimumNormCorrection) {
  const Mesh mesh = quad_grid(6, 5, 0.5, 0.4);
  const ReferenceCloth cloth =
      disturbed_cloth(mesh, {0, 5}, settings_of(ProjectionMethod::fast_projection, Metric::mass));
  const double h = 0.01;
  const MatrixX3d at = cloth.unconstrained_step(h, pinned_positions(cloth));
  const Iteration iteration = cloth.single_iteration(at, at, cloth.multipliers(), h);
  // d = -W J^T (J W J^T + eps D)^-1 C.
  VectorXd weights = VectorXd::Zero(3 * mesh.node_count());
  for (const Index node : cloth.free_nodes())
    weights.segment<3>(3 * node).setConstant(1 / cloth.masses()[node]);
  const Eigen::MatrixXd jacobian = cloth.row_jacobian(at);
  Eigen::MatrixXd schur = jacobian * weights.asDiagonal() * jacobian.transpose();
  EXPECT_LE((schur.diagonal() - cloth.row_scale_d(at, h)).norm(), 1e-13 * schur.diagonal().norm());
  schur.diagonal() *= 1 + 1e-7;
  const VectorXd expected =
      -weights.cwiseProduct(jacobian.transpose() * schur.llt().solve(cloth.row_values(at)));
  EXPECT_LE((flat(iteration.displacement) - expected).norm(), 1e-8 * expected.norm());
}

TEST(UnconstrainedStep, SolvesTheImplicitEquationWithDrivenNodes) {
  const Mesh mesh = quad_grid(6, 5, 0.5, 0.4);
  const ReferenceCloth cloth = disturbed_cloth(mesh, {0, 5}, {});
  const double h = 0.01;
  const MatrixX3d prescribed = pinned_positions(cloth) + noise(2, 0.02, 15);
  const MatrixX3d next = cloth.unconstrained_step(h, prescribed);
  for (Eigen::Index i = 0; i < 2; ++i)
    EXPECT_EQ((next.row(cloth.pinned_nodes()[static_cast<std::size_t>(i)]) - prescribed.row(i)).norm(), 0);
  // rho M (v - v_n)/h = -delta M g e_z - kappa K (phi_n + h v) - (alpha M + beta K) v on free nodes.
  const MatrixX3d velocity = (next - cloth.positions()) / h;
  const auto mass = cloth.masses().asDiagonal();
  const SparseMatrix& bending = cloth.bending_matrix();
  MatrixX3d force = -1e-4 * (bending * next) - 1.5 * (mass * velocity) - 2e-5 * (bending * velocity);
  force.col(2) -= 0.6 * 9.8 * cloth.masses();
  const MatrixX3d inertia = 0.8 * (mass * (velocity - cloth.velocities())) / h;
  for (const Index node : cloth.free_nodes())
    EXPECT_LE((inertia - force).row(node).norm(), 1e-11 * inertia.norm());
}

TEST(GeometricStiffness, IsALaplacianOfPullingEdges) {
  const Mesh mesh = triangle_grid(6, 5, 0.7, 0.4, Diagonals::alternating);
  const ReferenceCloth cloth = isometric_cloth(garment_of(mesh));
  const VectorXd multipliers = noise(cloth.rows().row_count(), 1, 16).col(0);
  const Eigen::MatrixXd stiffness = cloth.geometric_stiffness(multipliers);
  const Eigen::MatrixXd hessian = cloth.rows().hessian(multipliers);
  EXPECT_LE((stiffness * VectorXd::Ones(mesh.node_count())).norm(), 1e-12 * stiffness.norm());
  for (Eigen::Index i = 0; i < stiffness.rows(); ++i)
    for (Eigen::Index j = 0; j < i; ++j) EXPECT_EQ(stiffness(i, j), std::min(0.0, hessian(i, j)));
  const VectorXd eigenvalues = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(stiffness).eigenvalues();
  EXPECT_GE(eigenvalues.minCoeff(), -1e-12 * eigenvalues.maxCoeff());
}

// Nothing to correct: the fast projection does nothing, the proximal Newton goes from the inertial to the
// implicit step in the one solve that each of its steps has.
TEST(Step, FreeFallFollowsImplicitEuler) {
  for (const ProjectionMethod method :
       {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection}) {
    Garment garment = stiff_garment(quad_grid(5, 5, 1, 1), {});
    garment.fabric.mass_damping = 0;
    ReferenceCloth cloth = isometric_cloth(garment, settings_of(method, Metric::implicit_b));
    const double h = 0.01, acceleration = -0.6 / 0.8 * 9.8;
    for (int n = 1; n <= 20; ++n) {
      const StepResult result = cloth.step(h, MatrixX3d(0, 3));
      EXPECT_EQ(result.iterations, method == ProjectionMethod::proximal_newton ? 1 : 0);
      EXPECT_TRUE(result.converged);
    }
    const double fallen = acceleration * h * h * 20 * 21 / 2;
    EXPECT_LE((cloth.positions().col(2).array() - fallen).abs().maxCoeff(), 1e-12);
    EXPECT_LE((cloth.velocities().col(2).array() - 20 * h * acceleration).abs().maxCoeff(), 1e-11);
  }
}

TEST(Step, IsItsSingleIterationsFromTheInertialStep) {
  ProjectionSettings settings = settings_of(ProjectionMethod::proximal_newton, Metric::implicit_b, 1e-9);
  settings.eps = 1e-4;  // soft enough that following the convergence pays
  const Mesh mesh = quad_grid(7, 5, 0.9, 0.4);
  ReferenceCloth cloth = disturbed_cloth(mesh, {0}, settings);
  const double h = 0.005, eps = cloth.settings().eps;
  const MatrixX3d prescribed = pinned_positions(cloth) + noise(1, 0.002, 18);
  const MatrixX3d unconstrained = cloth.unconstrained_step(h, prescribed), before = cloth.positions();
  MatrixX3d at = cloth.positions() + h * cloth.velocities();
  at.row(0) = prescribed;
  VectorXd multipliers = cloth.multipliers();
  ReferenceCloth softening = cloth;
  const StepResult result = cloth.step(h, prescribed, eps);
  ASSERT_TRUE(result.converged);
  for (int done = 0; done < result.iterations; ++done) {
    EXPECT_GT(cloth.row_values(at).lpNorm<Eigen::Infinity>(), 1e-9);
    const Iteration iteration = cloth.single_iteration(at, unconstrained, multipliers, h);
    at += iteration.displacement;
    multipliers = iteration.multipliers;
  }
  EXPECT_EQ((cloth.positions() - at).norm(), 0);
  EXPECT_EQ((cloth.multipliers() - multipliers).norm(), 0);
  EXPECT_EQ((cloth.velocities() - (at - before) / h).norm(), 0);
  EXPECT_EQ(result.residual, cloth.row_values(at).lpNorm<Eigen::Infinity>());
  EXPECT_GT(result.margin, 0);
  EXPECT_LE(result.margin, 1e-9 - result.residual);
  // A smaller eps near the end saves iterations and leads to the same place.
  const StepResult soft = softening.step(h, prescribed);
  EXPECT_TRUE(soft.converged);
  EXPECT_LT(soft.iterations, result.iterations);
  EXPECT_LE((softening.positions() - at).cwiseAbs().maxCoeff(), 1e-5);
}

// On a flat regular patch the derivatives of E, F, G with respect to their own node vanish: with its
// neighbours pinned no free node moves these rows.
TEST(SingleIteration, LeavesRowsAloneThatNoFreeNodeMoves) {
  const ReferenceCloth cloth = [] {
    ReferenceCloth c = isometric_cloth(stiff_garment(quad_grid(3, 3, 1, 0.8), {0, 1, 2, 3, 5, 6, 7, 8}));
    c.set_multipliers(noise(c.rows().row_count(), 1, 19).col(0));
    return c;
  }();
  ASSERT_EQ(cloth.rows().row_count(), 3 + 4);
  MatrixX3d at = cloth.positions();
  at(4, 2) += 0.1;
  const VectorXd d = cloth.row_scale_d(cloth.positions(), 0.01);
  EXPECT_EQ(d.head(3).norm(), 0);
  EXPECT_GT(d.tail(4).minCoeff(), 0);
  const Iteration iteration = cloth.single_iteration(cloth.positions(), at, cloth.multipliers(), 0.01);
  EXPECT_LE((iteration.multipliers - cloth.multipliers()).head(3).norm(), 1e-15);
  EXPECT_TRUE(iteration.displacement.allFinite());
  EXPECT_GT(iteration.displacement.row(4).norm(), 0);
}

TEST(Step, LinearMomentumFollowsFromGravityAndDampingAlone) {
  for (const ProjectionMethod method :
       {ProjectionMethod::proximal_newton, ProjectionMethod::fast_projection}) {
    ReferenceCloth cloth =
        disturbed_cloth(quad_grid(7, 5, 0.9, 0.4), {}, settings_of(method, Metric::implicit_b, 1e-6));
    const double h = 0.005, area = cloth.masses().sum();
    const Eigen::RowVector3d before = 0.8 * cloth.masses().transpose() * cloth.velocities();
    const StepResult result = cloth.step(h, MatrixX3d(0, 3));
    EXPECT_TRUE(result.converged);
    EXPECT_GE(result.iterations, 2);
    const Eigen::RowVector3d after = 0.8 * cloth.masses().transpose() * cloth.velocities();
    Eigen::RowVector3d expected = before;
    expected.z() -= h * 0.6 * 9.8 * area;
    expected *= 0.8 / (0.8 + h * 1.5);
    EXPECT_LE((after - expected).norm(), 1e-11 * (1 + expected.norm()));
  }
}

// Where the iteration rests, M (phi - phi~) + J^T lambda = 0 with J taken at the end: Coltraro 2022, (15). A
// step stops on the rows, when the last move is of the order of the square root of its tolerance: a few more
// follow here.
TEST(Step, IterationRestsWhereForcesBalanceWithoutTorque) {
  const ProjectionSettings settings = settings_of(ProjectionMethod::proximal_newton, Metric::mass, 1e-10);
  ReferenceCloth cloth = disturbed_cloth(quad_grid(7, 5, 0.9, 0.4), {}, settings);
  const double h = 0.005;
  const MatrixX3d unconstrained = cloth.unconstrained_step(h, MatrixX3d(0, 3));
  ASSERT_TRUE(cloth.step(h, MatrixX3d(0, 3)).converged);
  for (int more = 0; more < 60; ++more) {
    const Iteration iteration =
        cloth.single_iteration(cloth.positions(), unconstrained, cloth.multipliers(), h);
    cloth.set_positions(cloth.positions() + iteration.displacement);
    cloth.set_multipliers(iteration.multipliers);
  }
  const MatrixX3d impulse = cloth.masses().asDiagonal() * (cloth.positions() - unconstrained);
  const VectorXd force = cloth.row_jacobian(cloth.positions()).transpose() * cloth.multipliers();
  EXPECT_LE((flat(impulse) + force).norm(), 1e-11 * force.norm());
  Eigen::Vector3d torque = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < impulse.rows(); ++i)
    torque += Eigen::Vector3d(cloth.positions().row(i)).cross(Eigen::Vector3d(impulse.row(i)));
  EXPECT_LE(torque.norm(), 1e-11 * impulse.norm());
}

TEST(Step, TheAnswerDoesNotDependOnEps) {
  std::vector<MatrixX3d> ends;
  for (const double eps : {1e-3, 1e-4, 1e-6}) {
    ProjectionSettings settings = settings_of(ProjectionMethod::proximal_newton, Metric::implicit_b, 1e-11);
    settings.eps = eps;
    settings.max_iterations = 200;
    ReferenceCloth cloth = disturbed_cloth(quad_grid(7, 5, 0.9, 0.4), {0}, settings);
    EXPECT_TRUE(cloth.step(0.005, pinned_positions(cloth)).converged) << "eps " << eps;
    ends.push_back(cloth.positions());
  }
  // The last move is about the square root of the tolerance times an element of 0.1 m.
  EXPECT_LE((ends[0] - ends[1]).cwiseAbs().maxCoeff(), 3e-7);
  EXPECT_LE((ends[2] - ends[1]).cwiseAbs().maxCoeff(), 3e-7);
}

TEST(Step, MeetsItsToleranceOrSaysThatItDidNot) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    ReferenceCloth cloth =
        disturbed_cloth(mesh, {0}, settings_of(ProjectionMethod::proximal_newton, Metric::implicit_b, 1e-9));
    const StepResult result = cloth.step(0.005, pinned_positions(cloth));
    EXPECT_TRUE(result.converged) << name;
    EXPECT_LE(cloth.row_values(cloth.positions()).lpNorm<Eigen::Infinity>(), 1e-9) << name;
  }
  ProjectionSettings one = settings_of(ProjectionMethod::proximal_newton, Metric::implicit_b, 1e-9);
  one.max_iterations = 1;
  ReferenceCloth cloth = disturbed_cloth(quad_grid(6, 6, 1, 1), {0}, one);
  const StepResult result = cloth.step(0.005, pinned_positions(cloth));
  EXPECT_FALSE(result.converged);
  EXPECT_EQ(result.iterations, 1);
  EXPECT_GT(result.residual, 1e-9);
}

TEST(Step, RefusesWhatDoesNotFit) {
  Garment garment = garment_of(quad_grid(3, 3, 1, 1), {0});
  ReferenceCloth cloth = isometric_cloth(garment);
  EXPECT_THROW(cloth.step(0.01, MatrixX3d::Zero(2, 3)), ShapeError);
  EXPECT_THROW(cloth.set_positions(MatrixX3d::Zero(8, 3)), ShapeError);
  EXPECT_THROW(cloth.set_velocities(MatrixX3d::Zero(8, 3)), ShapeError);
  EXPECT_THROW(cloth.set_multipliers(VectorXd::Zero(1)), ShapeError);
  const MatrixX3d before = cloth.positions();
  EXPECT_THROW(cloth.step(0.01, MatrixX3d::Constant(1, 3, std::numeric_limits<double>::quiet_NaN())),
               NumericalError);
  EXPECT_EQ((cloth.positions() - before).norm(), 0);
  garment.pins[0].nodes = {9};
  EXPECT_THROW(isometric_cloth(garment), ShapeError);
  garment.pins[0].nodes = {0};
  garment.initial_positions.resize(4);
  EXPECT_THROW(isometric_cloth(garment), ShapeError);
}

TEST(Step, AllNodesPinnedFollowTheirMotion) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  ReferenceCloth cloth = isometric_cloth(garment_of(mesh, {0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(cloth.rows().row_count(), 0);
  const MatrixX3d target = cloth.positions() + noise(9, 0.1, 17);
  EXPECT_TRUE(cloth.step(0.01, target).converged);
  EXPECT_EQ((cloth.positions() - target).norm(), 0);
}

}  // namespace
}  // namespace isocloth::reference
