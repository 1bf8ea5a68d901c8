// Work that Ctrl-C ends: in a thread of its own, without the interpreter's lock, while the caller listens.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/core/monitor.hpp"

namespace isocloth::python {

/// What work hands back to the thread that waits for it: functions of Python see the thread that they were
/// called from.
class Caller {
 public:
  /// Does `errand` in the thread that listens, or, where none does, in this one; throws what it throws.
  template <class Errand>
  void run(const Errand& errand) {
    if (!listens_) return errand();
    std::exception_ptr error;
    const std::function<void()> guarded = [&] {
      try {
        errand();
      } catch (...) {
        error = std::current_exception();
      }
    };
    std::unique_lock lock(mutex_);
    errand_ = &guarded;
    wake_.notify_all();
    wake_.wait(lock, [this] { return errand_ == nullptr; });
    lock.unlock();
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }

  /// The listener's side, until the end; each() after every `pause` in which there was no errand.
  template <class Rep, class Period, class Each>
  void listen(const std::chrono::duration<Rep, Period>& pause, const Each& each) {
    std::unique_lock lock(mutex_);
    while (!is_over_) {
      const bool is_woken = wake_.wait_for(lock, pause, [this] { return is_over_ || errand_ != nullptr; });
      const std::function<void()>* const errand = errand_;
      lock.unlock();
      if (errand != nullptr)
        (*errand)();
      else if (!is_woken)
        each();
      lock.lock();
      if (errand == nullptr) continue;
      errand_ = nullptr;
      wake_.notify_all();
    }
  }
  void begin() {
    listens_ = true;
    is_over_ = false;
  }
  /// The last thing that the work does.
  void end() {
    const std::lock_guard lock(mutex_);
    listens_ = false;
    is_over_ = true;
    wake_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable wake_;
  const std::function<void()>* errand_ = nullptr;
  bool listens_ = false, is_over_ = false;
};

/// Signals reach Python's handlers within 50 ms. What they raise tells the monitor's work to stop, and is
/// raised when that has ended; so is what the work throws.
template <class Work>
void run_interruptible(Monitor& monitor, Caller& caller, const Work& work) {
  namespace nb = nanobind;
  std::exception_ptr error;
  std::optional<nb::python_error> raised;
  {
    const nb::gil_scoped_release released;
    caller.begin();
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      caller.end();
    });
    caller.listen(std::chrono::milliseconds(50), [&] {
      if (raised) return;
      const nb::gil_scoped_acquire acquired;
      if (PyErr_CheckSignals() != 0) {
        raised.emplace();
        monitor.stop = true;
      }
    });
    worker.join();
  }
  monitor.stop = false;
  if (raised) throw std::move(*raised);
  if (error) std::rethrow_exception(std::exchange(error, nullptr));
}
template <class Work>
void run_interruptible(Monitor& monitor, const Work& work) {
  Caller caller;
  run_interruptible(monitor, caller, work);
}

}  // namespace isocloth::python
