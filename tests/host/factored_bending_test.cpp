// What of bending a factor with the pattern of rows takes: no less than bending, and nothing against
// translations.
#include "host/garment/factored_bending.hpp"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <cmath>

#include "engine/core/text.hpp"
#include "engine/mesh/generators.hpp"
#include "engine/model/recipe.hpp"
#include "host/garment/garment_arrays.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;

/// Bending between free nodes, all of it and what the factor has.
struct BendingParts {
  MatrixXd whole, factored;
  std::size_t couplings;

  BendingParts(const Garment& garment, const std::string& recipe, FactorPattern factor) {
    const Device device({.threads = 1});
    const GarmentArrays<double> arrays(device, garment, find_recipe(recipe), true, false, factor);
    const NodalPattern& p = arrays.pattern;
    whole = factored = MatrixXd::Zero(p.free_count(), p.free_count());
    const std::vector<Index> begin = arrays.bending_begin.download(),
                             columns = arrays.bending_columns.download();
    const std::vector<double> k = arrays.bending.download(), blocks = arrays.factored.download(),
                              beyond = arrays.beyond.download();
    for (Index i = 0; i < p.free_count(); ++i)
      for (Index e = begin[p.free_nodes[i]]; e < begin[p.free_nodes[i] + 1]; ++e)
        if (const Index j = p.free_number[columns[e]]; j >= 0) whole(i, j) = k[e];
    for (std::size_t b = 0; b < p.block_rows.size(); ++b)
      factored(p.block_rows[b], p.block_columns[b]) = factored(p.block_columns[b], p.block_rows[b]) =
          blocks[b];
    couplings = beyond.size();
    MatrixXd sum = factored;
    for (Index i = 0; i < p.free_count() && couplings > 0; ++i)
      for (Index c = p.coupling_begin[i]; c < p.coupling_begin[i + 1]; ++c)
        sum(i, p.coupling_columns[c]) += beyond[c];
    EXPECT_LE((sum - whole).cwiseAbs().maxCoeff(), 1e-12 * whole.cwiseAbs().maxCoeff())
        << "parts do not add up";
  }
};

Garment sheet_of(Mesh mesh, bool is_pinned, BendingModel bending = BendingModel::automatic) {
  Garment garment;
  garment.mesh = std::move(mesh);
  garment.fabric.bending = bending;
  garment.fabric.bending_stiffness = 1e-5;
  if (is_pinned) garment.pins.push_back({"corner", {0, 1, 2}, FixedMotion{}});
  return garment;
}

std::vector<Mesh> meshes() {
  return {quad_grid(9, 8, 0.3, 0.4), triangle_grid(8, 9, 0.3, 0.3, Diagonals::alternating),
          triangle_grid(8, 9, 0.3, 0.2, Diagonals::parallel), irregular_triangles(8, 60, 0.3, 0.4, 3),
          disc(5, 16, 0.2, FaceKind::quads)};
}

TEST(FactoredBending, IsNoLessThanBendingAndResistsNoTranslation) {
  for (const Mesh& mesh : meshes())
    for (const char* recipe : {"membrane", "elastic_edges"})
      for (const bool is_pinned : {false, true})
        for (const BendingModel model : {BendingModel::plate, BendingModel::mid_edge}) {
          SCOPED_TRACE(text(mesh.node_count(), " nodes, ", recipe, is_pinned ? ", pinned" : ""));
          const BendingParts parts(sheet_of(mesh, is_pinned, model), recipe, FactorPattern::rows);
          EXPECT_GT(parts.couplings, 0u);
          const double scale = parts.whole.cwiseAbs().maxCoeff();
          EXPECT_LE((parts.factored - parts.factored.transpose()).cwiseAbs().maxCoeff(), 1e-12 * scale);
          const MatrixXd more = parts.factored - (parts.whole + parts.whole.transpose()) / 2;
          EXPECT_GE(Eigen::SelfAdjointEigenSolver<MatrixXd>(more).eigenvalues().minCoeff(), -1e-10 * scale);
          // With blocks for edges alone some pairs have no node between them; neither have those of slopes.
          if (is_pinned || model != BendingModel::plate ||
              find_recipe(recipe).rows != find_recipe("membrane").rows)
            continue;
          EXPECT_LE(parts.factored.rowwise().sum().cwiseAbs().maxCoeff(), 1e-9 * scale);
        }
}

TEST(FactoredBending, IsAllOfItWhereEveryEntryHasABlock) {
  for (const Mesh& mesh : meshes())
    for (const BendingModel model : {BendingModel::plate, BendingModel::mid_edge}) {
      const BendingParts parts(sheet_of(mesh, true, model), "membrane", FactorPattern::whole);
      EXPECT_EQ(parts.couplings, 0u);
      EXPECT_LE((parts.factored - parts.whole).cwiseAbs().maxCoeff(),
                1e-12 * parts.whole.cwiseAbs().maxCoeff());
    }
}

/// With inertia of steps of 10 ms beside it conjugate gradients meet no small eigenvalue of smooth motions.
TEST(FactoredBending, LeavesSmoothMotionsAsSoftAsTheyAre) {
  const Index side = 17;
  Garment garment = sheet_of(quad_grid(side, side, 0.15, 0.15), false);
  const BendingParts parts(garment, "membrane", FactorPattern::rows);
  const double mass = 0.15 * 0.15 * 0.15 / (side * side), stiffness = 1e-4 * 1e-5;
  const MatrixXd inertia = mass * MatrixXd::Identity(side * side, side * side),
                 a = inertia + stiffness * parts.whole, p = inertia + stiffness * parts.factored;
  const Eigen::GeneralizedSelfAdjointEigenSolver<MatrixXd> pencil((a + a.transpose()) / 2, p);
  EXPECT_LE(pencil.eigenvalues().maxCoeff(), 1 + 1e-9);
  EXPECT_GE(pencil.eigenvalues().minCoeff(), 0.02);
  // A uniform motion takes as much in P as in A.
  const Eigen::VectorXd one = Eigen::VectorXd::Ones(side * side);
  EXPECT_NEAR(one.dot(p * one) / one.dot(a * one), 1, 1e-6);
}

}  // namespace
}  // namespace isocloth
