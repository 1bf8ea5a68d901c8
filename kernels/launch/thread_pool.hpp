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

class ThreadPool {
 public:
  /// `threads` in all, the calling one included; >= 1.
  explicit ThreadPool(int threads);
  int size() const { return static_cast<int>(workers_.size()) + 1; }

  /// Calls body(begin, end) on ranges that cover [0, count), at least `grain` indices each; returns when all
  /// are done. Not reentrant. A body must not throw.
  template <class Body>
  void run(Index count, Index grain, const Body& body) {
    if (workers_.empty() || count <= grain) {
      if (count > 0) body(Index{0}, count);
      return;
    }
    share([](const void* b, Index begin, Index end) { (*static_cast<const Body*>(b))(begin, end); }, &body,
          count, grain);
  }

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
  int busy_ = 0;
  unsigned generation_ = 0;
  std::vector<std::jthread> workers_;  // last: joins before the rest is destroyed
};

}  // namespace isocloth
