// Everything about a multifrontal factorisation that the pattern decides: sizes, places, maps and tasks.
#pragma once

#include "host/linear/front_tree.hpp"
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

/// Arrays behind a MultifrontalPlan, and the tasks that run it.
struct MultifrontalArrays {
  int block = 3;
  std::vector<Front> fronts;
  std::vector<Index> children;
  std::vector<FrontEntry> entries;
  std::vector<Index> relative, block_rows;
  std::size_t factor_size = 0;     ///< scalars of all panels, padding counted
  std::size_t shared_size = 0;     ///< scalars of the update matrices that workers share
  std::size_t local_size = 0;      ///< scalars of one worker's own update matrices
  std::size_t vector_size = 0;     ///< scalars of a work vector
  double nonzeros = 0, flops = 0;  ///< of the panels and updates without padding, merged zeros counted

  std::vector<FrontTask> factor_tasks, solve_tasks;
  TaskGraph factor_graph, forward_graph;
  TaskGraph backward_graph;  ///< task t is solve task (count - 1 - t)

  MultifrontalPlan view() const { return {block, fronts, children, entries, relative, block_rows}; }
  std::size_t memory_bytes() const;
};

/// strip: rows per strip of the kernels. Cost O(rows of all fronts + block_count log).
MultifrontalArrays build_multifrontal_plan(const BlockPattern& pattern, const FrontTree& tree, Index strip);

}  // namespace isocloth
