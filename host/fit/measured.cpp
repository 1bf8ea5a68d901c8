// What was recorded, kind by kind, and what a trial leaves of it.
#include <algorithm>
#include <cmath>

#include "engine/core/text.hpp"
#include "host/fit/fit_problem.hpp"

namespace isocloth {

void FitProblem::add_channels() {
  for (std::size_t e = 0; e < spec_.experiments.size(); ++e) {
    const ExperimentSpec& experiment = spec_.experiments[e];
    const std::string key = text("experiments[", e, "].");
    if (experiment.positions)
      channels_.push_back({e, ChannelKind::positions, 0, "positions", "m", experiment.positions->noise,
                           key + "positions.noise"});
    for (std::size_t f = 0; f < experiment.forces.size(); ++f)
      channels_.push_back({e, ChannelKind::forces, f, text("force of ", experiment.forces[f].gripper), "N",
                           experiment.forces[f].noise, text(key, "forces[", f, "].noise")});
    if (experiment.figures)
      channels_.push_back({e, ChannelKind::figures, 0, "figures", "", 1, key + "figures"});
    if (experiment.figures && experiment.figures->drape)
      channels_.push_back({e, ChannelKind::silhouette, 0, "silhouette", "m",
                           experiment.figures->drape->silhouette_noise,
                           key + "figures.drape.silhouette_noise"});
  }
}

MeasuredResiduals FitProblem::measured(std::size_t e, const Comparison& comparison, bool is_test) const {
  MeasuredResiduals found;
  const ExperimentSpec& experiment = spec_.experiments[e];
  visit_objective(e, comparison, is_test ? experiment.test : experiment.train, [&](const Measured& measured) {
    const auto channel = std::ranges::find_if(channels_, [&](const RecordedChannel& c) {
      return c.experiment == e && c.quantity == measured.quantity && c.force == measured.force;
    });
    const bool is_figure =
        measured.quantity == ChannelKind::figures || measured.quantity == ChannelKind::silhouette;
    const double components[] = {measured.error.x, measured.error.y, measured.error.z};
    for (int k = 0; k < measured.components; ++k) {
      found.values.push_back(components[k] / measured.noise);
      found.sources.push_back({static_cast<std::size_t>(channel - channels_.begin()),
                               is_figure ? e + experiments_.size() : e,
                               3 * measured.series + static_cast<std::size_t>(k), measured.at});
    }
  });
  return found;
}

std::size_t FitProblem::trained_count() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      spec_.experiments, [](const ExperimentSpec& experiment) { return !experiment.train.empty(); }));
}

Comparison FitProblem::compare_one(std::size_t e, const Eigen::VectorXd& point) {
  ++simulations_;
  std::vector<Comparison> found = experiments_[e].compare(
      {trial(e, point)}, experiments_[e].training_end(), options_,
      [&](std::int64_t step, std::int64_t steps) { watch_(100 * step / steps, 100); });
  missed_steps_ += found[0].missed_steps;
  return std::move(found[0]);
}

}  // namespace isocloth
