#include "host/fit/loss_scans.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "engine/core/text.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

using Eigen::VectorXd;

constexpr int scan_count = 9, map_count = 10;  ///< values along a scan, and along each side of a map

SweepTable plan_scan(const FitProblem& problem, const VectorXd& best, const std::vector<std::size_t>& along,
                     int steps, std::vector<VectorXd>& points) {
  SweepTable table;
  table.plan.case_count = 1;
  for (const std::size_t u : along) {
    const Unknown& unknown = problem.unknowns()[u];
    SweepParameter parameter{unknown.label, unknown.unit, unknown.scale, {}};
    for (int i = 0; i < steps; ++i)
      parameter.values.push_back(unknown.at(static_cast<double>(i) / (steps - 1)));
    table.plan.case_count *= parameter.values.size();
    table.plan.parameters.push_back(std::move(parameter));
  }
  table.measures = {
      {"loss", "", "root mean square of distances over noise, the other numbers as they were found", "loss"}};
  for (std::size_t i = 0; i < table.plan.case_count; ++i) {
    points.push_back(best);
    for (std::size_t k = 0; k < along.size(); ++k)
      points.back()[static_cast<Eigen::Index>(along[k])] =
          problem.unknowns()[along[k]].part_of(table.plan.value(i, k));
  }
  return table;
}

}  // namespace

double loss_of(const VectorXd& residuals) {
  return std::sqrt(residuals.squaredNorm() /
                   static_cast<double>(std::max<Eigen::Index>(1, residuals.size())));
}

std::vector<SweepTable> scan_loss(FitProblem& problem, const VectorXd& best) {
  std::vector<VectorXd> points;
  std::vector<SweepTable> scans;
  const std::size_t count = problem.unknowns().size();
  for (std::size_t u = 0; u < count; ++u) scans.push_back(plan_scan(problem, best, {u}, scan_count, points));
  if (count >= 2) scans.push_back(plan_scan(problem, best, {0, 1}, map_count, points));
  std::vector<SweepRow> rows;
  // A few at a time: their residuals are many.
  constexpr std::size_t at_once = 64;
  for (std::size_t first = 0; first < points.size(); first += at_once) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), first + at_once));
    for (const VectorXd& residuals : problem.residuals({begin, end}, 1))
      rows.push_back(residuals.allFinite() ? SweepRow{CaseStatus::completed, {loss_of(residuals)}}
                                           : SweepRow{CaseStatus::failed, {}});
  }
  auto next = rows.begin();
  for (SweepTable& table : scans) {
    const auto end = next + static_cast<std::ptrdiff_t>(table.plan.case_count);
    table.rows.assign(next, end);
    next = end;
  }
  return scans;
}

std::string lower_elsewhere(const SweepTable& table, double loss) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    if (table.rows[i].values.empty() || !(table.rows[i].values[0] < (1 - 1e-3) * loss)) continue;
    std::string where;
    for (std::size_t p = 0; p < table.plan.parameters.size(); ++p)
      where +=
          text(p > 0 ? ", " : "", table.plan.parameters[p].path, " = ", tick_text(table.plan.value(i, p)));
    return text("the loss is lower elsewhere, at ", where, " (", tick_text(table.rows[i].values[0]),
                " in the place of ", tick_text(loss),
                "): the search ended in a local minimum; begin with values there, or with more levels");
  }
  return {};
}

}  // namespace isocloth
