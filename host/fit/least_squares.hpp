// Nonlinear least squares within bounds.
#pragma once

#include <Eigen/Core>
#include <functional>
#include <string>
#include <vector>

namespace isocloth {

/// Unknowns t, each in [0, 1]. Residuals that are infinite: no such point. Many points are asked for at once,
/// because they are simulated side by side.
using ResidualsAt = std::function<std::vector<Eigen::VectorXd>(const std::vector<Eigen::VectorXd>& points)>;

struct LeastSquaresSettings {
  int most_iterations = 30;
  double difference = 0.01;  ///< width of central differences of the Jacobian, in t
  /// d residual / d t, shape [residual, unknown]; none: by central differences.
  std::function<Eigen::MatrixXd(const Eigen::VectorXd& point)> jacobian{};
};

struct LeastSquaresStep {
  int iteration = 0;
  Eigen::VectorXd point;
  double cost = 0;  ///< sum of squares
};

struct LeastSquaresResult {
  Eigen::VectorXd point;
  double cost = 0;
  bool is_converged = false;  ///< whether most_iterations were enough
};

/// Levenberg and Marquardt's method (MINPACK's lmder, in Eigen), with t = 1 / (1 + exp(-u)) of unknowns u
/// without bounds and the Jacobian by central differences, two points for each unknown. Ends where squares or
/// unknowns change by less than 1e-6 and 1e-5 of themselves. `on_step`: after each iteration.
LeastSquaresResult least_squares(const ResidualsAt& residuals, const Eigen::VectorXd& start,
                                 const LeastSquaresSettings& settings,
                                 const std::function<void(const LeastSquaresStep&)>& on_step);

/// d residual / d t at a point, one-sided at the bounds and beside points that are none, shape [residual,
/// unknown].
Eigen::MatrixXd jacobian_at(const ResidualsAt& residuals, const Eigen::VectorXd& point, double difference);

/// Singular values of J below this part of the greatest are those of directions without any effect.
constexpr double no_effect = 1e-9;

/// What the residuals r at their least and the Jacobian J say of the unknowns, if r are independent noise of
/// one variance: covariance s^2 (J^T J)^-1, s^2 = r^T r / (residuals - unknowns), but with less than ten
/// residuals more than unknowns not below 1, the stated noise.
struct Confidence {
  /// Standard deviation of each unknown; infinite where the residuals do not depend on it.
  Eigen::VectorXd deviation;
  Eigen::MatrixXd correlation;  ///< correlations between unknowns, shape [unknown, unknown]
  double variance = 0;          ///< variance s^2 of the residuals
};
Confidence confidence_of(const Eigen::VectorXd& residuals, const Eigen::MatrixXd& jacobian);

}  // namespace isocloth
