#include "host/linear/multifrontal_solver.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string>
#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "engine/core/errors.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

/// A large factor is read in long strides and would else wait for address translation.
constexpr std::size_t large_page = std::size_t{1} << 21;
constexpr std::size_t cache_line = 64;

}  // namespace

template <class Real>
void MultifrontalSolver<Real>::Release::operator()(Real* p) const {
  ::operator delete[](p, alignment);
}

template <class Real>
typename MultifrontalSolver<Real>::Memory MultifrontalSolver<Real>::allocate(std::size_t count,
                                                                             const char* what) {
  const std::size_t bytes = count * sizeof(Real);
  const bool large = bytes >= 2 * large_page;
  const std::align_val_t alignment{large ? large_page : cache_line};
  void* memory = ::operator new[](bytes, alignment, std::nothrow);
  if (memory == nullptr)
    throw DeviceError(
        "direct solver: found no memory for " + std::string(what) + ", expected " +
        std::to_string(bytes >> 20) + " MiB free besides the " + std::to_string(memory_bytes() >> 20) +
        " MiB that it holds; use the solver \"iterative\", the precision \"float32\" or a coarser mesh");
#if defined(__linux__)
  if (large) madvise(memory, bytes / large_page * large_page, MADV_HUGEPAGE);  // a wish: no harm if refused
#endif
  return Memory(static_cast<Real*>(memory), Release{alignment});
}

template <class Real>
MultifrontalSolver<Real>::MultifrontalSolver(const BlockPattern& pattern, ThreadPool* pool,
                                             const DenseKernels<Real>& dense, MonitorView monitor)
    : pool_(pool), monitor_(monitor), dense_(dense), workers_(pool ? pool->size() : 1) {
  const OrderedElimination ordered = analyze_best_order(pattern);
  monitor_.check();
  constexpr Index strip = strip_height<Real>;
  plan_ = build_multifrontal_plan(pattern, build_front_tree(ordered.elimination, strip), strip);
  name_ = "multifrontal Cholesky, " + std::string(isocloth::name(ordered.ordering)) + ", " + dense.name;
  factor_ = allocate(plan_.factor_size, "the factor");
  shared_ = allocate(plan_.shared_size, "the update matrices");
  local_ = allocate(plan_.local_size * workers_, "the update matrices of each thread");
  failed_ = std::vector<std::atomic<Index>>(plan_.fronts.size());
}

/// A front above one that stopped has nothing to assemble; branches beside it go on, so that the row reported
/// does not depend on the order in which threads came by.
template <class Real>
bool MultifrontalSolver<Real>::inherits_failure(Index f) {
  const Front& front = plan_.fronts[f];
  for (Index c = front.child_begin; c < front.child_end; ++c)
    if (const Index place = failed_[plan_.children[c]].load(std::memory_order_relaxed); place >= 0) {
      failed_[f].store(place, std::memory_order_relaxed);
      return true;
    }
  return failed_[f].load(std::memory_order_relaxed) >= 0;
}

template <class Real>
void MultifrontalSolver<Real>::run_factor_task(int worker, const FrontTask& task, const Real* values) {
  const MultifrontalPlan plan = plan_.view();
  const FrontMemory<Real> memory{.values = values,
                                 .factor = factor_.get(),
                                 .shared = shared_.get(),
                                 .local = local_.get() + plan_.local_size * worker};
  const auto report = [&](Index f, Index column) {
    if (column >= 0)
      failed_[f].store(plan_.fronts[f].first_pivot + column / plan_.block, std::memory_order_relaxed);
  };
  if (task.kind == FrontTask::Kind::join || monitor_.stops() || inherits_failure(task.front)) return;
  if (task.kind == FrontTask::Kind::tile)
    report(task.front, process_tile(plan, memory, dense_, task.front, task.tile_i, task.tile_j));
  else
    for (Index f = task.first_front; f <= task.front; ++f)
      if (!inherits_failure(f)) report(f, process_front(plan, memory, dense_, f));
}

template <class Real>
Factorization MultifrontalSolver<Real>::factorize(const Real* values) {
  for (auto& place : failed_) place.store(-1, std::memory_order_relaxed);
  plan_.factor_graph.run(
      pool_, [&](int worker, Index task) { run_factor_task(worker, plan_.factor_tasks[task], values); });
  has_factor_ = false;
  monitor_.check();
  Index first = std::numeric_limits<Index>::max();
  for (const auto& place : failed_)
    if (place >= 0) first = std::min(first, place.load());
  has_factor_ = first == std::numeric_limits<Index>::max();
  return {.ok = has_factor_, .block_row = has_factor_ ? -1 : plan_.block_rows[first]};
}

template <class Real>
void MultifrontalSolver<Real>::solve(const Real* right_side, Real* solution, int count) {
  if (!has_factor_)
    throw NumericalError("solve: there is no factor; call factorize() and look at its result");
  if (count > vector_count_) {
    vectors_ = {};
    vector_count_ = 0;
    vectors_ = allocate(plan_.vector_size * count, "the right sides");
    vector_count_ = count;
  }
  const MultifrontalPlan plan = plan_.view();
  const FrontVectors<Real> vectors{
      .right_side = right_side, .solution = solution, .work = vectors_.get(), .count = count};
  const Index tasks = static_cast<Index>(plan_.solve_tasks.size());
  // Entries of the factor for fewer of which threads would wait longer for each other than they work.
  constexpr std::size_t least_shared = 100'000;
  ThreadPool* const pool =
      plan_.factor_size * static_cast<std::size_t>(count) >= least_shared ? pool_ : nullptr;
  plan_.forward_graph.run(pool, [&](int, Index t) {
    const FrontTask& task = plan_.solve_tasks[t];
    for (Index f = task.first_front; f <= task.front; ++f)
      solve_front_forward(plan, factor_.get(), dense_, vectors, f);
  });
  plan_.backward_graph.run(pool, [&](int, Index t) {
    const FrontTask& task = plan_.solve_tasks[tasks - 1 - t];
    for (Index f = task.front; f >= task.first_front; --f)
      solve_front_backward(plan, factor_.get(), dense_, vectors, f);
  });
}

template <class Real>
double MultifrontalSolver<Real>::least_pivot() const {
  if (!has_factor_) return 0;
  constexpr Index height = strip_height<Real>;
  double largest = 0;  // of the reciprocals that stand on L's diagonal
  for (const Front& front : plan_.fronts)
    for (Index c = 0; c < front.pivots; ++c) {
      const Index lane = c % height;
      const std::size_t place = static_cast<std::size_t>(c - lane) * front.padded_pivots + c * height + lane;
      largest = std::max(largest, static_cast<double>(factor_[front.panel + place]));
    }
  return largest > 0 ? 1 / (largest * largest) : 0;
}

template <class Real>
std::size_t MultifrontalSolver<Real>::memory_bytes() const {
  return plan_.memory_bytes() +
         ((factor_ ? plan_.factor_size : 0) + (shared_ ? plan_.shared_size : 0) +
          (local_ ? plan_.local_size * workers_ : 0) + plan_.vector_size * vector_count_) *
             sizeof(Real);
}

template class MultifrontalSolver<float>;
template class MultifrontalSolver<double>;

}  // namespace isocloth
