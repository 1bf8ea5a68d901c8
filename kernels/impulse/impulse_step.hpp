// The steps of one cloth held by impulses: the order of their phases, sweeps and rules, written once.
#pragma once

#include <cmath>
#include <type_traits>

#include "kernels/impulse/impulse_phases.hpp"
#include "kernels/impulse/relaxation.hpp"

namespace isocloth::ISOCLOTH_BACKEND {

/// Contacts have settled where none moves its point by more than this part of the tolerance in a sweep.
constexpr double settled_contact = 0.1;

/// Bender, Algorithm 1, in parts: explicit forces, preview, impulses on positions, positions, impulses on
/// velocities. A `Machine` does the phases, a block of threads (step_impulse.cpp) or a launch for each
/// (host/impulse/impulse_solver.hpp), with the same bits:
///
///   each(phase[, told])                all items in any order; what they tell
///   by_colour(phase[, told])           the same colour after colour
///   Told, largest(told)                the largest that they told, infinite where one was not finite
///   Corrections(is_watched)            what CorrectRows tells
///   last_sweep(told, sweep), worst(told)        of it: the last sweep with an impulse; the largest error
///   list_near()                        ListNear; whether there are any, or might be
///   may_touch, meets_external             false: no cloth of this machine does
///   knows_at_once                      last_sweep() costs little
///   enter(step, part), tell_sweep()    tell where the step is
///   stops()                            whether it is to end
///   grasped()                          when grippers have let go and taken hold
///   hold_lengths(step), hold_rates(step)        sweep<true>() and sweep<false>() of the step, or another way
///
/// All of a machine's threads take the same way through a step.
template <class Real, class Machine>
class ImpulseStep {
 public:
  /// What a pass of sweeps did.
  struct Sweeps {
    int count;
    bool touched;  ///< a contact moved its point; where a step converges
  };

  /// The host reads control, parameters and colours of `cloths`.
  ISOCLOTH_DEVICE ImpulseStep(const ImpulseCloths<Real>& cloths, Index cloth, Machine& machine)
      : cloths_(cloths), parameters_(cloths.parameters[cloth]), machine_(machine) {}

  /// Steps to targets [0, steps). False: the cloth is lost, and as it was before the step that lost it.
  ISOCLOTH_DEVICE bool run(Index steps, ImpulseReport& report) {
    bool alive = true;
    for (Index n = 0; n < steps && alive && !machine_.stops(); ++n) alive = step(n, report);
    return alive;
  }

  /// Sweeps until one corrects nothing, where a step converges; else as many as there may be. The factor of
  /// velocities is not watched and never fails: their system is linear. Contacts come last where sweeps are
  /// counted, so that nothing pushes the cloth back into an obstacle; first where they converge, so that a
  /// last one finds all rows right.
  template <bool OfPositions>
  ISOCLOTH_DEVICE Sweeps sweep(const ImpulseControl& control) {
    const auto threshold = static_cast<Real>(control.converge ? parameters_.sweep_tolerance : 0);
    const double settled = settled_contact * static_cast<double>(cloths_.contacts.tolerance);
    Relaxation relaxation{.fixed = control.relaxation};
    bool touched = false, settles = false;
    for (int count = 1;; ++count) {
      // One place for all contacts' impulses, or their code is here three times.
      const int turn = control.converge ? count : count - 1;
      const bool is_over = count > control.max_sweeps;
      const bool looks = turn % Relaxation::window == 1 || settles || (control.converge && is_over);
      const double moved = turn > 0 ? touch<OfPositions>(looks, turn == 1, control.converge) : 0;
      touched = touched || moved > 0;
      if (is_over || machine_.stops()) return {control.max_sweeps, touched};
      machine_.tell_sweep();
      typename Machine::Corrections told(control.converge);
      const auto factor = static_cast<Real>(relaxation.factor(count));
      for_each_row_family([&](auto rows) {
        machine_.by_colour(
            phases::CorrectRows<Real, decltype(rows)::value, OfPositions>{count, factor, threshold}, told);
      });
      if (!control.converge) continue;
      // Once a sweep has corrected nothing, no later one does: to look seldom costs sweeps and changes
      // nothing. Contacts are never done, though.
      const bool ends_window = count % Relaxation::window == 0;
      if (!(Machine::knows_at_once || touches() || ends_window || count == control.max_sweeps)) continue;
      const int last = machine_.last_sweep(told, count);
      settles = last < count && !(moved > settled);
      if (settles && (looks || !touches())) return {touches() ? count : last + 1, touched};
      if (OfPositions && ends_window) relaxation.watch(count, machine_.worst(told));
    }
  }
  ISOCLOTH_DEVICE const ImpulseControl& control() const { return cloths_.control; }

  // A step in pieces, for cloths that step together: begin(); in each part preview(), rows held, advance(),
  // end_part(); judge(), and keep() if it is not lost.

  ISOCLOTH_DEVICE void begin(Index n) {
    machine_.enter(n, 0);
    depth_ = 0;
    machine_.each(phases::BeginNodes{});
    if (cloths_.plastic.exist())
      for_each_spring_kind([&](auto kind) { machine_.each(phases::BeginSprings<decltype(kind)::value>{}); });
    if (touches()) machine_.each(phases::BeginContacts{});
    eased_ = 0;
    if (touches() && cloths_.contacts.samples.eases) {
      machine_.each(phases::Ease{});
      eased_ = largest(phases::MeasureEased{});
    }
    if (!has_holds()) return;
    machine_.each(phases::Grasp{});
    for_each_row_family([&](auto rows) { machine_.each(phases::WeighRows<decltype(rows)::value>{}); });
    machine_.grasped();
  }

  ISOCLOTH_DEVICE void preview(Index n, int part) {
    machine_.enter(n, part);
    met_ = false;
    if (cloths_.pattern.has_forces()) {
      machine_.each(phases::Bend{});
      machine_.by_colour(phases::PullStructural{});
      machine_.by_colour(phases::PullShear{});
      machine_.by_colour(phases::PullBend{});
    }
    if (Machine::meets_external && cloths_.has_external_forces())
      machine_.each(phases::PreviewExternal{part});
    else
      machine_.each(phases::Preview{});
    machine_.each(phases::PreviewPinned{n, part});
  }

  /// Moves to places; what follows may change the moves, which are velocities then.
  ISOCLOTH_DEVICE void advance(int part) {
    if (part + 1 == parameters_.parts && touches() && list_near()) depth_ = largest(phases::MeasureDepths{});
    machine_.each(phases::Advance{});
  }
  ISOCLOTH_DEVICE void end_part() {
    if (control().velocity_pass) machine_.hold_rates(*this);
    if (met_) machine_.each(phases::EndContacts{});
    if (has_holds()) machine_.each(phases::EndHolds{});
  }
  /// False: the cloth is lost.
  ISOCLOTH_DEVICE bool judge(ImpulseReport& report) {
    typename Machine::Told told{};
    for_each_row_family(
        [&](auto rows) { machine_.each(phases::MeasureRows<decltype(rows)::value>{}, told); });
    const double residual = machine_.largest(told);
    const bool misses =
        residual > control().tolerance || depth_ > static_cast<double>(cloths_.contacts.tolerance);
    // Edges that may be of any length meet every tolerance.
    const bool judges = misses || parameters_.longest_edge > Real(0);
    const double status = !(residual < HUGE_VAL) ? 2 : judges && has_diverged(residual) ? 3 : misses ? 1 : 0;
    report.status = status > report.status ? status : report.status;
    report.residual = residual > report.residual ? residual : report.residual;
    return status < 2;
  }
  ISOCLOTH_DEVICE void keep(ImpulseReport& report) {
    machine_.each(phases::EndNodes{});
    if (cloths_.plastic.exist())
      for_each_spring_kind([&](auto kind) { machine_.each(phases::EndSprings<decltype(kind)::value>{}); });
    report.steps += 1;
    report.penetration = depth_ + eased_ > report.penetration ? depth_ + eased_ : report.penetration;
    report.depenetration_depth = eased_;
  }

 private:
  template <Items Rows>
  using Family = std::integral_constant<Items, Rows>;
  /// Visits the families of rows in the order of the sweeps.
  template <class Visit>
  static ISOCLOTH_DEVICE void for_each_row_family(const Visit& visit) {
    visit(Family<Items::metric_stencils>{});
    visit(Family<Items::scalar_stencils>{});
    visit(Family<Items::edges>{});
  }
  template <class Visit>
  static ISOCLOTH_DEVICE void for_each_spring_kind(const Visit& visit) {
    visit(Family<Items::structural_springs>{});
    visit(Family<Items::shear_springs>{});
    visit(Family<Items::bend_springs>{});
  }
  ISOCLOTH_DEVICE bool touches() const { return Machine::may_touch && cloths_.contacts.exist(); }
  ISOCLOTH_DEVICE bool has_holds() const { return Machine::meets_external && cloths_.holds.exist(); }

  ISOCLOTH_DEVICE bool step(Index n, ImpulseReport& report) {
    const int parts = parameters_.parts;
    begin(n);
    for (int part = 0; part < parts && !machine_.stops(); ++part) {
      preview(n, part);
      report.sweeps += machine_.hold_lengths(*this);
      advance(part);
      end_part();
    }
    if (!judge(report)) return false;
    keep(report);
    return true;
  }

  /// See kernels/core/divergence.hpp.
  ISOCLOTH_DEVICE bool has_diverged(double residual) {
    return residual > control().largest_residual || largest(phases::MeasureDisplacements{}) > 0;
  }

  /// Largest of what a phase tells.
  template <class Phase>
  ISOCLOTH_DEVICE double largest(const Phase& phase) {
    typename Machine::Told told{};
    machine_.each(phase, told);
    return machine_.largest(told);
  }

  /// Impulses of all contacts. Returns the largest move of a point [m]; not asked for: 0.
  template <bool OfPositions>
  ISOCLOTH_DEVICE double touch(bool seeks, bool is_first, bool asks) {
    if (!touches()) return 0;
    const bool may_touch = OfPositions ? list_near() : met_;
    if (!may_touch) return 0;
    typename Machine::Told told{};
    if constexpr (OfPositions)
      machine_.by_colour(phases::PushOut{seeks}, told);
    else
      machine_.by_colour(phases::PushBack{is_first}, told);
    return asks ? machine_.largest(told) : 0;
  }
  ISOCLOTH_DEVICE bool list_near() {
    const bool are_near = machine_.list_near();
    met_ = met_ || are_near;
    return are_near;
  }

  const ImpulseCloths<Real>& cloths_;
  const ImpulseParameters<Real>& parameters_;
  Machine& machine_;
  bool met_ = false;  ///< whether it met obstacles, maybe, in this part
  double depth_ = 0;  ///< depth in obstacles when the step ends [m]
  double eased_ = 0;  ///< how deep what started inside may be when the step ends [m]
};

}  // namespace isocloth::ISOCLOTH_BACKEND
