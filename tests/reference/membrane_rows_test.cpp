// Rows of pairs of triangles: derivatives, the patch test, and which motions they leave free.
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "host/reference/row_response.hpp"
#include "host/reference/stress_laws.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {
namespace {

GarmentRows rows_of(const Mesh& mesh, const Fabric& fabric) {
  return garment_rows(find_recipe("membrane"), mesh, build_topology(mesh), fabric,
                      std::vector<char>(static_cast<std::size_t>(mesh.node_count()), 1));
}

std::vector<Mesh> flat_meshes() {
  return {quad_grid(7, 6, 0.5, 0.4), triangle_grid(7, 6, 0.5, 0.4, Diagonals::parallel),
          triangle_grid(7, 6, 0.5, 0.4, Diagonals::alternating), irregular_triangles(7, 36, 0.5, 0.4, 1)};
}

Fabric weave() {
  Fabric fabric;
  fabric.stretch_stiffness = 10000;
  fabric.weft_stretch_stiffness = 4000;
  fabric.shear_stiffness = 200;
  return fabric;
}

TEST(MembraneRows, HaveTheDerivativesOfTheirStrains) {
  for (const Mesh& mesh : flat_meshes()) {
    Fabric fabric = weave();
    fabric.poisson_ratio = 0.2;
    const GarmentRows rows = rows_of(mesh, fabric);
    const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), 0.02, 1);
    const Eigen::MatrixXd jacobian = rows.jacobian(at);
    constexpr double d = 1e-5;
    for (Eigen::Index node = 0; node < at.rows(); ++node)
      for (int c = 0; c < 3; ++c) {
        MatrixX3d ahead = at, behind = at;
        ahead(node, c) += d;
        behind(node, c) -= d;
        const VectorXd found = (rows.values(ahead) - rows.values(behind)) / (2 * d);
        EXPECT_LT((found - jacobian.col(3 * node + c)).cwiseAbs().maxCoeff(),
                  1e-7 * jacobian.cwiseAbs().maxCoeff());
      }
  }
}

// Where strain is even the differences vanish, and means are it.
TEST(MembraneRows, PassThePatchTest) {
  for (const Mesh& mesh : flat_meshes()) {
    const GarmentRows rows = rows_of(mesh, weave());
    Eigen::Matrix3d even;
    even << 1.03, 0.2, 0, -0.05, 0.97, 0, 0, 0, 1;
    const Eigen::Vector2d u = even.block<2, 1>(0, 0), v = even.block<2, 1>(0, 1);
    const MatrixX3d at = to_matrix(mesh.positions) * (some_rotation() * even).transpose();
    const VectorXd values = rows.values(at);
    VectorXd forces = VectorXd::Zero(3 * at.rows());
    const VectorXd stress = rows.stiffness.cwiseProduct(values);
    forces = rows.jacobian(at).transpose() * stress;
    for (Eigen::Index row = 0; row < rows.pair_row_count; row += 6) {
      EXPECT_NEAR(values[row], u.squaredNorm() - 1, 1e-12);
      EXPECT_NEAR(values[row + 1], u.dot(v), 1e-12);
      EXPECT_NEAR(values[row + 2], v.squaredNorm() - 1, 1e-12);
      for (Eigen::Index w = 3; w < 6; ++w) EXPECT_NEAR(values[row + w], 0, 1e-12);
    }
    const Topology topology = build_topology(mesh);
    for (const Index node : topology.interior_nodes)  // constant stress: nothing pulls inside
      EXPECT_LT(forces.segment<3>(3 * node).norm(), 1e-11 * forces.lpNorm<Eigen::Infinity>());
  }
}

// In its plane a free sheet has three motions without energy; what is soft is no softer than it ought to be.
TEST(MembraneRows, LeaveNothingFreeButRigidMotions) {
  for (const Mesh& mesh : flat_meshes()) {
    const GarmentRows rows = rows_of(mesh, weave());
    const Eigen::MatrixXd jacobian = rows.jacobian(to_matrix(mesh.positions));
    Eigen::MatrixXd in_plane(jacobian.rows(), 2 * mesh.node_count());
    for (Index i = 0; i < mesh.node_count(); ++i)
      in_plane.middleCols<2>(2 * i) = jacobian.middleCols<2>(3 * i);
    const Eigen::MatrixXd stiffness = in_plane.transpose() * rows.stiffness.asDiagonal() * in_plane;
    const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> modes(stiffness);
    const VectorXd& values = modes.eigenvalues();
    EXPECT_LT(std::fabs(values[2]), 1e-10 * values.maxCoeff());
    EXPECT_GT(values[3], 1e-6 * values.maxCoeff());
  }
}

// Stress of differences is the derivative of their energy, and stiffens.
TEST(MembraneRows, DifferencesStiffen) {
  constexpr double d = 1e-6;
  for (const double c : {-0.3, -0.02, 0.001, 0.05, 1.0}) {
    const ElasticResponse at = difference_response(c), ahead = difference_response(c + d),
                          behind = difference_response(c - d);
    EXPECT_NEAR((ahead.energy - behind.energy) / (2 * d), at.stress, 1e-7 * (1 + std::fabs(at.stress)));
    EXPECT_NEAR((ahead.stress - behind.stress) / (2 * d), at.slope, 1e-6 * at.slope);
  }
  EXPECT_NEAR(difference_response(0.025).stress, 0.05, 1e-15);
}

// K of the means is that of both triangles, of differences the weak share.
TEST(MembraneRows, AreAsStiffAsTheirTriangles) {
  const Fabric fabric = weave();
  for (const Mesh& mesh : flat_meshes()) {
    const GarmentRows rows = rows_of(mesh, fabric);
    double sum = 0;
    for (Eigen::Index row = 0; row < rows.pair_row_count; row += 6) {
      sum += rows.stiffness[row];
      EXPECT_LE(rows.stiffness[row + 3], 5e-4 / 4 * rows.stiffness[row] * (1 + 1e-12));
      EXPECT_LE(rows.stiffness[row + 4], 0.03 / 4 * rows.stiffness[row + 1] * (1 + 1e-12));
    }
    EXPECT_NEAR(sum, 0.2 * fabric.stretch_stiffness / 4, 1e-9 * sum);
  }
}

}  // namespace
}  // namespace isocloth::reference
