#include "host/projection/projection_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "host/projection/phase_times.hpp"

namespace isocloth {
namespace {

using WallClock = std::chrono::steady_clock;
double seconds_since(WallClock::time_point begin) {
  return std::chrono::duration<double>(WallClock::now() - begin).count();
}

/// What StepController takes for one cloth: garments and participants, none of which is done before all are.
/// The list at StepParticipant is a step of it from top to bottom.
template <class Real>
class CoupledStep {
  using Assessment = cpu::Assessment<double>;
  using Part = Substep<double>;
  using Solver = ProjectionSolver<Real>;
  using Participants = std::vector<StepParticipant<Real>*>;

 public:
  CoupledStep(const Device& device, StepUnderWay<Real>& step, const Participants& participants, int number)
      : begin_(WallClock::now()),
        device_(device),
        step_(step),
        garments_(step.garments),
        progress_(step.progress),
        participants_(participants),
        monitor_(device.monitor()),
        number_(number),
        downloads_(device) {
    progress_.resize(garments_.size());
    for (GarmentProgress& own : progress_) own.report.iterations = 0;
    std::size_t nodes = 0;
    for (const Solver* garment : garments_) {
      widths_.push_back(garment->threads());
      nodes += static_cast<std::size_t>(garment->pattern().free_count());
    }
    if (nodes >= least_range) pool_ = garments_.front()->pool();
  }

  bool stops() const {
    monitor_.check();
    return false;
  }
  void begin_step() {
    for (Solver* garment : garments_) garment->begin_step(number_);
    for (auto* participant : participants_) participant->begin_step(step_);
  }
  bool begin_substep(const Part& part, bool, double& bad_pivot) {
    const PhaseTimer timer(StepPhase::begin);
    monitor_.enter(static_cast<int>(part.done), static_cast<int>(part.parts));
    for (GarmentProgress& own : progress_) own.start_part();
    for (auto* participant : participants_) participant->begin_substep(part);
    for (auto* participant : participants_) participant->place(step_, part);
    if (!all_work([&](Solver& garment) { return garment.begin_substep(part); }, bad_pivot)) return false;
    for (auto* participant : participants_) participant->predicted();
    return true;
  }
  bool forget(bool) {
    bool any = false;
    for (Solver* garment : garments_) any = garment->forget() || any;
    return any;
  }
  Assessment assess(const Part& part, int iteration, bool which) {
    if (!which) return {};
    {
      const PhaseTimer timer(StepPhase::rows_and_obstacles);
      for (auto* participant : participants_) participant->place(step_, part);
      each_garment([&](std::size_t g) { garments_[g]->assess(iteration); });
      for (auto* participant : participants_) participant->begin_assess(step_, iteration, downloads_);
      fetch(downloads_);
      for (std::size_t g = 0; g < garments_.size(); ++g) take(iteration, *garments_[g], progress_[g]);
    }
    if (std::exchange(has_begun_solve_, false))
      for (std::size_t g = 0; g < garments_.size(); ++g)
        if (!garments_[g]->system().end_factor()) {
          progress_[g].lose();
          progress_[g].done = false;
        }
    // Participants alone are done once they have felt the forces of the step.
    Assessment found{.residual = 0, .penetration = 0, .met = !garments_.empty() || iteration > 0};
    for (auto* participant : participants_) {
      ParticipantFit fit;
      {
        const PhaseTimer timer(StepPhase::cloth_contacts);
        fit = participant->assess(step_, iteration);
      }
      if (fit.moved_nodes) return assess(part, iteration, which);
      found.met = found.met && fit.met;
      found.may_penetrate = found.may_penetrate || fit.may_penetrate;
      for (GarmentProgress& own : progress_) own.add(fit);
    }
    for (const GarmentProgress& own : progress_) {
      found.met = found.met && own.done;
      found.residual = std::max(found.residual, own.residual);
      found.penetration = std::max(found.penetration, own.penetration);
      found.contact_error = std::max({found.contact_error, own.contact_error, own.penetration});
    }
    if (found.met && step_.control.balance > 0) found.met = balances();
    double excess = 0;
    if (found.met && iteration > 0) {
      if (device_.backend().memory.host_accessible) {  // else it is there with the residuals
        for (Solver* garment : garments_) garment->rows().launch_mismatch_excess();
        Downloads excesses(device_);
        fetch(excesses);
      }
      for (Solver* garment : garments_) excess = std::max(excess, garment->rows().mismatch_excess());
    }
    found.near = found.met && excess <= mismatch_before_projection;
    for (std::size_t g = 0; projects_again() && g < garments_.size(); ++g)
      found.near = found.near && garments_[g]->rows().is_near(progress_[g].residual);
    found.done = found.met && excess <= 1;
    if (step_.budget.exists()) bound_iterations(iteration, found.may_penetrate);
    return found;
  }
  bool projects_again() const {
    return step_.control.projects_again && !garments_.empty() &&
           std::ranges::all_of(garments_, [](auto* g) { return g->system().can_project_again(); });
  }
  void project_again(bool) {
    each_garment([&](std::size_t g) { garments_[g]->system().project_again(); });
  }
  void follow(double, double, bool) {
    for (std::size_t g = 0; g < garments_.size(); ++g)
      garments_[g]->rows().follow(progress_[g].previous, progress_[g].residual);
  }
  bool solve(const Part&, double& bad_pivot) {
    if (!first_solve_) first_solve_ = WallClock::now();
    monitor_.count(static_cast<std::int64_t>(garments_.size()));
    for (GarmentProgress& own : progress_) ++own.report.iterations;
    const bool is_coupled = std::ranges::any_of(participants_, [](const auto* p) { return p->couples(); });
    // On a device the garments alone are corrected and looked at before it is known what became of a factor.
    if (participants_.empty() &&
        std::ranges::all_of(garments_, [](auto* g) { return g->system().can_begin_solve(); })) {
      for (Solver* garment : garments_) garment->system().begin_solve(downloads_);
      return has_begun_solve_ = true;
    }
    Downloads outcomes(device_);
    step_.outcomes = nullptr;
    const auto couples = [&](auto* participant) { return participant->couple(step_); };
    const auto solves = [&](auto* participant) { return participant->solve(step_); };
    bool are_coupled = true;
    if (is_coupled) {
      const PhaseTimer timer(StepPhase::assembly);
      each_garment([&](std::size_t g) { garments_[g]->system().assemble(); });
      for (auto* participant : participants_) participant->assemble();
      for (Solver* garment : garments_) garment->system().begin_factor(outcomes);
    }
    if (outcomes.are_wanted()) {  // couple() may begin before it is known whether all factors are there
      step_.outcomes = &outcomes;
      are_coupled = std::ranges::all_of(participants_, couples);
      outcomes.run();
    }
    {
      const PhaseTimer timer(StepPhase::factor);
      if (!all_work(
              [&](Solver& garment) { return is_coupled ? garment.system().end_factor() : garment.solve(); },
              bad_pivot))
        return false;
    }
    const PhaseTimer timer(StepPhase::solve);
    if (step_.outcomes == nullptr) are_coupled = std::ranges::all_of(participants_, couples);
    if (are_coupled && std::ranges::all_of(participants_, solves)) return true;
    for (GarmentProgress& own : progress_) own.lose();
    bad_pivot = 1;
    return false;
  }
  void correct(bool) {
    const PhaseTimer timer(StepPhase::correct);
    each_garment([&](std::size_t g) { garments_[g]->system().correct(step_.moves); });
    for (auto* participant : participants_) participant->correct();
  }
  void end_part(const PartEnd<double, bool>& end) {
    const PhaseTimer timer(StepPhase::end);
    if (end.accept && end.status == 1 && step_.budget.exists()) measure_imbalances();
    for (auto* participant : participants_) participant->end_substep(step_, end);
    each_garment([&](std::size_t g) {
      Solver& garment = *garments_[g];
      progress_[g].end_part(end, step_.budget.exists() ? StepStatus::cut : StepStatus::stalled);
      std::vector<Vec3d> forces;
      if (end.accept && garment.keeps_parts()) forces = forces_on_nodes(garment, end.part.h);
      garment.end_part(end, progress_[g].residual, std::move(forces));
    });
  }
  /// Writes how deep eased samples lie into the report of each garment.
  double depenetration_depth() {
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      StepReport& report = progress_[g].report;
      report.eased_depth = garments_[g]->depenetration_depth();
      report.penetration += report.eased_depth;
    }
    return 0;
  }
  bool has_diverged(double) {
    bool any = false;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      StepReport& report = progress_[g].report;
      if (report.status == StepStatus::converged || has_failed(report.status)) continue;
      if (!garments_[g]->has_diverged(report.residual)) continue;
      report.status = StepStatus::diverged;
      any = true;
    }
    return any;
  }
  void end_step(bool is_kept, double) {
    for (std::size_t g = 0; g < garments_.size(); ++g) garments_[g]->end_step(is_kept, progress_[g].report);
    for (auto* participant : participants_) participant->end_step(is_kept);
  }

  std::vector<StepReport> reports(double seconds) const {
    std::vector<StepReport> all;
    for (std::size_t g = 0; g < garments_.size(); ++g) {
      StepReport report = progress_[g].report;
      report.bad_node = garments_[g]->bad_node();
      report.cut = report.status == StepStatus::cut;
      if (has_failed(report.status)) report.penetration = report.compression = report.eased_depth = 0;
      for (const auto* participant : participants_) participant->report(step_, *garments_[g], report);
      report.wall_seconds = seconds / static_cast<double>(garments_.size());
      all.push_back(report);
    }
    return all;
  }

 private:
  /// Waits for what was launched for all garments.
  void fetch(Downloads& downloads) const {
    for (Solver* garment : garments_) garment->rows().fetch(downloads);
    downloads.run();
  }
  /// How rows and contacts of a garment are at the iterate.
  void take(int iteration, const Solver& garment, GarmentProgress& own) const {
    own.previous = own.residual;
    own.residual = garment.rows().residual();
    const ContactFit contacts = garment.contact_fit();
    const Compression& compression = garment.contacts().compression;
    own.penetration = compression.below_core(contacts.depth);
    own.compression = contacts.depth > 0 ? compression.share(contacts.depth) : 0;
    own.contact_error = contacts.error * static_cast<double>(garment.contacts().accuracy);
    own.done = own.residual <= step_.control.tolerance && contacts.error <= 1 &&
               (iteration > 0 || !step_.control.newton);
    if (!std::isfinite(own.residual)) own.lose();
  }

  template <class Work>
  void each_garment(const Work& work) const {
    side_by_side(pool_, widths_, work);
  }
  /// Every garment does it, or is lost; true: all did.
  template <class Work>
  bool all_work(const Work& work, double& bad_pivot) {
    std::vector<char> did(garments_.size(), 0);
    each_garment([&](std::size_t g) { did[g] = work(*garments_[g]); });
    for (std::size_t g = 0; g < garments_.size(); ++g)
      if (did[g] == 0) {
        progress_[g].lose();
        bad_pivot = static_cast<double>(std::max(garments_[g]->bad_node() + 1, Index{1}));
      }
    return !(bad_pivot > 0);
  }

  /// Whether forces do, on every garment.
  bool balances() {
    const bool are_settled = sum_forces();
    each_garment([&](std::size_t g) {
      progress_[g].done =
          garments_[g]->system().imbalance(from_cloth(g)) <= step_.control.balance && are_settled;
    });
    return std::ranges::all_of(progress_, &GarmentProgress::done);
  }
  bool sum_forces() {
    bool are_settled = true;
    for (auto* participant : participants_) are_settled = participant->sum_forces() && are_settled;
    return are_settled;
  }
  ArrayView<const Vec3<Real>> from_cloth(std::size_t g) const {
    ArrayView<const Vec3<Real>> forces;
    for (const auto* participant : participants_)
      if (forces.empty()) forces = participant->forces_on(*garments_[g]);
    return forces;
  }
  /// Says of garments that a budget keeps from their tolerances how far forces are from balancing.
  void measure_imbalances() {
    if (step_.has_lost_any()) return;
    sum_forces();
    each_garment([&](std::size_t g) {
      if (!progress_[g].done) progress_[g].report.imbalance = garments_[g]->system().imbalance(from_cloth(g));
    });
  }
  /// Ends the step after so many solves where its budget is spent. To hold nodes back that would pass through
  /// cloth takes longer than the few solves that mostly part them, and leaves them where they are.
  void bound_iterations(int solves, bool may_penetrate) {
    constexpr int most_more = 2;
    const int most = step_.budget.solves;
    if (!budget_spent_at_ && ((most > 0 && solves >= most) || is_spent(solves))) budget_spent_at_ = solves;
    if (!budget_spent_at_) return;
    const bool goes_on = may_penetrate && solves < *budget_spent_at_ + most_more;
    step_.control.max_iterations = solves + (goes_on ? 1 : 0);
  }
  /// Whether there is no time for another solve after so many. What ends a step takes about as long as one.
  bool is_spent(int solves) const {
    if (!(step_.budget.milliseconds > 0) || !first_solve_) return false;
    const double of_solve = seconds_since(*first_solve_) / std::max(solves, 1);
    return seconds_since(begin_) + 2 * of_solve > 1e-3 * step_.budget.milliseconds;
  }
  /// What participants exert on all nodes of a garment [N]; empty: nothing.
  std::vector<Vec3d> forces_on_nodes(const Solver& garment, double h) const {
    std::vector<Vec3d> sum;
    for (const auto* participant : participants_) {
      std::vector<Vec3d> own = participant->forces_on_nodes(garment, h);
      if (sum.empty()) sum.swap(own);
      for (std::size_t i = 0; i < own.size(); ++i) sum[i] += own[i];
    }
    return sum;
  }

  const WallClock::time_point begin_;
  std::optional<WallClock::time_point> first_solve_;
  std::optional<int> budget_spent_at_;  ///< after so many solves
  const Device& device_;
  StepUnderWay<Real>& step_;
  const std::vector<Solver*>& garments_;
  std::vector<GarmentProgress>& progress_;
  const Participants& participants_;
  const MonitorView monitor_;
  const int number_;
  Downloads downloads_;              ///< what the next assessment fetches
  bool has_begun_solve_ = false;     ///< and then knows whether there were factors
  std::vector<std::size_t> widths_;  ///< widths of the garments, see side_by_side()
  /// Threads of the phases; null: garments are too small for phases of a step side by side.
  ThreadPool* pool_ = nullptr;
};

}  // namespace

StepControl step_control(const ResolvedScene& resolved, Precision precision, double h) {
  const ProjectionSettings& settings = resolved.scene.projection;
  const bool is_single = precision == Precision::float32;
  return {.newton = resolved.is_newton,
          .metric_is_mass = resolved.metric == Metric::mass,
          .integrator = resolved.integrator,
          .step = h,
          .tolerance = resolved.tolerance,
          .eps = resolved.start_eps(is_single),
          .least_eps = least_eps(is_single),
          .max_iterations = resolved.max_iterations(),
          .max_substeps = resolved.max_substeps(),
          .projects_again = resolved.scene.bodies.empty() && !resolved.scene.contact.cloth,
          .contact_tolerance = resolved.scene.contact.tolerance,
          .balance = settings.force_tolerance,
          .cg_tolerance = settings.cg_tolerance};
}

void GarmentProgress::add(const ParticipantFit& fit) {
  done = done && fit.met;
  if (!lost) penetration = std::max(penetration, fit.depth);
}

void GarmentProgress::end_part(const PartEnd<double, bool>& end, StepStatus missed) {
  report.substeps = static_cast<int>(end.part.parts);
  if (end.retry) {
    report.status = StepStatus::converged;
    report.residual = report.penetration = report.compression = 0;
    return;
  }
  const bool is_missed = end.status == 1 && !done;
  report.status = std::max(report.status, thrown      ? StepStatus::diverged
                                          : lost      ? StepStatus::non_finite
                                          : is_missed ? missed
                                                      : StepStatus::converged);
  report.residual = std::max(report.residual, residual);
  report.penetration = std::max(report.penetration, penetration);
  report.compression = std::max(report.compression, compression);
}

template <class Real>
std::vector<StepReport> take_step(const Device& device, const ResolvedScene& resolved,
                                  const std::vector<ProjectionSolver<Real>*>& garments,
                                  const std::vector<StepParticipant<Real>*>& participants, int number,
                                  double h) {
  const auto begin = WallClock::now();
  constexpr auto precision = sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;
  StepUnderWay<Real> step{.garments = garments,
                          .control = step_control(resolved, precision, h),
                          .budget = resolved.scene.projection.budget};
  if (garments.empty()) step.control.max_substeps = 1;
  // Garments that step by themselves share the time.
  if (const std::size_t count = resolved.scene.garments.size(); participants.empty() && count > 1) {
    const ThreadPool* const pool = device.queue().pool;
    step.budget.milliseconds *=
        std::min(1.0, (pool == nullptr ? 1.0 : pool->size()) / static_cast<double>(count));
  }
  CoupledStep<Real> together(device, step, participants, number);
  bool alive = true;
  ClothReport<double> sum{};
  cpu::StepController<double, CoupledStep<Real>>(step.control, together).step(number, alive, sum);
  return together.reports(seconds_since(begin));
}

template std::vector<StepReport> take_step(const Device&, const ResolvedScene&,
                                           const std::vector<ProjectionSolver<float>*>&,
                                           const std::vector<StepParticipant<float>*>&, int, double);
template std::vector<StepReport> take_step(const Device&, const ResolvedScene&,
                                           const std::vector<ProjectionSolver<double>*>&,
                                           const std::vector<StepParticipant<double>*>&, int, double);

}  // namespace isocloth
