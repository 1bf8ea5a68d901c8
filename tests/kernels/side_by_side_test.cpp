// Work on the threads of a pool: all of it once, within other work too, and what is thrown is heard.
#include "kernels/launch/side_by_side.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>

#include "kernels/launch/task_graph.hpp"

namespace isocloth {
namespace {

constexpr Index many = 5000;

/// Each index once, however long the workers slept before.
TEST(ThreadPool, WakesAndDoesEachIndexOnce) {
  ThreadPool pool(3);
  for (const int sleep : {0, 0, 5, 0, 1}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(sleep));
    std::vector<std::atomic<int>> done(many);
    pool.run(many, 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) ++done[static_cast<std::size_t>(i)];
    });
    for (const auto& count : done) ASSERT_EQ(count, 1) << sleep;
  }
}

TEST(ThreadPool, EndsWhileWorkersAreAwake) {
  for (int n = 0; n < 20; ++n) {
    ThreadPool pool(4);
    std::atomic<Index> sum{0};
    if (n % 2 == 0) pool.run(100, 1, [&](Index begin, Index end) { sum += end - begin; });
    EXPECT_EQ(sum, n % 2 == 0 ? 100 : 0);
  }
}

/// Indices that some thread does, of `many`.
Index count_done(ThreadPool& pool) {
  std::atomic<Index> sum{0};
  pool.run(many, 1, [&](Index begin, Index end) { sum += end - begin; });
  return sum;
}

#if !defined(__SANITIZE_THREAD__)  // it lets no forked process have threads
/// Its threads stay with the process that made them.
TEST(ThreadPool, GoesOnAndEndsInAForkedProcess) {
  for (const bool has_run : {false, true}) {
    auto pool = std::make_unique<ThreadPool>(3);
    if (has_run) {
      EXPECT_EQ(count_done(*pool), many);
    }
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // ends it where it waits for nobody
      const bool all_done = count_done(*pool) == many && count_done(*pool) == many;
      pool.reset();
      _exit(all_done ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0) << has_run;
    EXPECT_EQ(count_done(*pool), many);
  }
}
/// So do they where nothing runs before the pool ends.
TEST(ThreadPool, EndsUnusedInAForkedProcess) {
  auto pool = std::make_unique<ThreadPool>(3);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    pool.reset();
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

/// Within a body the calling thread does what it shares out, whether items or a graph of tasks.
TEST(ThreadPool, RunsWithinRuns) {
  ThreadPool pool(3);
  std::vector<std::atomic<int>> done(20 * 30);
  std::atomic<int> tasks{0}, elsewhere{0};
  pool.run(20, 1, [&](Index begin, Index end) {
    EXPECT_TRUE(ThreadPool::is_inside());
    for (Index i = begin; i < end; ++i) {
      const std::thread::id here = std::this_thread::get_id();
      pool.run(30, 1, [&](Index from, Index to) {
        elsewhere += std::this_thread::get_id() != here;
        for (Index k = from; k < to; ++k) ++done[static_cast<std::size_t>(30 * i + k)];
      });
      TaskGraph graph;
      graph.add_task(1);
      graph.add_task(1);
      graph.add_dependency(0, 1);
      graph.finish();
      graph.run(&pool, [&](int, Index) { ++tasks; });
    }
  });
  EXPECT_FALSE(ThreadPool::is_inside());
  for (const auto& count : done) ASSERT_EQ(count, 1);
  EXPECT_EQ(tasks, 40);
  EXPECT_EQ(elsewhere, 0);
}

/// Which pieces went side by side: those in which a run is one within another.
std::vector<char> side_by_side_pieces(ThreadPool* pool, const std::vector<std::size_t>& widths) {
  std::vector<char> found(widths.size(), 2);
  side_by_side(pool, widths, [&](std::size_t i) { found[i] = ThreadPool::is_inside(); });
  return found;
}

TEST(SideBySide, DoesSmallPiecesTogetherAndLargeOnesInTurn) {
  ThreadPool pool(4);
  using Pieces = std::vector<char>;
  EXPECT_EQ(side_by_side_pieces(&pool, {1, 1, 1, 1}), (Pieces{1, 1, 1, 1}));
  EXPECT_EQ(side_by_side_pieces(&pool, {1, 9, 1, 4}), (Pieces{1, 0, 1, 0}));
  // Two that could use three threads each would leave two idle, and wait for one thread each.
  EXPECT_EQ(side_by_side_pieces(&pool, {3, 3}), (Pieces{0, 0}));
  EXPECT_EQ(side_by_side_pieces(&pool, {2, 2, 2}), (Pieces{1, 1, 1}));
  EXPECT_EQ(side_by_side_pieces(nullptr, {1, 1}), (Pieces{0, 0}));
  EXPECT_EQ(side_by_side_pieces(&pool, {}), Pieces{});
}

TEST(SideBySide, AllAreDoneBeforeTheFirstErrorIsHeard) {
  ThreadPool pool(2);
  for (ThreadPool* const at : {static_cast<ThreadPool*>(nullptr), &pool}) {
    std::atomic<int> done{0};
    try {
      side_by_side(at, {1, 1, 1, 5}, [&](std::size_t i) {
        ++done;
        if (i > 0) throw std::runtime_error(std::to_string(i));
      });
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), std::string("1"));
    }
    EXPECT_EQ(done, 4);
  }
}

}  // namespace
}  // namespace isocloth
