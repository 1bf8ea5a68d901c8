#include "host/fit/least_squares.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>
#include <limits>
#include <unsupported/Eigen/NonLinearOptimization>

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd bounded(const VectorXd& u) { return (1 + (-u.array()).exp()).inverse(); }
VectorXd unbounded(const VectorXd& t) {
  // A start on a bound would never leave it.
  const Eigen::ArrayXd inside = t.array().max(0.01).min(0.99);
  return (inside / (1 - inside)).log();
}

/// What Eigen's solver asks for.
struct Problem {
  const ResidualsAt& residuals;
  const LeastSquaresSettings& settings;
  Eigen::Index unknown_count, residual_count;

  int inputs() const { return static_cast<int>(unknown_count); }
  int values() const { return static_cast<int>(residual_count); }
  int operator()(const VectorXd& u, VectorXd& r) const {
    r = residuals({bounded(u)})[0];
    return 0;
  }
  int df(const VectorXd& u, MatrixXd& jacobian) const {
    const VectorXd t = bounded(u);
    jacobian = settings.jacobian ? settings.jacobian(t) : jacobian_at(residuals, t, settings.difference);
    jacobian.array().rowwise() *= (t.array() * (1 - t.array())).transpose();
    return 0;
  }
};

}  // namespace

MatrixXd jacobian_at(const ResidualsAt& residuals, const VectorXd& point, double difference) {
  std::vector<VectorXd> points{point};
  for (Eigen::Index k = 0; k < point.size(); ++k) {
    for (const double side : {-1.0, 1.0}) {
      points.push_back(point);
      points.back()[k] = std::clamp(point[k] + side * difference, 0.0, 1.0);
    }
  }
  const std::vector<VectorXd> found = residuals(points);
  MatrixXd jacobian = MatrixXd::Zero(found[0].size(), point.size());
  for (Eigen::Index k = 0; k < point.size(); ++k) {
    // A side that is infinite gives way to the point itself.
    const auto side = [&](Eigen::Index at) {
      return found[static_cast<std::size_t>(at)].allFinite() ? static_cast<std::size_t>(at) : 0;
    };
    const std::size_t below = side(2 * k + 1), above = side(2 * k + 2);
    if (below != above)
      jacobian.col(k) = (found[above] - found[below]) / (points[above][k] - points[below][k]);
  }
  return jacobian;
}

LeastSquaresResult least_squares(const ResidualsAt& residuals, const VectorXd& start,
                                 const LeastSquaresSettings& settings,
                                 const std::function<void(const LeastSquaresStep&)>& on_step) {
  VectorXd u = unbounded(start);
  Problem problem{residuals, settings, start.size(), residuals({bounded(u)})[0].size()};
  Eigen::LevenbergMarquardt<Problem> solver(problem);
  solver.parameters.ftol = 1e-6;
  solver.parameters.xtol = 1e-5;
  solver.parameters.factor = 10;
  solver.parameters.maxfev = 10 * settings.most_iterations;
  using Eigen::LevenbergMarquardtSpace::Status;
  Status status = solver.minimizeInit(u);
  for (int k = 1;
       status == Status::NotStarted || (status == Status::Running && k <= settings.most_iterations); ++k) {
    status = solver.minimizeOneStep(u);
    on_step({k, bounded(u), solver.fnorm * solver.fnorm});
  }
  const bool is_converged = status != Status::Running && status != Status::TooManyFunctionEvaluation &&
                            status != Status::ImproperInputParameters;
  return {bounded(u), solver.fnorm * solver.fnorm, is_converged};
}

Confidence confidence_of(const VectorXd& residuals, const MatrixXd& jacobian) {
  const Eigen::Index count = jacobian.cols();
  Confidence result;
  result.variance =
      residuals.squaredNorm() / static_cast<double>(std::max<Eigen::Index>(1, residuals.size() - count));
  // A few samples do not say what their noise is: not less than was stated.
  if (residuals.size() - count < 10) result.variance = std::max(result.variance, 1.0);
  // Fewer residuals than unknowns, as where a recording is left out: rows of zeros give every direction its
  // singular value.
  MatrixXd rows = MatrixXd::Zero(std::max(jacobian.rows(), count), count);
  rows.topRows(jacobian.rows()) = jacobian;
  const Eigen::JacobiSVD<MatrixXd> svd(rows, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const VectorXd& singular = svd.singularValues();
  const double least = no_effect * std::max(singular[0], std::numeric_limits<double>::min());
  const VectorXd inverse = singular.unaryExpr([&](double s) { return s > least ? 1 / s : 0.0; });
  const MatrixXd half = svd.matrixV() * inverse.asDiagonal();
  const MatrixXd covariance = result.variance * half * half.transpose();
  result.deviation = covariance.diagonal().cwiseSqrt();
  result.correlation = MatrixXd::Identity(count, count);
  for (Eigen::Index i = 0; i < count; ++i)
    for (Eigen::Index j = 0; j < count; ++j)
      if (i != j && result.deviation[i] > 0 && result.deviation[j] > 0)
        result.correlation(i, j) = covariance(i, j) / (result.deviation[i] * result.deviation[j]);
  // A direction without any effect leaves whatever has a part in it open.
  for (Eigen::Index k = 0; k < count; ++k)
    for (Eigen::Index i = 0; i < count; ++i)
      if (!(singular[k] > least) && std::fabs(svd.matrixV()(i, k)) > 1e-3)
        result.deviation[i] = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace isocloth
