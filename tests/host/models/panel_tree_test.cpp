// Flow around many panels by a tree against the whole matrix.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "engine/core/flat_vectors.hpp"
#include "engine/mesh/generators.hpp"
#include "host/models/air/gmres.hpp"
#include "host/models/air/panel_flow.hpp"
#include "host/models/air/ring_system.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

constexpr Index always_tree = 0, always_dense = 1000000;

/// A light sheet in waves that travel down it, a metre long, in wind of 8 m/s.
struct WavySheet {
  Mesh mesh;
  PanelGrid grid;
  std::vector<double> inverse_masses;
  WavySheet(Index rows, Index columns, double span)
      : mesh(quad_grid(rows + 1, columns + 1, 1, span)),
        grid(panel_grid(mesh, mesh.positions, {8, 0, 0}, "")),
        inverse_masses(mesh.positions.size(), rows * columns / (0.36 * span)) {}

  void advance(const PanelFlow& flow, int step_number, AirState& state) const {
    const double step = 0.005, phase = 30 * step * step_number;
    std::vector<Vec3d> x, v;
    for (const Vec3d& rest : mesh.positions) {
      const double at = 9 * rest.x + 2 * rest.y - phase;
      x.push_back({rest.x, rest.y, 0.05 * rest.x * std::sin(at)});
      v.push_back({0, 0, -30 * 0.05 * rest.x * std::cos(at)});
    }
    flow.advance({x, v, inverse_masses}, {8, 0, 0}, step, state);
  }
};

Wind air(int wake_rows, double permeability = 0) {
  Wind wind;
  wind.model = WindModel::panels;
  wind.wake_rows = wake_rows;
  wind.permeability = permeability;
  return wind;
}

/// Greatest difference of loads in parts of the greatest load.
double difference(const AirState& found, const AirState& expected) {
  const std::vector<Vec3d> a = as_vectors(found.loads), b = as_vectors(expected.loads);
  double most = 0, greatest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, norm(a[i] - b[i]));
    greatest = std::max(greatest, norm(b[i]));
  }
  return most / greatest;
}

void expect_the_loads_of_the_whole_matrix(const Wind& wind, Index rows, Index columns, double span) {
  const WavySheet sheet(rows, columns, span);
  AirState tree, dense;
  // Past wake_rows steps the last row of the wake is endless.
  for (int k = 0; k < unless_sanitized(6, 3); ++k) {
    sheet.advance(PanelFlow(sheet.grid, wind, always_tree), k, tree);
    sheet.advance(PanelFlow(sheet.grid, wind, always_dense), k, dense);
    EXPECT_LT(difference(tree, dense), 1e-3) << k;
  }
}

TEST(PanelTree, HasTheLoadsOfTheWholeMatrix) {
  expect_the_loads_of_the_whole_matrix(air(4), 24, 24, 1);
  expect_the_loads_of_the_whole_matrix(air(0), 24, 24, 1);
}

TEST(PanelTree, HasTheLoadsOfTheWholeMatrixOnWideAndOnOpenSheets) {
  expect_the_loads_of_the_whole_matrix(air(2), 12, 30, 4);
  expect_the_loads_of_the_whole_matrix(air(2, 0.05), 30, 12, 0.25);
}

TEST(PanelTree, StandsInForLargeSheetsAndDependsOnTheStateAlone) {
  const WavySheet sheet(30, 30, 1);
  ASSERT_GT(sheet.grid.panel_count(), most_dense_panels);
  AirState state;
  const PanelFlow flow(sheet.grid, air(8));
  for (int k = 0; k < 2; ++k) sheet.advance(flow, k, state);
  AirState again = state, by_tree = state;
  sheet.advance(flow, 2, state);
  sheet.advance(PanelFlow(sheet.grid, air(8)), 2, again);
  sheet.advance(PanelFlow(sheet.grid, air(8), always_tree), 2, by_tree);
  EXPECT_EQ(state, again);
  EXPECT_EQ(state, by_tree);
}

TEST(Gmres, SolvesWhatAMatrixSolves) {
  std::srand(5);
  const Eigen::Index n = 40;
  const Eigen::MatrixXd a = Eigen::MatrixXd::Random(n, n) + 8 * Eigen::MatrixXd::Identity(n, n);
  const Eigen::VectorXd b = Eigen::VectorXd::Random(n), start = Eigen::VectorXd::Random(n);
  const auto product = [&a](const Eigen::VectorXd& x) -> Eigen::VectorXd { return a * x; };
  const auto precondition = [&a](const Eigen::VectorXd& x) -> Eigen::VectorXd {
    return x.cwiseQuotient(a.diagonal());
  };
  const GmresResult found = gmres(product, precondition, b, start, 1e-10, 40);
  EXPECT_TRUE(found.is_solved);
  EXPECT_LT(found.products, 40);
  EXPECT_LT((a * found.x - b).norm(), 2e-10 * b.norm());
  const GmresResult known = gmres(product, precondition, b, a.partialPivLu().solve(b), 1e-10, 40);
  EXPECT_TRUE(known.is_solved);
  EXPECT_EQ(known.products, 1);
  EXPECT_FALSE(gmres(product, precondition, b, start, 1e-10, 3).is_solved);
}

}  // namespace
}  // namespace isocloth
