#include "bench/contest.hpp"

#include <algorithm>

#include "bench/runner.hpp"
#include "bench/timing.hpp"
#include "engine/core/errors.hpp"
#include "engine/core/text.hpp"

namespace isocloth::bench {
namespace {

/// So much faster a library must be to be worth its code.
constexpr double least_gain = 1.1;

void wait(const Device& device, const Queue& queue) { device.check(device.backend().memory.wait(queue)); }

}  // namespace

std::size_t best_outcome(const std::vector<Outcome>& outcomes, double tolerance, double gain) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < outcomes.size(); ++i) {
    const Outcome& o = outcomes[i];
    const bool may_serve = !o.failure && o.repeats && o.same_in_batch.value_or(true) &&
                           o.error <= std::max(tolerance, 10 * outcomes[0].error);
    if (may_serve && (best > 0 ? o.seconds < outcomes[best].seconds : gain * o.seconds < outcomes[0].seconds))
      best = i;
  }
  return best;
}

void Contests::begin(Contest contest) {
  say(text(contest.work, ", ", contest.size, contest.precision.empty() ? "" : ", ", contest.precision));
  entries_.push_back({std::move(contest), {}});
}

double Contests::time(const std::function<void()>& run, const Queue& queue) const {
  constexpr double long_enough = 1e-3;
  const auto time_runs = [&](int count) {
    return time_of([&] {
             for (int i = 0; i < count; ++i) run();
             wait(device_, queue);
           })
        .wall;
  };
  const double begin = now().wall;
  int count = 1;
  double best = time_runs(count);
  while (best * count < long_enough && count < 10'000) {
    count *= 2;
    best = std::min(best, time_runs(count) / count);
  }
  while (now().wall - begin < budget_) best = std::min(best, time_runs(count) / count);
  return best;
}

Outcome& Contests::add(const std::string& name, const std::function<void()>& run, const Queue* queue) {
  Entry& entry = entries_.back();
  const Contest& contest = entry.contest;
  const Queue& own = queue != nullptr ? *queue : device_.queue();
  entry.outcomes.emplace_back();
  Outcome& outcome = entry.outcomes.back();
  outcome.name = name;
  try {
    const auto run_once = [&] {
      contest.spoil();
      run();
      wait(device_, own);
      return contest.result();
    };
    outcome.result = run_once();
    outcome.repeats = run_once() == outcome.result;
    outcome.error = contest.error_of(outcome.result);
    outcome.seconds = time(run, own);
  } catch (const DeviceError& error) {
    outcome.failure = error.what();
  }
  return outcome;
}

template <class Task>
void Contests::add_tasks(const TaskMakers<Task>& makers) {
  for (const auto& make : makers) {
    std::unique_ptr<Task> task;
    try {
      const double preparation = time_of([&] { task = make(); }).wall;
      Outcome& outcome = add(task->name(), [&] { task->run(); });
      outcome.preparation = preparation;
      if constexpr (std::is_same_v<Task, FactorTask>) {
        if (outcome.failure) continue;
        if (!task->succeeded()) outcome.failure = "not positive definite in this precision";
        outcome.solve_seconds = time([&] { task->solve(); }, device_.queue());
      }
    } catch (const DeviceError& error) {
      Outcome refused;
      refused.name = task ? task->name() : "a library";
      refused.failure = error.what();
      entries_.back().outcomes.push_back(std::move(refused));
    }
  }
}

void Contests::add(const TaskMakers<>& makers) { add_tasks(makers); }
void Contests::add(const TaskMakers<FactorTask>& makers) { add_tasks(makers); }

std::vector<Table> Contests::tables() const {
  const bool on_cpu = device_.backend().memory.host_accessible;
  const std::string device = on_cpu ? text("the CPU, ", to_string(device_.simd())) : cuda_status().message;
  Table all{
      .title = text("The engine's kernels and libraries on ", device, "; ", libraries_.versions()),
      .columns = {"work", "size", "precision", "by", "once [ms]", "time [us]", "of these the solve [us]",
                  "engine / this", "error", "same bits again", "same bits in a batch", "note"},
      .rows = {},
      .notes = notes_};
  Table choice{
      .title = "What serves best",
      .columns = {"work", "size", "precision", "engine [us]", "fastest that may serve", "engine / that"},
      .rows = {},
      .notes = {}};
  for (const auto& [contest, outcomes] : entries_) {
    const Outcome& engine = outcomes.front();
    for (const Outcome& o : outcomes) {
      std::vector<Json> row{contest.work, contest.size, contest.precision, o.name};
      if (o.failure) {
        row.resize(all.columns.size());
        row.back() = *o.failure;
      } else {
        row.insert(row.end(), {o.preparation > 0 ? Json(1e3 * o.preparation) : Json(), 1e6 * o.seconds,
                               o.solve_seconds ? Json(1e6 * *o.solve_seconds) : Json(),
                               engine.failure ? Json() : Json(engine.seconds / o.seconds), o.error, o.repeats,
                               o.same_in_batch ? Json(*o.same_in_batch) : Json(), ""});
      }
      all.rows.push_back(std::move(row));
    }
    if (engine.failure) continue;
    const Outcome& best = outcomes[best_outcome(outcomes, contest.tolerance, least_gain)];
    choice.rows.push_back({contest.work, contest.size, contest.precision, 1e6 * engine.seconds, best.name,
                           engine.seconds / best.seconds});
  }
  all.notes.push_back(
      "Wall time of one run, launches included: the best of several rows of runs, each row waited for once. "
      "Error: of products and solves max |b - A x| / (|A| max |x| + max |b|), of sums over the sum of "
      "magnitudes, else the share of wrong entries. Once: what a library does for a pattern.");
  choice.notes.push_back(
      text("A library may serve where it repeats its bits, alone and in a batch, with at most ten times the "
           "engine's error, and is at least ",
           least_gain, " times as fast; else the engine's own stays."));
  return {all, choice};
}

}  // namespace isocloth::bench
