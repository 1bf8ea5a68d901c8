#include "host/fit/fit_page.hpp"

#include <algorithm>
#include <cmath>

#include "engine/core/text.hpp"
#include "engine/mesh/topology.hpp"
#include "host/fit/assets.hpp"
#include "host/fit/fit_plots.hpp"
#include "host/fit/judgement.hpp"
#include "host/report/encode.hpp"
#include "host/sweep/svg.hpp"
#include "host/sweep/sweep_plot.hpp"

namespace isocloth {
namespace {

constexpr std::size_t most_player_values = std::size_t{1} << 19;  // of each of the two arrays

std::string figure(const std::string& content, const std::string& caption = {}) {
  return "<figure>" + content +
         (caption.empty() ? "" : "<figcaption>" + escape_html(caption) + "</figcaption>") + "</figure>\n";
}

std::string cell(const std::string& content, const std::string& kind = {}) {
  return (kind.empty() ? "<td>" : "<td class=\"" + kind + "\">") + escape_html(content) + "</td>";
}

std::string numbers_table(const FitRecord& record) {
  std::string all =
      "<table><tr><th>number</th><th>start</th><th>fitted</th><th>95 % "
      "interval</th><th>unit</th><th>bounds</th><th></th></tr>\n";
  for (const FittedNumber& found : record.numbers) {
    const Unknown& unknown = found.unknown;
    const bool is_judged = std::isfinite(found.low);
    all += "<tr>" + cell(unknown.label) + cell(tick_text(found.start)) + cell(tick_text(found.value)) +
           cell(is_judged ? text(tick_text(found.low), " to ", tick_text(found.high)) : "") +
           cell(unknown.unit) + cell(text(tick_text(unknown.from), " to ", tick_text(unknown.to))) +
           cell(is_judged ? to_string(found.verdict) : "", is_judged ? to_string(found.verdict) : "") +
           "</tr>\n";
  }
  return all + "</table>\n";
}

std::string errors_row(const std::string& name, const char* window, const FitErrors& start,
                       const FitErrors& fitted) {
  const auto millimetres = [](double metres) { return tick_text(1000 * metres); };
  std::string all;
  if (fitted.positions > 0)
    all += "<tr>" + cell(name) + cell(window) + cell("distance [mm]") +
           cell(millimetres(start.mean_distance)) + cell(millimetres(fitted.mean_distance)) +
           cell(millimetres(fitted.rms_distance)) + cell(millimetres(fitted.max_distance)) + "</tr>\n";
  if (fitted.forces > 0)
    all += "<tr>" + cell(name) + cell(window) + cell("force [N]") +
           cell(tick_text(start.rms_force) + " (rms)") + cell("") + cell(tick_text(fitted.rms_force)) +
           cell(tick_text(fitted.max_force)) + "</tr>\n";
  if (fitted.figures > 0)
    all += "<tr>" + cell(name) + cell(window) + cell("figures [noise]") +
           cell(tick_text(start.rms_figures) + " (rms)") + cell("") + cell(tick_text(fitted.rms_figures)) +
           cell("") + "</tr>\n";
  return all;
}

std::string errors_table(const FitProblem& problem, const FitRecord& record) {
  std::string all =
      "<table><tr><th>experiment</th><th>samples of</th><th></th><th>start, mean</th><th>fitted, "
      "mean</th><th>rms</th><th>max</th></tr>\n";
  for (std::size_t e = 0; e < record.experiments.size(); ++e) {
    const ExperimentRecord& found = record.experiments[e];
    all += errors_row(problem.spec().experiments[e].name, "training", found.start_train, found.train);
    all += errors_row(problem.spec().experiments[e].name, "test", found.start_test, found.test);
  }
  return all + "</table>\n";
}

std::string channels_table(const FitProblem& problem, const FitRecord& record) {
  std::string all =
      "<table class=\"wide\"><tr><th>channel</th><th>samples of</th><th>residuals</th><th>stated noise</th>"
      "<th>left, rms</th><th>start, rms</th><th>noise factor</th><th>chi-square</th><th>runs (of "
      "noise)</th>"
      "<th>runs test</th><th>correlation of neighbours</th><th>effective</th><th></th></tr>\n";
  for (const ChannelRecord& found : record.channels) {
    const RecordedChannel& channel = found.channel;
    const ResidualTests& tests = found.tests;
    const auto amount = [&](double rms) {
      return channel.unit.empty()  ? text(tick_text(rms), " noise")
             : channel.unit == "m" ? text(tick_text(1000 * rms * channel.noise), " mm")
                                   : text(tick_text(rms * channel.noise), " ", channel.unit);
    };
    const bool is_off = tests.is_rejected() || found.is_worse;
    all += "<tr>" + cell(channel_name(channel, problem)) + cell(found.is_test ? "test" : "training") +
           cell(text(tests.count)) + cell(channel.unit.empty() ? "of the file" : amount(1)) +
           cell(amount(tests.rms)) + cell(std::isfinite(found.start_rms) ? amount(found.start_rms) : "lost") +
           cell(tick_text(std::round(1000 * tests.noise_factor) / 1000)) +
           cell(found.is_test ? "" : probability_text(tests.chi_square_p)) +
           cell(found.is_test || tests.runs == 0
                    ? ""
                    : text(tests.runs, " (", tick_text(std::round(tests.runs_expected)), ")")) +
           cell(found.is_test || tests.runs == 0 ? "" : probability_text(tests.runs_p)) +
           cell(tick_text(std::round(100 * tests.autocorrelation) / 100)) +
           cell(tick_text(std::round(tests.effective_count))) +
           cell(found.is_test ? (found.is_worse ? "worse than the start" : "")
                : is_off      ? "rejects the model"
                              : "noise",
                is_off ? "not" : "found") +
           "</tr>\n";
  }
  return all + "</table>\n";
}

std::string left_out_table(const FitProblem& problem, const FitRecord& record) {
  std::string all =
      "<table><tr><th>left out</th><th>foretold [noise]</th><th>fitted [noise]</th><th>start "
      "[noise]</th>";
  for (const Unknown& unknown : problem.unknowns()) all += "<th>" + escape_html(unknown.label) + "</th>";
  all += "</tr>\n";
  for (const LeftOut& found : record.left_out) {
    all += "<tr>" + cell(problem.spec().experiments[found.experiment].name) +
           cell(tick_text(found.noise_factor)) + cell(tick_text(found.fitted_factor)) +
           cell(std::isfinite(found.start_factor) ? tick_text(found.start_factor) : "lost");
    for (std::size_t u = 0; u < found.values.size(); ++u) {
      const bool is_kept = std::ranges::find(found.kept, u) != found.kept.end();
      all += is_kept ? cell("(not said)", "muted") : cell(tick_text(found.values[u]));
    }
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

std::string correlation_table(const FitProblem& problem, const FitRecord& record) {
  std::string all = "<table><tr><th>correlation</th>";
  for (const Unknown& unknown : problem.unknowns()) all += "<th>" + escape_html(unknown.label) + "</th>";
  all += "</tr>\n";
  for (Eigen::Index i = 0; i < record.correlation.rows(); ++i) {
    all += "<tr>" + cell(problem.unknowns()[static_cast<std::size_t>(i)].label);
    for (Eigen::Index j = 0; j < record.correlation.cols(); ++j)
      all += cell(text(std::round(100 * record.correlation(i, j)) / 100));
    all += "</tr>\n";
  }
  return all + "</table>\n";
}

/// times [frame]; cloth and seen float32 [frame, point, 3] in base64, NaN where there is nothing; edges
/// between points of which both are recorded.
std::string player_data(const Experiment& experiment, const ExperimentRecord& found) {
  const Recording& recorded = found.recorded;
  const std::size_t count = recorded.point_count;
  const std::size_t frames = std::max<std::size_t>(1, most_player_values / (3 * count));
  const std::size_t stride = (recorded.times.size() + frames - 1) / frames;
  std::vector<float> cloth, seen;
  Json times = Json::array(), edges = Json::array();
  for (std::size_t sample = 0; sample < recorded.times.size(); sample += stride) {
    if (!is_seen(found.fitted.positions[sample * count]) && sample > 0 && times.empty()) continue;
    times.push_back(recorded.times[sample]);
    for (std::size_t point = 0; point < count; ++point) {
      const Vec3d& p = recorded.at(sample, point);
      const Vec3d q = p + found.fitted.positions[sample * count + point];
      for (const double x : {p.x, p.y, p.z}) seen.push_back(static_cast<float>(x));
      for (const double x : {q.x, q.y, q.z}) cloth.push_back(static_cast<float>(x));
    }
  }
  std::vector<std::ptrdiff_t> point_of(experiment.scene().base().garments[0].mesh.positions.size(), -1);
  for (std::size_t i = 0; i < experiment.nodes().size(); ++i)
    point_of[static_cast<std::size_t>(experiment.nodes()[i])] = static_cast<std::ptrdiff_t>(i);
  for (const auto& [a, b] : build_topology(experiment.scene().base().garments[0].mesh).edges) {
    const auto p = point_of[static_cast<std::size_t>(a)], q = point_of[static_cast<std::size_t>(b)];
    if (p >= 0 && q >= 0) edges.push_back({p, q});
  }
  const Json data{{"points", count},
                  {"times", std::move(times)},
                  {"edges", std::move(edges)},
                  {"cloth", encode_base64(cloth)},
                  {"seen", encode_base64(seen)}};
  return escape_json_for_script(data.dump());
}

std::string figures_table(const Instruments& instruments, const ExperimentRecord& found) {
  std::string all =
      "<table><tr><th>figure</th><th>recorded</th><th>start</th><th>fitted</th><th>noise</th><th>unit</th></"
      "tr>\n";
  for (std::size_t k = 0; k < instruments.figures().size(); ++k) {
    const Figure& figure = instruments.figures()[k];
    if (figure.name == "silhouette") continue;  // a picture
    all += "<tr>" + cell(figure.name) + cell(tick_text(figure.recorded)) +
           cell(tick_text(figure.recorded + found.start.figures[k])) +
           cell(tick_text(figure.recorded + found.fitted.figures[k])) + cell(tick_text(figure.noise)) +
           cell(figure.unit) + "</tr>\n";
  }
  if (instruments.has_drape())
    all += "<tr>" + cell("folds") +
           cell(instruments.recorded_folds() > 0 ? text(instruments.recorded_folds()) : "") +
           cell(text(found.start.reading.folds)) + cell(text(found.fitted.reading.folds)) + cell("") +
           cell("") + "</tr>\n";
  return all + "</table>\n";
}

std::string experiment_section(const FitProblem& problem, const FitRecord& record, std::size_t e) {
  const ExperimentSpec& spec = problem.spec().experiments[e];
  std::string all = "<h2>" + escape_html(spec.name) + "</h2>\n";
  if (spec.positions) {
    all += figure(distance_svg(problem, record, e));
    all += "<div class=\"side\"><figure class=\"player\"><script type=\"application/json\">" +
           player_data(problem.experiments()[e], record.experiments[e]) +
           "</script><canvas width=\"440\" height=\"360\"></canvas><button>Play</button> <input "
           "type=\"range\" min=\"0\" value=\"0\"> "
           "<output></output><figcaption>Recording (dots) and fitted cloth (red); drag to "
           "turn.</figcaption></figure>\n" +
           (problem.experiments()[e].nodes().empty() ? std::string() : figure(map_svg(problem, record, e))) +
           "</div>\n";
  }
  for (std::size_t f = 0; f < spec.forces.size(); ++f) all += figure(force_svg(problem, record, e, f));
  if (const auto& instruments = problem.experiments()[e].instruments()) {
    all += figures_table(*instruments, record.experiments[e]);
    if (instruments->has_drape()) all += figure(shadow_svg(problem, record, e));
  }
  return all;
}

}  // namespace

std::string fit_page(const FitProblem& problem, const FitRecord& record) {
  const std::string title = escape_html(problem.spec().name);
  std::string body =
      "<h1>" + title + "</h1>\n<p><b class=\"" + record.status + "\">" + escape_html(record.status) + "</b>" +
      escape_html(text(": ", record.simulations, " simulations in ", tick_text(record.wall_seconds), " s",
                       record.noise_factor > 0 ? text("; what is left is ", tick_text(record.noise_factor),
                                                      " times the stated noise")
                                               : std::string())) +
      "</p>\n";
  if (!record.notes.empty()) {
    body += "<ul class=\"notes\">";
    for (const std::string& note : record.notes) body += "<li>" + escape_html(note) + "</li>";
    body += "</ul>\n";
  }
  body += numbers_table(record);
  if (!record.channels.empty())
    body +=
        "<h2>Is what is left noise?</h2>\n<p class=\"muted\">Noise factor: root of the squares over degrees "
        "of "
        "freedom, over the stated noise. p: the probability that noise as stated leaves as much "
        "(chi-square), or "
        "as few runs of one sign (Wald and Wolfowitz).</p>\n<div class=\"scroll\">" +
        channels_table(problem, record) + "</div>\n";
  if (!record.left_out.empty())
    body +=
        "<h2>One recording left out</h2>\n<p class=\"muted\">Each foretold by a fit to the others: root mean "
        "square over the stated noise.</p>\n" +
        left_out_table(problem, record);
  if (!record.experiments.empty()) body += "<h2>Errors</h2>\n" + errors_table(problem, record);
  for (std::size_t e = 0; e < record.experiments.size(); ++e) body += experiment_section(problem, record, e);
  if (!record.scans.empty() && !record.scans.back().rows.empty()) {
    body +=
        "<h2>Sensitivity</h2>\n<p class=\"muted\">Loss (root mean square of distances over noise) of the "
        "training samples, the other "
        "numbers as they were found.</p>\n";
    for (const SweepTable& table : record.scans) body += figure(sweep_svg(table, 0, problem.spec().name));
  }
  if (record.correlation.rows() > 1) body += correlation_table(problem, record);
  if (record.history.size() > 1) body += "<h2>Search</h2>\n" + figure(search_svg(record));
  return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title +
         "</title><style>" + std::string(assets::fit_page_css) + "</style></head>\n<body>" + body +
         "<script>" + std::string(assets::fit_player_js) + "</script></body></html>\n";
}

}  // namespace isocloth
