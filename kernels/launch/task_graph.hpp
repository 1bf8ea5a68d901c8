// Tasks that wait for one another, on the threads of a pool.
#pragma once

#include <atomic>
#include <vector>

#include "engine/core/array_view.hpp"

namespace isocloth {

class ThreadPool;

/// A fixed directed graph of tasks, run as often as wanted. What a task computes must depend on the tasks
/// before it alone, not on the thread or the order: results are then the same for any number of threads.
class TaskGraph {
 public:
  /// Returns the task's number, in order from 0. cost [any unit]: the longest chain of costs runs first.
  Index add_task(double cost);
  /// `before` must be the smaller number.
  void add_dependency(Index before, Index after);
  /// Call after the last task and before the first run.
  void finish();
  Index size() const { return static_cast<Index>(costs_.size()); }

  /// Calls body(worker, task) for every task, each after those it depends on; worker < pool size; null: on
  /// this thread in order of their numbers. Not reentrant. A body must not throw.
  template <class Body>
  void run(ThreadPool* pool, const Body& body) {
    run([](const void* b, int worker, Index task) { (*static_cast<const Body*>(b))(worker, task); }, &body,
        pool);
  }

 private:
  using Call = void (*)(const void*, int, Index);
  struct Ready;
  void run(Call call, const void* body, ThreadPool* pool);
  void work(Call call, const void* body, int worker, Ready& ready);

  std::vector<double> costs_;  ///< cost of each task; after finish(): of the longest chain from the task on
  std::vector<Index> befores_, afters_;   ///< pairs, until finish()
  std::vector<Index> begin_, followers_;  ///< followers of each task
  std::vector<Index> waits_;              ///< number of tasks that each one depends on
  /// Number of tasks, of those that each one depends on, not done yet.
  std::vector<std::atomic<Index>> left_;
};

}  // namespace isocloth
