#include "host/app/sweep_command.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"
#include "host/app/interrupt.hpp"
#include "host/files/text_file.hpp"
#include "host/run/progress.hpp"

namespace isocloth {
namespace {

SweepWindow parse_window(const std::string& argument) {
  SweepWindow window;
  const std::size_t colon = argument.find(':');
  const bool good = colon != std::string::npos && parse_finite(argument.substr(0, colon), window.from) &&
                    parse_finite(argument.substr(colon + 1), window.to);
  const char* expected = good ? "FROM <= TO" : "FROM:TO in seconds";
  if (!good || window.from > window.to)
    throw SceneError(text("--window: found \"", printable(argument), "\", expected ", expected));
  return window;
}

/// Digits alone: a stream or strtoull would take -1 for the largest number.
std::uint64_t parse_seed(const std::string& argument) {
  std::uint64_t seed = 0;
  const char* const end = argument.data() + argument.size();
  const auto [stop, error] = std::from_chars(argument.data(), end, seed);
  if (error != std::errc() || stop != end)
    throw SceneError(text("--seed: found \"", printable(argument),
                          "\", expected a whole number from 0 to 18446744073709551615"));
  return seed;
}

}  // namespace

void add_sweep_options(CLI::App& command, SweepCommand& sweep) {
  SweepRequest& request = sweep.request;
  const CLI::Validator named([](const std::string& path) { return path.empty() ? "the name is empty" : ""; },
                             "PATH");
  command.add_option("scene", request.scene, "scene file with one garment")->required()->check(named);
  command.add_option("-o,--output", request.output, "folder for table and pictures")
      ->required()
      ->check(named);
  command
      .add_option(
          "--vary", request.vary,
          "number of the garment and its values: PATH=FROM:TO:COUNT[:log] or PATH=VALUE,VALUE,...; all "
          "combinations are run; with --sample PATH=FROM:TO[:log]; e.g. fabric.mass_damping=0:5:10")
      ->required()
      ->allow_extra_args(false);
  auto* sample = command
                     .add_option_function<std::size_t>(
                         "--sample", [&request](const std::size_t& count) { request.samples = count; },
                         "run N random cases instead of all combinations")
                     ->check(CLI::Range(std::size_t{1}, std::size_t{10'000'000}));
  command
      .add_option_function<std::string>(
          "--seed", [&request](const std::string& word) { request.seed = parse_seed(word); },
          "seed of --sample")
      ->type_name("UINT")
      ->default_str("0")
      ->needs(sample);
  command.add_option("--measure", request.measures, sweep_measure_help());
  command
      .add_option(
          "--against", request.against,
          "motion to measure distances to: base (the scene as it stands), a result folder, a trajectory.h5 "
          "or a CSV file (t, x1, y1, z1, ... of every node)")
      ->check(named);
  command.add_option_function<std::string>(
      "--window", [&request](const std::string& word) { request.window = parse_window(word); },
      "FROM:TO [s]: frames that measures count; default: the whole run");
  command
      .add_option(
          "--batch", request.batch,
          "cases simulated together, 0: 128 or as many as fit into 1 GiB; the table does not depend on it")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}))
      ->capture_default_str();
  command
      .add_option(
          "--case-seconds", request.case_seconds,
          "wall time that a case may take, alone or as its share of a batch; one that takes longer is "
          "listed as timed_out, and the others go on; 0: any [s]")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  auto* overwrite = command.add_flag("--overwrite", sweep.overwrite, "replace an earlier sweep");
  command.add_flag("--resume", sweep.resume, "go on after the last whole batch of an interrupted sweep")
      ->excludes(overwrite);
  command.add_flag("--quiet", sweep.quiet, "show no progress");
}

SweepOutcome run_sweep_command(SweepCommand& sweep, bool json) {
  SweepRequest& request = sweep.request;
  if (sweep.overwrite) request.if_exists = IfExists::overwrite;
  if (sweep.resume) request.if_exists = IfExists::resume;
  SweepOutcome outcome;
  {
    Monitor monitor;
    request.execution.monitor = &monitor;
    const InterruptGuard interrupt(monitor);
    std::optional<Progress> progress;
    outcome = run_sweep(request, [&](std::int64_t done, std::int64_t total, double realtime_factor) {
      // Begins where a resumed sweep begins; the reference run counts before zero.
      if (!progress)
        progress.emplace("case steps", total, std::max<std::int64_t>(0, done), sweep.quiet, &monitor);
      if (done >= 0) progress->update(done, realtime_factor);
    });
  }
  const SweepTable& table = outcome.table;
  const auto warn = [](const std::vector<std::string>& lines, const char* more) {
    constexpr std::size_t most = 3;
    for (std::size_t i = 0; i < std::min(most, lines.size()); ++i)
      std::fprintf(stderr, "isocloth: warning: %s\n", lines[i].c_str());
    if (lines.size() > most) std::fprintf(stderr, "isocloth: warning: %zu %s\n", lines.size() - most, more);
  };
  warn(outcome.losses, "more cases without measures");
  warn(outcome.warnings, "more such warnings");
  if (json) {
    std::fputs(read_whole_file(request.output / "sweep.json").c_str(), stdout);
  } else {
    std::printf("%s\n", table.counts().c_str());
    std::printf("result: %s (sweep.html, sweep.svg, sweep.csv, sweep.json)\n", request.output.c_str());
  }
  if (!outcome.is_complete)
    std::fprintf(stderr, "isocloth: interrupted after %zu of %zu cases; continue with --resume\n",
                 table.rows.size(), table.plan.case_count);
  return outcome;
}

}  // namespace isocloth
