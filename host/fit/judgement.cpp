#include "host/fit/judgement.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/core/text.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

constexpr double overstated = 0.5;        ///< noise factor below which the stated noise hides too much
constexpr std::size_t enough_count = 30;  ///< residuals that say so

using Channels = std::map<std::size_t, ResidualSeries>;

/// Residuals of each channel as series, in time.
Channels series_of(const FitProblem& problem, const std::vector<ExperimentRecord>& experiments,
                   Comparison ExperimentRecord::*trial, bool is_test) {
  std::map<std::size_t, std::map<std::size_t, std::vector<double>>> all;
  for (std::size_t e = 0; e < experiments.size(); ++e) {
    const MeasuredResiduals measured = problem.measured(e, experiments[e].*trial, is_test);
    for (std::size_t i = 0; i < measured.values.size(); ++i)
      all[measured.sources[i].channel][measured.sources[i].series].push_back(measured.values[i]);
  }
  Channels found;
  for (auto& [channel, of_channel] : all) {
    found[channel].outlier = problem.spec().loss == Loss::squares ? 0 : problem.spec().outlier;
    for (auto& [_, series] : of_channel) found[channel].series.push_back(std::move(series));
  }
  return found;
}

std::string noise_text(const RecordedChannel& channel, double factor) {
  return channel.unit.empty() ? text(tick_text(factor), " times that of the file")
                              : text(tick_text(factor * channel.noise), " ", channel.unit);
}

const char* missing_part(ChannelKind quantity) {
  switch (quantity) {
    case ChannelKind::forces:
      return "curves in the place of one stiffness, friction, hysteresis";
    case ChannelKind::positions:
      return "curves in the place of one stiffness, bending, air, friction, how it is held";
    default:
      return "bending or shear that is not looked for, another rest, how it is held";
  }
}

std::string training_reason(const ChannelRecord& worst, const FitProblem& problem) {
  const ResidualTests& tests = worst.tests;
  std::string found = text(channel_name(worst.channel, problem), ": ");
  if (tests.is_too_large) {
    found += text("what is left is ", tick_text(tests.noise_factor), " times the stated noise");
    if (!worst.channel.unit.empty())
      found += text(" of ", tick_text(worst.channel.noise), " ", worst.channel.unit);
    found += text(" (",
                  tests.chi_square > 0 ? text("chi-square ", tick_text(tests.chi_square), " of ",
                                              tick_text(tests.degrees_of_freedom), " degrees, ")
                                       : std::string("sign test of sizes, "),
                  probability_text(tests.chi_square_p), ")");
  }
  if (tests.is_correlated)
    found += text(tests.is_too_large ? "; it" : "what is left", " keeps its sign for long: ", tests.runs,
                  " runs of one sign where noise has ", tick_text(tests.runs_expected), " (",
                  probability_text(tests.runs_p), ")");
  return text(found, ". Either the model lacks something (", missing_part(worst.channel.quantity),
              "), or the search ended beside the best (more starts, levels), or the noise is larger than was "
              "stated: if it is known to be ",
              noise_text(worst.channel, tests.noise_factor), ", set ", worst.channel.key,
              tests.is_correlated ? "; but noise of an instrument keeps no sign" : "");
}

}  // namespace

std::string channel_name(const RecordedChannel& channel, const FitProblem& problem) {
  return text(problem.spec().experiments[channel.experiment].name, ", ", channel.name);
}

std::vector<ChannelRecord> judge_channels(const FitProblem& problem,
                                          const std::vector<ExperimentRecord>& experiments,
                                          const std::vector<double>& leverage) {
  std::vector<ChannelRecord> all;
  for (const bool is_test : {false, true}) {
    Channels left = series_of(problem, experiments, &ExperimentRecord::fitted, is_test);
    Channels before = series_of(problem, experiments, &ExperimentRecord::start, is_test);
    for (auto& [channel, residuals] : left) {
      if (!std::isfinite(root_mean_square(residuals.series))) continue;  // a test that the cloth was lost in
      if (!is_test) residuals.leverage = leverage[channel];
      ChannelRecord record{problem.channels()[channel], is_test, test_residuals(residuals),
                           root_mean_square(before[channel].series)};
      const ResidualTests& tests = record.tests;
      record.is_worse = is_test && tests.noise_factor > material_factor &&
                        tests.chi_square_p < rejection_level &&
                        tests.rms > worse_than_start * record.start_rms;
      all.push_back(std::move(record));
    }
  }
  std::vector<ResidualTests*> tested;
  for (ChannelRecord& record : all)
    if (!record.is_test && record.channel.quantity != ChannelKind::silhouette)
      tested.push_back(&record.tests);
  reject(tested);
  return all;
}

std::string reject_model(const std::vector<ChannelRecord>& channels, const FitProblem& problem,
                         bool is_determined) {
  const ChannelRecord* worst = nullptr;
  const ChannelRecord* worst_test = nullptr;
  std::size_t count = 0;
  for (const ChannelRecord& record : channels) {
    if (record.tests.is_rejected()) {
      ++count;
      if (!worst || record.tests.noise_factor > worst->tests.noise_factor) worst = &record;
    }
    if (record.is_worse && (!worst_test || record.tests.rms > worst_test->tests.rms)) worst_test = &record;
  }
  std::string all;
  if (worst) {
    all = training_reason(*worst, problem);
    if (count > 1) all += text("; ", count, " channels say so");
  }
  if (worst_test && (worst || is_determined))
    all += text(all.empty() ? "" : ". ", channel_name(worst_test->channel, problem), ", held out: off by ",
                tick_text(worst_test->tests.rms), " times the noise, by ", tick_text(worst_test->start_rms),
                " times at the start: what was fitted does not carry over");
  return all;
}

std::vector<std::string> channel_notes(const std::vector<ChannelRecord>& channels, const FitProblem& problem,
                                       bool is_rejected) {
  std::vector<std::string> notes;
  for (const ChannelRecord& record : channels) {
    const std::string name = channel_name(record.channel, problem);
    const bool is_figure = record.channel.unit.empty();
    if (record.is_worse && !is_rejected)
      notes.push_back(text(name, ", held out: the fit is further off than its start (",
                           tick_text(record.tests.rms), " in the place of ", tick_text(record.start_rms),
                           " times the noise)"));
    // A drape has several rests, whose folds are uneven; one that begins as waves comes to one of them.
    if (!record.is_test && record.channel.quantity == ChannelKind::silhouette &&
        record.tests.noise_factor > material_factor && record.tests.chi_square_p < rejection_level)
      notes.push_back(
          text(name, ": what is left is ", tick_text(record.tests.noise_factor),
               " times the stated noise; that alone does not reject the model, because a drape has "
               "several rests with folds of their own"));
    if (!record.is_test && !is_figure && record.tests.count >= enough_count &&
        record.tests.noise_factor < overstated)
      notes.push_back(
          text(name, ": what is left is ", tick_text(record.tests.noise_factor),
               " times the stated noise, which hides errors of the model below it; if it is known "
               "to be ",
               noise_text(record.channel, record.tests.noise_factor), ", set ", record.channel.key));
  }
  return notes;
}

}  // namespace isocloth
