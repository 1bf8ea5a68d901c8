#include "kernels/launch/task_graph.hpp"

#include <algorithm>
#include <mutex>
#include <thread>

#include "kernels/launch/thread_pool.hpp"

namespace isocloth {

/// The heap of tasks that nothing holds back, the longest chain on top.
struct TaskGraph::Ready {
  std::mutex mutex;
  std::vector<Index> heap;
  std::atomic<Index> waiting{0};  ///< size of the heap, to be read without the lock
  std::atomic<Index> unfinished{0};
};

Index TaskGraph::add_task(double cost) {
  costs_.push_back(cost);
  return size() - 1;
}

void TaskGraph::add_dependency(Index before, Index after) {
  befores_.push_back(before);
  afters_.push_back(after);
}

void TaskGraph::finish() {
  begin_.assign(size() + 1, 0);
  waits_.assign(size(), 0);
  for (std::size_t i = 0; i < befores_.size(); ++i) {
    ++begin_[befores_[i] + 1];
    ++waits_[afters_[i]];
  }
  for (Index t = 0; t < size(); ++t) begin_[t + 1] += begin_[t];
  followers_.resize(befores_.size());
  std::vector<Index> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t i = 0; i < befores_.size(); ++i) followers_[next[befores_[i]]++] = afters_[i];
  befores_ = afters_ = {};
  for (Index t = size() - 1; t >= 0; --t) {
    double longest = 0;
    for (Index i = begin_[t]; i < begin_[t + 1]; ++i) longest = std::max(longest, costs_[followers_[i]]);
    costs_[t] += longest;
  }
  left_ = std::vector<std::atomic<Index>>(size());
}

void TaskGraph::run(Call call, const void* body, ThreadPool* pool) {
  if (!pool || pool->size() == 1 || size() <= 1 || ThreadPool::is_inside()) {
    for (Index t = 0; t < size(); ++t) call(body, 0, t);
    return;
  }
  Ready ready;
  const auto earlier = [this](Index a, Index b) { return costs_[a] < costs_[b]; };
  for (Index t = 0; t < size(); ++t) {
    left_[t].store(waits_[t], std::memory_order_relaxed);
    if (waits_[t] == 0) ready.heap.push_back(t);
  }
  std::make_heap(ready.heap.begin(), ready.heap.end(), earlier);
  ready.waiting = static_cast<Index>(ready.heap.size());
  ready.unfinished = size();
  pool->run(pool->size(), 1, [&](Index begin, Index end) {
    for (Index worker = begin; worker < end; ++worker) work(call, body, worker, ready);
  });
}

void TaskGraph::work(Call call, const void* body, int worker, Ready& ready) {
  const auto earlier = [this](Index a, Index b) { return costs_[a] < costs_[b]; };
  constexpr int spins = 200;  // then let others have the core
  for (int idle = 0; ready.unfinished.load(std::memory_order_acquire) > 0;) {
    Index task = -1;
    if (ready.waiting.load(std::memory_order_relaxed) > 0) {
      const std::scoped_lock lock(ready.mutex);
      if (!ready.heap.empty()) {
        std::pop_heap(ready.heap.begin(), ready.heap.end(), earlier);
        task = ready.heap.back();
        ready.heap.pop_back();
        ready.waiting.store(static_cast<Index>(ready.heap.size()), std::memory_order_relaxed);
      }
    }
    if (task < 0) {
      if (++idle > spins) std::this_thread::yield();
      continue;
    }
    idle = 0;
    call(body, worker, task);
    for (Index i = begin_[task]; i < begin_[task + 1]; ++i) {
      if (left_[followers_[i]].fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
      const std::scoped_lock lock(ready.mutex);
      ready.heap.push_back(followers_[i]);
      std::push_heap(ready.heap.begin(), ready.heap.end(), earlier);
      ready.waiting.store(static_cast<Index>(ready.heap.size()), std::memory_order_relaxed);
    }
    ready.unfinished.fetch_sub(1, std::memory_order_acq_rel);
  }
}

}  // namespace isocloth
