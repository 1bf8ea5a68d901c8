// Experiments whose samples are cloth at rest.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <thread>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/fit/experiment.hpp"

namespace isocloth {
namespace {

constexpr double not_seen = std::numeric_limits<double>::quiet_NaN();
constexpr double equal_time = 1e-9;  ///< times are the same up to so much [s]

/// Calls work(i) for all i < count, on several threads; what the first of them throws is thrown.
template <class Work>
void for_each(std::size_t count, int threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> errors(count);
  const auto take = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> all;
    for (std::size_t k = 1; k < std::min(count, static_cast<std::size_t>(threads)); ++k)
      all.emplace_back(take);
    take();
  }
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace

const RestCases& Experiment::rest_cases() {
  if (rest_cases_) return *rest_cases_;
  std::vector<double> times;
  if (spec_.positions) times = positions_.times;
  for (const Recording& force : forces_) times.insert(times.end(), force.times.begin(), force.times.end());
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end(), [](double a, double b) { return b - a <= equal_time; }),
              times.end());
  std::erase_if(times, [&](double t) { return t < begin_ - equal_time || t > end() + equal_time; });
  std::vector<std::vector<Vec3d>> measured;
  if (spec_.start == CaseStart::recorded && !positions_.values.empty())
    for (const double t : times) {
      std::vector<Vec3d>& all = measured.emplace_back(positions_.point_count);
      for (std::size_t point = 0; point < positions_.point_count; ++point)
        all[static_cast<std::size_t>(nodes_[point])] = positions_.at_time(point, t);
    }
  rest_cases_ =
      std::make_shared<const RestCases>(scene_of({Trial{}}, end()), std::move(times), std::move(measured),
                                        ExecutionOptions{.threads = 1}, scene_.path().string());
  return *rest_cases_;
}

Comparison Experiment::at_samples(const std::vector<RestCases::Case>& cases) const {
  Comparison all;
  all.positions.assign(positions_.values.size(), {not_seen, not_seen, not_seen});
  for (const Recording& force : forces_)
    all.forces.emplace_back(force.times.size(), Vec3d{not_seen, not_seen, not_seen});
  const std::vector<double>& times = rest_cases_->times();
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto for_each_sample = [&](const Recording& recording, const auto& take) {
      auto sample = static_cast<std::size_t>(
          std::ranges::lower_bound(recording.times, times[k] - equal_time) - recording.times.begin());
      for (; sample < recording.times.size() && recording.times[sample] <= times[k] + equal_time; ++sample)
        take(sample);
    };
    for_each_sample(positions_, [&](std::size_t sample) {
      for (std::size_t point = 0; point < positions_.point_count; ++point)
        all.positions[sample * positions_.point_count + point] =
            cases[k].positions[static_cast<std::size_t>(nodes_[point])];
    });
    for (std::size_t f = 0; f < forces_.size(); ++f)
      for_each_sample(forces_[f],
                      [&](std::size_t sample) { all.forces[f][sample] = cases[k].forces[grippers_[f]]; });
  }
  return all;
}

std::vector<Experiment::Seen> Experiment::seen_at_rest(const std::vector<Trial>& trials, double until,
                                                       const ExecutionOptions& options,
                                                       const TrialProgress& progress) {
  const RestCases& cases = rest_cases();
  std::vector<Fabric> fabrics;
  for (const Trial& trial : trials) fabrics.push_back(garment(trial).fabric);
  std::vector<Seen> all(trials.size());
  const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto threads = static_cast<std::size_t>(options.threads > 0 ? options.threads : cores);
  const auto total = static_cast<std::int64_t>(trials.size());
  for (std::size_t first = 0; first < trials.size(); first += threads) {
    const std::size_t count = std::min(threads, trials.size() - first);
    for_each(count, static_cast<int>(threads), [&](std::size_t i) {
      const RestCases::Result found = cases.solve(fabrics[first + i], {}, until, options.monitor);
      Comparison at = at_samples(found.cases);
      all[first + i].positions = std::move(at.positions);
      all[first + i].forces = std::move(at.forces);
      all[first + i].has_failed = found.has_failed;
    });
    progress(static_cast<std::int64_t>(first + count), total);
  }
  return all;
}

std::vector<Comparison> Experiment::derivatives(const Trial& trial,
                                                const std::vector<std::array<Trial, 2>>& sides,
                                                const std::vector<double>& widths, double until) {
  const RestCases& cases = rest_cases();
  std::vector<RestCases::Side> all;
  for (std::size_t s = 0; s < sides.size(); ++s)
    all.push_back({garment(sides[s][0]).fabric, garment(sides[s][1]).fabric, widths[s]});
  const RestCases::Result found = cases.solve(garment(trial).fabric, all, until);
  std::vector<Comparison> derivatives;
  if (found.has_failed) return derivatives;
  for (const std::vector<RestCases::Case>& of_side : found.derivatives)
    derivatives.push_back(at_samples(of_side));
  return derivatives;
}

std::array<double, 2> Experiment::strain_range(const Trial& trial, Index law, double until) {
  return rest_cases().strain_range(garment(trial).fabric, law, until);
}

Json Experiment::json_with(const Trial& trial) const {
  Json root = scene_.json_with(trial.numbers);
  for (const CurveValue& value : trial.curves) {
    const bool is_shear = value.law == RowLaw::shear;
    const StressCurve curve = stress_curve(value.spline, is_shear, find_recipe(scene_.base().recipe).strain);
    Json strain = Json::array(), force = Json::array();
    for (const auto& [d, f] : curve.points) {
      strain.push_back(d);
      force.push_back(f);
    }
    root["garments"][0]["fabric"]["curves"][is_shear                    ? "shear"
                                            : value.law == RowLaw::weft ? "weft"
                                                                        : "warp"] = {{"strain", strain},
                                                                                     {"force", force}};
  }
  return root;
}

}  // namespace isocloth
