#include "host/fit/fit_record.hpp"

#include <cmath>

#include "engine/core/text.hpp"
#include "host/files/text_file.hpp"
#include "host/results/run_record.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json errors_json(const FitErrors& errors) {
  Json json;
  if (errors.positions > 0)
    json.update({{"mean_distance", errors.mean_distance},
                 {"rms_distance", errors.rms_distance},
                 {"max_distance", errors.max_distance}});
  if (errors.figures > 0) json.update({{"rms_figures", errors.rms_figures}});
  if (errors.forces > 0) json.update({{"rms_force", errors.rms_force}, {"max_force", errors.max_force}});
  return json;
}

/// What instruments read, start and end; the directions of a silhouette are no figures of their own.
Json figures_json(const Instruments& instruments, const ExperimentRecord& found) {
  Json figures = Json::array();
  for (std::size_t k = 0; k < instruments.figures().size(); ++k) {
    const Figure& figure = instruments.figures()[k];
    if (figure.name != "silhouette")
      figures.push_back({{"name", figure.name},
                         {"unit", figure.unit},
                         {"recorded", figure.recorded},
                         {"noise", figure.noise},
                         {"start", number(figure.recorded + found.start.figures[k])},
                         {"fitted", number(figure.recorded + found.fitted.figures[k])}});
  }
  if (instruments.has_drape())
    figures.push_back(
        {{"name", "folds"},
         {"unit", ""},
         {"recorded", instruments.recorded_folds() > 0 ? Json(instruments.recorded_folds()) : Json()},
         {"start", found.start.reading.folds},
         {"fitted", found.fitted.reading.folds}});
  return figures;
}

Json channels_json(const FitProblem& problem, const FitRecord& record) {
  Json all = Json::array();
  for (const ChannelRecord& found : record.channels) {
    const ResidualTests& tests = found.tests;
    const RecordedChannel& channel = found.channel;
    all.push_back({{"experiment", problem.spec().experiments[channel.experiment].name},
                   {"channel", channel.name},
                   {"window", found.is_test ? "test" : "training"},
                   {"residuals", tests.count},
                   {"stated_noise", channel.unit.empty() ? Json() : Json(channel.noise)},
                   {"unit", channel.unit},
                   {"rms", number(tests.rms * channel.noise)},
                   {"start_rms", number(found.start_rms * channel.noise)},
                   {"noise_factor", number(tests.noise_factor)},
                   {"autocorrelation", number(tests.autocorrelation)},
                   {"effective_samples", number(tests.effective_count)},
                   {"systematic", number(tests.systematic)}});
    if (found.is_test) {
      all.back()["worse_than_start"] = found.is_worse;
      continue;
    }
    all.back().update({{"degrees_of_freedom", number(tests.degrees_of_freedom)},
                       {"chi_square", tests.chi_square > 0 ? number(tests.chi_square) : Json()},
                       {"chi_square_p", number(tests.chi_square_p)},
                       {"runs", tests.runs},
                       {"runs_expected", number(tests.runs_expected)},
                       {"runs_z", number(tests.runs_z)},
                       {"runs_p", number(tests.runs_p)},
                       {"rejected", tests.is_rejected()}});
  }
  return all;
}

Json left_out_json(const FitProblem& problem, const FitRecord& record) {
  Json all = Json::array();
  for (const LeftOut& found : record.left_out) {
    Json kept = Json::array(), values = Json::object();
    for (const std::size_t u : found.kept) kept.push_back(problem.unknowns()[u].label);
    for (std::size_t u = 0; u < found.values.size(); ++u)
      values[problem.unknowns()[u].label] = number(found.values[u]);
    all.push_back({{"experiment", problem.spec().experiments[found.experiment].name},
                   {"parameters", std::move(values)},
                   {"kept", std::move(kept)},
                   {"errors", errors_json(found.errors)},
                   {"noise_factor", number(found.noise_factor)},
                   {"noise_factor_fitted", number(found.fitted_factor)},
                   {"noise_factor_start", number(found.start_factor)}});
  }
  return all;
}

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::found:
      return "found";
    case Verdict::weak:
      return "weak";
    case Verdict::at_its_bound:
      return "at its bound";
    case Verdict::model_rejected:
      return "model rejected";
    default:
      return "not found";
  }
}

std::string describe(const FittedNumber& found) {
  const Unknown& unknown = found.unknown;
  std::string line = text(unknown.label, " = ", tick_text(found.value));
  if (std::isfinite(found.low)) line += text(" (", tick_text(found.low), " to ", tick_text(found.high), ")");
  if (!unknown.unit.empty()) line += text(" ", unknown.unit);
  if (std::isfinite(found.low)) line += text(": ", to_string(found.verdict));
  return line;
}

std::string fit_json(const FitProblem& problem, const FitRecord& record) {
  Json numbers = Json::array(), experiments = Json::array(), correlation = Json::array(),
       history = Json::array();
  for (const FittedNumber& found : record.numbers) {
    const Unknown& unknown = found.unknown;
    numbers.push_back({{"name", unknown.label},
                       {"unit", unknown.unit},
                       {"value", found.value},
                       {"low", number(found.low)},
                       {"high", number(found.high)},
                       {"inflation", found.inflation},
                       {"verdict", to_string(found.verdict)},
                       {"start", found.start},
                       {"from", unknown.from},
                       {"to", unknown.to}});
    if (unknown.control >= 0)
      numbers.back().update({{"parameter", unknown.path}, {"strain", unknown.strain}});
  }
  for (Eigen::Index i = 0; i < record.correlation.rows(); ++i) {
    Json row = Json::array();
    for (Eigen::Index j = 0; j < record.correlation.cols(); ++j)
      row.push_back(number(record.correlation(i, j)));
    correlation.push_back(std::move(row));
  }
  for (std::size_t e = 0; e < record.experiments.size(); ++e) {
    const ExperimentRecord& found = record.experiments[e];
    experiments.push_back(
        {{"name", problem.spec().experiments[e].name},
         {"start", {{"train", errors_json(found.start_train)}, {"test", errors_json(found.start_test)}}},
         {"fitted", {{"train", errors_json(found.train)}, {"test", errors_json(found.test)}}}});
    if (const auto& instruments = problem.experiments()[e].instruments())
      experiments.back()["figures"] = figures_json(*instruments, found);
  }
  for (const FitStep& step : record.history)
    history.push_back({{"stage", step.stage}, {"loss", number(step.loss)}, {"values", step.values}});
  const Json root{{"status", record.status},
                  {"rejection", record.rejection.empty() ? Json() : Json(record.rejection)},
                  {"notes", record.notes},
                  {"parameters", std::move(numbers)},
                  {"correlation", std::move(correlation)},
                  {"noise_factor", number(record.noise_factor)},
                  {"channels", channels_json(problem, record)},
                  {"left_out", left_out_json(problem, record)},
                  {"experiments", std::move(experiments)},
                  {"simulations", record.simulations},
                  {"steps_missed", record.missed_steps},
                  {"wall_seconds", record.wall_seconds},
                  {"version", version()},
                  {"machine", machine_name()},
                  {"history", std::move(history)},
                  {"plan", problem.spec().text}};
  return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string fit_csv(const FitProblem& problem, const FitRecord& record) {
  std::string all = "stage,simulations,seconds,loss";
  for (const Unknown& unknown : problem.unknowns()) all += "," + unknown.label;
  all += "\n";
  for (const FitStep& step : record.history) {
    all += text(step.stage, ",", step.simulations, ",", tick_text(step.seconds), ",", shortest(step.loss));
    for (const double value : step.values) all += "," + shortest(value);
    all += "\n";
  }
  return all;
}

}  // namespace isocloth
