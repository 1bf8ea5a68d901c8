#include "host/fit/incremental_search.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/text.hpp"
#include "host/fit/search.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double worthwhile = 0.99;
constexpr int failures_in_a_row = 2;

class StageSearch {
 public:
  StageSearch(FitProblem& problem, VectorXd& best, const OnSearchStep& on_step,
              const OnNewUnknowns& on_new_unknowns)
      : problem_(problem), best_(best), on_step_(on_step), on_new_unknowns_(on_new_unknowns) {}

  /// Returns whether it came to its end.
  bool run(int stage, bool refines) {
    const FitSpec& spec = problem_.spec();
    problem_.set_stage(stage);
    name_ = spec.stage_count() > 1 ? text("stage ", stage) : std::string("search");
    std::vector<std::size_t> splines;
    for (std::size_t p = 0; p < spec.parameters.size(); ++p)
      if (refines && spec.parameters[p].points > 0 && is_in_stage(spec.parameters[p].stages, stage) &&
          !is_refined(p))
        splines.push_back(p);
    bool is_converged = search(stage);
    int failures = 0, points = 1;
    double least = deviation_;
    VectorXd kept = best_;
    std::vector<std::vector<double>> controls;
    for (const std::size_t p : splines) controls.push_back(problem_.controls(p));
    std::vector<std::array<double, 2>> ranges;
    for (const std::size_t p : splines)
      ranges.push_back(spec.parameters[p].points > 1 ? problem_.strain_range(p, best_)
                                                     : std::array<double, 2>{});
    const auto can_grow = [&] {
      return std::ranges::any_of(
          splines, [&](std::size_t p) { return points < problem_.spec().parameters[p].points; });
    };
    while (!splines.empty() && failures < failures_in_a_row && can_grow()) {
      ++points;
      for (std::size_t i = 0; i < splines.size(); ++i)
        if (points <= spec.parameters[splines[i]].points)
          set_controls(splines[i], control_strains(ranges[i], points));
      name_ = text(spec.stage_count() > 1 ? text("stage ", stage, ": ") : std::string(), points,
                   " control points");
      is_converged = search(stage) && is_converged;
      if (deviation_ < worthwhile * least) {
        failures = 0;
        least = deviation_;
        kept = best_;
        for (std::size_t i = 0; i < splines.size(); ++i) controls[i] = problem_.controls(splines[i]);
      } else {
        ++failures;
      }
    }
    for (std::size_t i = 0; i < splines.size(); ++i)
      if (!(problem_.controls(splines[i]) == controls[i])) set_controls(splines[i], controls[i]);
    best_ = kept;
    return is_converged;
  }

 private:
  bool is_refined(std::size_t p) const {
    return std::ranges::find(refined_, p) != refined_.end() || problem_.controls(p).size() > 1;
  }

  void set_controls(std::size_t p, std::vector<double> strains) {
    const std::vector<Unknown> before = problem_.unknowns();
    const std::vector<double> values = problem_.values(best_);
    problem_.set_controls(p, std::move(strains));
    best_ = problem_.point_of(FitProblem::values_of(before, values, problem_.unknowns()));
    on_new_unknowns_(before);
    if (std::ranges::find(refined_, p) == refined_.end()) refined_.push_back(p);
  }

  /// Second differences of each stiffness that is looked for over its mean: what forces do not tell is even.
  VectorXd roughness(const VectorXd& point) const {
    const std::vector<double> values = problem_.values(point);
    const std::vector<Unknown>& unknowns = problem_.unknowns();
    std::vector<double> all;
    for (std::size_t u = 2; u < unknowns.size(); ++u) {
      if (unknowns[u].control < 2) continue;
      double mean = 0;
      const auto count = problem_.controls(unknowns[u].parameter).size();
      const std::size_t first = u - static_cast<std::size_t>(unknowns[u].control);
      for (std::size_t k = first; k < first + count; ++k) mean += values[k] / static_cast<double>(count);
      all.push_back(problem_.spec().regularisation * (values[u - 2] - 2 * values[u - 1] + values[u]) /
                    std::max(mean, 1e-300));
    }
    return Eigen::Map<const VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
  }

  bool search(int stage) {
    const FitSpec& spec = problem_.spec();
    std::vector<Eigen::Index> sought;
    for (std::size_t u = 0; u < problem_.unknowns().size(); ++u)
      if (problem_.is_sought(u, stage)) sought.push_back(static_cast<Eigen::Index>(u));
    const bool is_smoothed = spec.search == Search::gauss_newton && spec.regularisation > 0;
    const auto whole = [&](const VectorXd& part) {
      VectorXd point = best_;
      for (std::size_t i = 0; i < sought.size(); ++i) point[sought[i]] = part[static_cast<Eigen::Index>(i)];
      return point;
    };
    Eigen::Index count = 1;
    const ResidualsAt residuals = [&](const std::vector<VectorXd>& parts) {
      std::vector<VectorXd> points;
      for (const VectorXd& part : parts) points.push_back(whole(part));
      std::vector<VectorXd> found = problem_.residuals(points, 1);
      count = std::max<Eigen::Index>(1, found[0].size());
      for (std::size_t i = 0; is_smoothed && i < points.size(); ++i) {
        const VectorXd more = roughness(points[i]);
        found[i].conservativeResize(found[i].size() + more.size());
        found[i].tail(more.size()) = more;
      }
      return found;
    };
    const JacobianAt jacobian = [&](const VectorXd& part) {
      const VectorXd point = whole(part);
      const MatrixXd all = problem_.jacobian(point, 1, spec.difference);
      const Eigen::Index extra = is_smoothed ? roughness(point).size() : 0;
      MatrixXd chosen(all.rows() + extra, part.size());
      for (std::size_t i = 0; i < sought.size(); ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        chosen.col(column).head(all.rows()) = all.col(sought[i]);
        if (extra == 0) continue;
        constexpr double width = 1e-6;
        VectorXd above = point, below = point;
        above[sought[i]] += width;
        below[sought[i]] -= width;
        chosen.col(column).tail(extra) = (roughness(above) - roughness(below)) / (2 * width);
      }
      return chosen;
    };
    VectorXd start(static_cast<Eigen::Index>(sought.size()));
    for (std::size_t i = 0; i < sought.size(); ++i) start[static_cast<Eigen::Index>(i)] = best_[sought[i]];
    const VectorXd from = best_;
    const auto on_step = [&](const LeastSquaresStep& step) {
      const VectorXd part = step.point;
      VectorXd point = from;
      for (std::size_t i = 0; i < sought.size(); ++i) point[sought[i]] = part[static_cast<Eigen::Index>(i)];
      on_step_(text(name_, " iteration ", step.iteration), point,
               std::sqrt(step.cost / static_cast<double>(count)));
    };
    LeastSquaresSettings settings{.most_iterations = spec.most_iterations, .difference = spec.difference};
    LeastSquaresResult found;
    if (spec.search == Search::gauss_newton) {
      found = gauss_newton(residuals, jacobian, start, settings, on_step);
    } else if (spec.search == Search::levenberg_marquardt) {
      if (problem_.has_derivatives()) settings.jacobian = jacobian;
      found = least_squares(residuals, start, settings, on_step);
    } else {
      found = direct_search(spec.search, residuals, start, settings, on_step);
    }
    best_ = from;
    for (std::size_t i = 0; i < sought.size(); ++i)
      best_[sought[i]] = found.point[static_cast<Eigen::Index>(i)];
    const Eigen::Index left = std::max<Eigen::Index>(1, count - static_cast<Eigen::Index>(sought.size()));
    deviation_ = std::sqrt(found.cost / static_cast<double>(left));
    return found.is_converged;
  }

  FitProblem& problem_;
  VectorXd& best_;
  const OnSearchStep& on_step_;
  const OnNewUnknowns& on_new_unknowns_;
  std::vector<std::size_t> refined_;
  std::string name_;
  /// Standard deviation of the residuals, for as many as there are beyond the unknowns.
  double deviation_ = 0;
};

}  // namespace

bool is_in_stages(const FitSpec& spec) {
  return spec.stage_count() > 1 || spec.search != Search::levenberg_marquardt ||
         std::ranges::any_of(spec.parameters, [](const FitParameter& p) { return p.points > 0; });
}

bool search_in_stages(FitProblem& problem, VectorXd& best, bool is_resumed, const OnSearchStep& on_step,
                      const OnNewUnknowns& on_new_unknowns) {
  StageSearch search(problem, best, on_step, on_new_unknowns);
  bool is_converged = true;
  for (int stage = 1; stage <= problem.spec().stage_count(); ++stage)
    is_converged = search.run(stage, !is_resumed) && is_converged;
  problem.set_stage(0);
  return is_converged;
}

}  // namespace isocloth
