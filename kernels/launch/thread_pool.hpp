// A fixed set of workers that share out index ranges.
#pragma once

#include <memory>

#include "engine/core/array_view.hpp"

namespace isocloth {

/// Items of a launch that are worth a thread: for fewer, waking it costs more than the work.
constexpr Index least_range = 1024;

/// A pool of threads; in a process that was forked it has workers of its own.
class ThreadPool {
 public:
  /// `threads` in all, the calling one included; >= 1.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int size() const { return threads_; }

  /// Calls body(begin, end) on ranges that cover [0, count), more than half of `grain` indices each; returns
  /// when all are done. Within a body the calling thread does all of it: what runs side by side launches
  /// alone. Two threads must not call it at once otherwise. A body must not throw.
  template <class Body>
  void run(Index count, Index grain, const Body& body) {
    if (threads_ == 1 || count <= grain || is_inside()) {
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
  class Workers;
  void share(Call call, const void* body, Index count, Index grain);

  const int threads_;
  std::unique_ptr<Workers> workers_;
};

}  // namespace isocloth
