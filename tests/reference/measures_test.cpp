#include "host/reference/measures.hpp"

#include <gtest/gtest.h>

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
  const Mesh mesh = quad_grid(5, 4, 0.8, 0.6);
  MatrixX3d stretched = to_matrix(mesh.positions);
  stretched.col(0) *= 1.02;
  stretched.col(1) *= 0.95;
  ReferenceCloth cloth = isometric_cloth(garment_of(mesh));
  const VectorXd strains = cloth.principal_strains(stretched * some_rotation().transpose());
  ASSERT_EQ(strains.size(), 6 + 14);
  for (Eigen::Index q = 0; q < 6; ++q) EXPECT_NEAR(strains[q], 0.05, 1e-13);
  for (Eigen::Index e = 0; e < 14; ++e) {
    const auto [a, b] = cloth.rows().edges[static_cast<std::size_t>(e)];
    EXPECT_NEAR(strains[6 + e], b - a == 1 ? 0.02 : 0.05, 1e-13);
  }
}

TEST(Measures, StrainOfPureShearIsNotItsDiagonal) {
  const Mesh mesh = quad_grid(4, 4, 1, 1);
  MatrixX3d sheared = to_matrix(mesh.positions);
  sheared.col(0) += 0.2 * sheared.col(1).eval();
  const ReferenceCloth cloth = isometric_cloth(garment_of(mesh));
  Eigen::Matrix2d gradient;
  gradient << 1, 0.2, 0, 1;
  const Eigen::Vector2d stretches = gradient.jacobiSvd().singularValues();
  EXPECT_NEAR(cloth.principal_strains(sheared)[0], std::max(stretches[0] - 1, 1 - stretches[1]), 1e-13);
}

}  // namespace
}  // namespace isocloth::reference
