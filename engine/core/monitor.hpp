// What long work and whoever waits for it tell each other.
#pragma once

#include <atomic>
#include <cstdint>

#include "engine/core/errors.hpp"
#include "engine/core/platform.hpp"

namespace isocloth {

/// Belongs to whoever waits, and must outlive the work. Any thread may use it, a signal handler too. Results
/// depend on nothing of it.
struct Monitor {
  /// The work is to end, and what has begun is to count as not begun; stays set until the work has returned.
  std::atomic<bool> stop{false};
  // On a line of their own: threads ask for `stop` far more often than these change.
  alignas(64) std::atomic<std::int64_t> iterations{0};  ///< linear solves and sweeps of all garments so far
  /// Part, from 0, and number of parts of the step of the garment that told last.
  std::atomic<int> part{0}, parts{1};
};
static_assert(std::atomic<bool>::is_always_lock_free);

/// The side of the work; null: nobody waits.
class MonitorView {
 public:
  MonitorView() = default;
  explicit MonitorView(Monitor* monitor) : monitor_(monitor) {}

  bool exists() const { return monitor_ != nullptr; }
  /// Never inside of a kernel on a device, which runs to its end.
  ISOCLOTH_HD bool stops() const {
#if defined(__CUDA_ARCH__)
    return false;
#else
    return monitor_ != nullptr && monitor_->stop.load(std::memory_order_relaxed);
#endif
  }
  /// Throws Interrupted when the work is to end.
  void check() const {
    if (stops()) throw Interrupted("interrupted");
  }
  ISOCLOTH_HD void count([[maybe_unused]] std::int64_t iterations) const {
#if !defined(__CUDA_ARCH__)
    if (monitor_ != nullptr) monitor_->iterations.fetch_add(iterations, std::memory_order_relaxed);
#endif
  }
  /// Tells the part, from 0, and the number of parts of the step that is being done.
  void enter(int part, int parts) const {
    if (monitor_ == nullptr) return;
    monitor_->part.store(part, std::memory_order_relaxed);
    monitor_->parts.store(parts, std::memory_order_relaxed);
  }

 private:
  Monitor* monitor_ = nullptr;
};

}  // namespace isocloth
