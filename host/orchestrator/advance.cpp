#include "host/orchestrator/advance.hpp"

#include <algorithm>
#include <exception>

#include "host/memory/device.hpp"
#include "kernels/launch/thread_pool.hpp"

namespace isocloth {
namespace {

void add(const AdvanceReport& part, AdvanceReport& sum) {
  sum.steps += part.steps;
  add_up(part.total, sum.total);
}

/// One start() and finish() of every solver; adds up the reports.
void advance_once(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                  const std::vector<std::vector<Clock>>& clocks, double h, int steps, const Device& device,
                  std::vector<std::vector<AdvanceReport>>& sums) {
  const MonitorView& monitor = device.monitor();
  monitor.check();
  const bool undoable = monitor.exists() && std::any_of(solvers.begin(), solvers.end(),
                                                        [](const auto& s) { return s->can_stop(); });
  ThreadPool* const pool = device.queue().pool;
  std::vector<std::exception_ptr> errors(solvers.size());
  std::vector<char> started(solvers.size(), 0);
  const auto start = [&](std::size_t s, bool alone) {
    try {
      solvers[s]->start(clocks[s], h, steps, {.alone = alone, .undoable = undoable});
      started[s] = 1;
    } catch (...) {
      errors[s] = std::current_exception();
    }
  };
  std::vector<std::size_t> narrow, others;
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    const std::size_t threads = solvers[s]->threads();
    const bool fills = pool == nullptr || threads == 0 || threads >= static_cast<std::size_t>(pool->size());
    (fills ? others : narrow).push_back(s);
  }
  if (narrow.size() > 1)
    pool->run(static_cast<Index>(narrow.size()), 1, [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) start(narrow[i], true);
    });
  else
    others.insert(others.end(), narrow.begin(), narrow.end());
  for (const std::size_t s : others) start(s, false);
  std::vector<std::vector<AdvanceReport>> found(solvers.size());
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    if (started[s] == 0) continue;
    try {
      found[s] = solvers[s]->finish();
    } catch (...) {
      errors[s] = std::current_exception();
    }
  }
  // Asked once for all solvers: some may have been done before others were told to stop.
  if (undoable && monitor.stops()) {
    for (const auto& solver : solvers) solver->undo();
    monitor.check();
  }
  for (std::size_t s = 0; s < solvers.size(); ++s)
    for (std::size_t i = 0; i < found[s].size(); ++i) add(found[s][i], sums[s][i]);
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

/// At the end of a step. Edges between pinned nodes are where their motions lead: stretched ones are a
/// tolerance missed like any other.
void measure_strains(const std::vector<std::unique_ptr<GarmentSolver>>& solvers, double tolerance,
                     std::vector<std::vector<AdvanceReport>>& sums) {
  for (std::size_t s = 0; s < solvers.size(); ++s) {
    const std::vector<Strain> strains = solvers[s]->strains();
    for (std::size_t i = 0; i < strains.size(); ++i) {
      StepReport& total = sums[s][i].total;
      keep_worst(strains[i], total.strain);
      if (strains[i].pinned_max > tolerance) total.status = std::max(total.status, StepStatus::stalled);
    }
  }
}

}  // namespace

void advance_together(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                      const std::vector<std::vector<Clock>>& clocks, double h, int steps,
                      const Device& device, const StrainCheck& check,
                      std::vector<std::vector<AdvanceReport>>& sums, int& done) {
  sums.clear();
  for (const auto& solver : solvers) {
    sums.emplace_back(solver->size());
    for (AdvanceReport& report : sums.back()) report.total.substeps = 0;
  }
  std::vector<std::vector<Clock>> now = clocks;
  const int most = check.measures ? 1 : largest_start;
  for (done = 0; done < steps;) {
    const int count = std::min(steps - done, most);
    advance_once(solvers, now, h, count, device, sums);
    if (check.measures) measure_strains(solvers, check.tolerance, sums);
    done += count;
    for (std::vector<Clock>& own : now)
      for (Clock& clock : own) clock.steps += count;
  }
}

}  // namespace isocloth
