// Ctrl-C and SIGTERM as a question that a loop asks.
#pragma once

namespace isocloth {

/// While one lives, SIGINT and SIGTERM set a flag instead of ending the program; a second one ends it.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  bool interrupted() const;
};

}  // namespace isocloth
