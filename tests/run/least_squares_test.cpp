// Least squares within bounds against problems with known answers.
#include "host/fit/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/random.hpp"

namespace isocloth {
namespace {

using Eigen::VectorXd;

TEST(LeastSquares, FindsTheValleyOfRosenbrock) {
  // x = 4 t - 2; least at x = (1, 1), t = (0.75, 0.75).
  const ResidualsAt residuals = [](const std::vector<VectorXd>& points) {
    std::vector<VectorXd> all;
    for (const VectorXd& t : points) {
      const VectorXd x = 4 * t.array() - 2;
      all.push_back(Eigen::Vector2d(10 * (x[1] - x[0] * x[0]), 1 - x[0]));
    }
    return all;
  };
  int steps = 0;
  const LeastSquaresResult found =
      least_squares(residuals, Eigen::Vector2d(0.2, 0.75), {.most_iterations = 100, .difference = 1e-4},
                    [&](const LeastSquaresStep& step) { EXPECT_EQ(step.iteration, ++steps); });
  EXPECT_TRUE(found.is_converged);
  EXPECT_NEAR(found.point[0], 0.75, 1e-5);
  EXPECT_NEAR(found.point[1], 0.75, 1e-5);
  const LeastSquaresResult early = least_squares(residuals, Eigen::Vector2d(0.2, 0.75),
                                                 {.most_iterations = 1}, [](const LeastSquaresStep&) {});
  EXPECT_FALSE(early.is_converged);
}

TEST(LeastSquares, StaysWithinTheBoundsAndBesidePointsThatAreNone) {
  const ResidualsAt residuals = [](const std::vector<VectorXd>& points) {
    std::vector<VectorXd> all;
    for (const VectorXd& t : points) {
      EXPECT_GE(t.minCoeff(), 0);
      EXPECT_LE(t.maxCoeff(), 1);
      VectorXd r = Eigen::Vector3d(t[0] - 1.5, t[1] - 0.4, 2 * (t[1] - 0.4));
      if (t[1] > 0.62) r.setConstant(std::numeric_limits<double>::infinity());
      all.push_back(r);
    }
    return all;
  };
  const LeastSquaresResult found =
      least_squares(residuals, Eigen::Vector2d(0.3, 0.615), {}, [](const LeastSquaresStep&) {});
  EXPECT_GT(found.point[0], 0.995);
  EXPECT_NEAR(found.point[1], 0.4, 1e-3);
}

/// As where a recording is left out: what no row tells stays open, whatever the rows are.
TEST(LeastSquares, FewerResidualsThanUnknownsLeaveThemOpen) {
  Eigen::MatrixXd two(2, 3);
  two << 1, 0, 0, 0, 2, 0;
  const Confidence found = confidence_of(VectorXd::Zero(2), two);
  ASSERT_EQ(found.deviation.size(), 3);
  EXPECT_NEAR(found.deviation[0], 1, 1e-12);
  EXPECT_NEAR(found.deviation[1], 0.5, 1e-12);
  EXPECT_TRUE(std::isinf(found.deviation[2]));
  const Confidence nothing = confidence_of(VectorXd(0), Eigen::MatrixXd(0, 2));
  ASSERT_EQ(nothing.deviation.size(), 2);
  for (const double deviation : nothing.deviation) EXPECT_TRUE(std::isinf(deviation));
}

TEST(LeastSquares, KnowsTheConfidenceOfALine) {
  // y = a + b x with noise of 0.1 at x = 0 .. 1: textbook variances.
  constexpr int count = 2001;
  Random random(3);
  Eigen::MatrixXd jacobian(count, 2);
  VectorXd residuals(count);
  double sum = 0, squares = 0;
  for (int i = 0; i < count; ++i) {
    const double x = i / (count - 1.0);
    jacobian.row(i) << 1, x;
    residuals[i] = 0.1 * std::sqrt(12.0) * (random.uniform() - 0.5);
    sum += x, squares += x * x;
  }
  const Confidence found = confidence_of(residuals, jacobian);
  const double det = count * squares - sum * sum, s = std::sqrt(found.variance);
  EXPECT_NEAR(s, 0.1, 0.003);
  EXPECT_NEAR(found.deviation[0], s * std::sqrt(squares / det), 1e-12);
  EXPECT_NEAR(found.deviation[1], s * std::sqrt(count / det), 1e-12);
  EXPECT_NEAR(found.correlation(0, 1), -sum / std::sqrt(count * squares), 1e-9);
  // Few residuals do not say their noise: the stated one is all there is.
  const Confidence few = confidence_of(VectorXd::Zero(2), Eigen::MatrixXd(Eigen::Matrix2d::Identity() * 4));
  EXPECT_NEAR(few.deviation[0], 0.25, 1e-12);
  jacobian.col(1) = 2 * jacobian.col(0);  // only their sum is seen
  const Confidence open = confidence_of(residuals, jacobian);
  EXPECT_TRUE(std::isinf(open.deviation[0]) && std::isinf(open.deviation[1]));
}

}  // namespace
}  // namespace isocloth
