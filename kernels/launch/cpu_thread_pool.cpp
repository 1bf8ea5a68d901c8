#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include "engine/core/headroom.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

thread_local bool inside = false;

/// Waits awake for the short while that passes between most launches: to put a thread to sleep and wake it
/// takes as long as a kernel of a thousand nodes. Others that want the core get it meanwhile. Returns whether
/// it came true.
template <class Condition>
bool comes_soon(const Condition& condition) {
  constexpr int looks = 500;  // some 0.2 ms where nobody else wants the core
  for (int n = 0; n < looks; ++n) {
    if (condition()) return true;
    std::this_thread::yield();
  }
  return condition();
}

/// Ranges of one size, about `chunk` and more than half of it, as many for each thread: of one and a fourth,
/// or of three, two threads would gain less.
Index even_chunk(Index count, Index chunk, Index threads) {
  Index ranges = (count - 1) / chunk + 1;
  if (ranges > threads) ranges = ((ranges - 1) / threads + 1) * threads;
  return (count - 1) / ranges + 1;
}

/// Forks between the first process that had a pool and this one.
std::atomic<unsigned> forks{0};
unsigned count_of_forks() {
  [[maybe_unused]] static const int counted = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  return forks;
}

}  // namespace

/// The workers of one process.
class ThreadPool::Workers {
 public:
  explicit Workers(int count) {
    threads_.reserve(static_cast<std::size_t>(count));
    try {
      for (int i = 0; i < count && has_headroom(thread_headroom); ++i)
        threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
    } catch (const std::system_error&) {
      // Of memory or of threads the process may have no more: those that are there do the work, to the same
      // bits.
    }
  }
  bool are_of_this_process() const { return forks_ == count_of_forks(); }
  void share(Call call, const void* body, Index count, Index grain);

 private:
  void drain();
  void work(const std::stop_token& stop);

  const unsigned forks_ = count_of_forks();
  std::mutex mutex_;
  std::condition_variable_any wake_;
  std::condition_variable done_;
  Call call_ = nullptr;
  const void* body_ = nullptr;
  Index count_ = 0, chunk_ = 1;
  std::atomic<Index> next_{0};
  int sleepers_ = 0;  ///< threads that wait for wake_
  std::atomic<int> busy_{0};
  std::atomic<unsigned> generation_{0};
  std::vector<std::jthread> threads_;  // last: joins before the rest is destroyed
};

bool ThreadPool::is_inside() { return inside; }

ThreadPool::ThreadPool(int threads) : threads_(threads), workers_(std::make_unique<Workers>(threads - 1)) {}

ThreadPool::~ThreadPool() {
  if (!workers_->are_of_this_process()) static_cast<void>(workers_.release());
}

void ThreadPool::share(Call call, const void* body, Index count, Index grain) {
  // A fork leaves the threads behind, and locks as they held them: neither can be joined or destroyed.
  if (!workers_->are_of_this_process()) {
    static_cast<void>(workers_.release());
    workers_ = std::make_unique<Workers>(threads_ - 1);
  }
  workers_->share(call, body, count, grain);
}

void ThreadPool::Workers::share(Call call, const void* body, Index count, Index grain) {
  bool wakes = false;
  {
    const std::scoped_lock lock(mutex_);
    const auto others = static_cast<int>(threads_.size());
    const Index size = others + 1;
    call_ = call;
    body_ = body;
    count_ = count;
    chunk_ = even_chunk(count, std::max(grain, count / (8 * size)), size);
    next_.store(0, std::memory_order_relaxed);
    busy_.store(others, std::memory_order_relaxed);
    generation_.fetch_add(1, std::memory_order_release);
    wakes = sleepers_ > 0;
  }
  if (wakes) wake_.notify_all();
  drain();
  const auto all_done = [this] { return busy_.load(std::memory_order_acquire) == 0; };
  if (comes_soon(all_done)) return;
  std::unique_lock lock(mutex_);
  done_.wait(lock, all_done);
}

void ThreadPool::Workers::drain() {
  inside = true;
  for (Index begin; (begin = next_.fetch_add(chunk_, std::memory_order_relaxed)) < count_;)
    call_(body_, begin, std::min(begin + chunk_, count_));
  inside = false;
}

void ThreadPool::Workers::work(const std::stop_token& stop) {
  for (unsigned seen = 0;; ++seen) {
    const auto has_work = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!comes_soon([&] { return has_work() || stop.stop_requested(); })) {
      std::unique_lock lock(mutex_);
      ++sleepers_;
      wake_.wait(lock, stop, has_work);
      --sleepers_;
    }
    if (!has_work()) return;  // the pool ends
    drain();
    if (busy_.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    { const std::scoped_lock lock(mutex_); }  // the caller waits by now, or sees it
    done_.notify_one();
  }
}

}  // namespace isocloth
