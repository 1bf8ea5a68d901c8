#include "host/reference/rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {
namespace {

constexpr double epsilon = 2.3e-16;

QuadraticRows rows_of(const Mesh& mesh) {
  return isometry_rows(mesh, build_topology(mesh),
                       std::vector<char>(static_cast<std::size_t>(mesh.node_count()), 1));
}

// n x n dense tensor of a node by Coltraro 2022, Algorithm 1, in element coordinates of rectangular quads:
// T_E, T_F, T_G for the directions (0, 0), (0, 1), (1, 1).
Eigen::MatrixXd printed_tensor(const Mesh& mesh, Index node, int left, int right) {
  Eigen::MatrixXd tensor = Eigen::MatrixXd::Zero(mesh.node_count(), mesh.node_count());
  double area_of_node = 0;
  const double abscissas[3] = {-std::sqrt(0.6), 0, std::sqrt(0.6)}, weights[3] = {5. / 9, 8. / 9, 5. / 9};
  for (Index f = 0; f < mesh.face_count(); ++f) {
    const auto nodes = mesh.face(f);
    const double area = norm(mesh.positions[nodes[1]] - mesh.positions[nodes[0]]) *
                        norm(mesh.positions[nodes[3]] - mesh.positions[nodes[0]]);
    for (int a = 0; a < 3; ++a) {
      for (int b = 0; b < 3; ++b) {
        const double xi = abscissas[a], eta = abscissas[b], d_area = weights[a] * weights[b] * area / 4;
        const double values[4] = {(1 - xi) * (1 - eta) / 4, (1 + xi) * (1 - eta) / 4,
                                  (1 + xi) * (1 + eta) / 4, (1 - xi) * (1 + eta) / 4};
        const double along[2][4] = {{-(1 - eta) / 4, (1 - eta) / 4, (1 + eta) / 4, -(1 + eta) / 4},
                                    {-(1 - xi) / 4, -(1 + xi) / 4, (1 + xi) / 4, (1 - xi) / 4}};
        for (int k = 0; k < 4; ++k) {
          if (nodes[k] != node) continue;
          area_of_node += values[k] * d_area;
          for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 4; ++j)
              tensor(nodes[i], nodes[j]) +=
                  values[k] * d_area / 2 *
                  (along[left][i] * along[right][j] + along[right][i] * along[left][j]);
        }
      }
    }
  }
  return tensor / area_of_node;
}

TEST(Rows, MatchPrintedTensorsOnRectangles) {
  const Index nx = 5, ny = 4;
  const double width = 0.8, height = 0.9;
  const Mesh mesh = quad_grid(nx, ny, width, height);
  const QuadraticRows rows = rows_of(mesh);
  // In element coordinates sqrt(E0) and sqrt(G0) are half the element sizes; scaled by them the tensors
  // agree.
  const double rest[2] = {width / (nx - 1) / 2, height / (ny - 1) / 2};
  const auto expect_printed = [&](Index node, Eigen::Index row, int left, int right) {
    const Eigen::MatrixXd printed = printed_tensor(mesh, node, left, right) / (rest[left] * rest[right]);
    VectorXd unit = VectorXd::Zero(rows.row_count());
    unit[row] = 1;
    const Eigen::MatrixXd ours = Eigen::MatrixXd(rows.hessian(unit)) / 2;
    EXPECT_LE((ours - printed).cwiseAbs().maxCoeff(), 100 * epsilon * printed.cwiseAbs().maxCoeff())
        << "row " << row;
  };
  Eigen::Index row = 0;
  for (const Index node : rows.interior_nodes) {
    expect_printed(node, row++, 0, 0);
    expect_printed(node, row++, 0, 1);
    expect_printed(node, row++, 1, 1);
  }
  // At corners the shear is that between the two boundary edges: F of the element up to the sign of a
  // direction.
  for (const Index node : rows.corner_nodes) {
    const Eigen::MatrixXd printed = printed_tensor(mesh, node, 0, 1) / (rest[0] * rest[1]);
    VectorXd unit = VectorXd::Zero(rows.row_count());
    unit[row++] = 1;
    const Eigen::MatrixXd ours = Eigen::MatrixXd(rows.hessian(unit)) / 2;
    EXPECT_LE((ours.cwiseAbs() - printed.cwiseAbs()).cwiseAbs().maxCoeff(),
              100 * epsilon * printed.cwiseAbs().maxCoeff());
  }
}

TEST(Rows, CountOnSquareQuadSheets) {
  for (const Index m : {3, 5, 9, 12}) {
    const QuadraticRows rows = rows_of(quad_grid(m, m, 1, 1));
    EXPECT_EQ(rows.row_count(), 3 * m * m - 8 * m + 12);
    EXPECT_EQ(rows.interior_nodes.size(), static_cast<std::size_t>((m - 2) * (m - 2)));
    EXPECT_EQ(rows.corner_nodes.size(), 4U);
    EXPECT_EQ(rows.edges.size(), static_cast<std::size_t>(4 * (m - 1)));
  }
}

TEST(Rows, VanishAtRestAndUnderRigidMotion) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    const QuadraticRows rows = rows_of(mesh);
    const MatrixX3d rest = to_matrix(mesh.positions);
    MatrixX3d moved = rest * some_rotation().transpose();
    moved.rowwise() += Eigen::RowVector3d(0.3, -2, 1.7);
    // A derivative sums differences of coordinates of order 3 over an element of order 0.1.
    const double tolerance = 10 * epsilon * 3 / 0.1;
    EXPECT_LE(rows.values(rest).lpNorm<Eigen::Infinity>(), tolerance) << name;
    EXPECT_LE(rows.values(moved).lpNorm<Eigen::Infinity>(), tolerance) << name;
    // The rest metric is the identity, so scales are one and F rows are at rest at zero.
    for (Eigen::Index q = 0; q < static_cast<Eigen::Index>(rows.interior_nodes.size()); ++q)
      EXPECT_LE(std::abs(rows.rest[3 * q + 1]), tolerance) << name;
  }
}

TEST(Rows, HomogeneousStretchGivesItsMetric) {
  // phi = (2 x + y / 2, 3 y): E = 4, F = 1, G = 9.25 in the frame (x, y).
  const Mesh mesh = quad_grid(4, 5, 0.9, 0.7);
  const QuadraticRows rows = rows_of(mesh);
  MatrixX3d stretched = to_matrix(mesh.positions);
  stretched.col(0) = 2 * stretched.col(0) + 0.5 * stretched.col(1).eval();
  stretched.col(1) *= 3;
  const VectorXd values = rows.values(stretched);
  for (Eigen::Index q = 0; q < static_cast<Eigen::Index>(rows.interior_nodes.size()); ++q) {
    EXPECT_NEAR(values[3 * q], 3, 1e-12);
    EXPECT_NEAR(values[3 * q + 1], 1, 1e-12);
    EXPECT_NEAR(values[3 * q + 2], 8.25, 1e-12);
  }
}

TEST(Rows, JacobianMatchesFiniteDifferences) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    const QuadraticRows rows = rows_of(mesh);
    const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), 0.02, 1);
    const Eigen::MatrixXd jacobian = rows.jacobian(at);
    // Rows are quadratic: central differences are exact but for rounding, about epsilon |C| / step.
    const double step = 1e-4;
    double worst = 0;
    for (Eigen::Index i = 0; i < at.rows(); ++i) {
      for (int c = 0; c < 3; ++c) {
        MatrixX3d ahead = at, behind = at;
        ahead(i, c) += step;
        behind(i, c) -= step;
        const VectorXd column = (rows.values(ahead) - rows.values(behind)) / (2 * step);
        worst = std::max(worst, (column - jacobian.col(3 * i + c)).lpNorm<Eigen::Infinity>());
      }
    }
    EXPECT_LE(worst / jacobian.cwiseAbs().maxCoeff(), 1e-10) << name;
  }
}

// By the stretch tensor, whatever Poisson's ratio couples.
TEST(CorotationalRows, MatchFiniteDifferences) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    Garment garment = garment_of(mesh);
    garment.fabric.poisson_ratio = 0.3;
    garment.fabric.weft_stretch_stiffness = 400;
    ReferenceCloth cloth(garment, find_recipe("corotational"), {}, 9.8);
    EXPECT_LE(cloth.row_strains(cloth.positions()).lpNorm<Eigen::Infinity>(), 1e-13) << name;
    const MatrixX3d at = cloth.positions() + noise(mesh.node_count(), 0.02, 1);
    // They do not turn.
    const VectorXd values = cloth.row_strains(at);
    EXPECT_LE((cloth.row_strains(at * some_rotation().transpose()) - values).lpNorm<Eigen::Infinity>(),
              1e-13);
    EXPECT_GT(values.maxCoeff(), 0.1);
    const Eigen::MatrixXd jacobian = cloth.row_jacobian(at);
    double worst = 0, step = 1e-5;
    for (Eigen::Index i = 0; i < at.rows(); ++i)
      for (int c = 0; c < 3; ++c) {
        MatrixX3d ahead = at, behind = at;
        ahead(i, c) += step;
        behind(i, c) -= step;
        const VectorXd column = (cloth.row_strains(ahead) - cloth.row_strains(behind)) / (2 * step);
        worst = std::max(worst, (column - jacobian.col(3 * i + c)).lpNorm<Eigen::Infinity>());
      }
    EXPECT_LE(worst / jacobian.cwiseAbs().maxCoeff(), 1e-7) << name;
    // The forces are those of Green's rows with other multipliers.
    const VectorXd lambda = noise(values.size(), 1, 2).col(0), mu = cloth.quadratic_multipliers(lambda, at),
                   force = jacobian.transpose() * lambda;
    EXPECT_LE((cloth.rows().jacobian(at).transpose() * mu - force).lpNorm<Eigen::Infinity>(),
              1e-12 * force.lpNorm<Eigen::Infinity>());
  }
}

// An even stretch: phi = (1.3 x, 0.8 y) turned; of a simple shear x + g y S is known, too (S^2 = F^T F).
TEST(CorotationalRows, AreTheStretchTensor) {
  const Mesh mesh = quad_grid(3, 4, 0.9, 0.7);
  ReferenceCloth cloth(garment_of(mesh), find_recipe("corotational"), {}, 9.8);
  MatrixX3d stretched = to_matrix(mesh.positions);
  stretched.col(0) *= 1.3;
  stretched.col(1) *= 0.8;
  const VectorXd even = cloth.row_strains(stretched * some_rotation().transpose());
  MatrixX3d sheared = to_matrix(mesh.positions);
  const double g = 0.5, root = std::sqrt(4 + g * g);  // tr S of a shear, whose det is 1
  sheared.col(0) += g * sheared.col(1).eval();
  const VectorXd turned = cloth.row_strains(sheared);
  for (Eigen::Index row = 0; row < even.size(); row += 6) {
    EXPECT_NEAR(even[row], 0.6, 1e-12);
    EXPECT_NEAR(even[row + 1], 0, 1e-12);
    EXPECT_NEAR(even[row + 2], -0.4, 1e-12);
    EXPECT_NEAR(turned[row], 2 * (2 / root - 1), 1e-12);
    EXPECT_NEAR(turned[row + 1], 2 * g / root, 1e-12);
    EXPECT_NEAR(turned[row + 2], 2 * ((2 + g * g) / root - 1), 1e-12);
    for (Eigen::Index w = 3; w < 6; ++w) {  // differences
      EXPECT_NEAR(even[row + w], 0, 1e-12);
      EXPECT_NEAR(turned[row + w], 0, 1e-12);
    }
  }
}

TEST(Rows, HessianIsTheDerivativeOfTheJacobian) {
  for (const auto& [name, mesh] : assorted_meshes()) {
    const QuadraticRows rows = rows_of(mesh);
    const VectorXd multipliers = noise(rows.row_count(), 1, 2).col(0);
    const SparseMatrix hessian = rows.hessian(multipliers);
    EXPECT_EQ((hessian - SparseMatrix(hessian.transpose())).norm(), 0) << name;
    EXPECT_LE((hessian * VectorXd::Ones(mesh.node_count())).lpNorm<Eigen::Infinity>(),
              1e-12 * Eigen::MatrixXd(hessian).cwiseAbs().maxCoeff())
        << name;
    // J(phi)^T lambda = H phi on each component: the rows have no linear part.
    const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), 0.1, 3);
    const VectorXd force = rows.jacobian(at).transpose() * multipliers;
    const MatrixX3d expected = hessian * at;
    for (Eigen::Index i = 0; i < at.rows(); ++i)
      EXPECT_LE((force.segment<3>(3 * i) - expected.row(i).transpose()).norm(), 1e-11 * expected.norm())
          << name;
  }
}

// A flat sheet moves freely along its normal (n directions); in its plane it keeps three rigid motions, and
// on regular quads alternating ones besides, whose number depends on the parity of nx, ny and on nx = ny
// alone: three (2n - 6) on odd squares. The singular values leave no doubt: above 1e-3 or below 1e-15 of the
// largest.
TEST(Rows, FlatRankOfQuadSheets) {
  struct Case {
    Index nx, ny, free_in_plane;
  };
  for (const auto& [nx, ny, free_in_plane] :
       {Case{5, 5, 6}, {9, 9, 6}, {6, 6, 7}, {5, 7, 5}, {9, 17, 5}, {6, 9, 4}, {6, 8, 4}}) {
    for (const double height : {0.297, 0.42}) {
      const Mesh mesh = quad_grid(nx, ny, 0.297, height);
      const SparseMatrix jacobian = rows_of(mesh).jacobian(to_matrix(mesh.positions));
      EXPECT_EQ(rank_of(jacobian), 2 * nx * ny - free_in_plane) << nx << " x " << ny;
    }
  }
}

TEST(Rows, FlatRankOfIrregularTriangles) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Mesh mesh = irregular_triangles(6, 25, 1, 0.9, seed);
    const SparseMatrix jacobian =
        rows_of(mesh).jacobian(to_matrix(mesh.positions) * some_rotation().transpose());
    EXPECT_EQ(rank_of(jacobian), 2 * mesh.node_count() - 3) << "seed " << seed;
  }
}

TEST(Rows, IndependentOffFlatSheets) {
  const Mesh mesh = quad_grid(7, 7, 1, 1);
  const QuadraticRows rows = rows_of(mesh);
  EXPECT_EQ(rank_of(rows.jacobian(to_matrix(mesh.positions) + noise(mesh.node_count(), 0.01, 4))),
            rows.row_count());
}

TEST(Rows, DropWhatNoFreeNodeCanChange) {
  // Pinning the nine nodes of one corner of a 6 x 6 sheet: node (1, 1) has no free node, its corner neither.
  const Mesh mesh = quad_grid(6, 6, 1, 1);
  std::vector<char> is_free(36, 1);
  for (const Index j : {0, 1, 2})
    for (const Index i : {0, 1, 2}) is_free[static_cast<std::size_t>(6 * j + i)] = 0;
  const Topology topology = build_topology(mesh);
  const QuadraticRows rows = isometry_rows(mesh, topology, is_free);
  EXPECT_EQ(rows.interior_nodes.size(), 15U);
  EXPECT_EQ(std::count(rows.interior_nodes.begin(), rows.interior_nodes.end(), 7), 0);
  EXPECT_EQ(rows.corner_nodes, (std::vector<Index>{5, 30, 35}));
  EXPECT_EQ(rows.edges.size(), 16U);
  EXPECT_EQ(rows.row_count(), 3 * 15 + 3 + 16);
  EXPECT_EQ(edge_rows(mesh, topology, is_free).row_count(), 60 - 12);
}

TEST(Rows, EdgesRecipeMeasuresSquaredLengths) {
  const Mesh mesh = triangle_grid(4, 3, 0.5, 0.6, Diagonals::alternating);
  const Topology topology = build_topology(mesh);
  const QuadraticRows rows =
      edge_rows(mesh, topology, std::vector<char>(static_cast<std::size_t>(mesh.node_count()), 1));
  ASSERT_EQ(rows.edges.size(), topology.edges.size());
  const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), 0.1, 5);
  const VectorXd values = rows.values(at);
  for (std::size_t e = 0; e < topology.edges.size(); ++e) {
    const auto [a, b] = topology.edges[e];
    const double rest = norm(mesh.positions[a] - mesh.positions[b]);
    const double stretch = (at.row(a) - at.row(b)).norm() / rest;
    EXPECT_NEAR(values[static_cast<Eigen::Index>(e)], stretch * stretch - 1, 1e-13);
  }
}

}  // namespace
}  // namespace isocloth::reference
