// Work that Ctrl-C ends: in a thread of its own, without the interpreter's lock, while the caller listens.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "engine/core/monitor.hpp"

namespace isocloth::python {

/// Signals reach Python's handlers within 50 ms. What they raise tells the monitor's work to stop, and is
/// raised when that has ended; so is what the work throws.
template <class Work>
void run_interruptible(Monitor& monitor, const Work& work) {
  namespace nb = nanobind;
  std::exception_ptr error;
  std::optional<nb::python_error> raised;
  {
    const nb::gil_scoped_release released;
    std::mutex mutex;
    std::condition_variable wake;
    bool is_done = false;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      is_done = true;
      wake.notify_one();
    });
    std::unique_lock lock(mutex);
    while (!wake.wait_for(lock, std::chrono::milliseconds(50), [&] { return is_done; })) {
      lock.unlock();
      if (!raised) {
        const nb::gil_scoped_acquire acquired;
        if (PyErr_CheckSignals() != 0) {
          raised.emplace();
          monitor.stop = true;
        }
      }
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  monitor.stop = false;
  if (raised) throw std::move(*raised);
  if (error) std::rethrow_exception(error);
}

}  // namespace isocloth::python
