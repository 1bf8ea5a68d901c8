#include "host/reference/impulse_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/reference/impulse_cases.hpp"
#include "tests/support/known_recipes.hpp"

namespace isocloth::reference {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// One impulse on two particles of weights 1 and 3: e = |d| - l is taken away in the ratio of the weights,
// along d at the end of the preview.
TEST(DistanceRows, OneImpulseIsTheClosedForm) {
  const DistanceRows rows({{0, 1, 2.0, 0.25, 0.75}});
  MatrixX3d at(2, 3), start(2, 3);
  at << 1, 0, 0, 3, 0, 0;
  start << 0, 0, 0, 1, 4, 0;  // d = (3, 4, 0), |d| = 5, e = 3
  for (const double relaxation : {1.0, 1.8}) {
    MatrixX3d displacements = start;
    const Visit visit = rows.correct_position(0, at, relaxation, 1.49, displacements);
    EXPECT_TRUE(visit.corrected);
    EXPECT_NEAR(visit.error, 1.5, 10 * eps);
    const Eigen::RowVector3d along = relaxation * Eigen::RowVector3d(1.8, 2.4, 0);
    EXPECT_LE((displacements.row(0) - start.row(0) - 0.25 * along).norm(), 20 * eps);
    EXPECT_LE((displacements.row(1) - start.row(1) + 0.75 * along).norm(), 20 * eps);
  }
  MatrixX3d untouched = start;
  EXPECT_FALSE(rows.correct_position(0, at, 1, 1.51, untouched).corrected);
  EXPECT_EQ(untouched, start);

  MatrixX3d velocities = start;  // at x the direction is (1, 0, 0) and the rate 1, relative 1/2
  EXPECT_FALSE(rows.correct_velocity(0, at, 1, 0.51, velocities).corrected);
  EXPECT_TRUE(rows.correct_velocity(0, at, 1, 0.49, velocities).corrected);
  MatrixX3d expected(2, 3);
  expected << 0.25, 0, 0, 0.25, 4, 0;
  EXPECT_LE((velocities - expected).norm(), 10 * eps);

  at.row(1) = at.row(0);
  MatrixX3d meeting = MatrixX3d::Zero(2, 3);
  EXPECT_FALSE(rows.correct_position(0, at, 1, 0, meeting).corrected);
  EXPECT_FALSE(rows.correct_velocity(0, at, 1, 0, meeting).corrected);
}

// T of the blocks against the rows that they are made of, and an impulse's result: a full block ends with C
// of second order, and with no rate but rounding.
TEST(BlockRows, AreTheRowsAndCorrectThem) {
  if (!has_recipe("isometric_impulse")) GTEST_SKIP() << "isometric_impulse is not in this build";
  for (const auto& [name, mesh] : assorted_meshes()) {
    const ImpulseCloth cloth = impulse_cloth(garment_of(mesh, {0}), converging(1e-3), 0, "isometric_impulse");
    std::vector<char> is_free(static_cast<std::size_t>(mesh.node_count()), 1);
    is_free[0] = 0;
    const QuadraticRows rows = isometry_rows(mesh, build_topology(mesh), is_free);
    const std::vector<RowBlock> blocks = row_blocks(rows);
    ASSERT_EQ(blocks.size(), rows.interior_nodes.size() + rows.corner_nodes.size() + rows.edges.size());
    const double amplitude = 1e-4;
    const MatrixX3d at = to_matrix(mesh.positions) + noise(mesh.node_count(), amplitude, 31);
    const VectorXd values = rows.values(at);
    Eigen::Index row = 0;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      double largest = 0;
      for (std::size_t r = 0; r < blocks[i].tensors.size(); ++r, ++row) {
        const MatrixX3d stencil = at(blocks[i].nodes, Eigen::indexing::all);
        const double value = stencil.cwiseProduct(blocks[i].tensors[r] * stencil).sum() - blocks[i].rest[r];
        const double size = (blocks[i].tensors[r].cwiseAbs() * stencil.cwiseAbs()).sum();
        EXPECT_NEAR(value, values[row], 100 * eps * size) << name << ", row " << row;
        largest = std::max(largest, std::abs(values[row]));
      }
      const auto index = static_cast<Index>(i);
      MatrixX3d displacements = MatrixX3d::Zero(at.rows(), 3);
      const Visit visit = cloth.rows().correct_position(index, at, 1, 0, displacements);
      EXPECT_NEAR(visit.error, largest, 1e-12) << name;
      const Visit after = cloth.rows().correct_position(index, at, 1, 1, displacements);
      EXPECT_LE(after.error, 0.01 * largest) << name << ", block " << i;
      EXPECT_EQ(displacements.row(0).cwiseAbs().maxCoeff(), 0) << name;

      MatrixX3d velocities = noise(at.rows(), 1, 32);
      velocities.row(0).setZero();
      const Visit moving = cloth.rows().correct_velocity(index, at, 1, 0, velocities);
      // A softness of 1e-3 leaves that part of a rate, more where the block is not well conditioned.
      EXPECT_LE(cloth.rows().correct_velocity(index, at, 1, 1e9, velocities).error, 0.01 * moving.error)
          << name << ", block " << i;
    }
    EXPECT_EQ(row, rows.row_count());
  }
}

}  // namespace
}  // namespace isocloth::reference
