#include "host/projection/projection_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "kernels/projection/step_rules.hpp"

namespace isocloth {
namespace {

template <class Real>
using Garments = std::vector<ProjectionSolver<Real>*>;
template <class Real>
using SavedSteps = std::vector<typename ProjectionSolver<Real>::SavedStep>;

void mark_not_finite(PartReport& report) {
  report.status = StepStatus::non_finite;
  report.residual = std::numeric_limits<double>::infinity();
  report.penetration = 0;
}

template <class Report>
StepStatus worst(const std::vector<Report>& reports) {
  StepStatus status = StepStatus::converged;
  for (const Report& report : reports) status = std::max(status, report.status);
  return status;
}

/// Every garment does it, or is marked; true: all did.
template <class Real, class Do>
bool all_work(const Garments<Real>& garments, std::vector<PartReport>& reports, const Do& work) {
  bool worked = true;
  for (std::size_t g = 0; g < garments.size(); ++g) {
    if (work(g)) continue;
    mark_not_finite(reports[g]);
    worked = false;
  }
  return worked;
}

template <class Real>
std::vector<PartReport> take_part(const Garments<Real>& garments, BodyCoupling<Real>* bodies,
                                  const StepPart& part, const SavedSteps<Real>& saved) {
  std::vector<PartReport> reports(garments.size());
  if (!all_work(garments, reports, [&](std::size_t g) { return garments[g]->begin_part(part, saved[g]); }))
    return reports;
  if (bodies != nullptr) bodies->begin_part(part);
  const int most = (garments.empty() ? bodies->settings() : garments.front()->settings()).max_iterations;
  const MonitorView monitor = garments.empty() ? bodies->monitor() : garments.front()->monitor();
  monitor.enter(part.part, part.parts);
  for (int number = 0;; ++number) {
    monitor.check();
    if (bodies != nullptr) bodies->place(garments, part.number);
    std::vector<char> done(garments.size());
    const bool bodies_done = bodies == nullptr || bodies->assess();
    bool all_done = bodies_done && (!garments.empty() || number > 0), all_finite = true;
    for (std::size_t g = 0; g < garments.size(); ++g) {
      done[g] = garments[g]->assess(part, reports[g]) && bodies_done ? 1 : 0;
      if (bodies != nullptr) reports[g].penetration = std::max(reports[g].penetration, bodies->penetration());
      all_done = all_done && done[g] != 0;
      all_finite = all_finite && std::isfinite(reports[g].residual);
    }
    if (all_done) break;
    if (all_finite && number == most) {
      for (std::size_t g = 0; g < garments.size(); ++g)
        if (done[g] == 0) reports[g].status = StepStatus::stalled;
      break;
    }
    monitor.count(static_cast<std::int64_t>(garments.size()));
    if (!all_work(garments, reports, [&](std::size_t g) { return garments[g]->solve(part, reports[g]); }))
      return reports;
    if (bodies != nullptr && !bodies->solve(garments)) {
      for (PartReport& report : reports) mark_not_finite(report);
      return reports;
    }
    const BodyMoves<Real> moves = bodies != nullptr ? bodies->moves() : BodyMoves<Real>{};
    for (ProjectionSolver<Real>* garment : garments) garment->correct(number, moves);
    if (bodies != nullptr) bodies->correct(garments, number);
  }
  for (ProjectionSolver<Real>* garment : garments) garment->accept(part.h);
  if (bodies != nullptr) bodies->accept(part.h);
  return reports;
}

}  // namespace

template <class Real>
std::vector<StepReport> take_step(const Garments<Real>& garments, BodyCoupling<Real>* bodies, int number,
                                  double h) {
  const auto begin = std::chrono::steady_clock::now();
  // A failed step must leave no trace.
  SavedSteps<Real> saved;
  for (const ProjectionSolver<Real>* garment : garments) saved.push_back(garment->save());
  const std::vector<BodyState> saved_bodies = bodies != nullptr ? bodies->states() : std::vector<BodyState>{};
  for (ProjectionSolver<Real>* garment : garments) garment->begin_step(h, number);
  const int most_parts = garments.empty() ? 1 : garments.front()->settings().max_substeps;
  std::vector<StepReport> reports(garments.size());
  for (StepReport& report : reports) report.iterations = 0;
  for (int parts = 1;; parts *= 2) {
    const bool is_last = 2 * parts > most_parts;
    for (std::size_t g = 0; g < garments.size(); ++g) {
      StepReport& report = reports[g];
      // lambda carries h^2.
      const bool is_warm = cpu::starts_warm(report.residual) || garments[g]->bad_node() >= 0;
      if (parts > 1) garments[g]->scale_multipliers(is_warm ? 1.0 / (parts * parts) : 0.0);
      report.status = StepStatus::converged;
      report.residual = report.penetration = 0;
      report.substeps = parts;
    }
    for (int i = 0; i < parts; ++i) {
      const std::vector<PartReport> found =
          take_part(garments, bodies, {.h = h / parts, .number = number, .part = i, .parts = parts}, saved);
      for (std::size_t g = 0; g < garments.size(); ++g) {
        reports[g].iterations += found[g].iterations;
        reports[g].residual = std::max(reports[g].residual, found[g].residual);
        reports[g].penetration = std::max(reports[g].penetration, found[g].penetration);
        reports[g].status = std::max(reports[g].status, found[g].status);
      }
      const StepStatus status = worst(found);
      if (is_lost(status) || (status == StepStatus::stalled && !is_last)) break;
    }
    if (worst(reports) == StepStatus::stalled && is_last)
      for (std::size_t g = 0; g < garments.size(); ++g)
        if (reports[g].status == StepStatus::stalled &&
            garments[g]->has_diverged(saved[g], h, reports[g].residual))
          reports[g].status = StepStatus::diverged;
    const StepStatus status = worst(reports);
    if (status == StepStatus::converged || (status == StepStatus::stalled && is_last)) {
      for (std::size_t g = 0; g < garments.size(); ++g) {
        if (parts > 1) garments[g]->scale_multipliers(parts * parts);
        if (!cpu::keeps_multipliers(reports[g].residual, garments[g]->settings().tolerance))
          garments[g]->restore_multipliers(saved[g]);
      }
      break;
    }
    for (std::size_t g = 0; g < garments.size(); ++g) garments[g]->restore(saved[g]);
    if (bodies != nullptr) bodies->set_states(saved_bodies);
    if (is_last) break;
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t g = 0; g < garments.size(); ++g) {
    reports[g].bad_node = garments[g]->bad_node();
    if (is_lost(reports[g].status)) reports[g].penetration = 0;
    reports[g].wall_seconds = seconds / static_cast<double>(garments.size());
  }
  return reports;
}

template std::vector<StepReport> take_step(const Garments<float>&, BodyCoupling<float>*, int, double);
template std::vector<StepReport> take_step(const Garments<double>&, BodyCoupling<double>*, int, double);

}  // namespace isocloth
