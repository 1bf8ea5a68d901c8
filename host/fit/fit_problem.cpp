#include "host/fit/fit_problem.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/simulation/simulation.hpp"
#include "host/sweep/run_sweep.hpp"

namespace isocloth {
namespace {

/// Factor on a vector of that squared length so that its square is its loss.
double loss_factor(Loss loss, double outlier, double squared) {
  const double bend = outlier * outlier;
  if (loss == Loss::cauchy && squared > 0) return std::sqrt(bend * std::log1p(squared / bend) / squared);
  if (loss == Loss::huber && squared > bend)
    return std::sqrt((2 * outlier * std::sqrt(squared) - bend) / squared);
  return 1;
}

Index law_of(const std::string& path) {
  return path == "fabric.curves.shear"  ? RowLaw::shear
         : path == "fabric.curves.weft" ? RowLaw::weft
                                        : RowLaw::warp;
}

}  // namespace

double Unknown::at(double t) const {
  return scale == Scale::log ? std::pow(from, 1 - t) * std::pow(to, t) : from + t * (to - from);
}

double Unknown::part_of(double x) const {
  return scale == Scale::log ? (std::log(x) - std::log(from)) / slope() : (x - from) / (to - from);
}

double Unknown::slope() const { return scale == Scale::log ? std::log(to) - std::log(from) : to - from; }

FitProblem::FitProblem(const FitSpec& spec, const ExecutionOptions& options, Experiment::Source source,
                       Watch watch)
    : spec_(spec), options_(options), watch_(std::move(watch)) {
  for (const ExperimentSpec& experiment : spec.experiments)
    experiments_.emplace_back(experiment, spec, source);
  for (const FitParameter& parameter : spec.parameters)
    controls_.push_back(parameter.points > 0 ? control_strains({0.0, 0.1}, 1) : std::vector<double>{});
  add_channels();
  add_unknowns();
  check_bounds();
  if (source == Experiment::Source::recordings) check_samples();
  std::size_t bytes = 1;
  for (Experiment& experiment : experiments_) {
    const Simulation one(experiment.scene_of({{}}, experiment.end()), options);
    bytes = std::max(bytes, one.info(0).memory_bytes);
  }
  batch_ = cases_at_once(bytes);
}

void FitProblem::add_unknowns() {
  unknowns_.clear();
  for (std::size_t p = 0; p < spec_.parameters.size(); ++p) {
    const FitParameter& parameter = spec_.parameters[p];
    if (parameter.points > 0) {
      add_controls(p);
      continue;
    }
    const std::string key = text("parameters[", p, "].number");
    Unknown unknown{.kind = Unknown::Kind::number,
                    .label = parameter.number,
                    .path = parameter.number,
                    .unit = {},
                    .from = parameter.from,
                    .to = parameter.to,
                    .scale = parameter.scale,
                    .value = parameter.value,
                    .parameter = p};
    for (std::size_t e = 0; e < experiments_.size(); ++e) {
      const SceneTemplate& scene = experiments_[e].scene();
      unknown.unit =
          find_number(scene.numbers(), parameter.number, text(scene.path().string(), ": ", key)).unit;
      if (!parameter.is_own || spec_.experiments[e].train.empty()) continue;
      unknown.label = text(parameter.number, " (", spec_.experiments[e].name, ")");
      unknown.experiment = e;
      unknowns_.push_back(unknown);
    }
    if (!parameter.is_own) unknowns_.push_back(unknown);
  }
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    const ExperimentSpec& experiment = spec_.experiments[e];
    if (experiment.train.empty()) continue;
    const auto add = [&](Unknown::Kind kind, const char* name, const char* unit, double most) {
      if (most > 0)
        unknowns_.push_back(
            {kind, text(name, " (", experiment.name, ")"), "", unit, -most, most, Scale::linear, 0.0, e});
    };
    add(Unknown::Kind::tilt_x, "tilt about x", "degrees", experiment.most_tilt);
    add(Unknown::Kind::tilt_y, "tilt about y", "degrees", experiment.most_tilt);
    add(Unknown::Kind::delay, "delay", "s", experiment.most_delay);
  }
}

/// Throws what a scene throws at either bound of each number, with the others in the middle.
void FitProblem::check_bounds() {
  for (std::size_t u = 0; u < unknowns_.size(); ++u) {
    for (const double t : {0.0, 1.0}) {
      Eigen::VectorXd point = Eigen::VectorXd::Constant(static_cast<Eigen::Index>(unknowns_.size()), 0.5);
      point[static_cast<Eigen::Index>(u)] = t;
      for (std::size_t e = 0; e < experiments_.size(); ++e)
        experiments_[e].scene_of({trial(e, point)}, experiments_[e].end());
    }
  }
}

void FitProblem::check_samples() const {
  std::size_t count = 0, figures = 0;
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    Comparison all;
    all.positions = experiments_[e].positions().values;
    for (std::size_t f = 0; f < spec_.experiments[e].forces.size(); ++f)
      all.forces.push_back(experiments_[e].force(f).values);
    if (experiments_[e].instruments()) all.figures.resize(experiments_[e].instruments()->figures().size());
    const std::vector<double> window = training(e, 1.0 / spec_.levels);
    visit_objective(e, all, window, [&](const Measured& measured) {
      count += static_cast<std::size_t>(measured.components);
    });
    if (holds_figures(e, window)) figures += all.figures.size();
  }
  // A figure is a measurement of its own; noise of motions is found along with the numbers.
  if (count < unknowns_.size() || (count == unknowns_.size() && figures == 0))
    throw SceneError(text("experiments: found ", count, " numbers in the training windows",
                          spec_.levels > 1 ? " of the first level" : "", " for ", unknowns_.size(),
                          " unknowns, expected more numbers than unknowns"));
}

std::vector<double> FitProblem::values(const Eigen::VectorXd& point) const {
  std::vector<double> all;
  for (std::size_t u = 0; u < unknowns_.size(); ++u)
    all.push_back(unknowns_[u].at(point[static_cast<Eigen::Index>(u)]));
  return all;
}

Trial FitProblem::trial(std::size_t experiment, const Eigen::VectorXd& point) const {
  Trial trial;
  const std::vector<double> all = values(point);
  for (std::size_t u = 0; u < unknowns_.size(); ++u) {
    const Unknown& unknown = unknowns_[u];
    if (unknown.experiment != Unknown::every_experiment && unknown.experiment != experiment) continue;
    switch (unknown.kind) {
      case Unknown::Kind::number:
        if (unknown.control < 0) {
          trial.numbers.push_back({unknown.path, all[u]});
          break;
        }
        if (unknown.control == 0) trial.curves.push_back({law_of(unknown.path), {}});
        trial.curves.back().spline.strains.push_back(unknown.strain);
        trial.curves.back().spline.stiffness.push_back(all[u]);
        break;
      case Unknown::Kind::tilt_x:
        trial.tilt.x = all[u];
        break;
      case Unknown::Kind::tilt_y:
        trial.tilt.y = all[u];
        break;
      case Unknown::Kind::delay:
        trial.delay = all[u];
        break;
    }
  }
  return trial;
}

std::vector<double> FitProblem::training(std::size_t experiment, double share) const {
  if (left_out_ == experiment) return {};
  if (stage_ > 0 && !is_in_stage(spec_.experiments[experiment].stages, stage_)) return {};
  std::vector<double> window = spec_.experiments[experiment].train;
  if (!window.empty() && spec_.experiments[experiment].has_motion())
    window[1] = window[0] + share * (window[1] - window[0]);
  return window;
}

std::vector<std::vector<Comparison>> FitProblem::compare(const std::vector<Eigen::VectorXd>& points,
                                                         double share, bool to_the_end) {
  std::vector<std::vector<Comparison>> all(points.size(), std::vector<Comparison>(experiments_.size()));
  std::size_t compared = 0, done = 0;
  const auto is_compared = [&](std::size_t e) { return to_the_end || !training(e, 1).empty(); };
  for (std::size_t e = 0; e < experiments_.size(); ++e) compared += is_compared(e);
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    if (!is_compared(e)) continue;
    const double until = to_the_end ? experiments_[e].end() : training(e, share)[1];
    for (std::size_t first = 0; first < points.size(); first += batch_) {
      const std::size_t count = std::min(batch_, points.size() - first);
      std::vector<Trial> trials;
      for (std::size_t i = 0; i < count; ++i) trials.push_back(trial(e, points[first + i]));
      // Per cent: experiments have different numbers of steps.
      std::vector<Comparison> found =
          experiments_[e].compare(trials, until, options_, [&](std::int64_t step, std::int64_t steps) {
            const double part =
                (static_cast<double>(done) +
                 static_cast<double>(count) * static_cast<double>(step) / static_cast<double>(steps)) /
                static_cast<double>(compared * points.size());
            watch_(static_cast<std::int64_t>(100 * part), 100);
          });
      done += count;
      for (std::size_t i = 0; i < count; ++i) {
        missed_steps_ += found[i].missed_steps;
        all[first + i][e] = std::move(found[i]);
      }
      simulations_ += static_cast<std::int64_t>(count);
    }
  }
  return all;
}

bool FitProblem::holds_figures(std::size_t e, const std::vector<double>& window) const {
  const std::optional<Instruments>& instruments = experiments_[e].instruments();
  return instruments && window.size() == 2 && instruments->time() >= window[0] - 1e-9 &&
         instruments->time() <= window[1] + 1e-9;
}

Eigen::VectorXd FitProblem::residuals_of(const std::vector<Comparison>& comparisons, double share) const {
  std::vector<double> all;
  bool has_failed = false;
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    const double weight = std::sqrt(spec_.experiments[e].weight);
    const auto add = [&](const Measured& measured) {
      const Vec3d& error = measured.error;
      has_failed = has_failed || comparisons[e].has_failed || !std::isfinite(error.x + error.y + error.z);
      const Vec3d scaled = (1 / measured.noise) * error;
      const double factor = weight * loss_factor(spec_.loss, spec_.outlier, dot(scaled, scaled));
      const double numbers[] = {factor * scaled.x, factor * scaled.y, factor * scaled.z};
      all.insert(all.end(), numbers, numbers + measured.components);
    };
    visit_objective(e, comparisons[e], training(e, share), add);
  }
  if (has_failed) std::ranges::fill(all, std::numeric_limits<double>::infinity());
  return Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

int FitProblem::wrong_folds(const std::vector<Comparison>& comparisons, double share) const {
  int wrong = 0;
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    if (!holds_figures(e, training(e, share))) continue;
    const int recorded = experiments_[e].instruments()->recorded_folds();
    if (recorded > 0) wrong += std::abs(comparisons[e].reading.folds - recorded);
  }
  return wrong;
}

std::vector<Appraisal> FitProblem::appraise(const std::vector<Eigen::VectorXd>& points, double share) {
  std::vector<Appraisal> all;
  for (const std::vector<Comparison>& comparisons : compare(points, share, false))
    all.push_back({residuals_of(comparisons, share), wrong_folds(comparisons, share)});
  return all;
}

std::vector<Eigen::VectorXd> FitProblem::residuals(const std::vector<Eigen::VectorXd>& points, double share) {
  std::vector<Eigen::VectorXd> all;
  for (Appraisal& appraisal : appraise(points, share)) all.push_back(std::move(appraisal.residuals));
  return all;
}

FitErrors FitProblem::errors(std::size_t experiment, const Comparison& comparison,
                             const std::vector<double>& window) const {
  FitErrors found;
  visit(experiment, comparison, window, [&](const Measured& measured) {
    const double size = norm(measured.error);
    switch (measured.quantity) {
      case ChannelKind::positions:
        found.mean_distance += size;
        found.rms_distance += size * size;
        found.max_distance = std::max(found.max_distance, size);
        ++found.positions;
        break;
      case ChannelKind::forces:
        found.rms_force += size * size;
        found.max_force = std::max(found.max_force, size);
        ++found.forces;
        break;
      case ChannelKind::figures:
      case ChannelKind::silhouette:
        found.rms_figures += size * size / (measured.noise * measured.noise);
        ++found.figures;
        break;
    }
  });
  const double count = std::max(1.0, static_cast<double>(found.positions));
  found.mean_distance /= count;
  found.rms_distance = std::sqrt(found.rms_distance / count);
  found.rms_figures = std::sqrt(found.rms_figures / std::max(1.0, static_cast<double>(found.figures)));
  found.rms_force = std::sqrt(found.rms_force / std::max(1.0, static_cast<double>(found.forces)));
  return found;
}

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
