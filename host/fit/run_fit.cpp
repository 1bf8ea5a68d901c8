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
#include "host/fit/judgement.hpp"
#include "host/fit/least_squares.hpp"
#include "host/fit/leave_one_out.hpp"
#include "host/fit/loss_scans.hpp"
#include "host/results/output_folder.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

using Clock = std::chrono::steady_clock;
using Eigen::VectorXd;

constexpr double wide = 5;  ///< factor of wide differences over those that the file says
/// Relative half widths of Verdict::found and Verdict::weak.
constexpr double found_width = 0.1, weak_width = 0.5;

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
      cross_validate();
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

  /// Searches with wide differences, which see over what noise in the motion of pins or contacts make rough,
  /// then with narrow ones.
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
    if (!instruments || fitted.has_failed) return;
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
    residuals_ = both[0];
    loss_ = loss_of(residuals_);
    // Of two differences the one that says less: where the loss is rough, narrow ones see its roughness.
    jacobian_ = problem_.jacobian(best_, 1, spec_.difference);
    const Eigen::MatrixXd smooth =
        problem_.has_derivatives() ? jacobian_ : jacobian_at(at, best_, wide * spec_.difference);
    for (Eigen::Index u = 0; u < jacobian_.cols(); ++u)
      if (smooth.col(u).norm() < jacobian_.col(u).norm()) jacobian_.col(u) = smooth.col(u);
    const Confidence confidence = confidence_of(residuals_, jacobian_);
    record_.correlation = confidence.correlation;
    record_.noise_factor = std::sqrt(confidence.variance);
    std::vector<ResidualSource> sources;
    for (std::size_t e = 0; e < record_.experiments.size(); ++e) {
      const MeasuredResiduals measured = problem_.measured(e, record_.experiments[e].fitted, false);
      sources.insert(sources.end(), measured.sources.begin(), measured.sources.end());
    }
    const std::vector<BlockInterval> intervals = block_intervals(residuals_, jacobian_, sources);
    for (std::size_t u = 0; u < record_.numbers.size(); ++u) judge(u, intervals[u]);
    judge_model(channel_leverage(jacobian_, sources, problem_.channels().size()));
    tell_apart();
    if (const double start = loss_of(both[1]); std::isfinite(start) && !(loss_ < (1 - 1e-6) * start))
      record_.notes.push_back("the fit is no better than its start");
    if (problem_.missed_steps() > 0)
      record_.notes.push_back(text(problem_.missed_steps(),
                                   " steps missed their tolerance; see isocloth run of the "
                                   "scenes in the folder fitted"));
  }

  void judge_model(const std::vector<double>& leverage) {
    record_.channels = judge_channels(problem_, record_.experiments, leverage);
    const bool is_determined = std::ranges::all_of(record_.numbers, [](const FittedNumber& number) {
      return number.verdict == Verdict::found || number.verdict == Verdict::weak;
    });
    record_.rejection = reject_model(record_.channels, problem_, is_determined);
    if (!record_.rejection.empty()) {
      if (record_.status == "completed") record_.status = "model rejected";
      record_.notes.insert(record_.notes.begin(), "model rejected: " + record_.rejection);
      for (std::size_t u = 0; u < record_.numbers.size(); ++u)
        // Were what is left noise, the recordings would say them: it is the model that does not let them.
        if (record_.numbers[u].verdict != Verdict::at_its_bound && independent_widths_[u] <= weak_width)
          record_.numbers[u].verdict = Verdict::model_rejected;
    } else if (record_.noise_factor > 1.5) {
      record_.notes.push_back(text("what is left is ", tick_text(record_.noise_factor),
                                   " times the stated noise, of too few numbers to reject the model"));
    }
    note_numbers();
    const std::vector<std::string> notes =
        channel_notes(record_.channels, problem_, !record_.rejection.empty());
    record_.notes.insert(record_.notes.end(), notes.begin(), notes.end());
  }

  void judge(std::size_t u, const BlockInterval& interval) {
    const Unknown& unknown = problem_.unknowns()[u];
    FittedNumber& found = record_.numbers[u];
    const double t = best_[static_cast<Eigen::Index>(u)], half = interval.half;
    found.low = std::max(unknown.at(std::max(0.0, t - half)), unknown.from);
    found.high = std::min(unknown.at(std::min(1.0, t + half)), unknown.to);
    found.inflation = interval.independent > 0 && std::isfinite(half) ? half / interval.independent : 1;
    const double width = relative_half_width(unknown, t, half);
    found.verdict = width <= found_width  ? Verdict::found
                    : width <= weak_width ? Verdict::weak
                                          : Verdict::not_found;
    if (t < 0.005 || t > 0.995) found.verdict = Verdict::at_its_bound;
    independent_widths_.push_back(relative_half_width(unknown, t, interval.independent));
  }

  void note_numbers() {
    for (std::size_t u = 0; u < record_.numbers.size(); ++u) {
      const FittedNumber& found = record_.numbers[u];
      const Unknown& unknown = found.unknown;
      if (found.verdict == Verdict::not_found && independent_widths_[u] <= weak_width)
        record_.notes.push_back(text(unknown.label, ": what is left is correlated in time, and its interval ",
                                     tick_text(found.inflation),
                                     " times that of independent noise; record more of what depends on it"));
      else if (found.verdict == Verdict::not_found)
        record_.notes.push_back(text(unknown.label,
                                     ": the recordings do not say what it is; fix it, or record a motion "
                                     "that depends on it"));
      if (found.verdict == Verdict::at_its_bound)
        record_.notes.push_back(
            text(unknown.label, ": ends at its bound, ",
                 tick_text(best_[static_cast<Eigen::Index>(u)] < 0.5 ? unknown.from : unknown.to),
                 "; widen it if the number may lie beyond"));
    }
  }

  /// What each recording of three or more is worth as a test of the others.
  void cross_validate() {
    if (!spec_.leave_one_out) return;
    stage_ = "recordings left out";
    record_.left_out = leave_one_out(problem_, best_, residuals_, jacobian_, record_.experiments);
    const std::vector<std::string> notes = left_out_notes(problem_, record_);
    record_.notes.insert(record_.notes.end(), notes.begin(), notes.end());
  }

  void scan() {
    if (!spec_.scans) return;
    stage_ = "scans";
    record_.scans = scan_loss(problem_, best_);
    for (const SweepTable& table : record_.scans)
      if (const std::string lower = lower_elsewhere(table, loss_); !lower.empty())
        record_.notes.push_back(lower);
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
      for (const Unknown& unknown : problem_.unknowns()) record_.numbers.push_back({.unknown = unknown});
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
  double loss_ = 0;     ///< loss at the end, of whole windows
  VectorXd residuals_;  ///< residuals at the end, of whole windows
  Eigen::MatrixXd jacobian_;
  /// Relative half widths of the intervals, were what is left independent.
  std::vector<double> independent_widths_;
  Eigen::Index residual_count_ = 1;
  FitRecord record_;
};

}  // namespace

FitRecord run_fit(const FitRequest& request, FitObserver* observer) {
  FitObserver nobody;
  return Fit(request, observer ? *observer : nobody).run();
}

}  // namespace isocloth
