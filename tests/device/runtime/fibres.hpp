// Threads of a block, one after the other on one thread of the CPU, each on a stack of its own.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace isocloth::software {

/// What a block did between its begin and its end.
struct BlockRun {
  enum Outcome { ended, barrier_not_reached_by_all, barriers_at_different_places } outcome = ended;
  std::size_t barriers = 0;  ///< barriers that all threads have passed
  /// Time of the slowest thread before each barrier and the end [cycles of the CPU's clock]; empty unless the
  /// environment has ISOCLOTH_TEST_DEVICE_PATHS.
  std::vector<double> path;
};

/// Runs `thread` once for each number in order(), which is asked again after every barrier; `enter` is told
/// which number goes on. A thread that has ended before a barrier which others wait at, or waits at another,
/// ends the block there, with the outcome that says so; the stacks of its threads are left as they are.
BlockRun run_block(std::size_t threads, const std::function<const std::vector<unsigned>&()>& order,
                   const std::function<void(unsigned)>& enter, const std::function<void()>& thread);

/// Waits, within run_block(), for the other threads at a place in the code.
void wait_for_block(const void* place);

}  // namespace isocloth::software
