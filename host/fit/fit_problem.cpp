#include "host/fit/fit_problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
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

}  // namespace

double Unknown::at(double t) const {
  return scale == Scale::log ? from * std::pow(to / from, t) : from + t * (to - from);
}

double Unknown::part_of(double x) const {
  return scale == Scale::log ? std::log(x / from) / std::log(to / from) : (x - from) / (to - from);
}

double Unknown::slope() const { return scale == Scale::log ? std::log(to / from) : to - from; }

FitProblem::FitProblem(const FitSpec& spec, const ExecutionOptions& options, Experiment::Source source,
                       Watch watch)
    : spec_(spec), options_(options), watch_(std::move(watch)) {
  for (const ExperimentSpec& experiment : spec.experiments)
    experiments_.emplace_back(experiment, spec, source);
  add_unknowns();
  check_bounds();
  check_samples();
  std::size_t bytes = 1;
  for (Experiment& experiment : experiments_) {
    const Simulation one(experiment.scene_of({{}}, experiment.end()), options);
    bytes = std::max(bytes, one.info(0).memory_bytes);
  }
  batch_ = cases_at_once(bytes);
}

void FitProblem::add_unknowns() {
  for (std::size_t p = 0; p < spec_.parameters.size(); ++p) {
    const FitParameter& parameter = spec_.parameters[p];
    const std::string key = text("parameters[", p, "].number");
    Unknown unknown{.kind = Unknown::Kind::number,
                    .label = parameter.number,
                    .path = parameter.number,
                    .unit = {},
                    .from = parameter.from,
                    .to = parameter.to,
                    .scale = parameter.scale,
                    .value = parameter.value};
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

/// Each number at both of its bounds, the others in the middle.
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
  std::size_t count = 0;
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    Comparison all;
    all.positions = experiments_[e].positions().values;
    for (std::size_t f = 0; f < spec_.experiments[e].forces.size(); ++f)
      all.forces.push_back(experiments_[e].force(f).values);
    const auto add = [&](const Vec3d&, double) { count += 3; };
    visit(e, all, training(e, 1.0 / spec_.levels), add, add);
  }
  if (count <= unknowns_.size())
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
        trial.numbers.push_back({unknown.path, all[u]});
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
  std::vector<double> window = spec_.experiments[experiment].train;
  if (!window.empty()) window[1] = window[0] + share * (window[1] - window[0]);
  return window;
}

std::vector<std::vector<Comparison>> FitProblem::compare(const std::vector<Eigen::VectorXd>& points,
                                                         double share, bool to_the_end) {
  std::vector<std::vector<Comparison>> all(points.size(), std::vector<Comparison>(experiments_.size()));
  std::size_t compared = 0, done = 0;
  const auto is_compared = [&](std::size_t e) { return to_the_end || !spec_.experiments[e].train.empty(); };
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

template <class Positions, class Forces>
void FitProblem::visit(std::size_t e, const Comparison& comparison, const std::vector<double>& window,
                       const Positions& positions, const Forces& forces) const {
  const Experiment& experiment = experiments_[e];
  const auto counts = [&](const Recording& recording, std::size_t sample) {
    return Experiment::is_inside(recording, sample, window) &&
           experiment.is_comparable(recording.times[sample]);
  };
  const Recording& recorded = experiment.positions();
  for (std::size_t sample = 0; sample < recorded.times.size(); ++sample) {
    if (!counts(recorded, sample)) continue;
    for (std::size_t point = 0; point < recorded.point_count; ++point)
      if (is_seen(recorded.at(sample, point)))
        positions(comparison.positions[sample * recorded.point_count + point],
                  spec_.experiments[e].positions->noise);
  }
  for (std::size_t f = 0; f < comparison.forces.size(); ++f) {
    const Recording& force = experiment.force(f);
    for (std::size_t sample = 0; sample < force.times.size(); ++sample)
      if (counts(force, sample) && is_seen(force.at(sample, 0)))
        forces(comparison.forces[f][sample], spec_.experiments[e].forces[f].noise);
  }
}

Eigen::VectorXd FitProblem::residuals_of(const std::vector<Comparison>& comparisons, double share) const {
  std::vector<double> all;
  bool is_lost = false;
  for (std::size_t e = 0; e < experiments_.size(); ++e) {
    const double weight = std::sqrt(spec_.experiments[e].weight);
    const auto add = [&](const Vec3d& error, double noise) {
      is_lost = is_lost || comparisons[e].is_lost || !is_seen(error);
      const Vec3d scaled = (1 / noise) * error;
      const double factor = weight * loss_factor(spec_.loss, spec_.outlier, dot(scaled, scaled));
      all.insert(all.end(), {factor * scaled.x, factor * scaled.y, factor * scaled.z});
    };
    visit(e, comparisons[e], training(e, share), add, add);
  }
  if (is_lost) std::ranges::fill(all, std::numeric_limits<double>::infinity());
  return Eigen::Map<const Eigen::VectorXd>(all.data(), static_cast<Eigen::Index>(all.size()));
}

std::vector<Eigen::VectorXd> FitProblem::residuals(const std::vector<Eigen::VectorXd>& points, double share) {
  std::vector<Eigen::VectorXd> all;
  for (const std::vector<Comparison>& comparisons : compare(points, share, false))
    all.push_back(residuals_of(comparisons, share));
  return all;
}

FitErrors FitProblem::errors(std::size_t experiment, const Comparison& comparison,
                             const std::vector<double>& window) const {
  FitErrors found;
  visit(
      experiment, comparison, window,
      [&](const Vec3d& error, double) {
        const double distance = norm(error);
        found.mean_distance += distance;
        found.rms_distance += distance * distance;
        found.max_distance = std::max(found.max_distance, distance);
        ++found.positions;
      },
      [&](const Vec3d& error, double) {
        found.rms_force += dot(error, error);
        found.max_force = std::max(found.max_force, norm(error));
        ++found.forces;
      });
  const double count = std::max(1.0, static_cast<double>(found.positions));
  found.mean_distance /= count;
  found.rms_distance = std::sqrt(found.rms_distance / count);
  found.rms_force = std::sqrt(found.rms_force / std::max(1.0, static_cast<double>(found.forces)));
  return found;
}

}  // namespace isocloth
