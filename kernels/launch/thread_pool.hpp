// A fixed set of workers that share out index ranges.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Items of a launch that are worth a thread: for fewer, waking it costs more than the work.
constexpr Index least_range = 1024;

class ThreadPool {
 public:
  /// `threads` in all, the calling one included; >= 1.
  explicit ThreadPool(int threads);
  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(begin, end) on ranges that cover [0, count), more than half of `grain` indices each; returns
  /// when all are done. Within a body the calling thread does all of it: what runs side by side launches
  /// alone. Two threads must not call it at once otherwise. A body must not throw.
  template <class Body>
  void run(Index count, Index grain, const Body& body) {
    if (workers_.empty() || count <= grain || is_inside()) {
      if (count > 0) body(Index{0}, count);
      return;
    }
    share([](const void* b, Index begin, Index end) { (*static_cast<const Body*>(b))(begin, end); }, &body,
          count, grain);
  }

  /// Whether the calling thread is within the body of a run.
  static bool is_inside();

 private:
  using Call = void (*)(const void*, Index, Index);
  void share(Call call, const void* body, Index count, Index grain);
  void drain();
  void work(const std::stop_token& stop);

  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  Call call_ = nullptr;
  const void* body_ = nullptr;
  Index count_ = 0, chunk_ = 1;
  std::atomic<Index> next_{0};
  int sleepers_ = 0;  ///< workers that wait for wake_
  std::atomic<int> busy_{0};
  std::atomic<unsigned> generation_{0};
  std::vector<std::jthread> workers_;  // last: joins before the rest is destroyed
};

}  // namespace isocloth
