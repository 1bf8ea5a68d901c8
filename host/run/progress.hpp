// Progress of a long run: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "engine/core/monitor.hpp"

namespace isocloth {

/// Writes to standard error, in the middle of a long item, too. On a terminal one line is redrawn, up to ten
/// times a second; elsewhere a line is printed after 10 s, or 5 s into an item, and then every tenth of the
/// time gone, a minute at most: none for a short run, some hundred for one of hours.
class Progress {
 public:
  /// `what` is done `total` times, of which `done` before this run. monitor: tells how far the item is that
  /// is being done, null: nobody does; it must outlive this.
  Progress(std::string what, std::int64_t total, std::int64_t done, bool quiet,
           const Monitor* monitor = nullptr);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// `note` is shown after rate and time left.
  void update(std::int64_t done, const std::string& note);
  void update(std::int64_t done, double realtime_factor);

 private:
  using Clock = std::chrono::steady_clock;
  void watch(const std::stop_token& stop);
  void print_if_due(bool is_update);
  /// Text on what is known of an item that takes long, or nothing.
  std::string inside() const;
  void print();

  const std::string what_;
  const std::int64_t total_, first_;
  const Monitor* const monitor_;
  bool quiet_;
  const bool terminal_;
  const Clock::time_point start_ = Clock::now();
  std::mutex mutex_;  ///< lock of all members below
  bool drawn_ = false;
  std::int64_t done_, iterations_ = 0;  ///< iterations: before the item that is being done
  std::string note_;
  Clock::time_point updated_ = start_, printed_ = start_;
  std::condition_variable_any wake_;
  std::jthread watcher_;  ///< last: joins before the rest is destroyed
};

}  // namespace isocloth
