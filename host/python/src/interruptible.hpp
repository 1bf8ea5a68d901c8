// Work that Ctrl-C ends: in a thread of its own, without the interpreter's lock, while the caller listens;
// what is soon done in the caller's.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/core/errors.hpp"
#include "engine/core/headroom.hpp"
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
    require_headroom(thread_headroom);
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

/// While it lives, SIGINT tells a monitor's work to stop, besides what it does to Python. One at a time:
/// where several threads step, the others stop when their steps are done.
class StopOnInterrupt {
 public:
  explicit StopOnInterrupt(Monitor& monitor) {
    Monitor* nobody = nullptr;
    if (!listener_.compare_exchange_strong(nobody, &monitor)) return;
    sigaction(SIGINT, nullptr, &before_);
    is_set_ = (before_.sa_flags & SA_SIGINFO) == 0 && before_.sa_handler != SIG_DFL &&
              before_.sa_handler != SIG_IGN;
    if (!is_set_) {
      listener_ = nullptr;
      return;
    }
    struct sigaction own = before_;
    own.sa_handler = receive;
    sigaction(SIGINT, &own, nullptr);
  }
  ~StopOnInterrupt() {
    if (!is_set_) return;
    sigaction(SIGINT, &before_, nullptr);
    listener_ = nullptr;
  }
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;

 private:
  static void receive(int signal) {
    if (Monitor* const monitor = listener_.load()) monitor->stop = true;
    before_.sa_handler(signal);
  }
  static inline std::atomic<Monitor*> listener_{nullptr};
  static inline struct sigaction before_ = {};
  static_assert(std::atomic<Monitor*>::is_always_lock_free);
  bool is_set_ = false;
};

/// The same in this thread, for work that is soon done and leaves all as it was where it is stopped: no
/// thread is made for it. A signal whose handler raises nothing costs that it is begun again.
template <class Work>
void run_here(Monitor& monitor, const Work& work) {
  for (bool again = true; again;) {
    again = false;
    try {
      const nanobind::gil_scoped_release released;
      const StopOnInterrupt listening(monitor);
      work();
    } catch (const Interrupted&) {
      if (!monitor.stop.exchange(false)) throw;
      if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
      again = true;
    } catch (...) {
      monitor.stop = false;
      throw;
    }
  }
  monitor.stop = false;
}

}  // namespace isocloth::python
