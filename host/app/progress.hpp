// Progress of a long run: a bar on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace isocloth {

/// Writes to standard error. On a terminal one line is redrawn ten times a second; elsewhere a line is
/// printed every tenth of the work or every 30 s, whichever is later.
class Progress {
 public:
  /// `what` is done `total` times, of which `done` before this run.
  Progress(std::string what, std::int64_t total, std::int64_t done, bool quiet);
  ~Progress();
  /// `note` is shown after rate and time left.
  void update(std::int64_t done, const std::string& note);

 private:
  using Clock = std::chrono::steady_clock;
  void print(std::int64_t done, const std::string& note);

  std::string what_;
  std::int64_t total_, first_;
  bool quiet_, terminal_, drawn_ = false;
  std::int64_t printed_ = 0;
  Clock::time_point start_ = Clock::now(), last_;
};

}  // namespace isocloth
