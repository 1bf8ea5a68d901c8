#include "host/reference/impulse_system.hpp"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <limits>

#include "tests/reference/impulse_cases.hpp"

namespace isocloth::reference {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

ImpulseSystem system_of(const ImpulseCloth& cloth) {
  return ImpulseSystem(cloth.constraints(), cloth.inverse_masses());
}

// The paper's table, entry by entry: k of the shared particle, negative where it is the first of one
// constraint and the second of the other, times the directions' cosine. Figure 3: 12 constraints of 3 x 3
// nodes leave 15 degrees of freedom.
TEST(ImpulseSystem, IsThePapersTableOnThreeByThreeNodes) {
  const Mesh mesh = quad_grid(3, 3, 0.4, 0.5);
  for (const std::vector<Index>& pinned : {std::vector<Index>{}, std::vector<Index>{0}}) {
    const ImpulseCloth cloth = impulse_cloth(garment_of(mesh, pinned), converging(1e-2));
    ASSERT_EQ(cloth.constraints().size(), 12u);
    const MatrixX3d at = to_matrix(mesh.positions) + noise(9, 0.05, 2);
    ImpulseSystem system = system_of(cloth);
    ASSERT_TRUE(system.linearise(at, 0));
    const VectorXd& k = cloth.inverse_masses();
    for (int i = 0; i < 12; ++i) {
      for (int j = 0; j < 12; ++j) {
        const DistanceConstraint &p = cloth.constraints()[i], &q = cloth.constraints()[j];
        double of_shared = 0;
        if (i == j)
          of_shared = k[p.a] + k[p.b];
        else if (p.a == q.a || p.a == q.b)
          of_shared = p.a == q.a ? k[p.a] : -k[p.a];
        else if (p.b == q.a || p.b == q.b)
          of_shared = p.b == q.b ? k[p.b] : -k[p.b];
        const Eigen::RowVector3d n = (at.row(p.b) - at.row(p.a)).normalized(),
                                 m = (at.row(q.b) - at.row(q.a)).normalized();
        EXPECT_NEAR(system.matrix().coeff(i, j), of_shared * n.dot(m), 10 * eps * k.maxCoeff())
            << i << ", " << j;
      }
    }
    EXPECT_EQ(system.rank(), 12);
  }
}

// Between two pins at rest distance n - 1 edges of a straight line hold n - 2 nodes: one is redundant. With
// the pins 5 % closer the line is bent and every edge counts.
TEST(ImpulseSystem, RedundantPinsCostOneRank) {
  const Index nx = 5, ny = 4;
  const double width = 1, closer = 0.95, spacing = width / (nx - 1);
  const Mesh mesh = quad_grid(nx, ny, width, 0.6);
  const ImpulseCloth cloth = impulse_cloth(garment_of(mesh, {0, nx - 1}), converging(1e-2));
  const auto count = static_cast<Eigen::Index>(cloth.constraints().size());
  ImpulseSystem system = system_of(cloth);
  EXPECT_FALSE(system.linearise(to_matrix(mesh.positions), 0));
  EXPECT_EQ(system.rank(), count - 1);
  EXPECT_TRUE(system.linearise(to_matrix(mesh.positions), 1e-2));

  MatrixX3d folded = to_matrix(mesh.positions);
  folded.col(0) *= closer;
  for (Index node = 0; node < mesh.node_count(); ++node)
    folded(node, 2) = node % nx % 2 * spacing * std::sqrt(1 - closer * closer);
  ASSERT_LE(cloth.rows().residual(folded), 10 * eps);
  EXPECT_TRUE(system.linearise(folded, 0));
  EXPECT_EQ(system.rank(), count);
}

// A pair whose ends meet has no direction: p = 0 for it, the others are solved.
TEST(ImpulseSystem, APairWithoutDirectionIsLeftOut) {
  const Mesh mesh = quad_grid(3, 3, 1, 1);
  const ImpulseCloth cloth = impulse_cloth(garment_of(mesh), converging(1e-2));
  MatrixX3d at = to_matrix(mesh.positions) + noise(9, 0.05, 2);
  at.row(1) = at.row(0);
  ImpulseSystem system = system_of(cloth);
  ASSERT_TRUE(system.linearise(at, 0));
  EXPECT_EQ(system.rank(), 11);
  MatrixX3d displacements = MatrixX3d::Zero(9, 3);
  const VectorXd errors = system.errors(at);
  system.apply(errors, displacements);
  EXPECT_TRUE(displacements.allFinite());
  const VectorXd removed = system.rates(displacements);
  for (int i = 0; i < 12; ++i) EXPECT_NEAR(removed[i], -errors[i], 1e-12);
}

ImpulseSettings solving(double tolerance, int max_solves) {
  ImpulseSettings settings = converging(tolerance);
  settings.max_solves = max_solves;
  return settings;
}

// What a solve leaves is the second order of the turns of the edges, and these are in proportion to h.
TEST(ImpulseSystem, OneSolveLeavesStrainOfSecondOrder) {
  const SwingingSheet sheet = swinging_sheet("bender_iterative");
  double previous = std::numeric_limits<double>::infinity();
  for (const double h : {1.0 / 30, 1.0 / 60, 1.0 / 120, 1.0 / 240}) {
    ImpulseCloth cloth = at_state(sheet, solving(0.1, 1), "bender_sle");
    const ImpulseStepResult result = cloth.step(h, pinned_positions(cloth));
    EXPECT_EQ(result.solves, 1);
    EXPECT_EQ(result.sweeps, 0);
    EXPECT_GE(previous / result.residual, 3.5) << "h " << h;
    EXPECT_GE(result.residual, 1e-6);
    // The same factor once more takes most of the rest away.
    ImpulseCloth again = at_state(sheet, solving(0.9 * result.residual, 2), "bender_sle");
    const ImpulseStepResult second = again.step(h, pinned_positions(again));
    EXPECT_EQ(second.solves, 2);
    EXPECT_EQ(second.fallbacks, 0);
    EXPECT_LE(second.residual, 0.5 * result.residual) << "h " << h;
    previous = result.residual;
  }
}

// Sweeps and solves end on the same edge lengths, along directions that differ by the turn of the edges on
// the way: of first order in h, as are the impulses, so that they differ by h^2.
TEST(ImpulseSystem, AgreesWithConvergedSweeps) {
  const SwingingSheet sheet = swinging_sheet("bender_iterative");
  const double tolerance = 1e-11;
  double previous = std::numeric_limits<double>::infinity();
  for (const double h : {1.0 / 120, 1.0 / 240}) {
    ImpulseCloth by_sweeps = at_state(sheet, converging(tolerance), "bender_iterative");
    ImpulseCloth by_solves = at_state(sheet, solving(tolerance, 40), "bender_sle");
    const ImpulseStepResult swept = by_sweeps.step(h, pinned_positions(by_sweeps));
    const ImpulseStepResult solved = by_solves.step(h, pinned_positions(by_solves));
    EXPECT_TRUE(swept.converged && solved.converged && solved.fallbacks == 0);
    EXPECT_GE(solved.solves, 3);
    const double apart = (by_sweeps.positions() - by_solves.positions()).rowwise().norm().maxCoeff();
    const double impulses = (by_solves.positions() - sheet.positions).rowwise().norm().maxCoeff();
    EXPECT_LE(apart, 0.01 * impulses);
    EXPECT_GE(previous / apart, 3.5);
    previous = apart;
  }
}

// A single solve, then v relative along the n of that solve must be zero: preview and n by hand.
TEST(ImpulseSystem, VelocityPassRemovesTheRatesAlongTheSolvedDirections) {
  const SwingingSheet sheet = swinging_sheet("bender_iterative");
  const double h = 0.01;
  ImpulseSettings settings = solving(0.1, 1);
  settings.velocity_pass = VelocityPass::on;
  ImpulseCloth cloth = at_state(sheet, settings, "bender_sle");
  const MatrixX3d forces = cloth.forces(sheet.positions, sheet.velocities);
  const MatrixX3d freely = (sheet.velocities + h * (cloth.inverse_masses().asDiagonal() * forces)) /
                           (1 + h * sheet.garment.fabric.mass_damping / sheet.garment.fabric.density);
  ImpulseSystem system = system_of(cloth);
  ASSERT_TRUE(system.linearise(sheet.positions + h * freely, 0));
  const double before = system.rates(freely).cwiseAbs().maxCoeff();
  cloth.step(h, pinned_positions(cloth));
  EXPECT_GE(before, 0.1);
  // cond(A) is about the square of the number of edges in a line, times the ratio of masses, 4.
  EXPECT_LE(system.rates(cloth.velocities()).cwiseAbs().maxCoeff(), 1e3 * eps * before);
}

// Two edges in a line between pins, but for an angle of 4e-3: A is regular, and to shorten both it moves the
// node between them by many edges. That is taken back, and what is added to the diagonal bounds the move.
TEST(ImpulseSystem, ACorrectionLongerThanAnEdgeIsTakenBack) {
  const double apart = 1.01, tolerance = 2e-2, off = 1e-3, angle = 4 * off / apart;
  const Garment garment = garment_of(quad_grid(3, 2, 1, 0.5), {0, 2});
  MatrixX3d at = to_matrix(garment.mesh.positions);
  at.col(0) *= apart;
  at(1, 2) = -off;
  ImpulseCloth cloth = impulse_cloth(garment, solving(tolerance, 3), 0, "bender_sle");
  cloth.set_positions(at);
  const ImpulseStepResult result = cloth.step(1e-3, pinned_positions(cloth));

  ImpulseSystem system = system_of(cloth);
  MatrixX3d moves = MatrixX3d::Zero(6, 3);
  ASSERT_TRUE(system.linearise(at, 0));
  // Of the two edges alone, 1 - cos(angle); the edge that hangs from their node has a direction of its own.
  EXPECT_LE(system.least_eigenvalue(), angle * angle / 2);
  EXPECT_GE(system.least_eigenvalue(), 0.5 * (angle * angle / 2));
  const double moved = system.apply(system.errors(at), moves);
  EXPECT_GE(moved, 4);
  EXPECT_NEAR(moved, moves.rowwise().norm().maxCoeff() / 0.5, 10 * eps * moved);
  moves.setZero();
  ASSERT_TRUE(system.linearise(at, 1e-2));
  EXPECT_LE(system.apply(system.errors(at), moves), 0.1);

  EXPECT_EQ(cloth.positions(), at + moves);
  EXPECT_EQ(result.solves, 2);
  EXPECT_EQ(result.fallbacks, 0);
  EXPECT_TRUE(result.converged);
  ASSERT_EQ(result.choices.size(), 2u);
  EXPECT_EQ(result.choices[0].value, moved);
  EXPECT_EQ(result.choices[1].value, result.residual);
  EXPECT_EQ(result.pivots.size(), 2u);
}

// Pivots are judged in the arithmetic of the kernels.
TEST(ImpulseSystem, PivotsWithinRoundingAreSingular) {
  const ImpulseCloth cloth = impulse_cloth(garment_of(quad_grid(4, 3, 1, 1), {0}), converging(1e-2));
  const MatrixX3d at = cloth.positions() + noise(12, 0.05, 2);
  ImpulseSystem in_double = system_of(cloth);
  ASSERT_TRUE(in_double.linearise(at, 0));
  const auto count = static_cast<Eigen::Index>(cloth.constraints().size());
  const Eigen::MatrixXd matrix(in_double.matrix());
  const VectorXd scale = matrix.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scale.asDiagonal() * matrix * scale.asDiagonal();
  const double least = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(scaled).eigenvalues()[0];
  EXPECT_NEAR(in_double.least_eigenvalue() / least, 1, 0.2);
  // Pivots lie between the extreme eigenvalues.
  const double below = 0.5 * least / static_cast<double>(count), above = 4 / static_cast<double>(count);
  EXPECT_TRUE(ImpulseSystem(cloth.constraints(), cloth.inverse_masses(), below).linearise(at, 0));
  EXPECT_FALSE(ImpulseSystem(cloth.constraints(), cloth.inverse_masses(), above).linearise(at, 0));
}

// Pins further apart than the line of edges between them: no positions meet the tolerance.
TEST(ImpulseSystem, ReportsWhatItCannotMeet) {
  const Index n = 5;
  Garment garment = garment_of(quad_grid(n, n, 1, 1), {0, n - 1});
  ImpulseSettings settings = solving(1e-3, 6);
  settings.max_sweeps = 50;
  ImpulseCloth cloth = impulse_cloth(garment, settings, 9.8, "bender_sle");
  MatrixX3d apart = pinned_positions(cloth);
  apart(1, 0) += 0.1;
  const ImpulseStepResult result = cloth.step(1e-3, apart);
  EXPECT_EQ(result.fallbacks, 1);
  EXPECT_EQ(result.sweeps, 50);
  EXPECT_FALSE(result.converged);
  EXPECT_GE(result.residual, 0.1 / (n - 1) - 1e-12);
  EXPECT_TRUE(cloth.positions().allFinite());

  // Where it falls back it is the iterative method.
  ImpulseCloth iterative = impulse_cloth(garment, settings);
  iterative.step(1e-3, apart);
  EXPECT_EQ(cloth.positions(), iterative.positions());
  EXPECT_EQ(cloth.velocities(), iterative.velocities());
}

}  // namespace
}  // namespace isocloth::reference
