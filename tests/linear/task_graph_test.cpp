#include "kernels/launch/task_graph.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <random>

#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

TEST(TaskGraph, EveryTaskRunsOnceAfterThoseItDependsOn) {
  constexpr Index count = 500;
  std::mt19937 generator(3);
  TaskGraph graph;
  std::vector<std::pair<Index, Index>> pairs;
  for (Index t = 0; t < count; ++t) {
    EXPECT_EQ(graph.add_task(static_cast<double>(generator() % 10)), t);
    for (int k = 0; t > 0 && k < 3; ++k) {
      pairs.emplace_back(static_cast<Index>(generator() % static_cast<unsigned>(t)), t);
      graph.add_dependency(pairs.back().first, t);
    }
  }
  graph.finish();
  for (const int threads : {1, 2, 5}) {
    ThreadPool pool(threads);
    for (int run = 0; run < 20; ++run) {
      std::atomic<Index> clock{0};
      std::vector<Index> begin(count, -1), end(count, -1);
      std::atomic<int> calls{0}, bad_workers{0};
      graph.run(&pool, [&](int worker, Index t) {
        begin[t] = clock.fetch_add(1);
        ++calls;
        if (worker < 0 || worker >= threads) ++bad_workers;
        end[t] = clock.fetch_add(1);
      });
      ASSERT_EQ(calls, count);
      ASSERT_EQ(bad_workers, 0);
      for (const auto& [before, after] : pairs) ASSERT_LT(end[before], begin[after]);
    }
  }
}

TEST(TaskGraph, WithoutAPoolTasksRunInOrder) {
  TaskGraph graph;
  for (int t = 0; t < 5; ++t) graph.add_task(5 - t);
  graph.add_dependency(0, 4);
  graph.finish();
  std::vector<Index> order, expected(5);
  std::iota(expected.begin(), expected.end(), 0);
  graph.run(nullptr, [&](int, Index t) { order.push_back(t); });
  EXPECT_EQ(order, expected);
}

TEST(TaskGraph, AnEmptyGraphRuns) {
  TaskGraph graph;
  graph.finish();
  ThreadPool pool(3);
  graph.run(&pool, [](int, Index) { FAIL(); });
}

}  // namespace
}  // namespace isocloth
