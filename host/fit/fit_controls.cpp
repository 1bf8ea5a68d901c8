// Unknowns that are control points of a stiffness, stages, and derivatives of experiments at rest.
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/fit/fit_problem.hpp"
#include "host/fit/least_squares.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {

using Eigen::VectorXd;

namespace {

/// Width of differences of forces at the same places, as a part of the way between the bounds.
constexpr double narrow = 1e-4;

}  // namespace

void FitProblem::add_controls(std::size_t p) {
  const FitParameter& parameter = spec_.parameters[p];
  for (std::size_t i = 0; i < controls_[p].size(); ++i) {
    Unknown unknown{.kind = Unknown::Kind::number,
                    .label = text(parameter.number, " stiffness"),
                    .path = parameter.number,
                    .unit = "N/m",
                    .from = parameter.from,
                    .to = parameter.to,
                    .scale = parameter.scale,
                    .value = parameter.value,
                    .parameter = p,
                    .control = static_cast<int>(i),
                    .strain = controls_[p][i]};
    if (controls_[p].size() > 1) unknown.label += text(" at strain ", tick_text(controls_[p][i]));
    unknowns_.push_back(std::move(unknown));
  }
}

void FitProblem::set_controls(std::size_t parameter, std::vector<double> strains) {
  controls_[parameter] = std::move(strains);
  add_unknowns();
}

bool FitProblem::is_sought(std::size_t unknown, int stage) const {
  const Unknown& it = unknowns_[unknown];
  if (stage == 0) return true;
  if (it.kind != Unknown::Kind::number) return is_in_stage(spec_.experiments[it.experiment].stages, stage);
  return is_in_stage(spec_.parameters[it.parameter].stages, stage);
}

std::vector<double> FitProblem::values_of(const std::vector<Unknown>& unknowns,
                                          const std::vector<double>& values,
                                          const std::vector<Unknown>& others) {
  std::vector<double> all;
  for (const Unknown& other : others) {
    StiffnessSpline spline;
    double value = 0;
    for (std::size_t u = 0; u < unknowns.size(); ++u) {
      const bool is_of_it = unknowns[u].kind == other.kind && unknowns[u].path == other.path &&
                            unknowns[u].experiment == other.experiment;
      if (!is_of_it) continue;
      value = values[u];
      spline.strains.push_back(unknowns[u].strain);
      spline.stiffness.push_back(values[u]);
    }
    all.push_back(other.control >= 0 ? std::clamp(spline.at(other.strain), other.from, other.to) : value);
  }
  return all;
}

VectorXd FitProblem::point_of(const std::vector<double>& values) const {
  VectorXd point(static_cast<Eigen::Index>(values.size()));
  for (std::size_t u = 0; u < values.size(); ++u)
    point[static_cast<Eigen::Index>(u)] = std::clamp(unknowns_[u].part_of(values[u]), 0.0, 1.0);
  return point;
}

std::array<double, 2> FitProblem::strain_range(std::size_t parameter, const VectorXd& point) {
  if (!spec_.parameters[parameter].strain.empty())
    return {spec_.parameters[parameter].strain[0], spec_.parameters[parameter].strain[1]};
  Index law = RowLaw::warp;
  for (std::size_t u = 0; u < unknowns_.size(); ++u)
    if (unknowns_[u].parameter == parameter && unknowns_[u].control >= 0) {
      const std::string& path = unknowns_[u].path;
      law = path.ends_with("shear") ? RowLaw::shear : path.ends_with("weft") ? RowLaw::weft : RowLaw::warp;
    }
  std::array<double, 2> range{std::numeric_limits<double>::infinity(), 0};
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    const std::vector<double> window = training(e, 1);
    if (window.empty() || !spec_.experiments[e].at_rest) continue;
    const auto found = experiments_[e].strain_range(trial(e, point), law, window[1]);
    range = {std::min(range[0], found[0]), std::max(range[1], found[1])};
  }
  if (!(range[1] > range[0]))
    throw NumericalError(text("parameters[", parameter,
                              "].strain: found none, and the cloth at rest is not "
                              "strained that way; give [least, most]"));
  return range;
}

bool FitProblem::has_derivatives() const {
  for (std::size_t e = 0; e < experiments_.size(); ++e)
    if (!training(e, 1).empty() && !spec_.experiments[e].at_rest) return false;
  return spec_.loss == Loss::squares;
}

Eigen::MatrixXd FitProblem::jacobian(const VectorXd& point, double share, double difference) {
  const ResidualsAt at = [&](const std::vector<VectorXd>& points) { return residuals(points, share); };
  if (!has_derivatives()) return jacobian_at(at, point, difference);
  const Eigen::Index count = point.size();
  std::vector<std::vector<double>> columns(static_cast<std::size_t>(count));
  std::vector<double> widths;
  std::vector<std::array<VectorXd, 2>> sides;
  for (Eigen::Index u = 0; u < count; ++u) {
    std::array<VectorXd, 2>& both = sides.emplace_back(std::array{point, point});
    both[0][u] = std::max(0.0, point[u] - narrow);
    both[1][u] = std::min(1.0, point[u] + narrow);
    widths.push_back(both[1][u] - both[0][u]);
  }
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    const std::vector<double> window = training(e, share);
    if (window.empty()) continue;
    std::vector<std::array<Trial, 2>> trials;
    for (const auto& both : sides) trials.push_back({trial(e, both[0]), trial(e, both[1])});
    const std::vector<Comparison> found =
        experiments_[e].derivatives(trial(e, point), trials, widths, window[1]);
    ++simulations_;
    if (found.empty()) return jacobian_at(at, point, difference);
    const double weight = std::sqrt(spec_.experiments[e].weight);
    for (std::size_t u = 0; u < found.size(); ++u) {
      visit_objective(e, found[u], window, [&](const Measured& measured) {
        const Vec3d scaled = (weight / measured.noise) * measured.error;
        const double numbers[] = {scaled.x, scaled.y, scaled.z};
        columns[u].insert(columns[u].end(), numbers, numbers + measured.components);
      });
    }
  }
  Eigen::MatrixXd all(static_cast<Eigen::Index>(columns.empty() ? 0 : columns[0].size()), count);
  for (Eigen::Index u = 0; u < count; ++u)
    all.col(u) = Eigen::Map<const VectorXd>(columns[static_cast<std::size_t>(u)].data(), all.rows());
  return all;
}

}  // namespace isocloth
