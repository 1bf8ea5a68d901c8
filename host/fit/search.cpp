#include "host/fit/search.hpp"

#include <nlopt.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <vector>

#include "engine/core/errors.hpp"

namespace isocloth {

using Eigen::MatrixXd;
using Eigen::VectorXd;

VectorXd bounded_step(const MatrixXd& jacobian, const VectorXd& residual, const VectorXd& low,
                      const VectorXd& high) {
  const Eigen::Index count = jacobian.cols();
  VectorXd d = VectorXd::Zero(count).cwiseMax(low).cwiseMin(high);
  std::vector<char> is_free(static_cast<std::size_t>(count), 1);
  // Each change of the active set lowers the squares; none is met twice.
  for (Eigen::Index round = 0; round < 20 * (count + 1); ++round) {
    std::vector<Eigen::Index> free;
    for (Eigen::Index k = 0; k < count; ++k)
      if (is_free[static_cast<std::size_t>(k)]) free.push_back(k);
    VectorXd side = residual, found = d;
    for (Eigen::Index k = 0; k < count; ++k)
      if (!is_free[static_cast<std::size_t>(k)]) side += jacobian.col(k) * d[k];
    if (!free.empty()) {
      MatrixXd part(jacobian.rows(), static_cast<Eigen::Index>(free.size()));
      for (std::size_t i = 0; i < free.size(); ++i)
        part.col(static_cast<Eigen::Index>(i)) = jacobian.col(free[i]);
      const VectorXd best = part.completeOrthogonalDecomposition().solve(-side);
      for (std::size_t i = 0; i < free.size(); ++i) found[free[i]] = best[static_cast<Eigen::Index>(i)];
    }
    // As far towards it as the bounds let.
    double share = 1;
    Eigen::Index stopped = -1;
    for (const Eigen::Index k : free) {
      const double bound = found[k] < low[k] ? low[k] : high[k];
      if (found[k] >= low[k] && found[k] <= high[k]) continue;
      const double reach = found[k] != d[k] ? (bound - d[k]) / (found[k] - d[k]) : 0;
      if (stopped < 0 || reach < share) {
        share = std::max(0.0, reach);
        stopped = k;
      }
    }
    for (const Eigen::Index k : free) d[k] += share * (found[k] - d[k]);
    if (stopped >= 0) {
      d[stopped] = found[stopped] < low[stopped] ? low[stopped] : high[stopped];
      is_free[static_cast<std::size_t>(stopped)] = 0;
      continue;
    }
    // At their least among the free ones: is there one at its bound that wants back?
    const VectorXd slope = jacobian.transpose() * (jacobian * d + residual);
    Eigen::Index wanting = -1;
    double most = 1e-12 * (1 + slope.cwiseAbs().maxCoeff());
    for (Eigen::Index k = 0; k < count; ++k) {
      if (is_free[static_cast<std::size_t>(k)] || !(high[k] > low[k])) continue;
      const double inwards = d[k] <= low[k] ? -slope[k] : slope[k];
      if (inwards > most) {
        most = inwards;
        wanting = k;
      }
    }
    if (wanting < 0) return d;
    is_free[static_cast<std::size_t>(wanting)] = 1;
  }
  return d;
}

LeastSquaresResult gauss_newton(const ResidualsAt& residuals, const JacobianAt& jacobian,
                                const VectorXd& start, const LeastSquaresSettings& settings,
                                const std::function<void(const LeastSquaresStep&)>& on_step) {
  VectorXd t = start, r = residuals({t})[0];
  double cost = r.squaredNorm();
  int failures = 0;
  for (int k = 1; k <= settings.most_iterations; ++k) {
    const VectorXd d = bounded_step(jacobian(t), r, -t, VectorXd::Ones(t.size()) - t);
    bool moved = false;
    const double before = cost;
    for (double share = 1; share > 1e-3 && !moved; share /= 2) {
      const VectorXd next = (t + share * d).cwiseMax(0).cwiseMin(1);
      const VectorXd found = residuals({next})[0];
      if (!(found.squaredNorm() < cost)) continue;
      moved = true;
      t = next;
      r = found;
      cost = found.squaredNorm();
    }
    if (moved) on_step({k, t, cost});
    // One such failure alone may be a step that was cut short.
    failures = moved && std::sqrt(cost) < 0.99 * std::sqrt(before) ? 0 : failures + 1;
    if (!moved || failures == 2) return {t, cost, true};
  }
  return {t, cost, false};
}

namespace {

/// What NLopt calls: C, which no exception may pass through.
struct Evaluations {
  const ResidualsAt& residuals;
  const std::function<void(const LeastSquaresStep&)>& on_step;
  nlopt_opt solver;
  VectorXd best;
  double least = std::numeric_limits<double>::infinity();
  int evaluations = 0, told = 0;
  std::exception_ptr error{};

  static double value(unsigned count, const double* x, double*, void* data) {
    auto& self = *static_cast<Evaluations*>(data);
    try {
      const VectorXd t = Eigen::Map<const VectorXd>(x, static_cast<Eigen::Index>(count));
      double cost = self.residuals({t})[0].squaredNorm();
      if (!std::isfinite(cost)) cost = 1e30;  // no such point: not on the way to anywhere
      ++self.evaluations;
      if (cost < self.least) {
        self.least = cost;
        self.best = t;
        if (self.told == 0 || self.evaluations > self.told + static_cast<int>(count)) {
          self.told = self.evaluations;
          self.on_step({self.evaluations, t, cost});
        }
      }
      return cost;
    } catch (...) {
      self.error = std::current_exception();
      nlopt_force_stop(self.solver);
      return 0;
    }
  }
};

}  // namespace

LeastSquaresResult direct_search(Search method, const ResidualsAt& residuals, const VectorXd& start,
                                 const LeastSquaresSettings& settings,
                                 const std::function<void(const LeastSquaresStep&)>& on_step) {
  const auto count = static_cast<unsigned>(start.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> solver(
      nlopt_create(method == Search::bobyqa ? NLOPT_LN_BOBYQA : NLOPT_LN_NELDERMEAD, count), nlopt_destroy);
  if (!solver) throw NumericalError("search: NLopt found no memory, expected some");
  Evaluations objective{residuals, on_step, solver.get(), start};
  nlopt_set_min_objective(solver.get(), Evaluations::value, &objective);
  nlopt_set_lower_bounds1(solver.get(), 0);
  nlopt_set_upper_bounds1(solver.get(), 1);
  nlopt_set_initial_step1(solver.get(), 0.1);
  nlopt_set_xtol_abs1(solver.get(), 1e-4);
  // The corners of a simplex that stands astride of the least have one value.
  if (method == Search::bobyqa) nlopt_set_ftol_rel(solver.get(), 1e-6);
  nlopt_set_maxeval(solver.get(), settings.most_iterations * static_cast<int>(count + 1));
  VectorXd t = start.cwiseMax(0.01).cwiseMin(0.99);  // a simplex on a bound would be flat
  double cost = 0;
  const nlopt_result status = nlopt_optimize(solver.get(), t.data(), &cost);
  if (objective.error) std::rethrow_exception(objective.error);
  if (objective.evaluations > objective.told && std::isfinite(objective.least))
    on_step({objective.evaluations, objective.best, objective.least});
  return {objective.best, objective.least, status > 0 && status != NLOPT_MAXEVAL_REACHED};
}

}  // namespace isocloth
