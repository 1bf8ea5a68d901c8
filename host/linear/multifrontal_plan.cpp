#include "host/linear/multifrontal_plan.hpp"

#include <algorithm>
#include <array>

namespace isocloth {
namespace {

/// Fronts of a subtree keep their update matrices on two stacks of one worker: a front's own goes on the
/// stack of its depth's parity while its children's lie on top of the other one.
class SubtreeStacks {
 public:
  void place(MultifrontalArrays& plan, Index first, Index root, Index strip) {
    std::array<std::size_t, 2> top{};
    std::vector<int> depth(root - first + 1, 0);
    for (Index f = root - 1; f >= first; --f) depth[f - first] = depth[plan.fronts[f].parent - first] + 1;
    for (Index f = first; f < root; ++f) {
      Front& front = plan.fronts[f];
      const int stack = depth[f - first] % 2;
      front.in_subtree = true;
      front.update = top[stack];
      top[stack] += update_size(front, strip);
      size_[stack] = std::max(size_[stack], top[stack]);
      if (front.child_begin < front.child_end)
        top[1 - stack] = plan.fronts[plan.children[front.child_begin]].update;
      if (stack == 1) odd_.push_back(f);
    }
  }
  /// The second stack lies behind the first.
  std::size_t finish(MultifrontalArrays& plan) const {
    for (const Index f : odd_) plan.fronts[f].update += size_[0];
    return size_[0] + size_[1];
  }

 private:
  std::array<std::size_t, 2> size_{};
  std::vector<Index> odd_;
};

/// Builds the task lists: subtrees of a small share of the work, and above them fronts or their tiles.
class TaskBuilder {
 public:
  TaskBuilder(MultifrontalArrays& plan, Index strip) : plan_(plan) {
    const Index fronts = static_cast<Index>(plan.fronts.size());
    first_.resize(fronts);
    flops_.resize(fronts);
    for (Index f = 0; f < fronts; ++f) {
      const Front& front = plan.fronts[f];
      first_[f] = front.child_begin < front.child_end ? first_[plan.children[front.child_begin]] : f;
      flops_[f] += front_flops(front);
      if (front.parent >= 0) flops_[front.parent] += flops_[f];
    }
    // The partition depends on the pattern alone, never on the number of threads.
    constexpr double share = 1.0 / 32, least = 4e6;
    const double limit = std::max(least, share * plan.flops);
    SubtreeStacks stacks;
    factor_end_.assign(fronts, -1);
    solve_end_.assign(fronts, -1);
    for (Index f = 0; f < fronts; ++f) {
      Front& front = plan.fronts[f];
      const bool small = flops_[f] <= limit;
      if (small && front.parent >= 0 && flops_[front.parent] <= limit) continue;
      front.update = plan.shared_size;
      plan.shared_size += update_size(front, strip);
      if (small) {
        stacks.place(plan, first_[f], f, strip);
        factor_end_[f] = add_factor_task({FrontTask::Kind::subtree, f, first_[f], 0, 0}, flops_[f]);
      } else {
        add_front(f);
      }
      add_solve_task(f, small ? first_[f] : f);
    }
    plan.local_size = stacks.finish(plan);
    plan.factor_graph.finish();
    plan.forward_graph.finish();
    add_backward_tasks();
  }

 private:
  Index add_factor_task(FrontTask task, double cost) {
    plan_.factor_tasks.push_back(task);
    return plan_.factor_graph.add_task(cost);
  }
  void after_children(Index f, Index task) {
    for (Index c = plan_.fronts[f].child_begin; c < plan_.fronts[f].child_end; ++c)
      plan_.factor_graph.add_dependency(factor_end_[plan_.children[c]], task);
  }

  void add_front(Index f) {
    const Front& front = plan_.fronts[f];
    const Index pivot_tiles = tile_count(front.padded_pivots),
                tiles = pivot_tiles + tile_count(front.padded_rows);
    constexpr double worth_tiling = 2e6;  // some ten times what handing out a task costs
    if (front_flops(front) < worth_tiling) {
      factor_end_[f] = add_factor_task({FrontTask::Kind::front, f, f, 0, 0}, front_flops(front));
      after_children(f, factor_end_[f]);
      return;
    }
    std::vector<Index> number(static_cast<std::size_t>(tiles) * tiles, -1);
    const auto at = [&](Index i, Index j) -> Index& {
      return number[static_cast<std::size_t>(i) * tiles + j];
    };
    TaskGraph& graph = plan_.factor_graph;
    for (Index j = 0; j < tiles; ++j)
      for (Index i = j; i < tiles; ++i) {
        const double area = static_cast<double>(front_tile) * front_tile;
        const double depth = std::min<double>(front.pivots, (j + 0.5) * front_tile);
        const Index task = add_factor_task({FrontTask::Kind::tile, f, f, i, j}, 2 * area * depth);
        at(i, j) = task;
        const Index before = std::min(j, pivot_tiles) - 1;  // the last pivot tile that (i, j) reads
        if (before < 0)
          after_children(f, task);
        else
          graph.add_dependency(at(i, before), task);
        if (i == j) continue;
        if (j < pivot_tiles)
          graph.add_dependency(at(j, j), task);
        else
          graph.add_dependency(at(j, before), task);
      }
    factor_end_[f] = add_factor_task({FrontTask::Kind::join, f, f, 0, 0}, 0);
    for (Index j = std::min(pivot_tiles, tiles - 1); j < tiles; ++j)
      for (Index i = j; i < tiles; ++i) graph.add_dependency(at(i, j), factor_end_[f]);
  }

  void add_solve_task(Index f, Index first) {
    double cost = 0;
    for (Index g = first; g <= f; ++g)
      cost += static_cast<double>(plan_.fronts[g].padded_size()) * plan_.fronts[g].padded_pivots;
    solve_end_[f] = plan_.forward_graph.add_task(cost);
    solve_costs_.push_back(cost);
    plan_.solve_tasks.push_back(
        {first < f || !is_top(f) ? FrontTask::Kind::subtree : FrontTask::Kind::front, f, first, 0, 0});
    if (!is_top(f)) return;
    for (Index c = plan_.fronts[f].child_begin; c < plan_.fronts[f].child_end; ++c)
      plan_.forward_graph.add_dependency(solve_end_[plan_.children[c]], solve_end_[f]);
  }
  bool is_top(Index f) const { return plan_.factor_tasks[factor_end_[f]].kind != FrontTask::Kind::subtree; }

  void add_backward_tasks() {
    const Index tasks = plan_.forward_graph.size();
    for (Index t = 0; t < tasks; ++t) plan_.backward_graph.add_task(solve_costs_[tasks - 1 - t]);
    for (Index f = 0; f < static_cast<Index>(plan_.fronts.size()); ++f) {
      const Index parent = plan_.fronts[f].parent;
      if (solve_end_[f] >= 0 && parent >= 0)
        plan_.backward_graph.add_dependency(tasks - 1 - solve_end_[parent], tasks - 1 - solve_end_[f]);
    }
    plan_.backward_graph.finish();
  }

  MultifrontalArrays& plan_;
  std::vector<Index> first_;                   ///< first front of each front's subtree
  std::vector<double> flops_;                  ///< sum of front_flops() over each front's subtree
  std::vector<Index> factor_end_, solve_end_;  ///< task after which a front is done; -1: inside a subtree
  std::vector<double> solve_costs_;
};

}  // namespace

std::size_t MultifrontalArrays::memory_bytes() const {
  return FrontArrays::memory_bytes() + (factor_tasks.size() + solve_tasks.size()) * sizeof(FrontTask);
}

MultifrontalArrays build_multifrontal_plan(const BlockPattern& pattern, const FrontTree& tree, Index strip) {
  MultifrontalArrays plan;
  static_cast<FrontArrays&>(plan) = build_front_arrays(pattern, tree, strip);
  TaskBuilder(plan, strip);
  return plan;
}

}  // namespace isocloth
