// Ctrl-C, SIGTERM and SIGHUP as a wish that long work hears.
#pragma once

#include "engine/core/monitor.hpp"

namespace isocloth {

/// While one lives, the first SIGINT, SIGTERM or SIGHUP tells a monitor's work to stop instead of ending the
/// program; a second one ends it. A hang-up that is ignored (nohup) stays ignored. One at a time.
class InterruptGuard {
 public:
  /// The monitor must outlive the guard.
  explicit InterruptGuard(Monitor& monitor);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

}  // namespace isocloth
