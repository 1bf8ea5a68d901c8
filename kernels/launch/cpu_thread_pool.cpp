#include <algorithm>

#include "kernels/launch/thread_pool.hpp"

namespace isocloth {

ThreadPool::ThreadPool(int threads) {
  for (int i = 1; i < threads; ++i)
    workers_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

void ThreadPool::share(Call call, const void* body, Index count, Index grain) {
  {
    const std::scoped_lock lock(mutex_);
    call_ = call;
    body_ = body;
    count_ = count;
    chunk_ = std::max(grain, count / (8 * size()));
    next_.store(0, std::memory_order_relaxed);
    busy_ = static_cast<int>(workers_.size());
    ++generation_;
  }
  wake_.notify_all();
  drain();
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
}

void ThreadPool::drain() {
  for (Index begin; (begin = next_.fetch_add(chunk_, std::memory_order_relaxed)) < count_;)
    call_(body_, begin, std::min(begin + chunk_, count_));
}

void ThreadPool::work(const std::stop_token& stop) {
  for (unsigned seen = 0;;) {
    {
      std::unique_lock lock(mutex_);
      if (!wake_.wait(lock, stop, [&] { return generation_ != seen; })) return;
      seen = generation_;
    }
    drain();
    const std::scoped_lock lock(mutex_);
    if (--busy_ == 0) done_.notify_one();
  }
}

}  // namespace isocloth
