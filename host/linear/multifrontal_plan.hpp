// The tasks of a multifrontal factorisation on the threads of a CPU.
#pragma once

#include "host/linear/front_arrays.hpp"
#include "kernels/launch/task_graph.hpp"
#include "kernels/linear/multifrontal.hpp"

namespace isocloth {

/// A whole subtree, a whole front or one tile of a front.
struct FrontTask {
  enum class Kind { subtree, front, tile, join } kind;
  Index front;        ///< subtree: its root; join: all tiles of the front are done
  Index first_front;  ///< subtree: its first front in postorder
  Index tile_i, tile_j;
};

/// Where the update matrices lie, and the tasks that run a factorisation and the solves.
struct MultifrontalArrays : FrontArrays {
  std::size_t shared_size = 0;  ///< scalars of the update matrices that workers share
  std::size_t local_size = 0;   ///< scalars of one worker's own update matrices

  std::vector<FrontTask> factor_tasks, solve_tasks;
  TaskGraph factor_graph, forward_graph;
  TaskGraph backward_graph;  ///< task t is solve task (count - 1 - t)

  std::size_t memory_bytes() const;
};

/// strip: rows per strip of the kernels. Cost O(rows of all fronts + block_count log).
MultifrontalArrays build_multifrontal_plan(const BlockPattern& pattern, const FrontTree& tree, Index strip);

}  // namespace isocloth
