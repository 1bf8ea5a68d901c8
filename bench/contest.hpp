// One piece of work, done by the engine and by libraries on the same arrays: times, errors, repeated bits.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bench/device_libraries.hpp"
#include "bench/report.hpp"
#include "host/memory/device.hpp"

namespace isocloth::bench {

/// What all ways of one piece of work have in common.
struct Contest {
  std::string work;             ///< "product", ...
  std::string size;             ///< "33 x 33", ...
  std::string precision;        ///< empty: whole numbers
  double tolerance = 0;         ///< of errors: one that is larger, and ten times the engine's, excludes
  std::function<void()> spoil;  ///< overwrites the result
  std::function<std::vector<double>()> result;                 ///< when the queue is empty
  std::function<double(const std::vector<double>&)> error_of;  ///< of a result
};

/// What one way came to.
struct Outcome {
  std::string name;
  double preparation = 0;               ///< once, of the pattern [s]
  double seconds = 0;                   ///< of one run
  std::optional<double> solve_seconds;  ///< of these, a solve with the factor
  double error = 0;                     ///< of the result
  bool repeats = false;                 ///< a second run had the same bits
  std::optional<bool> same_in_batch;    ///< the first system's bits do not depend on the others
  std::optional<std::string> failure;   ///< why there is nothing to compare
  std::vector<double> result;
};

/// Contests on one device.
class Contests {
 public:
  Contests(const Device& device, const DeviceLibraries& libraries, double budget)
      : device_(device), libraries_(libraries), budget_(budget) {}
  const Device& device() const { return device_; }
  const DeviceLibraries& libraries() const { return libraries_; }

  /// Opens one; the engine's way comes first.
  void begin(Contest contest);
  /// run(): asks `queue` for the work; the device's own if null. Its time is the best of what fits the budget
  /// [s of wall time], each long enough for the clock. A DeviceError is an outcome.
  Outcome& add(const std::string& name, const std::function<void()>& run, const Queue* queue = nullptr);
  /// The same for each task that can be made.
  void add(const TaskMakers<>& makers);
  void add(const TaskMakers<FactorTask>& makers);
  std::vector<Outcome>& outcomes() { return entries_.back().outcomes; }
  /// Wall time of one run [s].
  double time(const std::function<void()>& run, const Queue& queue) const;
  void note(const std::string& line) { notes_.push_back(line); }

  /// All outcomes, and for each contest what is the fastest that may serve.
  std::vector<Table> tables() const;

 private:
  struct Entry {
    Contest contest;
    std::vector<Outcome> outcomes;
  };
  template <class Task>
  void add_tasks(const TaskMakers<Task>& makers);
  const Device& device_;
  const DeviceLibraries& libraries_;
  double budget_;
  std::vector<Entry> entries_;
  std::vector<std::string> notes_;
};

/// The fastest of the outcomes that may take the engine's place (outcomes[0]): it repeats its bits, whatever
/// it is batched with, its error is within the tolerance or ten times the engine's, and it is at least `gain`
/// times as fast. Else 0.
std::size_t best_outcome(const std::vector<Outcome>& outcomes, double tolerance, double gain);

}  // namespace isocloth::bench
