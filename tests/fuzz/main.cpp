// Damaged and changed scenes, thousands of them, through the command: nothing crashes, hangs, lies or is
// lost.
//
//   fuzz_scenes COMMAND SCENES [--count N] [--runs M] [--results K] [--datasets D] [--memory L] [--seed S]
//   [--only KIND:NUMBER] [--keep FOLDER]
//
// N scenes with anything wrong go through `check`, M that can often be run through `check` and `run`, K
// results with damaged files through `report` and `run --resume`, D with a dataset that lies elsewhere or
// about its size through these and as a recorded motion, and L scenes through `check`, `run` and `report`
// with 48 to 200 MB of memory. Prints each kind of failure once, with the number of its cases and the first
// of them, kept with its files in FOLDER; --only repeats one. Exit code 1 when anything failed. By hand:
//
//   build/release/bin/fuzz_scenes build/release/bin/isocloth bench/scenes --count 10000 --runs 1000 --results
//   300 --seed 1
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <thread>

#include "engine/core/text.hpp"
#include "tests/fuzz/mutations.hpp"
#include "tests/fuzz/verdict.hpp"
#include "tests/io/hostile_hdf5.hpp"
#include "tests/io/temporary_folder.hpp"
#include "tests/support/sanitized.hpp"

namespace isocloth {
namespace {

namespace fs = std::filesystem;
using Files = std::map<std::string, std::string>;

struct Options {
  std::string command, scenes, only, keep = "fuzz_failures";
  std::size_t count = 1000, runs = 100, results = 30, datasets = 30, memory = 30;
  std::uint64_t seed = 1;
};

/// Failures of one kind.
struct Failure {
  std::string example;
  std::size_t count = 0;
};

/// A message without its numbers and names.
std::string without_values(const std::string& message) {
  static const std::regex quoted("\"[^\"]*\""), path("[^ ]*/[^ :]*"),
      number("-?[0-9]+([.][0-9]*)?(e[-+]?[0-9]+)?");
  std::string kind = message.substr(0, 300);
  for (const std::regex* pattern : {&quoted, &path, &number}) kind = std::regex_replace(kind, *pattern, "#");
  return kind.substr(0, 120);
}

/// How much a scene asks for, as `check --json` says it; without: it is refused.
struct Accepted {
  std::int64_t step_count = 0, node_count = 0;
  bool is_small() const { return step_count <= 100 && node_count <= 2000; }
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& options) : options_(options), seeds_(seed_scenes(options.scenes)) {}

  int run() {
    fs::create_directories(options_.keep);
    check_seeds();
    const auto repeat = [this](const char* kind, std::size_t count, void (Fuzzer::*one)(Choice&)) {
      for (std::size_t i = 0; i < count; ++i) {
        id_ = text(kind, ":", i);
        if (!options_.only.empty() && options_.only != id_) continue;
        // Each case has its own numbers, so that one can be repeated alone.
        Choice choice(options_.seed * 1'000'003 + i * 7 + static_cast<std::uint64_t>(kind[0]));
        (this->*one)(choice);
        if ((i + 1) % 1000 == 0)
          say(text(kind, " ", i + 1, " of ", count, ", ", failures_.size(), " kinds of failures"));
      }
    };
    repeat("check", options_.count, &Fuzzer::check_one);
    repeat("run", options_.runs, &Fuzzer::run_one);
    repeat("result", options_.results, &Fuzzer::damage_one_result);
    repeat("dataset", options_.datasets, &Fuzzer::put_one_hostile_dataset);
    repeat("memory", options_.memory, &Fuzzer::limit_memory_of_one);
    return report();
  }

 private:
  static constexpr const char* scene_name = "scene.json";
  static constexpr rlim_t usual_memory = rlim_t{4} << 30;
  /// What any small scene is allowed [s].
  static constexpr int patience = unless_sanitized(10, 200);

  void say(const std::string& line) const {
    std::printf("%6.1f s  %s\n", std::chrono::duration<double>(Clock::now() - start_).count(), line.c_str());
    std::fflush(stdout);
  }

  void write(const fs::path& folder, const FuzzCase& fuzz) const {
    fs::remove_all(folder);
    fs::create_directories(folder);
    write_whole_file(folder / scene_name, fuzz.scene);
    for (const auto& [name, bytes] : fuzz.files) write_whole_file(folder / name, bytes);
  }

  /// Runs the command; interrupts it after a while, which must end it. Processor time is what counts: other
  /// programs may hold this one up.
  Finished isocloth(std::vector<std::string> arguments, bool is_small = true) {
    arguments.insert(arguments.begin(), options_.command);
    command_ = arguments;
    ProcessOptions limits{.folder = folder()};
    // A sanitizer takes terabytes of address space.
    if constexpr (!is_sanitized) limits.memory = memory_;
    Process process(arguments, limits);
    const auto ends_within = [&process](double seconds) {
      const double before = process.processor_time();
      const auto start = Clock::now();
      for (int i = 0; process.is_running(); ++i) {
        std::this_thread::sleep_for(std::chrono::microseconds(300));
        if (i % 100 == 99 && (process.processor_time() - before > seconds ||
                              Clock::now() - start > std::chrono::duration<double>(6 * seconds)))
          return false;
      }
      return true;
    };
    interrupted_ = !ends_within(is_small ? patience : 0.2 * patience);
    if (interrupted_) process.send(SIGINT);
    hung_ = interrupted_ && !ends_within(0.2 * patience);
    if (hung_) process.send(SIGKILL);
    return process.wait();
  }
  Faults faults_of(const Finished& end) {
    if (hung_ || (interrupted_ && command_[1] != "run")) return {{text("hang of ", command_[1]), ""}};
    if (interrupted_) ++endings_["run interrupted"];
    Faults faults = faults_of_command(end, interrupted_);
    if (memory_ == usual_memory && end.errors.find("ended for want of memory") != std::string::npos)
      faults.push_back({"an end that nobody caught", end.errors});
    return faults;
  }
  fs::path folder() const { return home_ / "case"; }

  /// Counts what is wrong, and keeps the first of each kind.
  void note(const Faults& faults, const FuzzCase& fuzz) {
    for (const Fault& fault : faults) {
      Failure& failure = failures_[fault.kind];
      ++failure.count;
      std::ofstream(fs::path(options_.keep) / "failures.txt", std::ios::app)
          << id_ << " from " << fuzz.name << ": " << fault.kind << ": " << fault.detail << '\n';
      if (failure.count > 1) continue;
      const fs::path kept = fs::path(options_.keep) / std::to_string(failures_.size());
      failure.example =
          text(kept.string(), ", ", id_, ", from ", fuzz.name, ": ", fault.kind, ": ", fault.detail);
      write(kept, fuzz);
      std::ofstream note(kept / "failure.txt");
      note << fault.kind << ": " << fault.detail << "\n--seed " << options_.seed << " --only " << id_ << "\n";
      for (const std::string& word : command_) note << word << ' ';
      note << "\nfrom " << fuzz.name << '\n';
      for (const std::string& change : fuzz.changes) note << "  " << change << '\n';
      say(failure.example);
    }
  }

  /// What is mutated must be right to begin with.
  void check_seeds() {
    id_ = "seed";
    for (const SeedScene& seed : seeds_) {
      const FuzzCase fuzz{seed.name, seed.scene.dump(1), seed.files, {}};
      write(folder(), fuzz);
      const Finished end = isocloth({"check", scene_name});
      if (end.code != 0) note({{"a shipped scene is refused: " + seed.name, end.errors}}, fuzz);
    }
  }

  std::optional<Accepted> check(const FuzzCase& fuzz) {
    write(folder(), fuzz);
    const Finished end = isocloth({"check", scene_name, "--json"});
    note(faults_of(end), fuzz);
    ++endings_[text("check ", end.code)];
    if (end.code != 0) return {};
    Accepted accepted;
    try {
      const Json said = Json::parse(end.output);
      accepted.step_count = said.at("step_count");
      for (const Json& garment : said.at("garments"))
        accepted.node_count += garment.at("node_count").get<std::int64_t>();
    } catch (const std::exception& error) {
      note({{"check --json prints no JSON", error.what()}}, fuzz);
    }
    return accepted;
  }

  void check_one(Choice& choice) {
    const FuzzCase fuzz = broken_scene(seeds_, choice);
    if (choice.happens(0.5)) {
      check(fuzz);
      return;
    }
    write(folder(), fuzz);
    note(faults_of(isocloth({"check", scene_name})), fuzz);
  }

  static std::vector<std::string> run_options(Choice& choice) {
    std::vector<std::string> options = {"--quiet", "--threads", "1"};
    if (choice.happens(0.2)) options.insert(options.end(), {"--precision", "float32"});
    if (choice.happens(0.2))
      options.insert(options.end(), {"--solver", choice.of({"batched", "direct", "mixed", "iterative"})});
    return options;
  }

  Finished run_scene(const std::vector<std::string>& options, bool is_small = true) {
    std::vector<std::string> arguments = {"run", scene_name, "-o", "out"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    return isocloth(arguments, is_small);
  }

  void run_one(Choice& choice) {
    FuzzCase fuzz = choice.happens(0.7) ? changed_scene(seeds_, choice) : broken_scene(seeds_, choice);
    std::optional<Accepted> accepted = check(fuzz);
    // What is refused says little: a few are run all the same, for most another is looked for.
    for (int tries = 0; !accepted && tries < 20 && choice.happens(0.95); ++tries) {
      fuzz = choice.happens(0.7) ? changed_scene(seeds_, choice) : broken_scene(seeds_, choice);
      accepted = check(fuzz);
    }
    std::vector<std::string> options = run_options(choice);
    // A scene that is right may still not suit another solver, which the command line chose.
    const bool as_it_is = options.size() == 3;
    const Finished end = run_scene(options, !accepted || accepted->is_small());
    ++endings_[text("run ", end.code)];
    Faults faults = faults_of(end);
    if (accepted && as_it_is && end.code == 2)
      faults.push_back({"check accepts, run refuses: " + without_values(end.errors), end.errors});
    if (!accepted && end.code != 2) faults.push_back({text("check refuses, run ends with ", end.code), ""});
    const fs::path out = folder() / "out";
    if (end.code == 0 || end.code == 1 || end.code == 130)
      for (const Fault& fault : faults_of_result(folder() / scene_name, out, end.code))
        faults.push_back(fault);
    else if (end.code == 2 && fs::exists(out))
      faults.push_back({"refused, but left a folder", ""});
    note(faults, fuzz);
  }

  Files result_files() const {
    Files files;
    for (const char* name : {"trajectory.h5", "report.html", "checkpoint.h5"})
      files[name] = read_whole_file(folder() / "out" / name);
    return files;
  }

  /// A damaged trajectory or checkpoint is refused, or nothing that it says has changed; nothing is deleted.
  void damage_one_result(Choice& choice) {
    FuzzCase fuzz = changed_scene(seeds_, choice);
    write(folder(), fuzz);
    const std::vector<std::string> plain = {"--quiet", "--threads", "1"};
    if (run_scene(plain).code != 0) return;
    const Files before = result_files();
    const std::string damaged = choice.of({"trajectory.h5", "trajectory.h5", "checkpoint.h5"});
    std::string bytes = before.at(damaged);
    fuzz.changes.push_back(damaged + ": " + damage_in_place(bytes, choice));
    write_whole_file(folder() / "out" / damaged, bytes);
    const bool reports = damaged == "trajectory.h5" && choice.happens(0.5);
    const char* what = reports ? "report" : "run --resume";
    const Finished end =
        reports ? isocloth({"report", "out"}) : run_scene({"--quiet", "--threads", "1", "--resume"});
    ++endings_[text(what, " of damage ", end.code)];
    Faults faults = faults_of(end);
    for (const char* file : {"trajectory.h5", "checkpoint.h5"})
      if (!fs::exists(folder() / "out" / file)) faults.push_back({text("a damaged result loses ", file), ""});
    if (faults.empty() && end.code == 0 &&
        without_times(result_files().at("report.html")) != without_times(before.at("report.html")))
      faults.push_back({text(damaged, ": damage is taken for results by ", what), ""});
    fuzz.files[damaged] = bytes;
    note(faults, fuzz);
  }

  /// A dataset that HDF5 would read elsewhere, or of which there is less than it says, is refused at once,
  /// and nothing of other files is said, written or kept.
  void put_one_hostile_dataset(Choice& choice) {
    FuzzCase fuzz = changed_scene(seeds_, choice);
    write(folder(), fuzz);
    if (run_scene({"--quiet", "--threads", "1"}).code != 0) return;
    const std::string file = choice.of({"trajectory.h5", "trajectory.h5", "checkpoint.h5"});
    const fs::path path = folder() / "out" / file;
    const HostileDataset& kind = choice.of(hostile_datasets());
    const std::string name = choice.of(dataset_names(path));
    if (!make_hostile(path, name, kind)) return;
    fuzz.changes.push_back(text(file, ": ", name, ": ", kind.name));
    const bool reports = file == "trajectory.h5" && choice.happens(0.5);
    const Finished end =
        reports ? isocloth({"report", "out"}) : run_scene({"--quiet", "--threads", "1", "--resume"});
    const char* what = reports ? "report" : "run --resume";
    ++endings_[text(what, " of a hostile dataset ", end.code)];
    Faults faults = faults_of(end);
    if (end.code == 0) faults.push_back({text(what, " takes ", kind.name, " for a result"), name});
    for (const std::string& said : {end.errors, end.output, read_whole_file(folder() / "out/report.html")})
      if (said.find("1234567") != std::string::npos)
        faults.push_back({text(what, " tells what is in another file, by ", kind.name), name});
    fuzz.files[file] = read_whole_file(path);
    note(faults, fuzz);
  }

  /// Where memory ends, a command ends with one line, and a result that it gives is whole.
  void limit_memory_of_one(Choice& choice) {
    FuzzCase fuzz = changed_scene(seeds_, choice);
    write(folder(), fuzz);
    const auto limited = [&](const auto& command) {
      memory_ = (rlim_t{48} << 20) + choice.below(std::size_t{152} << 20);
      const Finished end = command();
      fuzz.changes = {text(memory_, " bytes of memory")};
      // The loader's own refusal: the program had not begun.
      const bool has_begun = end.code != 127 || end.errors.find("shared libraries") == std::string::npos;
      ++endings_[text(command_[1], " with little memory ", end.code)];
      if (has_begun) note(faults_of(end), fuzz);
      memory_ = usual_memory;
      return end.code;
    };
    for (int i = 0; i < 3; ++i) limited([&] { return isocloth({"check", scene_name}); });
    const fs::path out = folder() / "out";
    for (int i = 0; i < 3; ++i) {
      fs::remove_all(out);
      const int code = limited([&] { return run_scene({"--quiet", "--checkpoint-every", "0.02"}); });
      if (code == 0 || code == 1) {
        note(faults_of_result(folder() / scene_name, out, code), fuzz);
        limited([&] { return isocloth({"report", "out"}); });
      }
    }
    // Of what the last one left there is a result after all, or the scene is refused as it is without a
    // limit.
    const Finished end = run_scene({"--quiet", fs::exists(out) ? "--overwrite" : "--resume"});
    if (end.code == 0 || end.code == 1)
      note(faults_of_result(folder() / scene_name, out, end.code), fuzz);
    else
      note(faults_of(end), fuzz);
  }

  /// A page without what is of one process: what a clock said, and how much memory there was.
  static std::string without_times(const std::string& page) {
    static const std::regex timing(
        "\"(wall_seconds|setup_seconds|realtime_factor|memory_bytes)\": ?[-+.e0-9]+");
    return std::regex_replace(page, timing, "");
  }

  int report() const {
    for (const auto& [ending, count] : endings_) std::printf("%6zu x %s\n", count, ending.c_str());
    std::size_t count = 0;
    for (const auto& [kind, failure] : failures_) {
      std::printf("%6zu x %s\n", failure.count, failure.example.c_str());
      count += failure.count;
    }
    say(text(options_.count, " checks, ", options_.runs, " runs, ", options_.results, " damaged results, ",
             options_.datasets, " hostile datasets, ", options_.memory, " with little memory, seed ",
             options_.seed, ": ", count, " failures of ", failures_.size(), " kinds"));
    return failures_.empty() ? 0 : 1;
  }

  using Clock = std::chrono::steady_clock;
  const Options& options_;
  const Clock::time_point start_ = Clock::now();
  std::vector<SeedScene> seeds_;
  TemporaryFolder home_;
  std::map<std::string, Failure> failures_;
  std::map<std::string, std::size_t> endings_;
  rlim_t memory_ = usual_memory;             ///< of commands [bytes]
  bool interrupted_ = false, hung_ = false;  ///< of the latest command
  std::string id_;
  std::vector<std::string> command_;
};

}  // namespace
}  // namespace isocloth

int main(int argc, char** argv) {
  isocloth::Options options;
  CLI::App app{"Damaged and changed scenes through the command"};
  app.add_option("command", options.command, "the program isocloth")->required();
  app.add_option("scenes", options.scenes, "folder of scenes to begin with")->required();
  app.add_option("--count", options.count, "scenes for check");
  app.add_option("--runs", options.runs, "scenes for run");
  app.add_option("--results", options.results, "results to damage");
  app.add_option("--datasets", options.datasets, "results in which a dataset lies or lies elsewhere");
  app.add_option("--memory", options.memory, "scenes with little memory");
  app.add_option("--seed", options.seed, "of all choices");
  app.add_option("--only", options.only, "the one case to repeat, as check:17");
  app.add_option("--keep", options.keep, "folder for the first case of each kind of failure");
  CLI11_PARSE(app, argc, argv);
  try {
    options.command = std::filesystem::absolute(options.command);
    return isocloth::Fuzzer(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fuzz_scenes: %s\n", error.what());
    return 2;
  }
}
