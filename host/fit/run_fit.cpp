#include "host/fit/run_fit.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>

#include "engine/core/errors.hpp"
#include "engine/core/random.hpp"
#include "engine/core/text.hpp"
#include "host/fit/fit_page.hpp"
#include "host/fit/incremental_search.hpp"
#include "host/fit/least_squares.hpp"
#include "host/results/output_folder.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;
using Eigen::VectorXd;

constexpr double wide = 5;                     ///< differences, beside those that the file says
constexpr int scan_count = 9, map_count = 10;  ///< values along a scan, and along each side of a map

class Fit {
 public:
  Fit(const FitRequest& request, FitObserver& observer)
      : request_(request),
        observer_(observer),
        spec_(read_fit(request.file, request.access)),
        folder_(request.output, request.if_exists, "fit.json", "fit"),
        problem_(spec_, request.execution, Experiment::Source::recordings,
                 [this](std::int64_t done, std::int64_t total) { observer_.on_work(stage_, done, total); }),
        start_(start_point()) {}

  FitRecord run() {
    const bool is_resumed = request_.if_exists == IfExists::resume;
    if (is_resumed) resume();
    folder_.create();
    observer_.on_set_up(problem_);
    try {
      if (!is_resumed) try_starts();
      search();
      stage_ = "errors";
      measure();
      judge();
      scan();
    } catch (const Interrupted&) {
      record_.status = "interrupted";
      record_.notes.push_back("interrupted: the numbers are the best so far; --resume goes on from them");
    }
    save();
    const std::string page = fit_page(problem_, record_);
    std::vector<FileContent> files{{folder_.path() / "fit.html", page}};
    std::error_code error;
    const std::filesystem::path fitted = folder_.path() / "fitted";
    std::filesystem::create_directory(fitted, error);
    if (error) throw FileError(text(fitted.string(), ": cannot create: ", error.message()));
    const auto dump = [](const Json& json) {
      return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    };
    for (std::size_t e = 0; e < problem_.experiments().size(); ++e) {
      const std::string name = spec_.experiments[e].name;
      const Json scene = problem_.experiments()[e].json_with(problem_.trial(e, best_));
      files.push_back({fitted / (name + ".json"), dump(scene)});
      files.push_back(
          {fitted / (name + ".fabric.json"), dump(scene["garments"][0].value("fabric", Json::object()))});
    }
    replace_files(files);
    return record_;
  }

 private:
  VectorXd start_point() const {
    VectorXd point(static_cast<Eigen::Index>(problem_.unknowns().size()));
    for (Eigen::Index u = 0; u < point.size(); ++u) {
      const Unknown& unknown = problem_.unknowns()[static_cast<std::size_t>(u)];
      point[u] = unknown.value ? unknown.part_of(*unknown.value) : 0.5;
    }
    return point;
  }

  void resume() {
    const std::filesystem::path path = folder_.path() / "fit.json";
    Json root;
    try {
      root = read_json(path);
    } catch (const SceneError& error) {
      throw FileError(error.what());
    }
    const auto refuse = [&](const char* found) {
      throw FileError(text(path.string(), ": found ", found,
                           ", expected a fit of this file; resume with the file that it was begun with"));
    };
    if (!root.is_object() || root.value("plan", Json()) != spec_.text) refuse("another plan");
    const Json numbers = root.value("parameters", Json::array());
    for (std::size_t p = 0; p < spec_.parameters.size(); ++p) {
      if (spec_.parameters[p].points == 0 || !numbers.is_array()) continue;
      std::vector<double> strains;
      for (const Json& number : numbers)
        if (number.value("parameter", std::string()) == spec_.parameters[p].number &&
            number.value("strain", Json()).is_number())
          strains.push_back(number["strain"].get<double>());
      if (!strains.empty()) problem_.set_controls(p, strains);
    }
    start_ = start_point();
    if (!numbers.is_array() || numbers.size() != problem_.unknowns().size()) refuse("other parameters");
    best_ = start_;
    for (std::size_t u = 0; u < numbers.size(); ++u) {
      const Json value = numbers[u].value("value", Json());
      if (!value.is_number()) refuse("a parameter without a value");
      best_[static_cast<Eigen::Index>(u)] =
          std::clamp(problem_.unknowns()[u].part_of(value.get<double>()), 0.0, 1.0);
    }
  }

  double loss_of(const VectorXd& residuals) const {
    return std::sqrt(residuals.squaredNorm() /
                     static_cast<double>(std::max<Eigen::Index>(1, residuals.size())));
  }

  double share(int level) const { return static_cast<double>(level) / spec_.levels; }

  void try_starts() {
    stage_ = text("starts");
    std::vector<VectorXd> points{start_};
    Random random(spec_.seed);
    for (std::size_t i = 1; i < spec_.starts; ++i) {
      VectorXd point = start_;
      // Tilts and delays begin at none.
      for (Eigen::Index u = 0; u < point.size(); ++u)
        if (problem_.unknowns()[static_cast<std::size_t>(u)].kind == Unknown::Kind::number)
          point[u] = random.uniform();
      points.push_back(point);
    }
    const std::vector<Appraisal> found = problem_.appraise(points, share(1));
    // Folds come before distances: a search hardly leaves the drape that it begins with.
    const auto rank = [&](std::size_t i) {
      const double cost = found[i].residuals.squaredNorm();
      return std::tuple(!std::isfinite(cost), found[i].wrong_folds, cost);
    };
    std::size_t least = 0;
    for (std::size_t i = 1; i < points.size(); ++i)
      if (rank(i) < rank(least)) least = i;
    if (!std::isfinite(found[least].residuals.squaredNorm())) {
      std::string why;
      for (const Experiment& experiment : problem_.experiments())
        if (!experiment.refusal().empty()) why = text("; one of them: ", experiment.refusal());
      throw NumericalError(
          text(request_.file.string(), ": starts: found none of ", points.size(),
               " with which the scenes run, expected one at least; give values, or nearer bounds", why));
    }
    best_ = points[least];
    if (points.size() > 1) add_step(text("start 1 of ", points.size()), start_, loss_of(found[0].residuals));
    add_step(text("best of ", points.size(), " starts"), best_, loss_of(found[least].residuals));
  }

  /// Stage by stage, see search_in_stages().
  bool search_stages() {
    return search_in_stages(
        problem_, best_, request_.if_exists == IfExists::resume,
        [this](const std::string& stage, const VectorXd& point, double loss) {
          stage_ = stage;
          best_ = point;
          add_step(stage, point, loss);
        },
        [this](const std::vector<Unknown>& before) {
          const auto now = [&](const std::vector<double>& values) {
            return FitProblem::values_of(before, values, problem_.unknowns());
          };
          for (FitStep& step : record_.history) step.values = now(step.values);
          std::vector<double> start;
          for (std::size_t u = 0; u < before.size(); ++u)
            start.push_back(before[u].at(start_[static_cast<Eigen::Index>(u)]));
          start_ = problem_.point_of(now(start));
          record_.numbers.clear();
        });
  }

  /// With wide differences, which see over what noise in the motion of pins or contacts make rough, then with
  /// narrow ones.
  void search() {
    if (is_in_stages(spec_) || (spec_.levels == 1 && problem_.has_derivatives())) {
      finish_search(search_stages());
      return;
    }
    const ResidualsAt residuals = [this](const std::vector<VectorXd>& points) {
      std::vector<VectorXd> found = problem_.residuals(points, share(level_));
      residual_count_ = found[0].size();
      return found;
    };
    bool is_converged = true;
    for (level_ = 1; level_ <= spec_.levels; ++level_) {
      int iteration = 0;
      for (const double difference : {wide * spec_.difference, spec_.difference}) {
        stage_ = spec_.levels > 1 ? text("level ", level_) : std::string("search");
        const LeastSquaresResult result =
            least_squares(residuals, best_, {spec_.most_iterations - iteration, difference},
                          [&](const LeastSquaresStep& step) {
                            best_ = step.point;
                            add_step(text(stage_, " iteration ", ++iteration), step.point,
                                     std::sqrt(step.cost / static_cast<double>(residual_count_)));
                          });
        best_ = result.point;
        is_converged = result.is_converged;
      }
    }
    level_ = spec_.levels;
    finish_search(is_converged);
  }

  void finish_search(bool is_converged) {
    record_.status = is_converged ? "completed" : "stopped";
    if (!is_converged)
      record_.notes.push_back(text("the search was not at its end after ", spec_.most_iterations,
                                   " iterations; --resume goes on from there"));
  }

  /// Errors at the start and at the end, of training and of test.
  void measure() {
    std::vector<std::vector<Comparison>> both = problem_.compare({start_, best_}, 1, true);
    for (std::size_t e = 0; e < spec_.experiments.size(); ++e) {
      const ExperimentSpec& experiment = spec_.experiments[e];
      ExperimentRecord found;
      found.start = std::move(both[0][e]);
      found.fitted = std::move(both[1][e]);
      found.start_train = problem_.errors(e, found.start, experiment.train);
      found.start_test = problem_.errors(e, found.start, experiment.test);
      found.train = problem_.errors(e, found.fitted, experiment.train);
      found.test = problem_.errors(e, found.fitted, experiment.test);
      found.recorded = problem_.experiments()[e].placed_positions(problem_.trial(e, best_));
      note_figures(e, found.fitted);
      record_.experiments.push_back(std::move(found));
    }
  }

  void note_figures(std::size_t e, const Comparison& fitted) {
    const std::optional<Instruments>& instruments = problem_.experiments()[e].instruments();
    if (!instruments || fitted.is_lost) return;
    const std::string& name = spec_.experiments[e].name;
    const int recorded = instruments->recorded_folds();
    if (recorded > 0 && fitted.reading.folds != recorded)
      record_.notes.push_back(text(name, ": the fitted cloth has ", fitted.reading.folds, " folds, ",
                                   recorded, " were recorded: its coefficient is that of another drape"));
    if (fitted.speed > 1e-3)
      record_.notes.push_back(text(name, ": the cloth moves by ", tick_text(1000 * fitted.speed),
                                   " mm/s when its figures are read; give it more time or damping"));
  }

  void judge() {
    stage_ = "confidence";
    const ResidualsAt at = [this](const std::vector<VectorXd>& points) {
      return problem_.residuals(points, 1);
    };
    const std::vector<VectorXd> both = at({best_, start_});
    const VectorXd& residuals = both[0];
    loss_ = loss_of(residuals);
    // Of two differences the one that says less: where the loss is rough, narrow ones see its roughness.
    Eigen::MatrixXd jacobian = problem_.jacobian(best_, 1, spec_.difference);
    const Eigen::MatrixXd smooth =
        problem_.has_derivatives() ? jacobian : jacobian_at(at, best_, wide * spec_.difference);
    for (Eigen::Index u = 0; u < jacobian.cols(); ++u)
      if (smooth.col(u).norm() < jacobian.col(u).norm()) jacobian.col(u) = smooth.col(u);
    const Confidence confidence = confidence_of(residuals, jacobian);
    record_.correlation = confidence.correlation;
    record_.noise_factor = std::sqrt(confidence.variance);
    for (std::size_t u = 0; u < record_.numbers.size(); ++u)
      judge(u, confidence.deviation[static_cast<Eigen::Index>(u)]);
    tell_apart();
    if (record_.noise_factor > 1.5)
      record_.notes.push_back(
          text("what is left is ", tick_text(record_.noise_factor),
               " times the stated noise: the scenes do not move as was recorded, or it is larger; "
               "intervals count all of it as noise and are too narrow where it is not"));
    if (const double start = loss_of(both[1]); std::isfinite(start) && !(loss_ < (1 - 1e-6) * start))
      record_.notes.push_back("the fit is no better than its start");
    if (problem_.missed_steps() > 0)
      record_.notes.push_back(text(problem_.missed_steps(),
                                   " steps missed their tolerance; see isocloth run of the "
                                   "scenes in the folder fitted"));
  }

  void judge(std::size_t u, double deviation) {
    const Unknown& unknown = problem_.unknowns()[u];
    FittedNumber& found = record_.numbers[u];
    const double t = best_[static_cast<Eigen::Index>(u)], half = 1.96 * deviation;
    found.low = std::max(unknown.at(std::max(0.0, t - half)), unknown.from);
    found.high = std::min(unknown.at(std::min(1.0, t + half)), unknown.to);
    const double scale = unknown.kind == Unknown::Kind::number && found.value != 0
                             ? std::fabs(found.value)
                             : unknown.to - unknown.from;
    const double width =
        std::isfinite(deviation)
            ? half * unknown.slope() * (unknown.scale == Scale::log ? found.value : 1) / scale
            : std::numeric_limits<double>::infinity();
    found.verdict = width <= 0.1 ? Verdict::found : width <= 0.5 ? Verdict::weak : Verdict::not_found;
    if (t < 0.005 || t > 0.995) found.verdict = Verdict::at_its_bound;
    if (found.verdict == Verdict::not_found)
      record_.notes.push_back(text(unknown.label,
                                   ": the recordings do not say what it is; fix it, or record a motion "
                                   "that depends on it"));
    if (found.verdict == Verdict::at_its_bound)
      record_.notes.push_back(text(unknown.label, ": ends at its bound, ",
                                   tick_text(t < 0.5 ? unknown.from : unknown.to),
                                   "; widen it if the number may lie beyond"));
  }

  void tell_apart() {
    for (Eigen::Index i = 0; i < record_.correlation.rows(); ++i)
      for (Eigen::Index j = 0; j < i; ++j)
        if (std::fabs(record_.correlation(i, j)) > 0.95)
          record_.notes.push_back(text(problem_.unknowns()[static_cast<std::size_t>(j)].label, " and ",
                                       problem_.unknowns()[static_cast<std::size_t>(i)].label,
                                       ": the recordings hardly tell them apart (correlation ",
                                       tick_text(record_.correlation(i, j)), ")"));
  }

  /// The loss along each unknown, and over the first two numbers together, as Coltraro 2022, figure 16.
  void scan() {
    if (!spec_.scans) return;
    stage_ = "scans";
    std::vector<VectorXd> points;
    const std::size_t count = problem_.unknowns().size();
    for (std::size_t u = 0; u < count; ++u) add_scan({u}, scan_count, points);
    if (count >= 2) add_scan({0, 1}, map_count, points);
    std::vector<SweepRow> rows;
    // A few at a time: their residuals are many.
    constexpr std::size_t at_once = 64;
    for (std::size_t first = 0; first < points.size(); first += at_once) {
      const auto begin = points.begin() + static_cast<std::ptrdiff_t>(first);
      const auto end = points.begin() + static_cast<std::ptrdiff_t>(std::min(points.size(), first + at_once));
      for (const VectorXd& residuals : problem_.residuals({begin, end}, 1))
        rows.push_back(residuals.allFinite() ? SweepRow{CaseStatus::completed, {loss_of(residuals)}}
                                             : SweepRow{CaseStatus::failed, {}});
    }
    auto next = rows.begin();
    for (SweepTable& table : record_.scans) {
      table.rows.assign(next, next + static_cast<std::ptrdiff_t>(table.plan.case_count));
      next += static_cast<std::ptrdiff_t>(table.plan.case_count);
      tell_lower(table);
    }
  }

  /// A search that ended in a neighbouring minimum may be seen to have done so.
  void tell_lower(const SweepTable& table) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (table.rows[i].values.empty() || !(table.rows[i].values[0] < (1 - 1e-3) * loss_)) continue;
      std::string where;
      for (std::size_t p = 0; p < table.plan.parameters.size(); ++p)
        where +=
            text(p > 0 ? ", " : "", table.plan.parameters[p].path, " = ", tick_text(table.plan.value(i, p)));
      record_.notes.push_back(
          text("the loss is lower elsewhere, at ", where, " (", tick_text(table.rows[i].values[0]),
               " in the place of ", tick_text(loss_),
               "): the search ended in a local minimum; begin with values there, or with more levels"));
      return;
    }
  }

  void add_scan(const std::vector<std::size_t>& along, int steps, std::vector<VectorXd>& points) {
    SweepTable table;
    table.plan.case_count = 1;
    for (const std::size_t u : along) {
      const Unknown& unknown = problem_.unknowns()[u];
      SweepParameter parameter{unknown.label, unknown.unit, unknown.scale, {}};
      for (int i = 0; i < steps; ++i)
        parameter.values.push_back(unknown.at(static_cast<double>(i) / (steps - 1)));
      table.plan.case_count *= parameter.values.size();
      table.plan.parameters.push_back(std::move(parameter));
    }
    table.measures = {{"loss", "",
                       "root mean square of distances over noise, the other numbers as they were found",
                       "loss"}};
    for (std::size_t i = 0; i < table.plan.case_count; ++i) {
      points.push_back(best_);
      for (std::size_t k = 0; k < along.size(); ++k)
        points.back()[static_cast<Eigen::Index>(along[k])] =
            problem_.unknowns()[along[k]].part_of(table.plan.value(i, k));
    }
    record_.scans.push_back(std::move(table));
  }

  void add_step(const std::string& stage, const VectorXd& point, double loss) {
    record_.history.push_back({stage, problem_.values(point), loss, problem_.simulations(), seconds()});
    observer_.on_step(problem_, record_.history.back());
    save();
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void save() {
    const std::vector<double> start = problem_.values(start_),
                              found = problem_.values(best_.size() > 0 ? best_ : start_);
    if (record_.numbers.empty())
      for (const Unknown& unknown : problem_.unknowns())
        record_.numbers.push_back({unknown, 0, 0, std::nan(""), std::nan(""), Verdict::not_found});
    for (std::size_t u = 0; u < found.size(); ++u) {
      record_.numbers[u].start = start[u];
      record_.numbers[u].value = found[u];
    }
    record_.simulations = problem_.simulations();
    record_.missed_steps = problem_.missed_steps();
    record_.wall_seconds = seconds();
    replace_files({{folder_.path() / "fit.json", fit_json(problem_, record_)},
                   {folder_.path() / "fit.csv", fit_csv(problem_, record_)}});
    folder_.keep();
  }

  const FitRequest& request_;
  FitObserver& observer_;
  const Clock::time_point begin_ = Clock::now();
  const FitSpec spec_;
  OutputFolder folder_;
  std::string stage_ = "set-up";
  FitProblem problem_;
  VectorXd start_;
  VectorXd best_;
  int level_ = 1;
  double loss_ = 0;  ///< at the end, of whole windows
  Eigen::Index residual_count_ = 1;
  FitRecord record_;
};

}  // namespace

FitRecord run_fit(const FitRequest& request, FitObserver* observer) {
  FitObserver nobody;
  return Fit(request, observer ? *observer : nobody).run();
}

}  // namespace isocloth
