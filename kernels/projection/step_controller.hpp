// One step of the projection, written once: for the lanes of a tile (kernels/batch/cloth_step.hpp) and for
// garments that go kernel by kernel (host/projection/projection_step.cpp).
#pragma once

#include <cmath>

#include "engine/core/array_view.hpp"
#include "engine/core/standard_gravity.hpp"
#include "engine/model/integrator.hpp"
#include "kernels/projection/step_rules.hpp"

namespace isocloth {

/// How a step is iterated; see ProjectionSettings.
struct StepControl {
  bool newton = true;  ///< false: fast projection
  bool metric_is_mass = false;
  Integrator integrator = Integrator::backward_euler;
  double step = 0.01;  ///< h [s]
  double tolerance = 1e-3;
  double eps = 1e-6, least_eps = 1e-9;
  int max_iterations = 50, max_substeps = 1;
  bool projects_again = true;       ///< see project_again(); false where cloth meets cloth or bodies
  double contact_tolerance = 1e-4;  ///< see ContactSettings [m]
  double balance = 0;               ///< bound on FindImbalances, 0: none
  double cg_tolerance = 1e-2;       ///< see conjugate_gradients()
};

/// One of equal parts of a step.
template <class S>
struct Substep {
  Index number = 0;  ///< number of the step in its request
  S h{};             ///< duration of the part [s]
  S done{};          ///< parts of the step that are done
  S parts{};

  /// Share of the step that is over when the part begins.
  ISOCLOTH_HD S from() const { return done / parts; }
  /// Share of the step that is over when the part ends; one: 1.
  ISOCLOTH_HD S to(S one) const { return (done + one) / parts; }
};

/// What becomes of cloths when a part of a step ends: each goes one of three ways, or the step is lost.
template <class S, class Mask>
struct PartEnd {
  Mask retry;      ///< the step begins anew, in twice as many parts
  Mask accept;     ///< the part is done
  Mask step_done;  ///< the step is done with this part
  Substep<S> part;
  S status{}, residual{}, bad_pivot{};  ///< status, residual and bad pivot of the part, as in ClothReport
};

/// What the steps of a request did with a cloth; counts are whole numbers.
template <class S>
struct ClothReport {
  S status;       ///< worst status of the steps: 0 converged, 1 stalled, 2 non-finite, 3 diverged
  S steps;        ///< steps done; none follows one that was not finite or diverged
  S iterations;   ///< iterations of all steps together
  S substeps;     ///< parts of all steps together
  S residual;     ///< worst |C| at the end of a step
  S penetration;  ///< deepest below the core at the end of a step, what is eased out at most so deep [m]
  S squeeze;      ///< nearest to an obstacle at the end of a step, from where contact begins [m]
  S depenetration_depth;  ///< how deep what started inside may be at the end of the last step [m]
  S bad_pivot;  ///< 1 + free number of the first pivot that was not positive in the last failure, 0: none
};

namespace ISOCLOTH_BACKEND {

/// What an iterate is like.
template <class S>
struct Assessment {
  S residual{};                             ///< max |C|, infinite where any is not finite
  S penetration{}, squeeze{};               ///< without what is eased out [m]
  S contact_error{};                        ///< of the thickness at contacts [m]
  typename Lanes<S>::Mask may_penetrate{};  ///< cloth may go through cloth
  typename Lanes<S>::Mask met{};            ///< rows and contacts are within their tolerances
  typename Lanes<S>::Mask near{};           ///< and mismatches are small enough for project_again()
  typename Lanes<S>::Mask done{};           ///< and as small as forces are to balance; see MismatchEnergy
};

/// `Cloths` are one cloth or several side by side, lane by lane of S, and do what is asked of those in a
/// mask:
///   stops()                             whether the work is to end: nothing that follows matters
///   begin_step()                        work begins where the state is
///   begin_substep(part, which, bad_pivot)  the first iterate; false: some matrix cannot be factorised
///   forget(which)                       this part and the next take no notice of what was before; those
///                                       that did and begin the part anew
///   assess(part, iteration, which)      rows and contacts at the iterate
///   follow(before, after, which)        eps follows the residuals of two iterates
///   solve(part, bad_pivot)              the correction; false: some matrix cannot be factorised
///   correct(which)                      multipliers, contacts, iterate
///   projects_again()                    whether they have project_again(which): a correction of what the
///                                       rows miss at the iterate, by the matrix of the last solve()
///   end_part(PartEnd)                   where the next part begins
///   depenetration_depth()               how deep what is eased out may be when the step ends [m]
///   has_diverged(residual)              of a step that ends here (kernels/core/divergence.hpp)
///   end_step(kept, residual)            the state of those that are kept
template <class S, class Cloths>
class StepController {
  using Scalar = typename Lanes<S>::Scalar;
  using Mask = typename Lanes<S>::Mask;
  static ISOCLOTH_HD S number(double x) { return S(static_cast<Scalar>(x)); }
  static ISOCLOTH_HD S infinity() { return S(static_cast<Scalar>(HUGE_VAL)); }

 public:
  ISOCLOTH_DEVICE StepController(const StepControl& control, Cloths& cloths)
      : control_(control), cloths_(cloths) {}

  /// The step with this number of a request, of the cloths that are alive. One that misses its tolerances is
  /// tried again in 2, 4, ... parts. A step that is not finite or diverges leaves the state as it was, and
  /// the cloth is not alive any more.
  ISOCLOTH_DEVICE void step(Index n, Mask& alive, ClothReport<S>& report) {
    cloths_.begin_step();
    const S one = number(1), most_parts = number(control_.max_substeps);
    S parts = one, done{}, status{}, residual{}, penetration{}, squeeze{}, substeps{}, bad_pivot{};
    Mask todo = alive;
    while (any(todo)) {
      // 1. A part, from where the last one ended: the whole step at first.
      const Substep<S> part{n, number(control_.step) / parts, done, parts};
      const Outcome found = take_part(part, todo);
      if (cloths_.stops()) return;
      // 2. What becomes of it: accepted, or the step is tried again in twice as many parts, or it is lost.
      const Mask failed = todo & (found.status > one), stalled = todo & (found.status == one);
      const Mask retry = (failed | stalled) & (parts + parts <= most_parts);
      const Mask over = failed & !retry, accept = todo & !retry & !over;
      report.iterations += select(todo, found.iterations, S{});
      bad_pivot = select(over, found.bad_pivot, bad_pivot);
      status = select(accept & stalled, one, status);
      residual = select(accept, larger(found.residual, residual), residual);
      residual = select(over, infinity(), residual);
      penetration = select(accept, larger(found.penetration, penetration), penetration);
      squeeze = select(accept, larger(found.squeeze, squeeze), squeeze);
      status = select(over, number(2), status);
      done = select(accept, done + one, done);
      const Mask step_done = accept & (done >= parts);
      substeps = select(step_done | over, parts, substeps);
      // 3. The part ends: v = rate (x - x^) / h, or the state before the step again.
      cloths_.end_part(
          PartEnd<S, Mask>{retry, accept, step_done, part, found.status, found.residual, found.bad_pivot});
      parts = select(retry, parts + parts, parts);
      done = select(retry, S{}, done);
      status = select(retry, S{}, status);
      residual = select(retry, S{}, residual);
      penetration = select(retry, S{}, penetration);
      squeeze = select(retry, S{}, squeeze);
      todo = todo & !step_done & !over;
    }
    // 4. The step ends, with what is to be said of it; a lost one leaves the state as it was.
    const Mask missed = alive & (status == one);
    if (any(missed)) status = select(missed & cloths_.has_diverged(residual), number(3), status);
    const Mask kept = alive & (status < number(2));
    report.status = select(alive, larger(status, report.status), report.status);
    report.residual = select(alive, larger(residual, report.residual), report.residual);
    const S eased = cloths_.depenetration_depth();
    report.penetration = select(kept, larger(penetration + eased, report.penetration), report.penetration);
    report.squeeze = select(kept, larger(squeeze, report.squeeze), report.squeeze);
    report.depenetration_depth = select(kept, eased, report.depenetration_depth);
    report.substeps += select(alive, substeps, S{});
    report.steps += select(kept, one, S{});
    report.bad_pivot = select(alive & (status == number(2)), bad_pivot, report.bad_pivot);
    cloths_.end_step(kept, residual);
    alive = kept;
  }

 private:
  struct Outcome {
    S status{}, residual{}, penetration{}, squeeze{}, bad_pivot{}, iterations{};
  };

  ISOCLOTH_DEVICE Outcome take_part(const Substep<S>& part, Mask todo) {
    Outcome result;
    // 1. The unconstrained step phi~ and the first iterate phi_0.
    Mask running = begin_substep(part, todo, result), projected(false);
    const bool projects_again = cloths_.projects_again();
    for (int iteration = 0;; ++iteration) {
      if (cloths_.stops()) return result;
      // 2. C, J and contacts at the iterate phi_j.
      const S before = result.residual;
      Assessment<S> found = cloths_.assess(part, iteration, running | Mask(iteration == 0));
      const Mask hit = iteration == 0 ? fly_into_something(part, running, found) : Mask(false);
      if (any(hit)) {
        running = (running & !hit) | begin_substep(part, hit, result);
        found = cloths_.assess(part, iteration, hit);
      }
      // 3. What rows that are met still miss costs as much energy as forces on the cloth do, and little work.
      Mask open = running & found.near & !found.done & !projected & Mask(iteration > 0);
      if (projects_again && any(open)) {
        projected = projected | open;
        cloths_.project_again(open);
        const Assessment<S> corrected = cloths_.assess(part, iteration, open);
        found.residual = select(open, corrected.residual, found.residual);
        found.penetration = select(open, corrected.penetration, found.penetration);
        found.squeeze = select(open, corrected.squeeze, found.squeeze);
        found.met = (found.met & !open) | (corrected.met & open);
        found.done = (found.done & !open) | (corrected.done & open);
      }
      result.residual = select(running, found.residual, result.residual);
      result.penetration = select(running, found.penetration, result.penetration);
      result.squeeze = select(running, found.squeeze, result.squeeze);
      // 4. Whether that is the end: max |C| <= tolerance, contacts too, and mismatches as small as they need.
      const Mask finite = found.residual < infinity();
      // The first iterate has not felt this step's forces yet: the rows alone do not tell that it is done.
      const Mask may_stop(iteration > 0 || !control_.newton);
      result.status = select(running & !finite, number(2), result.status);
      // For forces it goes on while that helps: the first iterates swing to where mismatches shrink, those of
      // stiff cloth for longer.
      const Mask swings = Mask(iteration < 4) | ((!found.near) & Mask(projects_again && iteration < 12));
      const Mask helps = (found.residual <= number(0.5) * before) | open | swings;
      const Mask balanced = projects_again ? found.done : found.near;
      const Mask ends = balanced | (found.met & !(helps & Mask(iteration < control_.max_iterations)));
      running = running & finite & !(ends & may_stop);
      if (iteration == control_.max_iterations) {
        result.status = select(running, number(1), result.status);
        running = Mask(false);
      }
      if (!any(running)) return result;
      // 5. (B + G+ + J^T (eps D)^-1 J) d = right side, with an eps that follows the residuals.
      if (control_.newton && iteration > 0) cloths_.follow(before, found.residual, running);
      result.iterations += select(running, number(1), S{});
      S bad_pivot{};
      if (!cloths_.solve(part, bad_pivot)) {
        const Mask bad = running & (bad_pivot > S{});
        result.status = select(bad, number(2), result.status);
        result.bad_pivot = select(bad, bad_pivot, result.bad_pivot);
        running = running & !bad;
        if (!any(running)) return result;
      }
      // 6. lambda_{j+1} and phi_{j+1} = phi_j + d.
      cloths_.correct(running);
    }
  }

  /// Begins a part of a step; returns those whose first iterate is found.
  ISOCLOTH_DEVICE Mask begin_substep(const Substep<S>& part, Mask todo, Outcome& result) {
    if (cloths_.begin_substep(part, todo, result.bad_pivot)) return todo;
    const Mask bad = todo & (result.bad_pivot > S{});
    result.status = select(bad, number(2), result.status);
    result.residual = select(bad, infinity(), result.residual);
    return todo & !bad;
  }
  /// An impact is of first order: a formula that remembers the speed before it would throw the cloth back.
  /// What flies deeper into something than it would fall in two steps forgets; those that must begin their
  /// part anew.
  ISOCLOTH_DEVICE Mask fly_into_something(const Substep<S>& part, Mask which, const Assessment<S>& found) {
    if (!remembers_step(control_.integrator)) return Mask(false);
    const Mask hit = which & (found.may_penetrate |
                              (found.contact_error > number(2 * standard_gravity) * part.h * part.h));
    return any(hit) ? cloths_.forget(hit) : hit;
  }

  const StepControl& control_;
  Cloths& cloths_;
};

}  // namespace ISOCLOTH_BACKEND
}  // namespace isocloth
