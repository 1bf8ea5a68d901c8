#include "host/reference/measures.hpp"

#include <gtest/gtest.h>

#include "engine/mesh/topology.hpp"
#include "tests/reference/cloth_cases.hpp"

namespace isocloth::reference {
namespace {

TEST(Measures, AreaErrorsOfTwoStretchedFaces) {
  // Faces of areas 1 and 2 become 1.1 and 1.9: errors +0.1 and -0.05.
  const Mesh mesh = [] {
    Mesh m;
    m.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}, {5, 0, 0}, {7, 0, 0}, {7, 2, 0}};
    m.add_face({0, 1, 2, 3});
    m.add_face({4, 5, 6});
    return m;
  }();
  MatrixX3d moved = to_matrix(mesh.positions);
  moved(1, 0) = moved(2, 0) = 1.1;
  moved(6, 1) = 1.9;
  const AreaErrors errors = area_errors(mesh, moved);
  EXPECT_NEAR(errors.signed_faces[0], 0.1, 1e-14);
  EXPECT_NEAR(errors.signed_faces[1], -0.05, 1e-14);
  EXPECT_NEAR(errors.total, 0, 1e-14);
  EXPECT_NEAR(errors.mean, 0.075, 1e-14);
  EXPECT_NEAR(errors.dispersion, 0.075 + 2 * 0.025, 1e-14);
}

TEST(Measures, StrainsOfHomogeneousStretch) {
  for (const Mesh& mesh :
       {quad_grid(5, 4, 0.8, 0.6), triangle_grid(5, 4, 0.8, 0.6, Diagonals::alternating)}) {
    MatrixX3d stretched = to_matrix(mesh.positions);
    stretched.col(0) *= 1.02;
    stretched.col(1) *= 0.95;
    const MatrixX3d positions = stretched * some_rotation().transpose();
    const Eigen::MatrixX2d stretches = principal_stretches(mesh, positions);
    ASSERT_EQ(stretches.rows(), mesh.face_size(0) == 4 ? 4 * mesh.face_count() : mesh.face_count());
    for (const auto& pair : stretches.rowwise()) {
      EXPECT_NEAR(pair[0], 1.02, 1e-13);
      EXPECT_NEAR(pair[1], 0.95, 1e-13);
    }
    const VectorXd edges = edge_strains(mesh, positions);
    const auto topology = build_topology(mesh);
    ASSERT_EQ(edges.size(), static_cast<Eigen::Index>(topology.edges.size()));
    for (std::size_t e = 0; e < topology.edges.size(); ++e) {
      const Vec3d d = mesh.positions[topology.edges[e][1]] - mesh.positions[topology.edges[e][0]];
      const double now = std::hypot(1.02 * d.x, 0.95 * d.y);
      EXPECT_NEAR(edges[static_cast<Eigen::Index>(e)], std::abs(now / norm(d) - 1), 1e-13);
    }
  }
}

TEST(Measures, StretchesOfPureShear) {
  const Mesh mesh = quad_grid(4, 4, 1, 1);
  MatrixX3d sheared = to_matrix(mesh.positions);
  sheared.col(0) += 0.2 * sheared.col(1).eval();
  // s1 s2 = 1 and s1 - s2 = 0.2
  const Eigen::MatrixX2d stretches = principal_stretches(mesh, sheared);
  for (const auto& pair : stretches.rowwise()) {
    EXPECT_NEAR(pair[0], 0.1 + std::sqrt(1.01), 1e-13);
    EXPECT_NEAR(pair[1], std::sqrt(1.01) - 0.1, 1e-13);
  }
}

TEST(Measures, StretchesOfAQuadThatIsNoParallelogram) {
  Mesh mesh;
  mesh.positions = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}};
  mesh.add_face({0, 1, 2, 3});
  MatrixX3d moved = to_matrix(mesh.positions);
  moved(2, 0) = 2;  // x = u (1 + v), y = v on the unit square
  const Eigen::MatrixX2d stretches = principal_stretches(mesh, moved);
  const double low = (1 - 1 / std::sqrt(3.0)) / 2, high = 1 - low;
  const double points[4][2] = {{low, low}, {low, high}, {high, low}, {high, high}};
  for (int q = 0; q < 4; ++q) {
    Eigen::Matrix2d gradient;
    gradient << 1 + points[q][1], points[q][0], 0, 1;
    const Eigen::Vector2d expected = gradient.jacobiSvd().singularValues();
    EXPECT_NEAR(stretches(q, 0), expected[0], 1e-13) << q;
    EXPECT_NEAR(stretches(q, 1), expected[1], 1e-13) << q;
  }
}

}  // namespace
}  // namespace isocloth::reference
