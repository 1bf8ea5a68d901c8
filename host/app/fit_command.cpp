#include "host/app/fit_command.hpp"

#include <cmath>
#include <cstdio>
#include <optional>

#include "engine/core/text.hpp"
#include "host/app/interrupt.hpp"
#include "host/files/text_file.hpp"
#include "host/run/progress.hpp"
#include "host/sweep/svg.hpp"

namespace isocloth {
namespace {

/// Ctrl-C, a line for every step of the search, and progress within it.
class FitWatch : public FitObserver {
 public:
  explicit FitWatch(bool quiet) : quiet_(quiet) {}

  void on_set_up(const FitProblem& problem) override {
    interrupt_.emplace(monitor);
    if (!quiet_)
      std::fprintf(stderr, "isocloth: %zu unknowns, %zu experiments\n", problem.unknowns().size(),
                   problem.spec().experiments.size());
  }

  void on_step(const FitProblem& problem, const FitStep& step) override {
    progress_.reset();
    if (quiet_) return;
    std::string line = text(step.stage, ": ", tick_text(step.loss), " x noise");
    for (std::size_t u = 0; u < step.values.size(); ++u)
      line += text(", ", problem.unknowns()[u].label, " = ", tick_text(step.values[u]));
    std::fprintf(stderr, "isocloth: %s\n", line.c_str());
  }

  void on_work(const std::string& stage, std::int64_t done, std::int64_t total) override {
    if (!progress_ || stage != stage_ || done < done_) {
      progress_.reset();
      progress_.emplace(text("per cent of ", stage), total, 0, quiet_, &monitor);
      stage_ = stage;
    }
    done_ = done;
    progress_->update(done, std::string());
  }

  Monitor monitor;

 private:
  const bool quiet_;
  std::string stage_;
  std::int64_t done_ = 0;
  std::optional<InterruptGuard> interrupt_;
  std::optional<Progress> progress_;
};

/// A factor as text; "lost" where the cloth was lost at the start, so that the factor is not finite.
std::string told(double factor) { return std::isfinite(factor) ? tick_text(factor) : "lost"; }

void print_record(const FitRequest& request, const FitRecord& record) {
  const FitSpec spec = read_fit(request.file, request.access);
  for (std::size_t e = 0; e < record.experiments.size(); ++e) {
    const ExperimentRecord& found = record.experiments[e];
    const auto print = [&](const char* window, const FitErrors& start, const FitErrors& fitted) {
      if (fitted.positions > 0)
        std::printf("%s, %s: mean distance %s mm (start %s)\n", spec.experiments[e].name.c_str(), window,
                    tick_text(1000 * fitted.mean_distance).c_str(),
                    tick_text(1000 * start.mean_distance).c_str());
      if (fitted.forces > 0)
        std::printf("%s, %s: force within %s N rms (start %s)\n", spec.experiments[e].name.c_str(), window,
                    tick_text(fitted.rms_force).c_str(), tick_text(start.rms_force).c_str());
    };
    print("training", found.start_train, found.train);
    print("test", found.start_test, found.test);
  }
  for (const ChannelRecord& channel : record.channels)
    std::printf("%s, %s of %s: %s x noise left (start %s)%s\n",
                spec.experiments[channel.channel.experiment].name.c_str(),
                channel.is_test ? "test" : "training", channel.channel.name.c_str(),
                tick_text(channel.tests.noise_factor).c_str(), told(channel.start_rms).c_str(),
                channel.is_worse              ? ", worse than the start"
                : channel.tests.is_rejected() ? ", rejects the model"
                                              : "");
  for (const LeftOut& left_out : record.left_out)
    std::printf("%s left out: %s x noise foretold by the others (fitted %s, start %s)\n",
                spec.experiments[left_out.experiment].name.c_str(), tick_text(left_out.noise_factor).c_str(),
                tick_text(left_out.fitted_factor).c_str(), told(left_out.start_factor).c_str());
  for (const FittedNumber& number : record.numbers) std::printf("%s\n", describe(number).c_str());
  for (const std::string& note : record.notes) std::printf("note: %s\n", note.c_str());
  std::printf("%s: %lld simulations in %s s; result: %s (fit.html, fit.json, fit.csv, fitted/)\n",
              record.status.c_str(), static_cast<long long>(record.simulations),
              tick_text(record.wall_seconds).c_str(), request.output.c_str());
}

}  // namespace

void add_fit_options(CLI::App& command, FitCommand& fit) {
  const CLI::Validator named([](const std::string& path) { return path.empty() ? "the name is empty" : ""; },
                             "PATH");
  auto* schema = command.add_flag("--schema", fit.schema, "print the JSON Schema of the file");
  command.add_option("fit", fit.request.file, "what is looked for, in which recordings (JSON; see --schema)")
      ->check(named)
      ->excludes(schema);
  command.add_option("-o,--output", fit.request.output, "folder for numbers and pictures")->check(named);
  command.add_flag(
      "--simulate", fit.simulate,
      "write the recordings that the file names, as the scenes have them with the parameters' values, "
      "with noise: what would a recording tell?");
  auto* overwrite = command.add_flag("--overwrite", fit.overwrite, "replace an earlier fit");
  command.add_flag("--resume", fit.resume, "go on from the best numbers of an earlier fit")
      ->excludes(overwrite);
  command.add_flag("--quiet", fit.quiet, "show no progress");
}

int run_fit_command(FitCommand& fit, bool json) {
  FitRequest& request = fit.request;
  if (fit.schema) {
    std::puts(fit_schema().c_str());
    return 0;
  }
  if (request.file.empty()) throw SceneError("fit: found no file, expected one; see isocloth fit --help");
  if (request.output.empty() && !fit.simulate)
    throw SceneError("--output: found none, expected the folder for the result; see isocloth fit --help");
  if (fit.overwrite) request.if_exists = IfExists::overwrite;
  if (fit.resume) request.if_exists = IfExists::resume;
  FitWatch watch(fit.quiet);
  request.execution.monitor = &watch.monitor;
  if (fit.simulate) {
    for (const std::filesystem::path& path : simulate_recordings(request, &watch))
      std::printf("%s\n", path.c_str());
    return 0;
  }
  const FitRecord record = run_fit(request, &watch);
  if (json) {
    std::fputs(read_whole_file(request.output / "fit.json").c_str(), stdout);
  } else {
    print_record(request, record);
  }
  return record.status == "completed" ? 0 : record.status == "interrupted" ? 130 : 1;
}

}  // namespace isocloth
