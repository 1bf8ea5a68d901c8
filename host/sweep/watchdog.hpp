// Ends work that takes too long.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/core/monitor.hpp"

namespace isocloth {

/// While it lives: after `seconds` of wall time it tells the monitor's work to stop. 0: never. It takes back
/// what it told when it goes.
class Watchdog {
 public:
  Watchdog(Monitor& monitor, double seconds) : monitor_(monitor) {
    if (seconds > 0)
      thread_ = std::thread([this, seconds] {
        std::unique_lock lock(mutex_);
        // What the user stops is not taken back. Longer than a clock can count is for ever, too.
        const std::chrono::duration<double> limit(std::min(seconds, 1e9));
        if (!wake_.wait_for(lock, limit, [this] { return is_over_; }))
          has_expired_ = !monitor_.stop.exchange(true);
      });
  }
  ~Watchdog() {
    has_expired();
    if (has_expired_) monitor_.stop = false;
  }
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Whether the time was over before this was asked first; from then on it does not bite.
  bool has_expired() {
    if (!thread_.joinable()) return has_expired_;
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    wake_.notify_all();
    thread_.join();
    return has_expired_;
  }

 private:
  Monitor& monitor_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool is_over_ = false, has_expired_ = false;
  std::thread thread_;
};

}  // namespace isocloth
