#include "host/fit/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/text.hpp"
#include "host/fit/least_squares.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr std::size_t least_recordings = 3;
constexpr double said = 0.5;        ///< relative half width beyond which others do not say a number
constexpr int most_iterations = 5;  ///< from the numbers of all recordings it is not far

/// Trains on all experiments again when it ends.
class LeavingOut {
 public:
  LeavingOut(FitProblem& problem, std::size_t experiment) : problem_(problem) {
    problem.leave_out(experiment);
  }
  ~LeavingOut() { problem_.leave_out(std::nullopt); }
  LeavingOut(const LeavingOut&) = delete;
  LeavingOut& operator=(const LeavingOut&) = delete;

 private:
  FitProblem& problem_;
};

/// Root mean square of what is left of one experiment's training, over the stated noise.
double factor_of(const FitProblem& problem, std::size_t e, const Comparison& comparison) {
  return root_mean_square({problem.measured(e, comparison, false).values});
}

/// Unknowns that the residuals and rows of J of the other experiments say.
std::vector<Eigen::Index> sought(const FitProblem& problem, const VectorXd& best, const VectorXd& residuals,
                                 const MatrixXd& jacobian, const std::vector<std::size_t>& experiment_of,
                                 std::size_t left_out) {
  std::vector<Eigen::Index> rows;
  for (std::size_t i = 0; i < experiment_of.size(); ++i)
    if (experiment_of[i] != left_out) rows.push_back(static_cast<Eigen::Index>(i));
  const Confidence others = confidence_of(residuals(rows), jacobian(rows, Eigen::all));
  std::vector<Eigen::Index> all;
  for (Eigen::Index u = 0; u < best.size(); ++u)
    if (relative_half_width(problem.unknowns()[static_cast<std::size_t>(u)], best[u],
                            1.96 * others.deviation[u]) <= said)
      all.push_back(u);
  return all;
}

/// The search without one experiment, from `best`, for some of the unknowns.
VectorXd search_without(FitProblem& problem, const VectorXd& best, const std::vector<Eigen::Index>& sought) {
  const auto whole = [&](const VectorXd& part) {
    VectorXd point = best;
    point(sought) = part;
    return point;
  };
  const ResidualsAt residuals = [&](const std::vector<VectorXd>& parts) {
    std::vector<VectorXd> points;
    for (const VectorXd& part : parts) points.push_back(whole(part));
    return problem.residuals(points, 1);
  };
  LeastSquaresSettings settings{.most_iterations = most_iterations, .difference = problem.spec().difference};
  if (problem.has_derivatives())
    settings.jacobian = [&](const VectorXd& part) -> MatrixXd {
      return problem.jacobian(whole(part), 1, settings.difference)(Eigen::all, sought);
    };
  return whole(least_squares(residuals, best(sought), settings, [](const LeastSquaresStep&) {}).point);
}

}  // namespace

double relative_half_width(const Unknown& unknown, double t, double half) {
  if (!std::isfinite(half)) return std::numeric_limits<double>::infinity();
  const double value = unknown.at(t);
  const double scale =
      unknown.kind == Unknown::Kind::number && value != 0 ? std::fabs(value) : unknown.to - unknown.from;
  return half * unknown.slope() * (unknown.scale == Scale::log ? value : 1) / scale;
}

std::vector<LeftOut> leave_one_out(FitProblem& problem, const VectorXd& best, const VectorXd& residuals,
                                   const MatrixXd& jacobian,
                                   const std::vector<ExperimentRecord>& experiments) {
  std::vector<LeftOut> all;
  if (problem.trained_count() < least_recordings) return all;
  std::vector<std::size_t> experiment_of;
  for (std::size_t e = 0; e < experiments.size(); ++e)
    experiment_of.resize(
        experiment_of.size() + problem.measured(e, experiments[e].fitted, false).values.size(), e);
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    if (problem.spec().experiments[e].train.empty()) continue;
    const std::vector<Eigen::Index> chosen = sought(problem, best, residuals, jacobian, experiment_of, e);
    VectorXd point = best;
    if (!chosen.empty()) {
      const LeavingOut without(problem, e);
      point = search_without(problem, best, chosen);
    }
    const Comparison foretold = problem.compare_one(e, point);
    LeftOut found{.experiment = e,
                  .values = problem.values(point),
                  .kept = {},
                  .errors = problem.errors(e, foretold, problem.spec().experiments[e].train),
                  .noise_factor = factor_of(problem, e, foretold),
                  .fitted_factor = factor_of(problem, e, experiments[e].fitted),
                  .start_factor = factor_of(problem, e, experiments[e].start)};
    for (Eigen::Index u = 0; u < best.size(); ++u)
      if (std::ranges::find(chosen, u) == chosen.end()) found.kept.push_back(static_cast<std::size_t>(u));
    all.push_back(std::move(found));
  }
  return all;
}

std::vector<std::string> left_out_notes(const FitProblem& problem, const FitRecord& record) {
  std::vector<std::string> notes;
  for (const LeftOut& left_out : record.left_out) {
    const std::string& name = problem.spec().experiments[left_out.experiment].name;
    if (left_out.noise_factor > material_factor &&
        left_out.noise_factor > worse_than_start * left_out.start_factor)
      notes.push_back(text(name, ", left out: the other recordings foretell it worse than the start does (",
                           tick_text(left_out.noise_factor), " in the place of ",
                           tick_text(left_out.start_factor), " times the noise)"));
    for (std::size_t u = 0; u < left_out.values.size(); ++u) {
      const FittedNumber& number = record.numbers[u];
      if (std::ranges::find(left_out.kept, u) != left_out.kept.end()) continue;
      if (left_out.values[u] < number.low || left_out.values[u] > number.high)
        notes.push_back(text(name, ", left out: ", number.unknown.label, " becomes ",
                             tick_text(left_out.values[u]), ", outside of its interval"));
    }
  }
  return notes;
}

}  // namespace isocloth
