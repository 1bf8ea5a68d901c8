#include "host/orchestrator/advance.hpp"

#include <algorithm>
#include <exception>

#include "host/memory/device.hpp"
#include "kernels/launch/side_by_side.hpp"

namespace isocloth {
namespace {

/// asked: steps of the part.
void add(AdvanceReport& part, int asked, AdvanceReport& sum) {
  sum.steps += part.steps;
  sum.iterations_max = std::max(sum.iterations_max, asked == 1 ? part.total.iterations : part.iterations_max);
  sum.substeps_max = std::max(sum.substeps_max, asked == 1 ? part.total.substeps : part.substeps_max);
  sum.each = std::move(part.each);
  add_up(part.total, sum.total);
}

std::vector<std::size_t> widths_of(const std::vector<std::unique_ptr<GarmentSolver>>& solvers) {
  std::vector<std::size_t> widths;
  for (const auto& solver : solvers) widths.push_back(solver->threads());
  return widths;
}

/// One start() and finish() of every solver; adds up the reports. tearing: null: strain is not measured.
void advance_once(const std::vector<std::unique_ptr<GarmentSolver>>& solvers,
                  const std::vector<std::vector<Clock>>& clocks, double h, int steps, const Device& device,
                  const std::vector<std::vector<Tearing>>* tearing,
                  std::vector<std::vector<AdvanceReport>>& sums) {
  const MonitorView& monitor = device.monitor();
  monitor.check();
  const bool undoable =
      tearing == nullptr && monitor.exists() &&
      std::any_of(solvers.begin(), solvers.end(), [](const auto& s) { return s->can_stop(); });
  ThreadPool* const pool = device.queue().pool;
  std::vector<char> started(solvers.size(), 0);
  std::vector<std::vector<AdvanceReport>> found(solvers.size());
  std::exception_ptr error;
  const auto for_all = [&](const auto& work) {
    try {
      side_by_side(pool, widths_of(solvers), work);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  };
  const auto start = [&](std::size_t s) {
    if (tearing != nullptr)
      solvers[s]->start_measured(clocks[s], h, steps, (*tearing)[s]);
    else
      solvers[s]->start(clocks[s], h, steps, undoable);
    started[s] = 1;
  };
  const auto finish = [&](std::size_t s) {
    if (started[s] != 0) found[s] = solvers[s]->finish();
  };
  if (pool == nullptr) {  // on a device all work before the first is waited for
    for_all(start);
    for_all(finish);
  } else {
    for_all([&](std::size_t s) {
      start(s);
      finish(s);
    });
  }
  // Asked once for all solvers: some may have been done before others were told to stop.
  if (undoable && monitor.stops()) {
    for (const auto& solver : solvers) solver->undo();
    monitor.check();
  }
  for (std::size_t s = 0; s < solvers.size(); ++s)
    for (std::size_t i = 0; i < found[s].size(); ++i) add(found[s][i], steps, sums[s][i]);
  if (error) std::rethrow_exception(error);
}

/// Measures strains at the end of a step. Edges between pinned nodes are where their motions lead: torn ones
/// are a tolerance missed like any other.
void measure_strains(const std::vector<std::unique_ptr<GarmentSolver>>& solvers, const Device& device,
                     const std::vector<std::vector<Tearing>>& tearing,
                     std::vector<std::vector<AdvanceReport>>& sums) {
  side_by_side(device.queue().pool, widths_of(solvers), [&](std::size_t s) {
    const std::vector<Strain> strains = solvers[s]->strains();
    for (std::size_t i = 0; i < strains.size(); ++i) {
      StepReport& total = sums[s][i].total;
      keep_worst(strains[i], total.strain);
      if (tearing[s][i].has_torn(strains[i].pinned_max, strains[i].stretch_max))
        total.status = std::max(total.status, StepStatus::stalled);
    }
  });
}

}  // namespace

int most_measured_steps(const std::vector<std::unique_ptr<GarmentSolver>>& solvers) {
  int most = largest_start;
  for (const auto& solver : solvers) most = std::min(most, solver->most_measured_steps());
  return most;
}

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
  const int measured = most_measured_steps(solvers);
  const bool is_measured_within = check.measures && measured > 0;
  int most = is_measured_within ? measured : check.measures ? 1 : largest_start;
  for (const auto& solver : solvers) most = std::min(most, solver->most_steps());
  for (done = 0; done < steps;) {
    const int count = std::min(steps - done, most);
    advance_once(solvers, now, h, count, device, is_measured_within ? &check.tearing : nullptr, sums);
    if (check.measures && !is_measured_within) measure_strains(solvers, device, check.tearing, sums);
    done += count;
    for (std::vector<Clock>& own : now)
      for (Clock& clock : own) clock.steps += count;
  }
}

}  // namespace isocloth
