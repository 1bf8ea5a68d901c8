#include "host/projection/projection_step.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace isocloth {
namespace {

/// What StepController takes for one cloth: garments, and bodies, none of which is done before all are.
template <class Real>
class CoupledStep {
  using Assessment = cpu::Assessment<double>;
  using Part = Substep<double>;

 public:
  CoupledStep(const std::vector<ProjectionSolver<Real>*>& garments, BodyCoupling<Real>* bodies,
              ClothContacts<Real>* cloth, const ResolvedScene& resolved, StepControl& control,
              const MonitorView& monitor, int number)
      : garments_(garments),
        bodies_(bodies),
        cloth_(cloth),
        has_own_parts_(cloth != nullptr && resolved.scene.projection.max_substeps == 0),
        control_(control),
        monitor_(monitor),
        number_(number) {
    members_.resize(garments.size());
    for (Member& member : members_) member.report.iterations = 0;
    std::size_t nodes = 0;
    for (const ProjectionSolver<Real>* garment : garments) {
      widths_.push_back(garment->threads());
      nodes += static_cast<std::size_t>(garment->pattern().free_count());
    }
    if (nodes >= least_range) pool_ = garments.front()->pool();
    if (bodies != nullptr) states_ = bodies->states();
  }

  bool stops() const {
    monitor_.check();
    return false;
  }
  void begin_step() {
    for (ProjectionSolver<Real>* garment : garments_) garment->begin_step(number_);
    if (cloth_ != nullptr) cloth_->begin_step();
    if (has_own_parts_) control_.max_substeps = std::max(control_.max_substeps, parts_of_elements());
  }
  bool begin_substep(const Part& part, bool, double& bad_pivot) {
    monitor_.enter(static_cast<int>(part.done), static_cast<int>(part.parts));
    for (Member& member : members_) member.start_part();
    if (bodies_ != nullptr) {
      bodies_->begin_substep(part);
      bodies_->place(garments_, part.number);
    }
    if (!all_work([&](ProjectionSolver<Real>& garment) { return garment.begin_substep(part); }, bad_pivot))
      return false;
    if (cloth_ != nullptr) cloth_->begin_substep();
    return true;
  }
  bool forget(bool) {
    bool any = false;
    for (ProjectionSolver<Real>* garment : garments_) any = garment->forget() || any;
    return any;
  }
  Assessment assess(const Part& part, int iteration, bool which) {
    if (!which) return {};
    if (bodies_ != nullptr) bodies_->place(garments_, part.number);
    const bool bodies_done = bodies_ == nullptr || bodies_->assess();
    Assessment found{.residual = 0, .penetration = 0, .met = bodies_done};
    // Bodies alone are done once they have felt the forces of the step.
    if (garments_.empty()) found.met = bodies_done && iteration > 0;
    bool all_finite = true;
    each_garment([&](std::size_t g) {
      Member& member = members_[g];
      member.previous = member.residual;
      member.residual = garments_[g]->evaluate_rows(iteration);
      const ContactFit contacts = garments_[g]->find_contacts(iteration);
      const Compression& compression = garments_[g]->contacts().compression;
      member.penetration = compression.below_core(contacts.depth);
      member.compression = contacts.depth > 0 ? compression.share(contacts.depth) : 0;
      member.contact_error = contacts.error * static_cast<double>(garments_[g]->contacts().accuracy);
      member.done = member.residual <= control_.tolerance && contacts.error <= 1 && bodies_done &&
                    (iteration > 0 || !control_.newton);
      // Among contacts it would take all iterations of all parts to miss its tolerances.
      if (cloth_ != nullptr && iteration == 1 && !member.done) member.thrown = garments_[g]->has_escaped();
    });
    for (Member& member : members_) {
      if (bodies_ != nullptr) member.penetration = std::max(member.penetration, bodies_->penetration());
      if (!std::isfinite(member.residual) || member.thrown) member.lose();
      all_finite = all_finite && !member.lost;
      found.met = found.met && member.done;
      found.residual = std::max(found.residual, member.residual);
      found.penetration = std::max(found.penetration, member.penetration);
      found.contact_error = std::max({found.contact_error, member.contact_error, member.penetration});
    }
    if (cloth_ != nullptr && all_finite) {
      const double depth = cloth_->find(iteration);
      const bool cloths_done = depth <= control_.contact_tolerance && !cloth_->may_penetrate();
      if (iteration == 0 && cloth_->stop_blocked_kinematic_nodes()) return assess(part, iteration, which);
      found.met = found.met && cloths_done;
      found.may_penetrate = cloth_->may_penetrate();
      found.penetration = std::max(found.penetration, depth);
      found.contact_error = std::max(found.contact_error, depth);
      for (Member& member : members_) {
        member.done = member.done && cloths_done;
        member.penetration = std::max(member.penetration, depth);
      }
    }
    if (found.met && control_.balance > 0) found.met = balances();
    double excess = 0;
    if (found.met && iteration > 0)
      for (ProjectionSolver<Real>* garment : garments_) excess = std::max(excess, garment->mismatch_excess());
    found.near = found.met && excess <= mismatch_before_projection;
    for (std::size_t g = 0; projects_again() && g < members_.size(); ++g)
      found.near = found.near && garments_[g]->is_near(members_[g].residual);
    found.done = found.met && excess <= 1;
    return found;
  }
  bool projects_again() const {
    return control_.projects_again && !garments_.empty() &&
           std::ranges::all_of(garments_, [](const auto* g) { return g->can_project_again(); });
  }
  void project_again(bool) {
    each_garment([&](std::size_t g) { garments_[g]->project_again(); });
  }
  void follow(double, double, bool) {
    for (std::size_t g = 0; g < members_.size(); ++g)
      garments_[g]->follow(members_[g].previous, members_[g].residual);
  }
  bool solve(const Part&, double& bad_pivot) {
    monitor_.count(static_cast<std::int64_t>(garments_.size()));
    for (Member& member : members_) ++member.report.iterations;
    const bool touches = cloth_ != nullptr && cloth_->exist();
    if (touches) {
      each_garment([&](std::size_t g) { garments_[g]->assemble(); });
      cloth_->add();
    }
    if (!all_work(
            [&](ProjectionSolver<Real>& garment) { return touches ? garment.factor() : garment.solve(); },
            bad_pivot))
      return false;
    if (touches && !cloth_->solve(control_.cg_tolerance)) return lose_all(bad_pivot);
    if (bodies_ == nullptr || bodies_->solve(garments_, touches ? cloth_ : nullptr)) return true;
    return lose_all(bad_pivot);
  }
  void correct(bool) {
    if (cloth_ != nullptr) cloth_->update();
    const BodyMoves<Real> moves = bodies_ != nullptr ? bodies_->moves() : BodyMoves<Real>{};
    each_garment([&](std::size_t g) { garments_[g]->correct(moves); });
    if (bodies_ != nullptr) bodies_->correct();
  }
  void end_part(const PartEnd<double, bool>& end) {
    const bool keeps_forces =
        end.accept && std::ranges::any_of(garments_, [](const auto* g) { return g->keeps_parts(); });
    if (cloth_ != nullptr && keeps_forces) cloth_->respond();
    if (cloth_ != nullptr && end_contacts(end)) spare_solves(end.part);
    each_garment([&](std::size_t g) {
      members_[g].end_part(end);
      if (end.accept && cloth_ != nullptr && cloth_->blocked_kinematic_nodes(*garments_[g]) > 0)
        members_[g].miss();
      std::vector<Vec3d> from_cloth;
      if (end.accept && cloth_ != nullptr && garments_[g]->keeps_parts())
        from_cloth = cloth_->forces_on_nodes(*garments_[g], end.part.h);
      garments_[g]->end_part(end, members_[g].residual, std::move(from_cloth));
    });
    if (bodies_ == nullptr) return;
    if (end.retry) bodies_->set_states(states_);
    if (end.accept) bodies_->accept(end.part.h);
  }
  /// Writes how deep eased samples lie into the report of each garment.
  double depenetration_depth() {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      StepReport& report = members_[g].report;
      report.eased_depth = garments_[g]->depenetration_depth();
      report.penetration += report.eased_depth;
    }
    return 0;
  }
  bool has_diverged(double) {
    bool any = false;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      StepReport& report = members_[g].report;
      if (report.status != StepStatus::stalled || !garments_[g]->has_diverged(report.residual)) continue;
      report.status = StepStatus::diverged;
      any = true;
    }
    return any;
  }
  void end_step(bool is_kept, double) {
    for (std::size_t g = 0; g < members_.size(); ++g)
      garments_[g]->end_step(is_kept, members_[g].report.residual);
    if (bodies_ != nullptr && !is_kept) bodies_->set_states(states_);
    if (cloth_ != nullptr) cloth_->end_step(is_kept);
  }

  std::vector<StepReport> reports(double seconds) const {
    std::vector<StepReport> all;
    const double gap = cloth_ != nullptr ? cloth_->least_gap() : 1,
                 unit = 1 / (control_.step * control_.step);
    for (std::size_t g = 0; g < members_.size(); ++g) {
      StepReport report = members_[g].report;
      report.bad_node = garments_[g]->bad_node();
      if (has_failed(report.status)) report.penetration = report.compression = report.eased_depth = 0;
      if (cloth_ != nullptr) {
        report.cloth_contacts = cloth_->count();
        report.cloth_loaded = cloth_->loaded_count();
        report.cloth_force = unit * cloth_->kept().largest();
        if (!has_failed(report.status)) report.cloth_gap = gap;
        report.cg_iterations = cloth_->cg_iterations();
        report.held_back = cloth_->ccd_stopped_nodes(*garments_[g]);
        report.blocked = cloth_->blocked_kinematic_nodes(*garments_[g]);
      }
      report.wall_seconds = seconds / static_cast<double>(members_.size());
      all.push_back(report);
    }
    return all;
  }

 private:
  /// How a garment's part of a step goes, and its step.
  struct Member {
    bool lost = false, thrown = false, done = false;
    double residual = 0, previous = 0, penetration = 0, compression = 0, contact_error = 0;
    StepReport report;

    void start_part() {
      lost = thrown = done = false;
      residual = previous = penetration = compression = 0;
    }
    /// Marks the step as stalled, because the garment's motion was not followed.
    void miss() { report.status = std::max(report.status, StepStatus::stalled); }
    void lose() {
      lost = true;
      residual = std::numeric_limits<double>::infinity();
      penetration = compression = 0;
    }
    void end_part(const PartEnd<double, bool>& end) {
      report.substeps = static_cast<int>(end.part.parts);
      if (end.retry) {
        report.status = StepStatus::converged;
        report.residual = report.penetration = report.compression = 0;
        return;
      }
      const bool stalled = end.status == 1 && !done;
      report.status = std::max(report.status, thrown    ? StepStatus::diverged
                                              : lost    ? StepStatus::non_finite
                                              : stalled ? StepStatus::stalled
                                                        : StepStatus::converged);
      report.residual = std::max(report.residual, residual);
      report.penetration = std::max(report.penetration, penetration);
      report.compression = std::max(report.compression, compression);
    }
  };

  /// Parts in which no node goes farther than an element against another: more do not make an impact easier.
  int parts_of_elements() const {
    constexpr int most = 256;
    BoundingBox velocities;
    double shortest = HUGE_VAL;
    for (const ProjectionSolver<Real>* garment : garments_) {
      for (const Vec3d& v : garment->velocities(false, 0)) velocities = joined(velocities, {v, v});
      shortest = std::min(shortest, garment->element_size());
    }
    const double way = control_.step * norm(velocities.high - velocities.low);
    int parts = 1;
    while (parts < most && way > parts * shortest) parts *= 2;
    return parts;
  }

  template <class Work>
  void each_garment(const Work& work) const {
    side_by_side(pool_, widths_, work);
  }
  /// Every garment does it, or is lost; true: all did.
  template <class Work>
  bool all_work(const Work& work, double& bad_pivot) {
    std::vector<char> did(members_.size(), 0);
    each_garment([&](std::size_t g) { did[g] = work(*garments_[g]); });
    for (std::size_t g = 0; g < members_.size(); ++g)
      if (did[g] == 0) {
        members_[g].lose();
        bad_pivot = static_cast<double>(std::max(garments_[g]->bad_node() + 1, Index{1}));
      }
    return !(bad_pivot > 0);
  }

  /// Whether forces do, on every garment.
  bool balances() {
    const bool touches = cloth_ != nullptr && cloth_->exist();
    if (touches) cloth_->sum_forces();
    each_garment([&](std::size_t g) {
      const auto from_cloth = touches ? cloth_->forces_on(*garments_[g]) : ArrayView<const Vec3<Real>>{};
      members_[g].done = garments_[g]->imbalance(from_cloth) <= control_.balance;
    });
    return std::ranges::all_of(members_, &Member::done);
  }

  /// What is held back is another state than the iterates, and judged as such.
  bool end_contacts(const PartEnd<double, bool>& end) {
    constexpr double far_off = 10;  // tolerances
    std::vector<const ProjectionSolver<Real>*> failed_garments;
    for (std::size_t g = 0; g < members_.size(); ++g)
      if (members_[g].residual > far_off * control_.tolerance) failed_garments.push_back(garments_[g]);
    if (!cloth_->end_part(end, cpu::starts_warm(end.residual, end.bad_pivot), failed_garments)) return false;
    for (std::size_t g = 0; g < members_.size(); ++g) members_[g].residual = garments_[g]->evaluate_rows(0);
    return true;
  }
  /// Where cloth was held back in a smallest part, the motions of the step cannot be followed, and parts that
  /// are left would spend as much as it did.
  void spare_solves(const Part& part) const {
    constexpr int most_of_step = 100;
    const int left = static_cast<int>(part.parts - part.done) - 1, spent = members_.front().report.iterations;
    if (left > 0)
      control_.max_iterations = std::clamp((most_of_step - spent) / left, 1, control_.max_iterations);
  }
  bool lose_all(double& bad_pivot) {
    for (Member& member : members_) member.lose();
    bad_pivot = 1;
    return false;
  }

  const std::vector<ProjectionSolver<Real>*>& garments_;
  BodyCoupling<Real>* const bodies_;
  ClothContacts<Real>* const cloth_;
  const bool has_own_parts_;  ///< nobody has said how many at most
  StepControl& control_;
  const MonitorView monitor_;
  const int number_;
  std::vector<Member> members_;
  std::vector<std::size_t> widths_;  ///< widths of the garments, see side_by_side()
  /// Threads of the phases; null: garments are too small for phases of a step side by side.
  ThreadPool* pool_ = nullptr;
  std::vector<BodyState> states_;  ///< states of the bodies before the step
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

template <class Real>
std::vector<StepReport> take_step(const std::vector<ProjectionSolver<Real>*>& garments,
                                  BodyCoupling<Real>* bodies, ClothContacts<Real>* cloth,
                                  const ResolvedScene& resolved, int number, double h) {
  const auto begin = std::chrono::steady_clock::now();
  constexpr auto precision = sizeof(Real) == sizeof(float) ? Precision::float32 : Precision::float64;
  StepControl control = step_control(resolved, precision, h);
  if (garments.empty()) control.max_substeps = 1;
  CoupledStep<Real> together(garments, bodies, cloth, resolved, control,
                             garments.empty() ? bodies->monitor() : garments.front()->monitor(), number);
  bool alive = true;
  ClothReport<double> sum{};
  cpu::StepController<double, CoupledStep<Real>>(control, together).step(number, alive, sum);
  return together.reports(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}

template std::vector<StepReport> take_step(const std::vector<ProjectionSolver<float>*>&, BodyCoupling<float>*,
                                           ClothContacts<float>*, const ResolvedScene&, int, double);
template std::vector<StepReport> take_step(const std::vector<ProjectionSolver<double>*>&,
                                           BodyCoupling<double>*, ClothContacts<double>*,
                                           const ResolvedScene&, int, double);

}  // namespace isocloth
